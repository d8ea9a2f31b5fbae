import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { decodeFrame } from '#protocol/control/messages'
import { commitmentOf } from '#protocol/result/commitment'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, type Outcome, offer, plainBundle, result, SEAL, signedResult } from '#test/support/coordinator-parts'
import { DEFAULT_COORDINATOR_POLICY, PULL_RETRY_MS, PULL_ROUNDS_MAX, REVEAL_MS_MAX } from './policy.ts'

const TASK = `${batchId(1)}.0`
const DAY_MS = 86_400_000
const SEALED = { commit: true }

async function project(names: readonly string[], policy = {}): Promise<{ world: CoordinatorWorld; nodes: ScriptedNode[] }> {
  const world = await new CoordinatorWorld().start()
  const nodes = names.map((id) => world.join(id, offer(1)))
  world.submit(batchId(1), [plainBundle('x')], { ...SEALED, ...policy })
  return { world, nodes }
}

function replicaOf(node: ScriptedNode): string {
  return [...node.leases.keys()].find((id) => id.startsWith(batchId(1))) ?? assert.fail(`${node.id} has no lease`)
}

function said(node: ScriptedNode, outcome: Outcome): ReturnType<typeof signedResult> {
  const replica = replicaOf(node)
  return signedResult({
    ...result(node.id, replica, node.leases.get(replica)?.bundle ?? assert.fail(), outcome),
    salt: new Uint8Array(32).fill(node.id.charCodeAt(0))
  })
}

function commit(world: CoordinatorWorld, node: ScriptedNode, outcome: Outcome): void {
  const digest = Buffer.from(commitmentOf(said(node, outcome).body)).toString('hex')
  world.apply({ kind: 'commits', node: node.id, seq: ++node.sent, replicas: [{ replica: replicaOf(node), digest }] })
}

function reveal(world: CoordinatorWorld, node: ScriptedNode, outcome: Outcome): void {
  world.apply({ kind: 'reports', node: node.id, seq: ++node.sent, results: [said(node, outcome)], seal: SEAL })
}

const TRUTH = { output: 'the truth' }

