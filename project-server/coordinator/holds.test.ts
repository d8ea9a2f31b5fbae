import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer, PROJECT, SIGNER } from '#test/support/coordinator-parts'
import { Heads } from './heads.ts'
import { hold } from './holds.ts'
import type { Task } from './model.ts'
import { DEFAULT_COORDINATOR_POLICY } from './policy.ts'
import { OrderedQueue } from './queue.ts'
import { State } from './state.ts'

const A = batchId(1)
const B = batchId(2)
const T = `${A}.0`
const ONE = { minQuorum: 1, targetResults: 1 }
const BY = 'an owner'

function holding(change: { task?: string; stop?: boolean; reason?: string } = {}) {
  return { kind: 'hold', batch: A, by: BY, reason: 'wrong input', stop: false, ...change } as const
}

describe('F21: hold', () => {
  it('keeps a batch from every node until it is released, over a restart, and says who held it and why', async () => {
    const at = await new CoordinatorWorld().start()
    at.submit(A, [bundle('x'), bundle('y')], ONE)
    at.apply(holding())
    const ann = at.join('ann', offer(2))
    assert.equal(ann.leases.size, 0)
    await at.start()
    at.join('ann', offer(2))
    at.pass(2_000)
    assert.equal(ann.leases.size, 0)
    const held = { by: BY, reason: 'wrong input', atMs: 1_000_000 }
    assert.deepEqual(at.coordinator.batch(A)?.held, held)
    const view = at.coordinator.why(T)
    assert.deepEqual([view?.waitsFor, view?.wanted, view?.held], ['release', 1, held])
    at.apply({ kind: 'release', batch: A, by: BY })
    assert.equal(at.coordinator.batch(A)?.held, null)
    at.work(ann)
    assert.deepEqual([at.record(T).state, at.record(`${A}.1`).state], ['ready', 'ready'])
  })

  it('of one task leaves the others of its batch alone', async () => {
    const at = await new CoordinatorWorld().start()
    at.submit(A, [bundle('x'), bundle('y')], ONE)
    at.apply(holding({ task: T }))
    const ann = at.join('ann', offer(2))
    assert.deepEqual([...ann.leases.keys()], [`${A}.1.1`])
    await at.start()
    assert.deepEqual(at.coordinator.task(T)?.held, { by: BY, reason: 'wrong input', atMs: 1_000_000 })
    at.join('ann', offer(2))
    at.apply({ kind: 'release', batch: A, task: T, by: BY })
    assert.deepEqual([...ann.leases.keys()].sort(), [`${A}.0.1`, `${A}.1.1`])
  })

  it('lets go on what runs, and what it decides is decided', async () => {
    const at = await new CoordinatorWorld().start()
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], { ...ONE, targetResults: 1 })
    at.apply(holding())
    at.work(ann)
    assert.equal(at.record(T).state, 'ready')
  })

  it('makes no copy of what is lost or disagreed on while it lasts', async () => {
    const at = await new CoordinatorWorld().start()
    const ann = at.join('ann')
    const bob = at.join('bob')
    at.submit(A, [bundle('x')], { minQuorum: 2, targetResults: 2 })
    at.apply(holding({ task: T }))
    at.work(ann, { output: 'yes' })
    at.work(bob, { output: 'no' })
    const cid = at.join('cid')
    assert.equal(cid.leases.size, 0)
    assert.equal(at.coordinator.why(T)?.waitsFor, 'release')
    at.apply({ kind: 'release', batch: A, task: T, by: BY })
    at.work(cid, { output: 'yes' })
    assert.equal(at.record(T).state, 'ready')
  })

  it('takes back what runs when it is to stop; the same node may have it again, unharmed', async () => {
    const at = await new CoordinatorWorld().start()
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], ONE)
    at.begin(ann, `${T}.1`)
    at.apply(holding({ stop: true }))
    assert.deepEqual(ann.cancelled, [`${T}.1`])
    assert.equal(at.states(T), 'ann returned')
    assert.deepEqual(at.counts('ann'), { valid: 0, invalid: 0, errors: 0, lost: 0 })
    at.pass(15_000)
    assert.equal(ann.leases.size, 0)
    at.apply({ kind: 'release', batch: A, by: BY })
    at.work(ann)
    assert.equal(at.record(T).state, 'ready')
  })

  it('of a batch that is still being submitted keeps what comes later, too', async () => {
    const at = await new CoordinatorWorld().start()
    const part = (text: string, more: boolean) =>
      at.apply({ kind: 'submit', batch: A, name: '', by: BY, bundles: [bundle(text)], policy: { ...DEFAULT_POLICY, ...ONE }, more, seed: 1 })
    part('x', true)
    at.apply(holding())
    part('y', false)
    const ann = at.join('ann', offer(2))
    assert.equal(ann.leases.size, 0)
    at.apply({ kind: 'release', batch: A, by: BY })
    assert.equal(ann.leases.size, 2)
  })

  it('is kept as it was when it is asked for again, and one release ends it with all that was held of the batch', async () => {
    const at = await new CoordinatorWorld().start()
    at.submit(A, [bundle('x'), bundle('y')], ONE)
    at.apply(holding({ task: T }), holding(), holding({ reason: 'another' }))
    assert.equal(at.coordinator.batch(A)?.held?.reason, 'wrong input')
    at.apply({ kind: 'release', batch: A, by: BY })
    assert.equal(at.join('ann', offer(2)).leases.size, 2)
  })

  it('by the coordinator itself is its own, and a reason is cut to its bound', () => {
    const state = new State({ project: PROJECT, epoch: 1, policy: DEFAULT_COORDINATOR_POLICY, signer: SIGNER })
    const batch = { held: null, tasks: [], policy: { queueLimitMs: 0 } } as unknown as Parameters<typeof hold>[1]
    hold(state, batch, { by: state.project, reason: 'x'.repeat(1_000), nowMs: 7 })
    assert.deepEqual(batch.held, { by: PROJECT, reason: 'x'.repeat(200), atMs: 7 })
  })

  it('of something that is over, or of nothing, changes nothing', async () => {
    const at = await new CoordinatorWorld().start()
    at.submit(A, [bundle('x')], ONE)
    at.work(at.join('ann'))
    at.apply(holding(), holding({ task: T }), { kind: 'release', batch: B, by: BY })
    assert.equal(at.record(T).held, null)
  })
})

