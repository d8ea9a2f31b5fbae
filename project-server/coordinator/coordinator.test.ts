import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer, plainBundle } from '#test/support/coordinator-parts'
import { peekTasks } from '../../sim/stored-tasks.ts'
import { PULL_WAIT_MS_MAX } from './policy.ts'

const A = batchId(1)
const T = `${A}.0`
const SINGLE = { minQuorum: 1, targetResults: 1 }

async function world(): Promise<CoordinatorWorld> {
  return new CoordinatorWorld().start()
}

describe('a task', () => {
  it('is leased to two nodes, agreed on and ready', async () => {
    const at = await world()
    const [ann, bob] = [at.join('ann'), at.join('bob')]
    at.submit(A, [bundle('x')])
    assert.equal(at.states(T), 'ann leased, bob leased')
    at.work(ann, { output: 'four' })
    assert.equal(at.record(T).state, 'running')
    at.work(bob, { output: 'four' })
    assert.equal(at.record(T).state, 'ready')
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
    assert.equal(at.record(T).state, 'ready')
    const decided = at.receipts.get(T)
    assert.equal(decided?.results.length, 2)
    if (at.record(T).replicas.length === 3) {
      assert.deepEqual(at.counts('liar'), { valid: 0, invalid: 1, errors: 0, lost: 0 })
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
    const { state, failure, replicas } = at.record(T)
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
    const { state, failure, decision } = at.record(T)
    assert.deepEqual([state, failure?.code, decision?.exitCode, decision?.held], ['failed', 'exit', 3, true])
    assert.equal(at.receipts.get(T)?.vote, 'exit:3')
  })

  it('ended by a limit fails with the name of the limit', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], SINGLE)
    at.work(ann, { reason: 'memory', exitCode: 137 })
    assert.equal(at.record(T).failure?.code, 'memory')
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
    const { state, failure, replicas } = at.record(T)
    assert.deepEqual([state, failure?.code, replicas.length], ['failed', 'too_many_errors', 3])
    assert.equal(new Set(replicas.map(({ node }) => node)).size, 3)
  })

  it('whose input two nodes find at fault fails with what they say', async () => {
    const at = await world()
    const nodes = [at.join('ann'), at.join('bob'), at.join('cid')]
    at.submit(A, [bundle('x')], SINGLE)
    for (const node of nodes) for (const replica of [...node.leases.keys()]) at.giveBack(node, replica, 'input', 'no such image')
    for (const node of nodes) for (const replica of [...node.leases.keys()]) at.giveBack(node, replica, 'input', 'no such image')
    assert.deepEqual(at.record(T).failure, { code: 'input', message: 'no such image' })
  })

  it('given back by its node is no error, and that node may take it again', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], { ...SINGLE, maxErrorResults: 1 })
    at.giveBack(ann, `${T}.1`, 'owner', 'paused')
    assert.equal(at.states(T), 'ann returned, ann leased')
    at.work(ann)
    assert.equal(at.record(T).state, 'ready')
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
    assert.equal(at.record(T).state, 'killed')
    assert.equal(at.states(T), 'ann cancelled')
  })

  it('killed while it runs keeps its slot until the node has ended it, or 12 s', async () => {
    for (const answers of [true, false]) {
      const at = await world()
      const ann = at.join('ann')
      at.submit(A, [bundle('x')], SINGLE)
      at.begin(ann, `${T}.1`)
      at.apply({ kind: 'kill', batch: A, by: 'owner' })
      at.submit(batchId(2), [bundle('y')], SINGLE)
      assert.equal(ann.leases.size, 0)
      if (answers) at.giveBack(ann, `${T}.1`, 'cancelled')
      else at.pass(12_000)
      assert.deepEqual([...ann.leases.keys()], [`${batchId(2)}.0.1`])
    }
  })

  it('that needs nothing to be fetched is granted with its lease, once, and its run ends like any other', async () => {
    const at = await world()
    const ann = at.join('ann')
    at.submit(A, [plainBundle('x')], SINGLE)
    assert.deepEqual([[...ann.granted], at.states(T)], [[`${T}.1`], 'ann running'])
    at.begin(ann, `${T}.1`)
    await at.start()
    assert.equal(at.states(T), 'ann running')
    at.join('ann')
    at.report(ann, `${T}.1`, { output: 'four' })
    assert.equal(at.record(T).state, 'ready')
    const killed = batchId(2)
    at.submit(killed, [plainBundle('y')], SINGLE)
    at.apply({ kind: 'kill', batch: killed, by: 'owner' })
    assert.deepEqual(ann.cancelled, [`${killed}.0.1`])
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
    assert.equal(at.record(T).state, 'validating')
    at.apply({ kind: 'pulled', task: T, node: 'ann', ok: true, message: '' })
    assert.equal(at.record(T).state, 'ready')
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
    assert.equal(at.record(T).state, 'ready')
    assert.equal(at.receipts.get(T)?.results.length, 2)
  })

  it('is asked for again within seconds although the clock was set back by a day, and given up in its time', async () => {
    const at = await world()
    at.nowMs += 86_400_000
    at.pulls = false
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], SINGLE)
    at.work(ann, { output: 'four' })
    const asked = (): number => at.effects.filter(({ kind }) => kind === 'pull').length
    at.apply({ kind: 'pulled', task: T, node: 'ann', ok: false, message: 'gone' })
    at.nowMs -= 86_400_000
    at.pass(6_000)
    assert.equal(asked(), 2)
    at.apply({ kind: 'gone', node: 'ann' }, { kind: 'pulled', task: T, node: 'ann', ok: false, message: 'cut' })
    at.pass(PULL_WAIT_MS_MAX + 1_000)
    assert.equal(at.record(T).outputLosses, 1)
  })

  it('that nobody can hand over is computed again, and must come out the same', async () => {
    const at = await world()
    at.pulls = false
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], SINGLE)
    at.work(ann, { output: 'four' })
    const vote = at.record(T).decision?.vote
    for (let round = 0; round < 4; round++) {
      at.apply({ kind: 'pulled', task: T, node: 'ann', ok: false, message: 'gone' })
      at.pass(5_500)
    }
    const liar = at.join('liar')
    at.work(liar, { output: 'five' })
    assert.deepEqual(at.counts('liar'), { valid: 0, invalid: 1, errors: 0, lost: 0 })
    const cid = at.join('cid')
    at.pulls = true
    at.work(cid, { output: 'four' })
    const { state, decision, outputLosses } = at.record(T)
    assert.deepEqual([state, decision?.vote, outputLosses], ['ready', vote, 1])
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
      policy: { ...DEFAULT_POLICY, ...SINGLE },
      seed: 1
    } as const
    at.apply({ ...part, bundles: [bundle('a'), bundle('b')], more: true, from: 0 })
    at.apply({ ...part, bundles: [bundle('a'), bundle('b')], more: true, from: 0 })
    assert.equal(at.record(T).state, 'created')
    assert.equal(ann.leases.size, 0)
    await at.start()
    at.join('ann', offer(9))
    at.apply({ ...part, bundles: [bundle('c')], more: false, from: 2 })
    assert.deepEqual([...ann.leases.keys()], [`${A}.0.1`, `${A}.1.1`, `${A}.2.1`])
  })

  it('the same manifest many times stores it once', async () => {
    const at = await world()
    const many = Array.from({ length: 60 }, () => bundle('x'))
    at.submit(A, many)
    assert.equal(peekTasks(at.store, A).size, 60)
    const [page = '', ...others] = at.store.keys('submitted/')
    assert.deepEqual([others, at.store.keys('bundle/')], [[], []])
    assert.ok((at.store.peek(page)?.length ?? 0) < 2 * (many[0]?.bytes.length ?? 0))
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
