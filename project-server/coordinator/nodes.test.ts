import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'

const A = batchId(1)
const T = `${A}.0`
const SINGLE = { minQuorum: 1, targetResults: 1 }

async function world(): Promise<CoordinatorWorld> {
  return new CoordinatorWorld().start()
}

describe('a node', () => {
  it('silent for more than 15 s is lost, and its work is leased elsewhere within a second', async () => {
    const at = await world()
    const [ann, bob] = [at.join('ann'), at.join('bob', offer(0))]
    at.submit(A, [bundle('x')], SINGLE)
    at.begin(ann, `${T}.1`)
    at.apply({ kind: 'demand', node: 'bob', slots: 1 })
    at.pass(15_000, [ann])
    assert.equal(at.states(T), 'ann running')
    at.pass(1_000, [ann])
    assert.equal(at.states(T), 'ann lost, bob leased')
    assert.deepEqual([...bob.leases.keys()], [`${T}.2`])
  })

  it('that falls silent after the clock was set back is lost as soon as any other', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], SINGLE)
    at.begin(ann, `${T}.1`)
    at.pass(1_000)
    at.nowMs -= 600_000
    at.pass(15_000, [ann])
    assert.equal(at.states(T), 'ann running')
    at.pass(2_000, [ann])
    assert.equal(at.states(T), 'ann lost')
  })

  it('back with its work in hand keeps its attempt when nobody has taken it over', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], SINGLE)
    at.begin(ann, `${T}.1`)
    at.pass(20_000, [ann])
    assert.equal(at.states(T), 'ann lost')
    at.join('ann')
    assert.deepEqual([at.states(T), ann.welcomes.at(-1)?.unknown], ['ann running', []])
    at.work(ann)
    assert.equal(at.record(T).state, 'ready')
    assert.deepEqual(at.counts('ann'), { valid: 1, invalid: 0, errors: 0, lost: 0 })
  })

  it('back after its work was taken over drops it; a result that it has already counts', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.submit(A, [bundle('x'), bundle('y')], SINGLE)
    at.begin(ann, `${T}.1`)
    at.pass(20_000, [ann])
    const bob = at.join('bob', offer(2))
    assert.equal(bob.leases.size, 2)
    const held = ann.leases.get(`${T}.1`)
    at.join('ann', offer(0))
    assert.deepEqual(ann.welcomes.at(-1)?.unknown, [`${T}.1`])
    if (held !== undefined) ann.leases.set(`${T}.1`, held)
    at.report(ann, `${T}.1`, { output: 'four' })
    assert.equal(at.record(T).state, 'ready')
    assert.deepEqual(bob.cancelled, [`${T}.2`])
  })

  it('that comes back under a new link has lost what it held, at once', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.join('bob', offer(0))
    at.submit(A, [bundle('x')], SINGLE)
    at.apply({ kind: 'demand', node: 'bob', slots: 1 })
    Object.assign(ann, { link: 'another', sent: 0, received: 0 })
    at.join('ann')
    assert.deepEqual([ann.welcomes.at(-1)?.resumed, ann.welcomes.at(-1)?.unknown], [false, [`${T}.1`]])
    assert.equal(at.states(T), 'ann lost, bob leased')
  })

  it('that never heard that its link began anew does not come back to the new one with the numbers of the old', async () => {
    const at = await world()
    const hello = (link: string, spare: string, received: number) => ({
      kind: 'hello' as const,
      node: 'ann',
      link,
      spare,
      received,
      offer: offer(1),
      replicas: []
    })
    const welcomes = () => at.nodes.get('ann')?.welcomes.map(({ resumed }) => resumed)
    at.join('ann')
    at.submit(A, [bundle('x'), bundle('y'), bundle('z')], SINGLE)
    // Something was lost at the coordinator's end.
    at.apply(hello('another', 'new', 0))
    assert.equal(at.states(`${A}.1`), 'ann leased')
    // It has one message of the link before, which has the number of one of the new link.
    at.apply(hello('another', 'newer', 1))
    assert.deepEqual(welcomes(), [false, false, false])
    at.apply(hello('newer', 'newest', 1))
    assert.deepEqual(welcomes(), [false, false, false, true])
  })

  it('that forgot a lease which it had acknowledged loses it after two seconds', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], SINGLE)
    ann.leases.clear()
    at.join('ann', offer(0))
    assert.equal(at.states(T), 'ann leased')
    at.pass(2_500)
    assert.equal(at.states(T), 'ann lost')
  })

  it('that says bye gives everything back at once', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.join('bob', offer(0))
    at.submit(A, [bundle('x')], SINGLE)
    at.apply({ kind: 'demand', node: 'bob', slots: 1 })
    at.apply({ kind: 'bye', node: 'ann', seq: ++ann.sent })
    assert.equal(at.states(T), 'ann returned, bob leased')
    assert.equal(at.coordinator.nodes().find(({ id }) => id === 'ann')?.state, 'left')
  })

  it('whose message is missing is cut off; one that repeats itself is not heard twice', async () => {
    const at = await world()
    const ann = at.join('ann', offer(2))
    at.submit(A, [bundle('x'), bundle('y')], SINGLE)
    at.begin(ann, `${T}.1`)
    const start = { kind: 'start', node: 'ann', seq: 1, replicas: [{ replica: `${A}.1.1`, epoch: at.epoch }] } as const
    at.apply(start)
    assert.deepEqual([...ann.granted], [`${T}.1`])
    assert.equal(at.effects.filter((effect) => effect.kind === 'ack' && effect.seq === 1).length, 2)
    at.apply({ ...start, seq: 3 })
    assert.deepEqual(ann.disconnects, ['gap'])
  })

  it('may not start what another node holds, nor under another epoch', async () => {
    const at = await world()
    const [ann, bob] = [at.join('ann'), at.join('bob')]
    at.submit(A, [bundle('x')], SINGLE)
    at.apply({ kind: 'start', node: 'bob', seq: ++bob.sent, replicas: [{ replica: `${T}.1`, epoch: at.epoch }] })
    assert.deepEqual(bob.refused, [`${T}.1`])
    assert.equal(at.states(T), 'ann leased')
    at.apply({ kind: 'start', node: 'ann', seq: ++ann.sent, replicas: [{ replica: `${T}.1`, epoch: at.epoch + 1 }] })
    assert.deepEqual([ann.refused, at.states(T)], [[`${T}.1`], 'ann lost, bob leased'])
  })

  it('that reports without asking to start is not believed', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], SINGLE)
    at.report(ann, `${T}.1`, { output: 'four' })
    assert.equal(at.states(T), 'ann returned')
    assert.deepEqual(at.counts('ann'), { valid: 0, invalid: 0, errors: 1, lost: 0 })
  })

  it('whose result comes after the decision is judged by it', async () => {
    const at = await world()
    const nodes = ['a', 'b', 'c', 'd'].map((id) => at.join(id))
    at.submit(A, [bundle('x')], { targetResults: 4 })
    const leases = nodes.map((node) => new Map(node.leases))
    for (const node of nodes) at.begin(node, ...node.leases.keys())
    const [a, b, c, d] = nodes
    if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error('four nodes')
    at.report(a, [...a.leases.keys()][0] ?? '', { output: 'four' })
    at.report(b, [...b.leases.keys()][0] ?? '', { output: 'four' })
    assert.equal(at.record(T).state, 'ready')
    for (const [node, held, output] of [
      [c, leases[2], 'four'],
      [d, leases[3], 'five']
    ] as const) {
      const [replica = '', lease] = [...(held ?? [])][0] ?? []
      if (lease !== undefined) node.leases.set(replica, lease)
      at.report(node, replica, { output })
    }
    assert.deepEqual(at.counts('c'), { valid: 1, invalid: 0, errors: 0, lost: 0 })
    assert.deepEqual(at.counts('d'), { valid: 0, invalid: 1, errors: 0, lost: 0 })
    assert.equal(at.store.keys('late/').length, 0)
  })
})

