import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { batchId, bundle, CoordinatorWorld, offer } from '#test/support/coordinator'
import { decodeTaskRecord, type TaskRecord, taskKey } from './records.ts'

const A = batchId(1)
const T = `${A}.0`
const SINGLE = { minQuorum: 1, targetResults: 1 }

async function world(): Promise<CoordinatorWorld> {
  return new CoordinatorWorld().start()
}

/** As it is in memory before it is terminal, as it is stored then. */
function record(at: CoordinatorWorld, task = T): TaskRecord {
  const live = at.coordinator.task(task)
  if (live !== undefined) return live
  const bytes = at.store.peek(taskKey(task))
  if (bytes === undefined) throw new Error(`no task ${task}`)
  return decodeTaskRecord(bytes)
}

function states(at: CoordinatorWorld, task = T): string {
  return record(at, task)
    .replicas.map(({ node, state }) => `${node} ${state}`)
    .join(', ')
}

function nodeCounts(at: CoordinatorWorld, id: string): { valid: number; invalid: number; errors: number; lost: number } {
  const view = at.coordinator.nodes().find((node) => node.id === id)
  if (view === undefined) throw new Error(`no node ${id}`)
  const { valid, invalid, errors, lost } = view
  return { valid, invalid, errors, lost }
}

describe('a task', () => {
  it('is leased to two nodes, agreed on and ready', async () => {
    const at = await world()
    const [ann, bob] = [at.join('ann'), at.join('bob')]
    at.submit(A, [bundle('x')])
    assert.equal(states(at), 'ann leased, bob leased')
    at.work(ann, { output: 'four' })
    assert.equal(record(at).state, 'running')
    at.work(bob, { output: 'four' })
    assert.equal(record(at).state, 'ready')
    assert.equal(at.receipts.get(T)?.results.length, 2)
    assert.deepEqual(ann.released, [`${T}.1`])
    assert.equal(at.coordinator.batch(A), undefined)
  })

  it('with a liar goes to a third node, and the lie is counted', async () => {
    const at = await world()
    const [ann, bob, liar] = [at.join('ann'), at.join('bob'), at.join('liar')]
    at.submit(A, [bundle('x')])
    for (const node of [liar, ann, bob]) at.work(node, { output: node === liar ? 'five' : 'four' })
    for (const node of [ann, bob, liar]) at.work(node, { output: node === liar ? 'five' : 'four' })
    assert.equal(record(at).state, 'ready')
    const decided = at.receipts.get(T)
    assert.equal(decided?.results.length, 2)
    if (record(at).replicas.length === 3) {
      assert.deepEqual(nodeCounts(at, 'liar'), { valid: 0, invalid: 1, errors: 0, lost: 0 })
      assert.deepEqual(
        decided?.dissent.map(({ node }) => node),
        ['liar']
      )
    }
  })

  it('that nobody agrees on fails after as many results as the policy allows', async () => {
    const at = await world()
    const nodes = ['a', 'b', 'c', 'd'].map((id) => at.join(id))
    at.submit(A, [bundle('x')], { maxSuccessResults: 3 })
    for (let round = 0; round < 3; round++) for (const node of nodes) at.work(node, { output: `from ${node.id}` })
    const { state, failure, replicas } = record(at)
    assert.equal(state, 'failed')
    assert.equal(failure?.code, 'no_agreement')
    assert.deepEqual(
      replicas.map(({ verdict }) => verdict),
      ['inconclusive', 'inconclusive', 'inconclusive']
    )
    assert.equal(at.receipts.size, 0)
  })

  it('that two nodes saw fail the same way has failed, with a receipt and what it left', async () => {
    const at = await world()
    const nodes = [at.join('ann'), at.join('bob')]
    at.submit(A, [bundle('x')])
    for (const node of nodes) at.work(node, { exitCode: 3, output: `half of ${node.id}` })
    const { state, failure, decision } = record(at)
    assert.deepEqual([state, failure?.code, decision?.exitCode, decision?.held], ['failed', 'exit', 3, true])
    assert.equal(at.receipts.get(T)?.vote, 'exit:3')
  })

  it('ended by a limit fails with the name of the limit', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], SINGLE)
    at.work(ann, { reason: 'memory', exitCode: 137 })
    assert.equal(record(at).failure?.code, 'memory')
  })

  it('that nodes fail at moves on until K attempts are used', async () => {
    const at = await world()
    const nodes = ['a', 'b', 'c', 'd'].map((id) => at.join(id))
    at.submit(A, [bundle('x')], SINGLE)
    for (let attempt = 0; attempt < 3; attempt++) {
      const holder = nodes.find((node) => node.leases.size > 0)
      if (holder === undefined) throw new Error('nobody has it')
      at.giveBack(holder, [...holder.leases.keys()][0] ?? '', 'node', 'out of luck')
    }
    const { state, failure, replicas } = record(at)
    assert.deepEqual([state, failure?.code, replicas.length], ['failed', 'too_many_errors', 3])
    assert.equal(new Set(replicas.map(({ node }) => node)).size, 3)
  })

  it('whose input two nodes find at fault fails with what they say', async () => {
    const at = await world()
    const nodes = [at.join('ann'), at.join('bob'), at.join('cid')]
    at.submit(A, [bundle('x')], SINGLE)
    for (const node of nodes) for (const replica of [...node.leases.keys()]) at.giveBack(node, replica, 'input', 'no such image')
    for (const node of nodes) for (const replica of [...node.leases.keys()]) at.giveBack(node, replica, 'input', 'no such image')
    assert.deepEqual(record(at).failure, { code: 'input', message: 'no such image' })
  })

  it('given back by its node is no error, and that node may take it again', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], { ...SINGLE, maxErrorResults: 1 })
    at.giveBack(ann, `${T}.1`, 'owner', 'paused')
    assert.equal(states(at), 'ann returned, ann leased')
    at.work(ann)
    assert.equal(record(at).state, 'ready')
  })

  it('killed while it runs stays killed: the node is told, its result changes nothing', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], SINGLE)
    at.begin(ann, `${T}.1`)
    const lease = ann.leases.get(`${T}.1`)
    at.apply({ kind: 'kill', batch: A, by: 'owner' })
    assert.deepEqual(ann.cancelled, [`${T}.1`])
    if (lease !== undefined) ann.leases.set(`${T}.1`, lease)
    at.report(ann, `${T}.1`, { output: 'too late' })
    assert.equal(record(at).state, 'killed')
    assert.equal(states(at), 'ann cancelled')
  })

  it('killed before its start is never granted', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], SINGLE)
    at.coordinator.apply({ kind: 'kill', batch: A, task: T, by: 'owner' }, at.nowMs)
    at.begin(ann, `${T}.1`)
    assert.deepEqual([[...ann.granted], ann.refused], [[], [`${T}.1`]])
  })
})

