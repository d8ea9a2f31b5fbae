import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BanTarget } from '#protocol/owner/bans'
import { banTargetFault, parseNetwork } from '#protocol/owner/bans'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, offer, plainBundle } from '#test/support/coordinator-parts'
import { decodeEntry, firstOf, JOURNAL_PREFIX } from './journal.ts'

const A = batchId(1)
const T = `${A}.0`
const TWO = { minQuorum: 2, targetResults: 2 }

function ban(world: CoordinatorWorld, target: BanTarget, lift = false): void {
  world.apply({ kind: 'ban', by: 'admin', target, reason: 'it lies', lift })
}

function moves(world: CoordinatorWorld): string[] {
  return world.store
    .keys(JOURNAL_PREFIX)
    .flatMap((key) => decodeEntry(firstOf(key), world.store.peek(key) ?? new Uint8Array()))
    .filter(({ cause }) => cause === 'ban')
    .map(({ id, state, actor, detail }) => [id, state, actor, detail].join(' '))
}

function busy(world: CoordinatorWorld): number {
  return world.coordinator.nodes().reduce((sum, node) => sum + node.busy, 0)
}

function stateOf(world: CoordinatorWorld, id: string): string | undefined {
  return world.coordinator.nodes().find((node) => node.id === id)?.state
}