describe('F23: sealed results', () => {
  it('are asked for when a quorum is bound, and no sooner; then they decide as others do', async () => {
    const { world, nodes } = await project(['a', 'b', 'c'])
    const [a, b] = nodes.filter(({ leases }) => leases.size > 0) as [ScriptedNode, ScriptedNode]
    commit(world, a, TRUTH)
    assert.deepEqual([a.revealed, world.record(TASK).state], [[], 'running'])
    commit(world, b, TRUTH)
    assert.deepEqual([a.revealed, b.revealed], [[replicaOf(a)], [replicaOf(b)]])
    reveal(world, b, TRUTH)
    assert.equal(world.record(TASK).decision, null)
    reveal(world, a, TRUTH)
    assert.equal(world.record(TASK).state, 'ready')
    assert.deepEqual([world.counts('a').valid, world.counts('b').valid], [1, 1])
  })

  it('who is bound has its slot back while the others run', async () => {
    const { world, nodes } = await project(['a', 'b'])
    const [a] = nodes as [ScriptedNode]
    commit(world, a, TRUTH)
    world.submit(batchId(2), [plainBundle('y')], { minQuorum: 1, targetResults: 1 })
    assert.equal(world.states(`${batchId(2)}.0`), 'a running')
  })

  it('a copied answer is caught, whatever was copied and whoever speaks first', async () => {
    const text = fc.string({ minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(text, text, fc.boolean(), async (own, copied, first) => {
        fc.pre(own !== copied)
        const { world, nodes } = await project(['a', 'b', 'c'])
        const [honest, copier] = nodes.filter(({ leases }) => leases.size > 0) as [ScriptedNode, ScriptedNode]
        commit(world, honest, { output: copied })
        commit(world, copier, { output: own })
        const speak: readonly (() => void)[] = [() => reveal(world, honest, { output: copied }), () => reveal(world, copier, { output: copied })]
        for (const one of first ? speak : [...speak].reverse()) one()
        const caught = world.record(TASK).replicas.find(({ node }) => node === copier.id)
        assert.match(caught?.fault?.message ?? '', /changed or copied/)
        assert.deepEqual([caught?.vote, world.counts(copier.id).errors, world.record(TASK).decision], [null, 1, null])
      }),
      { numRuns: 30 }
    )
  })

  it('a result that nobody was bound to is no vote, and one that is not said in time is an error of its node', async () => {
    const { world, nodes } = await project(['a', 'b', 'c', 'd'])
    const [a, b] = nodes.filter(({ leases }) => leases.size > 0) as [ScriptedNode, ScriptedNode]
    reveal(world, a, TRUTH)
    assert.match(world.record(TASK).replicas.find(({ node }) => node === a.id)?.fault?.message ?? '', /had not committed/)
    const c = nodes.find(({ id, leases }) => id !== a.id && id !== b.id && leases.size > 0) ?? assert.fail()
    commit(world, b, TRUTH)
    commit(world, c, TRUTH)
    reveal(world, c, TRUTH)
    world.pass(REVEAL_MS_MAX + 1_000)
    assert.match(world.record(TASK).replicas.find(({ node }) => node === b.id)?.fault?.message ?? '', /did not say/)
    const d = nodes.find(({ id, leases }) => ![a.id, b.id, c.id].includes(id) && leases.size > 0) ?? assert.fail()
    commit(world, d, TRUTH)
    reveal(world, d, TRUTH)
    assert.equal(world.record(TASK).state, 'ready')
  })

  it('of fewer than a quorum are asked for when no more may be issued: the task ends', async () => {
    const { world, nodes } = await project(['a', 'b', 'c'], { maxTotalResults: 2, maxErrorResults: 2 })
    const [a, b] = nodes.filter(({ leases }) => leases.size > 0) as [ScriptedNode, ScriptedNode]
    commit(world, a, TRUTH)
    assert.deepEqual(a.revealed, [])
    world.giveBack(b, replicaOf(b), 'node')
    assert.deepEqual(a.revealed, [replicaOf(a)])
    reveal(world, a, TRUTH)
    assert.deepEqual([world.record(TASK).state, world.record(TASK).failure?.code], ['failed', 'too_many_errors'])
  })

  it('are asked for again after a restart', async () => {
    const { world, nodes } = await project(['a', 'b'])
    const [a, b] = nodes as [ScriptedNode, ScriptedNode]
    commit(world, a, TRUTH)
    commit(world, b, TRUTH)
    await world.start()
    for (const { id } of nodes) world.join(id)
    assert.ok(a.revealed.length > 0)
    reveal(world, a, TRUTH)
    reveal(world, b, TRUTH)
    assert.equal(world.record(TASK).state, 'ready')
  })

  it('are judged once when others were faster: no error for what was said, and nothing for saying it twice, over a restart too', async () => {
    for (const restarts of [false, true]) {
      const { world, nodes } = await project(['a', 'b', 'c'], { targetResults: 3 })
      world.pulls = false
      const [a, b, c] = nodes as [ScriptedNode, ScriptedNode, ScriptedNode]
      for (const node of nodes) commit(world, node, TRUTH)
      reveal(world, a, TRUTH)
      reveal(world, b, TRUTH)
      const bound = said(c, TRUTH)
      const id = replicaOf(c)
      const say = (): void => world.apply({ kind: 'reports', node: 'c', seq: ++c.sent, results: [bound], seal: SEAL })
      say()
      assert.ok(c.released.includes(id))
      if (restarts) {
        await world.start()
        for (const node of nodes) world.join(node.id)
      }
      say()
      world.pass(REVEAL_MS_MAX + 1_000)
      assert.deepEqual(world.counts('c'), { valid: 1, invalid: 0, errors: 0, lost: 0 })
      assert.equal(world.record(TASK).state, 'validating')
    }
  })

  it('that come late are what their nodes were bound to, or a fault: an answer is not copied after the decision either', async () => {
    for (const pulls of [false, true]) {
      const { world, nodes } = await project(['a', 'b', 'c', 'd'], { targetResults: 4 })
      world.pulls = pulls
      const [a, b, c, d] = nodes as [ScriptedNode, ScriptedNode, ScriptedNode, ScriptedNode]
      const copied = [c, d].map((node) => said(node, TRUTH))
      commit(world, a, TRUTH)
      commit(world, b, TRUTH)
      commit(world, c, { output: 'a lie' })
      reveal(world, a, TRUTH)
      reveal(world, b, TRUTH)
      assert.equal(world.record(TASK).state, pulls ? 'ready' : 'validating')
      for (const [index, node] of [c, d].entries()) {
        const one = copied[index] ?? assert.fail()
        world.apply({ kind: 'reports', node: node.id, seq: ++node.sent, results: [one], seal: SEAL })
        world.apply({ kind: 'reports', node: node.id, seq: ++node.sent, results: [one], seal: SEAL })
      }
      assert.deepEqual(world.counts('c'), { valid: 0, invalid: 0, errors: 1, lost: 0 }, 'it was bound to a lie')
      assert.deepEqual(world.counts('d'), { valid: 0, invalid: 0, errors: 0, lost: 0 }, 'it was bound to nothing')
      assert.deepEqual(world.store.keys('late/'), [])
    }
  })

  it('are not asked of who computes a lost output again: what was agreed is known, and the task ends', async () => {
    const { world, nodes } = await project(['a', 'b', 'c'])
    world.pulls = false
    const voters = nodes.filter(({ leases }) => leases.size > 0) as [ScriptedNode, ScriptedNode]
    for (const node of voters) commit(world, node, TRUTH)
    for (const node of voters) reveal(world, node, TRUTH)
    for (let round = 0; round < PULL_ROUNDS_MAX; round++) {
      world.apply({ kind: 'pulled', task: TASK, node: 'a', ok: false, message: 'gone' })
      world.pass(PULL_RETRY_MS + 1_000)
    }
    const third = nodes.find((node) => !voters.includes(node as never)) ?? assert.fail()
    world.pulls = true
    reveal(world, third, TRUTH)
    assert.deepEqual([world.record(TASK).state, world.counts(third.id)], ['ready', { valid: 1, invalid: 0, errors: 0, lost: 0 }])
  })

  it('that are broken again and again set their node aside, and it gets nothing more, however many it breaks at once', async () => {
    for (const slots of [1, DEFAULT_COORDINATOR_POLICY.failuresMax]) {
      const world = await new CoordinatorWorld().start()
      const liar = world.join('liar', offer(slots))
      const tasks = Array.from({ length: 2 * DEFAULT_COORDINATOR_POLICY.failuresMax }, (_, task) => plainBundle(`${task}`))
      world.submit(batchId(1), tasks, { ...SEALED, maxTotalResults: 2, maxErrorResults: 2 })
      const other = world.join('other', offer(100))
      for (const node of [other, liar]) world.apply({ kind: 'demand', node: node.id, slots: node === other ? 0 : slots })
      const isAside = (): boolean => world.coordinator.nodes().find(({ id }) => id === 'liar')?.state === 'set aside'
      for (let round = 0; !isAside() && liar.leases.size > 0; round++) {
        assert.ok(round < tasks.length)
        const bound = [...liar.leases]
        for (const [replica] of bound) world.apply({ kind: 'commits', node: 'liar', seq: ++liar.sent, replicas: [{ replica, digest: '00'.repeat(32) }] })
        for (const [replica, { bundle }] of bound) {
          liar.leases.delete(replica)
          world.apply({ kind: 'reports', node: 'liar', seq: ++liar.sent, results: [signedResult(result('liar', replica, bundle, TRUTH))], seal: SEAL })
        }
      }
      assert.ok(isAside())
      const leased = liar.leases.size
      world.submit(batchId(2), [plainBundle('more')], { minQuorum: 1, targetResults: 1 })
      assert.ok(![...liar.leases.keys()].some((id) => id.startsWith(batchId(2))), `${leased}`)
    }
  })

  it('are asked of believed nodes, too, whose leases do not tell whether they are checked; one that decides alone says its own at once', async () => {
    const world = await new CoordinatorWorld({ ...DEFAULT_COORDINATOR_POLICY, trustedAfter: 2 }).start()
    const [a, b] = ['a', 'b'].map((id) => world.join(id)) as [ScriptedNode, ScriptedNode]
    world.submit(
      batchId(2),
      Array.from({ length: 2 }, (_, task) => plainBundle(`${task}`)),
      { minQuorum: 2, targetResults: 2 }
    )
    for (let round = 0; round < 2; round++) for (const node of [a, b]) world.work(node, TRUTH)
    world.apply({ kind: 'demand', node: 'b', slots: 0 })
    const seen = new Set<boolean>()
    for (let number = 100; seen.size < 2; number++) {
      world.effects.length = 0
      world.submit(batchId(number), [plainBundle(`${number}`)], { ...SEALED, adaptive: true })
      const frames = world.effects.flatMap((effect) => (effect.kind === 'send' ? [decodeFrame(effect.frame)] : []))
      assert.deepEqual(
        frames.flatMap((frame) => frame?.assign?.leases.map(({ sealed }) => sealed) ?? []),
        [true]
      )
      const task = `${batchId(number)}.0`
      const alone = world.record(task).replicas[0]?.standing.alone ?? false
      seen.add(alone)
      const bound = signedResult(result('a', `${task}.1`, a.leases.get(`${task}.1`)?.bundle ?? assert.fail(), TRUTH))
      const digest = Buffer.from(commitmentOf(bound.body)).toString('hex')
      world.apply({ kind: 'commits', node: 'a', seq: ++a.sent, replicas: [{ replica: `${task}.1`, digest }] })
      assert.equal(a.revealed.includes(`${task}.1`), alone)
      if (alone) world.apply({ kind: 'reports', node: 'a', seq: ++a.sent, results: [bound], seal: SEAL })
      assert.equal(world.record(task).state, alone ? 'ready' : 'validating')
      assert.equal(world.receipts.get(task)?.trusted, alone ? 2 : undefined)
      world.apply({ kind: 'kill', batch: batchId(number), by: 'owner' })
      world.pass(12_500)
    }
  })

  it('that are not said in time are an error although the clock was set back by a day meanwhile', async () => {
    const { world, nodes } = await project(['a', 'b', 'c'])
    world.nowMs += DAY_MS
    const bound = nodes.filter(({ leases }) => leases.size > 0)
    for (const node of bound) commit(world, node, TRUTH)
    world.nowMs -= DAY_MS
    world.pass(REVEAL_MS_MAX + 1_000)
    assert.deepEqual(
      bound.map(({ id }) => world.counts(id).errors),
      [1, 1]
    )
  })

  it('cost a quorum of one nothing: one who decides alone reports at once', async () => {
    const { world, nodes } = await project(['a'], { minQuorum: 1, targetResults: 1 })
    world.report(nodes[0] as ScriptedNode, `${TASK}.1`, TRUTH)
    assert.equal(world.record(TASK).state, 'ready')
  })
})
