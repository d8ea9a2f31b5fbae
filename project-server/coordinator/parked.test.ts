import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { encodeManifest, manifestCid } from '#protocol/bundle/manifest'
import { commitmentOf } from '#protocol/result/commitment'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, type Outcome, offer, outputOf, plainBundle, result, SEAL, signedResult } from '#test/support/coordinator-parts'
import { KEEPERS_MAX } from './policy.ts'

const TASK = `${batchId(1)}.0`
const TRUTH = { output: 'the truth' }
const ALONE = { minQuorum: 1, targetResults: 1 }

async function project(names: readonly string[], policy = {}): Promise<{ world: CoordinatorWorld; nodes: ScriptedNode[] }> {
  const world = await new CoordinatorWorld().start()
  const nodes = names.map((id) => world.join(id, offer(1)))
  world.submit(batchId(1), [plainBundle('x')], policy)
  return { world, nodes }
}

/** The keeper tells of what this node left with it. */
function handOver(world: CoordinatorWorld, keeper: ScriptedNode, node: string, replica: string, outcome: Outcome = TRUTH, salt?: Uint8Array): void {
  const bundle = plainBundle('x').manifest
  const said = signedResult({ ...result(node, replica, cidOf(bundle), outcome), ...(salt === undefined ? {} : { salt }) })
  world.apply({ kind: 'parked', node: keeper.id, results: [{ ...said, seal: SEAL }] })
}

function cidOf(manifest: ReturnType<typeof plainBundle>['manifest']): ReturnType<typeof outputOf> {
  return manifestCid(encodeManifest(manifest))
}

/** Those that run the task, and one that does not. */
function parts(nodes: readonly ScriptedNode[]): { readonly at: readonly ScriptedNode[]; readonly others: readonly ScriptedNode[] } {
  return { at: nodes.filter(({ leases }) => leases.size > 0), others: nodes.filter(({ leases }) => leases.size === 0) }
}

function replicaOf(node: ScriptedNode): string {
  return [...node.leases.keys()][0] ?? assert.fail(`${node.id} has no lease`)
}

