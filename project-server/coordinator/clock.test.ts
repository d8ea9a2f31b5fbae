import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, plainBundle } from '#test/support/coordinator-parts'

const A = batchId(1)
const B = batchId(2)
const ALONE = { minQuorum: 1, targetResults: 1, copies: 'never' as const }
const BACK_MS = 900_000

async function world(): Promise<CoordinatorWorld> {
  const at = await new CoordinatorWorld().start()
  at.join('a')
  at.submit(A, [plainBundle('x')], ALONE)
  at.pass(500)
  return at
}

describe('a clock that was set back', () => {
  it('keeps no slot for a run that was cancelled and has ended long ago', async () => {
    const at = await world()
    at.apply({ kind: 'kill', batch: A, by: 'owner' })
    at.nowMs -= BACK_MS
    at.submit(B, [plainBundle('y')], ALONE)
    at.pass(1_000)
    assert.equal(at.states(`${B}.0`), 'a running')
  })

  it('keeps no lease at a node that came back without it', async () => {
    const at = await world()
    at.apply({ kind: 'gone', node: 'a' })
    at.nodes.get('a')?.leases.clear()
    at.join('a')
    at.nowMs -= BACK_MS
    at.join('b')
    at.pass(1_000)
    assert.equal(at.states(`${A}.0`), 'a lost, b running')
  })

  it('has an output that could not be had asked for again', async () => {
    const at = await world()
    at.pulls = false
    at.work(at.nodes.get('a') as NonNullable<ReturnType<typeof at.nodes.get>>, { output: 'made' })
    at.apply({ kind: 'pulled', task: `${A}.0`, node: 'a', ok: false, message: 'no' })
    at.nowMs -= BACK_MS
    at.pass(1_000)
    assert.equal(at.effects.filter(({ kind }) => kind === 'pull').length, 2)
  })

  it('shows how far a run is that says so anew', async () => {
    const at = await world()
    const node = at.nodes.get('a')
    assert.ok(node !== undefined)
    for (const donePpm of [100_000, 600_000]) {
      const figure = { donePpm, note: '' }
      at.apply({ kind: 'progress', node: 'a', seq: ++node.sent, replicas: [{ replica: `${A}.0.1`, state: 'running', again: false, figure }] })
      at.nowMs -= BACK_MS
    }
    assert.equal(at.coordinator.why(`${A}.0`)?.runs[0]?.progress?.done, 0.6)
  })
})