describe('an output', () => {
  it('is fetched once from those that agree, and the task is ready when it is here', async () => {
    const at = await world()
    at.pulls = false
    const nodes = [at.join('ann'), at.join('bob')]
    at.submit(A, [bundle('x')])
    for (const node of nodes) at.work(node, { output: 'four' })
    const pulls = at.effects.filter((effect) => effect.kind === 'pull')
    assert.deepEqual(
      pulls.map(({ nodes: from }) => [...from].sort()),
      [['ann', 'bob']]
    )
    assert.equal(record(at).state, 'validating')
    at.apply({ kind: 'pulled', task: T, node: 'ann', ok: true, message: '' })
    assert.equal(record(at).state, 'ready')
  })

  it('is asked for again after a coordinator crash', async () => {
    const at = await world()
    at.pulls = false
    const nodes = [at.join('ann'), at.join('bob')]
    at.submit(A, [bundle('x')])
    for (const node of nodes) at.work(node, { output: 'four' })
    at.effects.length = 0
    await at.start()
    assert.equal(at.effects.filter((effect) => effect.kind === 'pull').length, 1)
    at.apply({ kind: 'pulled', task: T, node: 'ann', ok: true, message: '' })
    assert.equal(record(at).state, 'ready')
    assert.equal(at.receipts.get(T)?.results.length, 2)
  })

  it('that nobody can hand over is computed again, and must come out the same', async () => {
    const at = await world()
    at.pulls = false
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], SINGLE)
    at.work(ann, { output: 'four' })
    const vote = record(at).decision?.vote
    for (let round = 0; round < 4; round++) {
      at.apply({ kind: 'pulled', task: T, node: 'ann', ok: false, message: 'gone' })
      at.pass(5_500)
    }
    const liar = at.join('liar')
    at.work(liar, { output: 'five' })
    assert.deepEqual(nodeCounts(at, 'liar'), { valid: 0, invalid: 1, errors: 0, lost: 0 })
    const cid = at.join('cid')
    at.pulls = true
    at.work(cid, { output: 'four' })
    const { state, decision, outputLosses } = record(at)
    assert.deepEqual([state, decision?.vote, outputLosses], ['ready', vote, 1])
  })
})

