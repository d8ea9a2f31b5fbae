import assert from 'node:assert/strict'
import { it } from 'node:test'
import { isInside } from '../../sim/experiments/figures.ts'
import { liveAttempts } from './failing.ts'

it('F03, F07: of tasks whose processes are killed by a draw of their own just those come through that one of K draws lets through', {
  timeout: 120_000
}, async () => {
  const { figure, drawn } = await liveAttempts({ tasks: 30, fails: 0.5, clients: 9, taskMs: 50, attempts: [1, 2, 3] }, 1, () => undefined)
  assert.deepEqual(
    figure.points.map(({ ready }) => ready),
    drawn
  )
  // Which draws there are is settled by the seed, so this is as sure.
  for (const point of figure.points) assert.ok(isInside(point), `K = ${point.attempts}: ${point.ready} of ${point.tasks} ready`)
  assert.ok((drawn[0] ?? 0) < (drawn[1] ?? 0) && (drawn[1] ?? 0) < (drawn[2] ?? 0), 'more attempts let more through')
})