describe('a ban', () => {
  it('is listed after those before it, after a restart too, and one that is made again is the latest', async () => {
    const world = await new CoordinatorWorld().start()
    for (const value of ['203.0.113.0/24', '198.51.100.0/24', '10.0.0.0/8', '203.0.113.0/24']) {
      ban(world, { kind: 'network', value })
      world.nowMs += 1000
    }
    const before = world.coordinator.bans()
    assert.deepEqual(
      before.map(({ value }) => value),
      ['198.51.100.0/24', '10.0.0.0/8', '203.0.113.0/24']
    )
    await world.start()
    assert.deepEqual(world.coordinator.bans(), before)
  })

  it('ends the leases of its node unharmed, sends it away, and gives it nothing until it is lifted', async () => {
    const world = await new CoordinatorWorld().start()
    const a = world.join('a', offer(4))
    world.submit(A, [plainBundle('1'), plainBundle('2')], { minQuorum: 1, targetResults: 1, maxErrorResults: 1 })
    ban(world, { kind: 'node', value: 'a' })
    assert.deepEqual(a.disconnects, ['banned'])
    assert.equal(world.states(T), 'a returned')
    assert.equal(stateOf(world, 'a'), 'banned')
    assert.deepEqual(
      world.coordinator.why(T)?.nodes?.map(({ reason }) => reason),
      ['banned']
    )
    world.join('a', offer(4))
    assert.deepEqual([a.disconnects.length, busy(world)], [2, 0])
    await world.start()
    world.join('a', offer(4))
    assert.deepEqual([a.disconnects.length, busy(world), stateOf(world, 'a')], [3, 0, 'banned'])
    ban(world, { kind: 'node', value: 'a' }, true)
    world.join('a', offer(4))
    assert.deepEqual([...a.leases.keys()], [`${A}.0.2`, `${A}.1.2`])
    assert.ok(moves(world).includes('a banned admin it lies') && moves(world).includes('a let in again admin it lies'))
  })

  it('ends its link, over a restart too: what it was told then is not said again with some of it missing', async () => {
    for (const lift of ['before', 'after'] as const) {
      const world = await new CoordinatorWorld().start()
      world.join('a', offer(64))
      // More than the link's own record holds.
      world.submit(
        A,
        Array.from({ length: 64 }, (_, index) => plainBundle(`${index}`)),
        { minQuorum: 1, targetResults: 1 }
      )
      world.apply({ kind: 'kill', batch: A, by: 'owner' })
      assert.ok(world.store.keys('out/').length > 0)
      ban(world, { kind: 'node', value: 'a' })
      if (lift === 'before') ban(world, { kind: 'node', value: 'a' }, true)
      await world.start()
      if (lift === 'after') ban(world, { kind: 'node', value: 'a' }, true)
      assert.deepEqual([world.store.keys('out/'), world.store.keys('link/')], [[], []])
      const again = world.join('a', offer(64))
      assert.deepEqual(
        again.disconnects.filter((code) => code !== 'banned'),
        []
      )
      assert.equal(stateOf(world, 'a'), 'online')
    }
  })

  it('of a stranger keeps it out from the first hello, and nobody hears of it', async () => {
    const world = await new CoordinatorWorld().start()
    ban(world, { kind: 'node', value: 'a' })
    assert.deepEqual(world.join('a').disconnects, ['banned'])
    assert.deepEqual(world.coordinator.nodes(), [])
  })

  it('takes back votes of what is not decided, and leaves what is', async () => {
    const world = await new CoordinatorWorld().start()
    const [a, b, c] = [world.join('a', offer(2)), world.join('b', offer(1)), world.join('c', offer(0))]
    world.submit(A, [plainBundle('1'), plainBundle('2')], TWO)
    world.submit(batchId(2), [plainBundle('3')], TWO)
    world.work(a, { output: 'a lie' })
    world.report(b, `${A}.0.2`, { output: 'a lie' })
    assert.equal(world.record(T).state, 'ready')
    const undecided = [`${A}.1`, `${batchId(2)}.0`].find((task) => world.record(task).replicas.some(({ node, vote }) => node === 'a' && vote !== null)) ?? ''
    assert.deepEqual(
      world.coordinator.banned({ kind: 'node', value: 'a' }).map(({ runs, results }) => [runs > 0, results]),
      [[true, 1]]
    )
    ban(world, { kind: 'node', value: 'a' })
    assert.equal(world.record(T).state, 'ready')
    const [dropped] = world.record(undecided).replicas.filter(({ node }) => node === 'a')
    assert.deepEqual([dropped?.verdict, dropped?.fault?.class], ['inconclusive', 'banned'])
    // One vote like it is not two.
    world.work(b, { output: 'a lie' })
    assert.notEqual(world.record(undecided).state, 'ready')
    world.apply({ kind: 'demand', node: 'c', slots: 4 })
    while (c.leases.size > 0) world.work(c, { output: 'a lie' })
    while (b.leases.size > 0) world.work(b, { output: 'a lie' })
    assert.equal(world.record(undecided).state, 'ready')
    const receipt = world.receipts.get(undecided)
    assert.deepEqual([receipt?.results.length, receipt?.dissent], [2, []])
  })

  it('of an owner or a network hits all of theirs and no others, also under another owner', async () => {
    const world = await new CoordinatorWorld().start()
    const join = (id: string, owner: string | null, network: string) => world.join(id, offer(1, { owner, network }))
    const nodes = [join('a', 'ann', '203.0.113.0/24'), join('b', 'ann', ''), join('c', 'bob', '203.0.112.0/24'), join('d', null, '2001:db8:1::/48')]
    const out = (): string[] => nodes.filter(({ id }) => stateOf(world, id) === 'banned').map(({ id }) => id)
    ban(world, { kind: 'owner', value: 'ann' })
    assert.deepEqual(out(), ['a', 'b'])
    join('b', null, '')
    assert.deepEqual(out(), ['a', 'b'])
    ban(world, { kind: 'network', value: '203.0.112.0/22' })
    assert.deepEqual(out(), ['a', 'b', 'c'])
    ban(world, { kind: 'owner', value: 'ann' }, true)
    assert.deepEqual(out(), ['a', 'c'])
    ban(world, { kind: 'network', value: '2001:db8::/32' })
    assert.deepEqual(out(), ['a', 'c', 'd'])
    assert.deepEqual(world.join('e', offer(1, { network: '203.0.115.0/24' })).disconnects, ['banned'])
  })

  it('of a network is not escaped through a relay by a node that is known to be of it', async () => {
    const world = await new CoordinatorWorld().start()
    world.join('a', offer(1, { network: '203.0.113.0/24' }))
    ban(world, { kind: 'network', value: '203.0.113.0/24' })
    await world.start()
    assert.deepEqual(world.join('a', offer(1)).disconnects.at(-1), 'banned')
    assert.equal(stateOf(world, 'a'), 'banned')
    // What a relay that does not tell says is where itself is.
    world.join('a', offer(1, { network: '198.51.100.0/24', hidden: true }))
    assert.equal(stateOf(world, 'a'), 'banned')
    world.join('a', offer(1, { network: '198.51.100.0/24' }))
    assert.equal(stateOf(world, 'a'), 'online')
  })

  it('of one node after the other never makes a task run out of replicas: neither their runs nor their results count as issued', async () => {
    const world = await new CoordinatorWorld().start()
    world.submit(batchId(1), [plainBundle('x')], { minQuorum: 2, targetResults: 2, maxTotalResults: 3, maxErrorResults: 2 })
    for (let round = 0; round < 10; round++) {
      const node = world.join(`liar ${round}`, offer(1))
      // Half of them are banned while they run it.
      if (round % 2 === 0) world.work(node, { output: `a lie of ${round}` })
      ban(world, { kind: 'node', value: node.id })
    }
    const task = `${batchId(1)}.0`
    assert.equal(world.record(task).replicas.length, 10)
    for (const id of ['a', 'b']) world.work(world.join(id, offer(1)), { output: 'the truth' })
    assert.equal(world.record(task).state, 'ready')
  })

  it('has what its node alone decided looked at again', async () => {
    const world = await new CoordinatorWorld().start()
    const [a, b] = [world.join('a', offer(1)), world.join('b', offer(1))]
    for (let round = 1; round <= 10; round++) {
      world.submit(batchId(round), [plainBundle(`${round}`)], TWO)
      for (const node of [a, b]) world.work(node, { output: 'the truth' })
    }
    world.apply({ kind: 'demand', node: 'b', slots: 0 })
    const alone = Array.from({ length: 20 }, (_, at) => batchId(100 + at))
    for (const batch of alone) {
      world.submit(batch, [plainBundle(batch)], { adaptive: true })
      world.work(a, { output: 'a lie' })
    }
    const trusted = [...world.receipts.values()].filter((receipt) => receipt.trusted !== undefined)
    assert.ok(trusted.length > 0)
    ban(world, { kind: 'node', value: 'a' })
    assert.equal(world.store.keys('recheck/').length, trusted.length)
  })
})

describe('what is banned', () => {
  it('is a peer, or a network that is as wide as those which are told apart', () => {
    for (const good of ['203.0.113.0/24', '10.0.0.0/8', '2001:db8::/32', '2001:db8:1::/48']) assert.ok(parseNetwork(good) !== undefined, good)
    for (const bad of ['203.0.113.7', '203.0.113.7/32', '0.0.0.0/0', '2001:db8::/64', 'x/24', '203.0.113.0/2x', ''])
      assert.equal(parseNetwork(bad), undefined, bad)
    const isPeer = (text: string): boolean => text === 'peer'
    assert.equal(banTargetFault({ kind: 'node', value: 'peer' }, isPeer), undefined)
    assert.match(banTargetFault({ kind: 'owner', value: '1.2.3.4' }, isPeer) ?? '', /peer id/)
    assert.match(banTargetFault({ kind: 'network', value: '1.2.3.4' }, isPeer) ?? '', /\/24/)
    assert.match(banTargetFault({ kind: 'planet', value: 'peer' }, isPeer) ?? '', /planet/)
  })
})