describe('a node', () => {
  it('silent for more than 15 s is lost, and its work is leased elsewhere within a second', async () => {
    const at = await world()
    const [ann, bob] = [at.join('ann'), at.join('bob', offer(0))]
    at.submit(A, [bundle('x')], SINGLE)
    at.begin(ann, `${T}.1`)
    at.apply({ kind: 'demand', node: 'bob', slots: 1 })
    at.pass(15_000, [ann])
    assert.equal(states(at), 'ann running')
    at.pass(1_000, [ann])
    assert.equal(states(at), 'ann lost, bob leased')
    assert.deepEqual([...bob.leases.keys()], [`${T}.2`])
  })

  it('back with its work in hand keeps its attempt when nobody has taken it over', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], SINGLE)
    at.begin(ann, `${T}.1`)
    at.pass(20_000, [ann])
    assert.equal(states(at), 'ann lost')
    at.join('ann')
    assert.deepEqual([states(at), ann.welcomes.at(-1)?.unknown], ['ann running', []])
    at.work(ann)
    assert.equal(record(at).state, 'ready')
    assert.deepEqual(nodeCounts(at, 'ann'), { valid: 1, invalid: 0, errors: 0, lost: 0 })
  })

  it('back after its work was taken over drops it; a result that it has already counts', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.submit(A, [bundle('x'), bundle('y')], SINGLE)
    at.begin(ann, `${T}.1`)
    at.pass(20_000, [ann])
    const bob = at.join('bob', offer(2))
    assert.equal(bob.leases.size, 2)
    at.nodes.get('ann')?.leases.set(`${T}.1`, { epoch: 1, bundle: bundle('x').manifest.image ?? (await import('multiformats/cid')).CID.parse(bundle('x').cid) })
    at.join('ann', offer(0))
    assert.deepEqual(ann.welcomes.at(-1)?.unknown, [`${T}.1`])
    ann.leases.set(`${T}.1`, { epoch: 1, bundle: (await import('multiformats/cid')).CID.parse(bundle('x').cid) })
    at.report(ann, `${T}.1`, { output: 'four' })
    assert.equal(record(at).state, 'ready')
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
    assert.equal(states(at), 'ann lost, bob leased')
  })

  it('that forgot a lease which it had acknowledged loses it after two seconds', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], SINGLE)
    ann.leases.clear()
    at.join('ann', offer(0))
    assert.equal(states(at), 'ann leased')
    at.pass(2_500)
    assert.equal(states(at), 'ann lost')
  })

  it('that says bye gives everything back at once', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.join('bob', offer(0))
    at.submit(A, [bundle('x')], SINGLE)
    at.apply({ kind: 'demand', node: 'bob', slots: 1 })
    at.apply({ kind: 'bye', node: 'ann', seq: ++ann.sent })
    assert.equal(states(at), 'ann returned, bob leased')
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
    assert.equal(states(at), 'ann leased')
    at.apply({ kind: 'start', node: 'ann', seq: ++ann.sent, replicas: [{ replica: `${T}.1`, epoch: at.epoch + 1 }] })
    assert.deepEqual([ann.refused, states(at)], [[`${T}.1`], 'ann lost, bob leased'])
  })

  it('that reports without asking to start is not believed', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], SINGLE)
    at.report(ann, `${T}.1`, { output: 'four' })
    assert.equal(states(at), 'ann returned')
    assert.deepEqual(nodeCounts(at, 'ann'), { valid: 0, invalid: 0, errors: 1, lost: 0 })
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
    assert.equal(record(at).state, 'ready')
    for (const [node, held, output] of [
      [c, leases[2], 'four'],
      [d, leases[3], 'five']
    ] as const) {
      const [replica = '', lease] = [...(held ?? [])][0] ?? []
      if (lease !== undefined) node.leases.set(replica, lease)
      at.report(node, replica, { output })
    }
    assert.deepEqual(nodeCounts(at, 'c'), { valid: 1, invalid: 0, errors: 0, lost: 0 })
    assert.deepEqual(nodeCounts(at, 'd'), { valid: 0, invalid: 1, errors: 0, lost: 0 })
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
    assert.deepEqual([record(at).state, record(at, `${A}.1`).state], ['ready', 'ready'])
    assert.equal(record(at, `${A}.1`).replicas.length, 1)
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
    assert.equal(record(at).state, 'ready')
    await at.start()
    at.submit(A, [bundle('x')], SINGLE)
    assert.equal(at.coordinator.batch(A), undefined)
    assert.equal(at.store.keys('recent/').length, 1)
  })
})