describe('F22: a result that comes through another node', () => {
  it('counts as if its node had said it; its keeper is asked for the output, told at the end, and neither paid nor blamed', async () => {
    const { world, nodes } = await project(['a', 'b', 'c'], ALONE)
    const { at, others } = parts(nodes)
    const [node, [keeper, second]] = [at[0] as ScriptedNode, others as [ScriptedNode, ScriptedNode]]
    const replica = replicaOf(node)
    world.pulls = false
    world.apply({ kind: 'gone', node: node.id })
    handOver(world, keeper, node.id, replica)
    handOver(world, second, node.id, replica)
    assert.equal(world.states(TASK), `${node.id} reported`)
    const pull = world.effects.findLast((effect) => effect.kind === 'pull')
    assert.ok(pull?.kind === 'pull')
    assert.deepEqual([pull.nodes[0], pull.output], [keeper.id, outputOf('the truth').toString()])
    assert.deepEqual([keeper.released, second.released], [[], []])
    world.apply({ kind: 'pulled', task: TASK, node: keeper.id, ok: true, message: '' })
    assert.equal(world.record(TASK).state, 'ready')
    assert.deepEqual([keeper.released, second.released], [[replica], [replica]])
    assert.deepEqual([world.counts(node.id).valid, world.counts(keeper.id).valid], [1, 0])
    assert.ok(world.coordinator.nodeCredits(9).every(({ id }) => id !== keeper.id && id !== second.id))
    world.join(node.id)
    assert.deepEqual(world.nodes.get(node.id)?.released, [replica])
  })

  it('of a node that was given up takes its place again, and nobody else runs it', async () => {
    const { world, nodes } = await project(['a', 'b'], { ...ALONE, nodes: ['a', 'b'] })
    const { at, others } = parts(nodes)
    const [node, keeper] = [at[0] as ScriptedNode, others[0] as ScriptedNode]
    const replica = replicaOf(node)
    world.apply({ kind: 'hold', by: 'owner', batch: batchId(1), reason: '', stop: false })
    world.pass(20_000, [node])
    assert.equal(world.states(TASK), `${node.id} lost`)
    handOver(world, keeper, node.id, replica)
    assert.deepEqual([world.record(TASK).state, world.counts(node.id).lost, world.states(TASK)], ['ready', 0, `${node.id} reported`])
  })

  it('too late is judged once, whoever brings it and however often', async () => {
    const { world, nodes } = await project(['a', 'b', 'c', 'd'], { minQuorum: 2, targetResults: 3 })
    const { at, others } = parts(nodes)
    const [late, ...fast] = at as [ScriptedNode, ScriptedNode, ScriptedNode]
    const keeper = others[0] as ScriptedNode
    const replica = replicaOf(late)
    world.pulls = false
    world.pass(20_000, [late])
    for (const node of fast) world.work(node, TRUTH)
    assert.ok(world.record(TASK).decision !== null)
    for (let times = 0; times < 3; times++) handOver(world, keeper, late.id, replica)
    assert.deepEqual([world.counts(late.id).valid, keeper.released], [1, [replica, replica, replica]])
    assert.match(world.states(TASK), new RegExp(`${late.id} lost`))
  })

  it('is not wanted of who is not known, of a task that is over, or that others keep already; then it may be dropped', async () => {
    const { world, nodes } = await project(['a', ...Array.from({ length: KEEPERS_MAX + 1 }, (_, index) => `k${index}`)], { ...ALONE, nodes: ['a'] })
    const { at, others } = parts(nodes)
    const node = at[0] as ScriptedNode
    const replica = replicaOf(node)
    const [first] = others as [ScriptedNode]
    handOver(world, first, 'a stranger', replica)
    handOver(world, first, node.id, `${batchId(9)}.0.1`)
    handOver(world, first, 'k3', replica)
    assert.equal(first.released.length, 3)
    assert.equal(world.states(TASK), `${node.id} running`)
    world.pulls = false
    for (const keeper of others) handOver(world, keeper, node.id, replica)
    assert.deepEqual(
      others.map(({ released }) => released.length),
      [3, ...Array.from({ length: KEEPERS_MAX - 1 }, () => 0), 1]
    )
    handOver(world, first, node.id, replica, { output: 'something else' })
    assert.equal(first.released.length, 4)
  })

  it('of a banned node is no vote', async () => {
    const { world, nodes } = await project(['a', 'b'], { ...ALONE, nodes: ['a'] })
    const [a, keeper] = nodes as [ScriptedNode, ScriptedNode]
    const replica = replicaOf(a)
    world.apply({ kind: 'ban', by: 'admin', target: { kind: 'node', value: 'a' }, reason: '', lift: false })
    handOver(world, keeper, 'a', replica)
    assert.deepEqual([world.record(TASK).decision, keeper.released], [null, [replica]])
  })

  it('that was sealed opens its seal, or breaks it', async () => {
    for (const [outcome, state] of [
      [TRUTH, 'ready'],
      [{ output: 'another' }, 'running']
    ] as const) {
      const { world, nodes } = await project(['a', 'b', 'c', 'd'], { commit: true })
      const { at, others } = parts(nodes)
      const [a, b] = at as [ScriptedNode, ScriptedNode]
      const salt = new Uint8Array(32)
      const ids = [a, b].map(replicaOf)
      for (const [index, node] of [a, b].entries()) {
        const replica = ids[index] ?? ''
        const { body } = signedResult({ ...result(node.id, replica, cidOf(plainBundle('x').manifest), TRUTH), salt })
        const digest = Buffer.from(commitmentOf(body)).toString('hex')
        world.apply({ kind: 'commits', node: node.id, seq: ++node.sent, replicas: [{ replica, digest }] })
      }
      handOver(world, others[0] as ScriptedNode, a.id, ids[0] ?? '', TRUTH, salt)
      handOver(world, others[0] as ScriptedNode, b.id, ids[1] ?? '', outcome, salt)
      assert.equal(world.record(TASK).state, state)
    }
  })

  it('counts once and is released everywhere in the end, in whatever order its node and its keepers bring it, over restarts', async () => {
    const act = fc.oneof(
      { weight: 4, arbitrary: fc.record({ what: fc.constant('hand' as const), keeper: fc.nat(2) }) },
      { weight: 2, arbitrary: fc.record({ what: fc.constant('say' as const) }) },
      { weight: 1, arbitrary: fc.record({ what: fc.constant('others' as const) }) },
      { weight: 1, arbitrary: fc.record({ what: fc.constant('restart' as const) }) },
      { weight: 1, arbitrary: fc.record({ what: fc.constant('pass' as const) }) },
      { weight: 1, arbitrary: fc.record({ what: fc.constant('pulled' as const) }) }
    )
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 12 }), fc.boolean(), async (acts, right) => {
        const keepers = ['k0', 'k1', 'k2']
        const { world } = await project(['a', 'b', ...keepers], { nodes: ['a', 'b'] })
        world.pulls = false
        const a = world.nodes.get('a') as ScriptedNode
        const replica = replicaOf(a)
        const outcome = right ? TRUTH : { output: 'an error' }
        const kept = new Set<string>()
        const said = signedResult(result('a', replica, cidOf(plainBundle('x').manifest), outcome))
        const back = (): void => {
          for (const name of world.nodes.keys()) world.join(name)
          for (const name of kept) handOver(world, world.nodes.get(name) as ScriptedNode, 'a', replica, outcome)
        }
        const pulled = (): void => {
          if (world.record(TASK).decision !== null) world.apply({ kind: 'pulled', task: TASK, node: 'b', ok: true, message: '' })
        }
        const others = (): void => {
          for (const node of world.nodes.values()) if (node !== a && node.leases.size > 0) world.work(node, TRUTH)
        }
        for (const one of acts) {
          if (one.what === 'hand') {
            const name = keepers[one.keeper] ?? ''
            kept.add(name)
            handOver(world, world.nodes.get(name) as ScriptedNode, 'a', replica, outcome)
          } else if (one.what === 'say') world.apply({ kind: 'reports', node: 'a', seq: ++a.sent, results: [said], seal: SEAL })
          else if (one.what === 'others') others()
          else if (one.what === 'pulled') pulled()
          else if (one.what === 'pass') world.pass(20_000, [a])
          else {
            await world.start()
            back()
          }
        }
        // In the end all are there, and what is left to be done is done.
        back()
        for (let round = 0; round < 6; round++) {
          others()
          for (const id of [...a.leases.keys()]) if (id !== replica) world.report(a, id, TRUTH)
          pulled()
        }
        const { valid, invalid } = world.counts('a')
        assert.ok(valid + invalid <= 1 + world.record(TASK).replicas.filter(({ node }) => node === 'a').length - 1)
        if (!['ready', 'failed', 'killed'].includes(world.record(TASK).state)) return
        for (const name of kept) assert.ok(world.nodes.get(name)?.released.includes(replica), `${name} was never told`)
      }),
      { numRuns: 150 }
    )
  })
})
