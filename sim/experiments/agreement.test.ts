import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Random } from '../random.ts'
import { burst, measuresOf, paceOf, simulate, stream } from './agreement.ts'

const COSTS = { roundTrips: [0.6], writes: [0.25, 0.75], runs: [4.5] }
const NODES = 5

describe('a load for a live run and a simulated one', () => {
  it('is the same whenever it is drawn from the same seed', () => {
    assert.deepEqual(burst(1, NODES, 20), burst(1, NODES, 20))
    assert.deepEqual(stream(1, NODES, 20, 0.5), stream(1, NODES, 20, 0.5))
    assert.notDeepEqual(burst(1, NODES, 20), burst(2, NODES, 20))
  })

  it('keeps the nodes as busy as it says', () => {
    const { submissions, quorum } = stream(1, NODES, 4_000, 0.75)
    const workMs = submissions.flatMap(({ runMs }) => runMs).reduce((sum, ms) => sum + ms * quorum, 0)
    const busy = workMs / NODES / (submissions.at(-1)?.atMs ?? 0)
    assert.ok(Math.abs(busy - 0.75) < 0.04, `${busy}`)
  })

  it('is simulated with what was measured: on the average to parts of a millisecond', () => {
    const pace = paceOf(COSTS)
    const random = new Random(1)
    const mean = (draw: (random: Random) => number): number => Array.from({ length: 20_000 }, () => draw(random)).reduce((sum, ms) => sum + ms, 0) / 20_000
    assert.ok(Math.abs(mean(pace.wayMs) - 0.3) < 0.02)
    assert.ok(Math.abs(mean(pace.serverWriteMs) - 0.5) < 0.02)
    assert.ok(Math.abs(mean(pace.runMs) - 4.5) < 0.02)
  })

  it('takes the time of its tasks and what the parts cost, no less and little more', async () => {
    const load = burst(1, NODES, 50)
    const workMs = load.submissions.flatMap(({ runMs }) => runMs).reduce((sum, ms) => sum + ms, 0)
    const fastest = measuresOf(await simulate(load, COSTS))
    const slow = measuresOf(await simulate(load, { ...COSTS, runs: [204.5] }))
    assert.ok(fastest.throughput < (1000 * 50 * NODES) / workMs && fastest.throughput > (900 * 50 * NODES) / (workMs + 50 * 10))
    const expected = (workMs + 50 * 200) / workMs
    assert.ok(Math.abs(fastest.throughput / slow.throughput / expected - 1) < 0.05)
    assert.ok(slow.p95Ms > fastest.p95Ms)
    assert.deepEqual(measuresOf(await simulate(load, COSTS)), fastest)
  })

  it('runs each task as often as results must agree', async () => {
    const load = stream(1, NODES, 20, 0.5)
    const tasks = await simulate(load, COSTS)
    const runMs = load.submissions.flatMap((submission) => submission.runMs)
    assert.equal(tasks.length, 20)
    for (const [index, { submittedMs, endedMs, ready }] of tasks.entries()) assert.ok(ready && endedMs - submittedMs >= (runMs[index] ?? Number.NaN))
  })
})

it('throughput counts from the first submission to the last decision, and failed tasks are refused', () => {
  const tasks = Array.from({ length: 20 }, (_, index) => ({ submittedMs: 100 * index, endedMs: 100 * index + 10 * (index + 1), ready: true }))
  assert.deepEqual(measuresOf(tasks), { throughput: (1000 * 20) / 2_100, p95Ms: 190 })
  assert.throws(() => measuresOf([{ submittedMs: 0, endedMs: 1, ready: false }]), /of 1 tasks 1 were not agreed on/)
  assert.throws(() => measuresOf([]), /of 0 tasks/)
})