describe('submitting', () => {
  it('in parts schedules nothing before the last, and a part sent twice counts once', async () => {
    const at = await world()
    const ann = at.join('ann', offer(9))
    const part = {
      kind: 'submit',
      batch: A,
      name: 'parts',
      by: 'owner',
      policy: { ...(await import('#protocol/bundle/policy')).DEFAULT_POLICY, ...SINGLE },
      seed: 1
    } as const
    at.apply({ ...part, bundles: [bundle('a'), bundle('b')], more: true, from: 0 })
    at.apply({ ...part, bundles: [bundle('a'), bundle('b')], more: true, from: 0 })
    assert.equal(record(at).state, 'created')
    assert.equal(ann.leases.size, 0)
    await at.start()
    at.join('ann', offer(9))
    at.apply({ ...part, bundles: [bundle('c')], more: false, from: 2 })
    assert.deepEqual([...ann.leases.keys()], [`${A}.0.1`, `${A}.1.1`, `${A}.2.1`])
  })

  it('the same manifest many times stores it once', async () => {
    const at = await world()
    at.submit(A, [bundle('x'), bundle('x'), bundle('x')])
    assert.equal(at.store.keys('bundle/').length, 1)
    assert.equal(at.store.keys('task/').length, 3)
  })

  it('is found by id, by prefix, by name and by index, newest first in the store', async () => {
    const at = await world()
    at.submit(A, [bundle('x')])
    at.submit(batchId(2), [bundle('y')])
    assert.deepEqual(
      at.coordinator.find(A).map(({ id }) => id),
      [A]
    )
    assert.equal(at.coordinator.find('a batch').length, 2)
    assert.deepEqual(at.coordinator.find(`${A}.0`), [{ kind: 'task', id: T, name: 'a batch' }])
    assert.deepEqual(at.coordinator.find(`${A}.7`), [])
    const newest: string[] = []
    for await (const [, id] of at.store.range('recent/', 'recent0', { reverse: true })) newest.push(new TextDecoder().decode(id))
    assert.deepEqual(newest, [batchId(2), A])
  })
})