describe('a restart of the coordinator', () => {
  it('leaves what runs running: the lease keeps its epoch and is granted under it', async () => {
    const at = await world()
    const ann = at.join('ann', offer(2))
    at.submit(A, [bundle('x'), bundle('y')], SINGLE)
    at.begin(ann, `${T}.1`)
    await at.start()
    at.pass(10_000)
    at.join('ann', offer(2))
    assert.deepEqual(ann.welcomes.at(-1), { kind: 'welcome', node: 'ann', resumed: true, received: 1, unknown: [] })
    at.begin(ann, `${A}.1.1`)
    at.work(ann)
    assert.deepEqual([at.record(T).state, at.record(`${A}.1`).state], ['ready', 'ready'])
    assert.equal(at.record(`${A}.1`).replicas.length, 1)
  })

  it('sends again what the node did not get, under the same numbers', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.apply({ kind: 'gone', node: 'ann' })
    const before = ann.received
    at.submit(A, [bundle('x')], SINGLE)
    assert.equal(ann.leases.size, 0)
    at.join('ann')
    at.coordinator.apply({ kind: 'kill', batch: A, by: 'owner' }, at.nowMs)
    at.nodes.delete('ann')
    at.commit()
    at.nodes.set('ann', ann)
    await at.start()
    at.join('ann')
    assert.equal(ann.received, before + 2)
    assert.deepEqual(ann.cancelled, [`${T}.1`])
  })

  it('remembers every batch: repeating a finished one is harmless', async () => {
    const at = await world()
    at.work(at.join('ann'))
    at.submit(A, [bundle('x')], SINGLE)
    for (const node of at.nodes.values()) at.work(node)
    assert.equal(at.record(T).state, 'ready')
    await at.start()
    at.submit(A, [bundle('x')], SINGLE)
    assert.equal(at.coordinator.batch(A), undefined)
    assert.equal(at.store.keys('recent/').length, 1)
  })
})