describe('F21: a queue limit', () => {
  const LIMIT = { ...ONE, queueLimitMs: 10_000 }

  it('kills the task that no node was given in its time, and says why', async () => {
    const at = await new CoordinatorWorld().start()
    const ann = at.join('ann')
    at.submit(A, [bundle('x'), bundle('y')], LIMIT)
    at.pass(9_500)
    assert.equal(at.record(`${A}.1`).state, 'staged')
    at.pass(1_000)
    const { state, failure } = at.record(`${A}.1`)
    assert.deepEqual([state, failure?.code], ['killed', 'queue_limit'])
    at.work(ann)
    assert.equal(at.record(T).state, 'ready')
    assert.equal(at.coordinator.batch(A), undefined)
  })

  it('leaves alone what a node had once, and what has no limit', async () => {
    const at = await new CoordinatorWorld().start()
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], LIMIT)
    at.submit(B, [bundle('y')], ONE)
    at.giveBack(ann, `${T}.1`, 'owner')
    at.apply({ kind: 'demand', node: 'ann', slots: 0 })
    at.pass(60_000)
    assert.deepEqual([at.record(`${B}.0`).state], ['staged'])
  })

  it('does not run while it is held, and begins anew at the release, over a restart', async () => {
    const at = await new CoordinatorWorld().start()
    at.submit(A, [bundle('x'), bundle('y')], LIMIT)
    at.pass(8_000)
    at.apply(holding())
    at.pass(60_000)
    at.apply({ kind: 'release', batch: A, by: BY })
    at.apply(holding({ task: T }))
    await at.start()
    at.pass(9_000)
    assert.equal(at.record(`${A}.1`).state, 'staged')
    at.pass(2_000)
    assert.deepEqual([at.record(T).state, at.record(`${A}.1`).state], ['staged', 'killed'])
    at.apply({ kind: 'release', batch: A, task: T, by: BY })
    at.pass(11_000)
    assert.equal(at.record(T).state, 'killed')
  })
})

it('many tasks that come back into a queue stand where they would have one by one', () => {
  const task = (order: number): Task => ({ id: `${order}`, order, queue: null }) as unknown as Task
  const orders = fc.uniqueArray(fc.nat({ max: 2_000 }), { maxLength: 300 })
  fc.assert(
    fc.property(orders, fc.nat({ max: 300 }), (all, cut) => {
      const heads = new Heads()
      const one = new OrderedQueue(heads, 2 * heads.begin(0))
      const many = new OrderedQueue(heads, 2 * heads.begin(0))
      for (const order of all.slice(0, cut)) {
        one.add(task(order))
        many.add(task(order))
      }
      const rest = all.slice(cut).sort((a, b) => a - b)
      for (const order of rest) one.add(task(order))
      many.addAll(rest.map(task))
      const seen = (queue: OrderedQueue): number[] => [...queue.from(0, 1_000)].map(({ order }) => order)
      assert.deepEqual(seen(many), seen(one))
      assert.deepEqual([many.size, many.first?.order], [one.size, one.first?.order])
      assert.deepEqual([heads.order(0), heads.order(1)], [one.first?.order ?? Number.POSITIVE_INFINITY, one.first?.order ?? Number.POSITIVE_INFINITY])
    })
  )
})
