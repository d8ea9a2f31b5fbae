import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { TaskPolicy } from '#protocol/bundle/policy'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'
import { INDEPENDENCE_WAIT_MS, LOOK_AHEAD_MAX } from './policy.ts'

const BATCH = batchId(1)
const TASK = `${BATCH}.0`

async function world(nodes: Readonly<Record<string, { owner?: string; network?: string }>>): Promise<CoordinatorWorld> {
  const started = await new CoordinatorWorld().start()
  for (const [id, origin] of Object.entries(nodes)) started.join(id, offer(1, origin))
  return started
}

function reasons(of: CoordinatorWorld): unknown {
  return of.coordinator.why(TASK)?.nodes?.map(({ reason, nodes }) => [reason, nodes.map(({ id }) => id)])
}

function nodesOf(of: CoordinatorWorld): string[] {
  return of.record(TASK).replicas.map(({ node }) => node)
}

describe('independence (F18)', () => {
  it('gives the replicas of a task to different owners and networks while there are such', async () => {
    const town = await world({ a: { network: 'n1' }, b: { network: 'n1' }, c: { network: 'n2', owner: 'ann' }, d: { network: 'n3', owner: 'ann' } })
    town.submit(BATCH, [bundle('x')], { minQuorum: 2, targetResults: 2 })
    const took = nodesOf(town)
    assert.equal(took.length, 2)
    assert.ok(took.some((node) => node === 'a' || node === 'b') && took.some((node) => node === 'c' || node === 'd'), took.join(' '))
  })

  it('waits a while for a node that is independent, says so, and then takes another', async () => {
    const town = await world({ a: { network: 'n1' }, b: { network: 'n1' } })
    const away = town.join('c', offer(0, { network: 'n2' }))
    town.submit(BATCH, [bundle('x')])
    assert.equal(nodesOf(town).length, 1)
    const waits = town.coordinator.why(TASK)
    assert.equal(waits?.waitsFor, 'turn')
    assert.ok(waits.nodes?.some(({ reason, count }) => reason === 'not_independent' && count === 1))
    town.pass(INDEPENDENCE_WAIT_MS - 1000)
    assert.equal(nodesOf(town).length, 1)
    town.pass(2000)
    assert.deepEqual(nodesOf(town).sort(), ['a', 'b'])
    for (const node of [town.nodes.get('a'), town.nodes.get('b')]) if (node !== undefined) town.work(node)
    assert.equal(town.record(TASK).state, 'ready')
    assert.equal(away.leases.size, 0)
  })

  it('takes no second node of one place of which little is known while another could take the task, however long that is busy', async () => {
    const town = await world({ c: { network: 'n2' } })
    town.submit(batchId(2), [bundle('long')], { minQuorum: 1, targetResults: 1 })
    const [a, b] = [town.join('a', offer(1, { network: 'n1' })), town.join('b', offer(1, { network: 'n1' }))]
    town.submit(BATCH, [bundle('x')])
    town.work(a)
    town.pass(10 * INDEPENDENCE_WAIT_MS)
    assert.deepEqual(nodesOf(town), ['a'])
    assert.equal(town.coordinator.why(TASK)?.waitsFor, 'turn')
    const busy = town.nodes.get('c')
    assert.ok(busy !== undefined)
    town.work(busy)
    assert.deepEqual(nodesOf(town), ['a', 'c'])
    assert.equal(b.leases.size, 0)
  })

  it('takes none while another of a place could of which one has failed at the task', async () => {
    const town = await world({ failing: { network: 'campus' }, busy: { network: 'campus' } })
    const [failing, busy] = [town.nodes.get('failing'), town.nodes.get('busy')]
    assert.ok(failing !== undefined && busy !== undefined)
    town.submit(batchId(9), [bundle('a'), bundle('b')], { minQuorum: 1, targetResults: 1 })
    const first = town.join('first', offer(1, { network: 'n1' }))
    town.submit(BATCH, [bundle('x')], { copies: 'never' })
    town.begin(first, `${TASK}.1`)
    town.report(first, `${TASK}.1`, { output: 'made' })
    town.apply({ kind: 'demand', node: 'first', slots: 0 })
    town.work(failing)
    town.giveBack(failing, `${TASK}.2`, 'node')
    town.join('second', offer(1, { network: 'n1' }))
    town.pass(2 * INDEPENDENCE_WAIT_MS)
    assert.equal(town.states(TASK), 'first reported, failing returned')
    town.work(busy)
    assert.equal(town.states(TASK), 'first reported, failing returned, busy leased')
  })

  it('takes it where nobody else has what the task needs, or is named, or may have it again', async () => {
    const large = { resources: { memoryBytes: 2 ** 33 } }
    const roomy = { network: 'n1', memoryBytes: 2 ** 34 }
    const cases: readonly (readonly [Partial<TaskPolicy>, Parameters<typeof bundle>[1]])[] = [
      [{}, large],
      [{ nodes: ['a', 'b'] }, {}]
    ]
    for (const [policy, needs] of cases) {
      const town = await world({})
      for (const id of ['a', 'b']) town.join(id, offer(1, roomy))
      town.join('c', offer(1, { network: 'n2', memoryBytes: 2 ** 32 }))
      town.submit(BATCH, [bundle('x', needs)], policy)
      town.pass(2 * INDEPENDENCE_WAIT_MS)
      assert.deepEqual(nodesOf(town).sort(), ['a', 'b'])
    }
  })

  it('does not count what comes late beside the other of its place', async () => {
    const town = await world({ a: { network: 'n1' } })
    town.submit(BATCH, [bundle('x')])
    const [a, c] = [town.nodes.get('a'), town.join('c', offer(1, { network: 'n2' }))]
    assert.ok(a !== undefined)
    const [[replica, lease] = []] = a.leases
    assert.ok(replica !== undefined && lease !== undefined)
    town.begin(a, replica)
    town.pass(20_000, [a])
    const b = town.join('b', offer(1, { network: 'n1' }))
    assert.deepEqual(nodesOf(town), ['a', 'c', 'b'])
    town.work(b)
    town.join('a', offer(1, { network: 'n1' }))
    a.leases.set(replica, lease)
    town.report(a, replica)
    assert.deepEqual(
      town.record(TASK).replicas.map(({ state }) => state),
      ['lost', 'leased', 'reported']
    )
    town.work(c)
    assert.equal(town.record(TASK).state, 'ready')
  })

  it('waits for nobody where all nodes are alike, or nothing is known of them', async () => {
    for (const origin of [{ network: 'n1' }, { owner: 'ann' }, {}]) {
      const town = await world({ a: origin, b: origin, c: origin })
      town.submit(BATCH, [bundle('x')], { minQuorum: 3, targetResults: 3 })
      assert.equal(nodesOf(town).length, 3)
    }
  })

  it('does not wait for nodes that are gone', async () => {
    const town = await world({ a: { network: 'n1' }, b: { network: 'n1' } })
    town.join('c', offer(0, { network: 'n2' }))
    town.submit(BATCH, [bundle('x')])
    town.apply({ kind: 'gone', node: 'c' })
    town.pass(1000)
    assert.equal(nodesOf(town).length, 2)
  })

  it('does not wait for a node that says that it is of the same place now', async () => {
    const town = await world({ a: { network: 'n1' }, b: { network: 'n1' } })
    town.join('c', offer(0, { network: 'n2' }))
    town.submit(BATCH, [bundle('x')])
    town.join('c', offer(0, { network: 'n1' }))
    town.pass(1000)
    assert.equal(nodesOf(town).length, 2)
  })

  it('goes to another node of the place whose node was lost, where independence is required', async () => {
    const town = await world({ a: { network: 'n1' }, b: { network: 'n1' } })
    town.submit(BATCH, [bundle('x')], { independence: 'require', minQuorum: 1, targetResults: 1 })
    const [first = ''] = nodesOf(town)
    const lost = town.nodes.get(first)
    assert.ok(lost !== undefined)
    town.pass(20_000, [lost])
    assert.deepEqual(nodesOf(town), [first, first === 'a' ? 'b' : 'a'])
  })

  it('goes at once to who stayed away for the sake of a node that was lost, though no more runs are wanted than before', async () => {
    const town = await world({ a: { network: 'n1' }, b: { network: 'n2' } })
    town.submit(BATCH, [bundle('x')], { independence: 'require', minQuorum: 2, targetResults: 3, maxTotalResults: 3 })
    town.join('c', offer(1, { network: 'n2' }))
    assert.deepEqual(nodesOf(town).sort(), ['a', 'b'])
    town.apply({ kind: 'hello', node: 'b', link: 'unknown', spare: 'new', received: 0, offer: offer(1, { network: 'n2' }), replicas: [] })
    assert.deepEqual(nodesOf(town).sort(), ['a', 'b', 'c'])
  })

  it('goes without no independent node where that is required, whatever time passes and through a restart', async () => {
    const town = await world({ a: { network: 'n1' }, b: { network: 'n1' } })
    town.submit(BATCH, [bundle('x')], { independence: 'require' })
    const [first = ''] = nodesOf(town)
    const node = town.nodes.get(first)
    if (node !== undefined) town.work(node)
    town.pass(INDEPENDENCE_WAIT_MS * 2)
    await town.start()
    for (const id of ['a', 'b']) town.join(id, offer(1, { network: 'n1' }))
    town.pass(INDEPENDENCE_WAIT_MS * 2)
    assert.deepEqual(nodesOf(town), [first])
    assert.equal(town.coordinator.why(TASK)?.waitsFor, 'node')
    assert.deepEqual(reasons(town), [
      [first === 'a' ? 'had_it' : 'not_independent', ['a']],
      [first === 'a' ? 'not_independent' : 'had_it', ['b']]
    ])
    town.work(town.join('c', offer(1, { network: 'n2' })))
    assert.equal(town.record(TASK).state, 'ready')
  })

  it('decides by two nodes of one network where independence is only preferred, and not where it is required', async () => {
    for (const independence of ['prefer', 'require'] as const) {
      const town = await world({ a: { network: 'n1' }, b: { network: 'n2' } })
      town.submit(BATCH, [bundle('x')], { independence })
      const [a, b] = [town.join('a', offer(1, { network: 'n1' })), town.join('b', offer(1, { network: 'n1' }))]
      town.work(a)
      town.work(b)
      assert.equal(town.record(TASK).state, independence === 'prefer' ? 'ready' : 'validating')
    }
  })

  it('never gives a task to two nodes with something in common where independence is required', async () => {
    const origin = fc.record({ owner: fc.constantFrom('ann', 'bob'), network: fc.constantFrom('n1', 'n2', '') })
    await fc.assert(
      fc.asyncProperty(fc.array(origin, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 4 }), async (origins, minQuorum) => {
        const town = await world(Object.fromEntries(origins.map((one, index) => [`node ${index}`, one])))
        town.submit(BATCH, [bundle('x'), bundle('y')], { minQuorum, targetResults: minQuorum, independence: 'require' })
        town.pass(1000)
        for (const task of [TASK, `${BATCH}.1`]) {
          const took = town.record(task).replicas.map(({ node }) => origins[Number(node.slice(5))])
          assert.equal(new Set(took.map((one) => one?.owner)).size, took.length)
          const known = took.filter((one) => one?.network !== '')
          assert.equal(new Set(known.map((one) => one?.network)).size, known.length)
        }
      }),
      { numRuns: 60 }
    )
  })

  it('finds a task for a free node behind many that wait for others, however long they do', async () => {
    const many = 3 * LOOK_AHEAD_MAX
    const behind = batchId(2)
    const policy = { minQuorum: 2, targetResults: 2, independence: 'require' as const, copies: 'never' as const }
    const town = await world({})
    town.submit(
      BATCH,
      Array.from({ length: many }, (_, index) => bundle(`${index}`)),
      policy
    )
    town.apply({ kind: 'hold', batch: BATCH, by: 'owner', reason: '', stop: false })
    town.submit(behind, [bundle('behind')], policy)
    const other = town.join('other', offer(1, { owner: 'somebody' }))
    town.work(other)
    town.apply({ kind: 'bye', node: 'other', seq: ++other.sent }, { kind: 'release', batch: BATCH, by: 'owner' })
    const first = town.join('first', offer(many, { owner: 'the laboratory' }))
    town.apply({ kind: 'demand', node: 'first', slots: 0 })
    town.work(first)
    town.apply({ kind: 'bye', node: 'first', seq: ++first.sent })
    assert.deepEqual([town.states(`${BATCH}.${many - 1}`), town.states(`${behind}.0`)], ['first reported', 'other reported'])
    const second = town.join('second', offer(1, { owner: 'the laboratory' }))
    town.pass(2_000)
    assert.equal(town.states(`${behind}.0`), 'other reported, second leased')
    // What came to stand at the front meanwhile comes first again.
    town.submit(batchId(3), [bundle('later')], policy)
    town.work(second)
    town.pass(2_000)
    assert.equal(town.states(`${batchId(3)}.0`), 'second leased')
  })
})
