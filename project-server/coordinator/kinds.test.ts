import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { type ClientSettings, DEFAULT_CLIENT_SETTINGS } from '#protocol/owner/clients'
import { CoordinatorWorld } from '../../test/support/coordinator.ts'
import { batchId, bundle, offer } from '../../test/support/coordinator-parts.ts'
import type { NodeOffer } from './events.ts'
import { FreeNodes, inOrderOf } from './free-nodes.ts'
import { Kinds } from './kinds.ts'
import { KnownNodes } from './known-nodes.ts'
import { type Asked, type Lack, lackOf } from './needs.ts'
import { NodeLists, newNode } from './node.ts'
import { NODE_KINDS_MAX } from './policy.ts'

const ONE = { minQuorum: 1, targetResults: 1 }

async function world(): Promise<CoordinatorWorld> {
  return new CoordinatorWorld().start()
}

function submit(
  at: CoordinatorWorld,
  number: number,
  by: string,
  change: { readonly tags?: readonly string[]; readonly nodes?: readonly string[]; readonly tasks?: number } = {}
): void {
  const { tasks = 1, ...policy } = change
  const bundles = Array.from({ length: tasks }, (_, index) => bundle(`${number} ${index}`))
  at.apply({ kind: 'submit', batch: batchId(number), name: '', by, bundles, policy: { ...DEFAULT_POLICY, ...ONE, ...policy }, more: false, seed: number })
}

function nodeOf(at: CoordinatorWorld, number: number, task = 0): string | undefined {
  return at.record(`${batchId(number)}.${task}`).replicas.at(-1)?.node
}

describe("a client's own nodes come first (S07)", () => {
  it('before strangers with more room, and strangers when its own are full', async () => {
    const at = await world()
    at.join('stranger', offer(8))
    at.join('own', offer(2, { owner: 'ann' }))
    submit(at, 1, 'ann', { tasks: 3 })
    assert.deepEqual([nodeOf(at, 1, 0), nodeOf(at, 1, 1), nodeOf(at, 1, 2)], ['own', 'own', 'stranger'])
    submit(at, 2, 'bob')
    assert.equal(nodeOf(at, 2), 'stranger')
  })

  it('also when a stranger with more room gains it in the same moment', async () => {
    const at = await world()
    at.join('stranger', offer(2))
    at.join('own', offer(1, { owner: 'ann' }))
    submit(at, 1, 'bob', { tasks: 3 })
    submit(at, 2, 'ann')
    assert.equal(nodeOf(at, 2), undefined)
    at.apply({ kind: 'kill', batch: batchId(1), by: 'bob' })
    assert.equal(nodeOf(at, 2), 'own')
  })

  it('a node that serves its owner only gets nothing of others, and says why', async () => {
    const at = await world()
    at.join('own', offer(1, { owner: 'ann', ownerOnly: true }))
    submit(at, 1, 'bob')
    assert.equal(nodeOf(at, 1), undefined)
    assert.equal(at.coordinator.why(batchId(1))?.nodes?.[0]?.reason, 'private')
    submit(at, 2, 'ann')
    assert.equal(nodeOf(at, 2), 'own')
  })

  it("an owner's free node is always chosen before a stranger's, whatever else happens", async () => {
    const owners = [null, 'ann', 'bob'] as const
    const node = fc.record({ slots: fc.integer({ min: 1, max: 4 }), owner: fc.constantFrom(...owners) })
    const step = fc.oneof(
      fc.record({ kind: fc.constant('submit' as const), by: fc.constantFrom('ann', 'bob'), tasks: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ kind: fc.constant('work' as const), node: fc.nat(9), times: fc.integer({ min: 1, max: 4 }) })
    )
    let own = 0
    await fc.assert(
      fc.asyncProperty(fc.array(node, { minLength: 2, maxLength: 6 }), fc.array(step, { minLength: 5, maxLength: 30 }), async (nodes, steps) => {
        const at = await world()
        for (const [index, { slots, owner }] of nodes.entries()) at.join(`node ${index}`, offer(slots, { owner }))
        const free = (): Map<string, number> => new Map(at.coordinator.nodes().map(({ id, slots, busy }) => [id, slots - busy]))
        let batches = 0
        for (const one of steps) {
          if (one.kind === 'work') {
            const scripted = at.nodes.get(`node ${one.node % nodes.length}`)
            for (const replica of [...(scripted?.leases.keys() ?? [])].slice(0, one.times))
              if (scripted !== undefined) {
                at.begin(scripted, replica)
                at.report(scripted, replica)
              }
            continue
          }
          submit(at, ++batches, one.by, { tasks: one.tasks })
          const left = free()
          // Nothing frees a slot while a batch is placed: whoever is still free was so all the time.
          const ownFree = nodes.some(({ owner }, index) => owner === one.by && (left.get(`node ${index}`) ?? 0) > 0)
          for (let task = 0; task < one.tasks; task++) {
            const id = nodeOf(at, batches, task)
            if (id === undefined) continue
            const isOwn = nodes[Number(id.slice(5))]?.owner === one.by
            if (isOwn) own++
            assert.ok(isOwn || !ownFree, `task ${task} of ${one.by} went to ${id} while a node of its own was free`)
          }
        }
      }),
      { numRuns: 200 }
    )
    assert.ok(own > 500, `${own}`)
  })
})

describe('what can go where', () => {
  it('is what each node and each task say, and whoever belongs to which group, whatever kinds there are', async () => {
    const word = fc.constantFrom('a', 'b', 'c')
    const node = fc.record({
      tags: fc.uniqueArray(word, { maxLength: 3 }),
      exclusive: fc.boolean(),
      platform: fc.constantFrom('linux/amd64', 'linux/arm64'),
      owner: fc.constantFrom(null, 'ann', 'bob'),
      ownerOnly: fc.boolean(),
      groups: fc.constantFrom(undefined, undefined, ['physics'], ['chemistry', 'physics']),
      vouched: fc.constantFrom(undefined, true as const)
    })
    const task = fc.record({
      tags: fc.uniqueArray(word, { maxLength: 2 }).map((tags) => tags.sort()),
      platform: fc.constantFrom(undefined, 'linux/amd64', 'linux/arm64'),
      by: fc.constantFrom('ann', 'bob', 'cid'),
      trust: fc.constantFrom('any' as const, 'any' as const, 'trusted' as const, 'own' as const),
      nodes: fc.uniqueArray(fc.constantFrom('node 0', 'node 1', 'node 9'), { maxLength: 2 })
    })
    const client = fc.record({ id: fc.constantFrom('ann', 'bob', 'cid'), groups: fc.subarray(['chemistry', 'physics']) })
    const event = fc.oneof(
      { weight: 4, arbitrary: fc.record({ node, number: fc.nat(4) }) },
      { weight: 4, arbitrary: fc.record({ task }) },
      { weight: 1, arbitrary: fc.record({ client }) }
    )
    let placed = 0
    let waited = 0
    let refused = 0
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 5, maxLength: 25 }), async (events) => {
        const at = await world()
        const offers = new Map<string, NodeOffer>()
        const settings = new Map<string, ClientSettings>()
        const lacks = (id: string, needs: Asked): Lack | undefined => {
          const offered = offers.get(id) ?? offer(0)
          const client = { id: needs.client.id, settings: settings.get(needs.client.id) ?? DEFAULT_CLIENT_SETTINGS }
          return lackOf({ offer: offered, believed: offered.vouched === true }, { ...needs, client })
        }
        const groups: { readonly batch: string; readonly needs: Asked; readonly nodes: readonly string[] }[] = []
        for (const one of events) {
          if ('node' in one) {
            const { tags, exclusive, groups, vouched, ...rest } = one.node
            const more = { ...(groups === undefined ? {} : { groups }), ...(vouched === undefined ? {} : { vouched }) }
            const offered = offer(2, { ...rest, ...more, tags, exclusive: exclusive ? tags.slice(0, 1) : [] })
            // A node that is back with another offer, too.
            offers.set(`node ${one.number}`, offered)
            at.join(`node ${one.number}`, offered)
          } else if ('client' in one) {
            const { id, groups } = one.client
            settings.set(id, { ...DEFAULT_CLIENT_SETTINGS, groups })
            at.apply({ kind: 'client', client: id, settings: { groups } })
          } else {
            const { tags, platform, by, nodes, trust } = one.task
            const batch = batchId(groups.length + 1)
            const accepted = bundle(`${groups.length}`, platform === undefined ? {} : { platform })
            const { resources } = accepted.manifest
            const needs = { key: '', engine: 'process', ...resources, platform: platform ?? null, gpus: null }
            const asked = { batch, needs: { needs, tags, sameClass: 'no' as const, trust, client: { id: by, settings: DEFAULT_CLIENT_SETTINGS } }, nodes }
            const policy = { ...DEFAULT_POLICY, ...ONE, tags, nodes, trust }
            const event = { kind: 'submit' as const, batch, name: '', by, bundles: [accepted], policy, more: false, seed: 1 }
            if (at.coordinator.refusal(event) !== undefined) {
              // Nodes were named, and none of them can ever run it.
              assert.ok(nodes.length > 0 && nodes.every((id) => offers.has(id) && lacks(id, asked.needs) !== undefined))
              refused++
              continue
            }
            groups.push(asked)
            at.apply(event)
          }
          const free = new Map(at.coordinator.nodes().map(({ id, slots, busy }) => [id, slots - busy]))
          for (const { batch, needs, nodes } of groups) {
            const able = [...offers].filter(([id]) => lacks(id, needs) === undefined && (nodes.length === 0 || nodes.includes(id)))
            const { replicas } = at.record(`${batch}.0`)
            if (replicas.length > 0) placed++
            else {
              waited++
              assert.ok(
                able.every(([id]) => (free.get(id) ?? 0) === 0),
                `${batch} waits although ${able[0]?.[0]} could take it`
              )
            }
          }
          if ('task' in one) {
            const { batch, needs, nodes } = groups.at(-1) as (typeof groups)[number]
            for (const { node: id } of at.record(`${batch}.0`).replicas) {
              assert.equal(lacks(id, needs), undefined)
              assert.ok(nodes.length === 0 || nodes.includes(id))
            }
          }
        }
      }),
      { numRuns: 300 }
    )
    assert.ok(placed > 1_000 && waited > 1_000 && refused > 10, `${placed} ${waited} ${refused}`)
  })

  it('S10: a node is never offered a task whose engine or platform it does not report, nor one of more processors than it does', async () => {
    const node = fc.record({
      engines: fc.constantFrom<string[]>([], ['process'], ['docker'], ['docker', 'process']),
      platform: fc.constantFrom('linux/amd64', 'linux/arm64', 'windows/amd64'),
      cpuMillis: fc.constantFrom(1_000, 4_000, 64_000)
    })
    const task = fc.record({ platform: fc.constantFrom('linux/amd64', 'linux/arm64', 'windows/amd64'), cpuMillis: fc.constantFrom(500, 2_000, 32_000) })
    let leased = 0
    await fc.assert(
      fc.asyncProperty(fc.array(node, { minLength: 1, maxLength: 8 }), fc.array(task, { minLength: 1, maxLength: 20 }), async (offers, tasks) => {
        const at = await world()
        const submit = (): void =>
          at.submit(
            batchId(1),
            tasks.map(({ platform, cpuMillis }, index) => bundle(`${index}`, { platform, resources: { cpuMillis } })),
            ONE
          )
        const join = (): unknown => offers.map((one, index) => at.join(`node ${index}`, offer(4, one)))
        // Whoever comes first.
        for (const act of tasks.length % 2 === 0 ? [submit, join] : [join, submit]) act()
        for (let rounds = 0; rounds < tasks.length; rounds++)
          for (const [index, { engines, platform, cpuMillis }] of offers.entries()) {
            const one = at.nodes.get(`node ${index}`)
            assert.ok(one !== undefined)
            for (const replica of one.leases.keys()) {
              leased++
              const wanted = tasks[Number(replica.split('.')[1])]
              assert.ok(engines.includes('process'), `${engines} was offered a task for "process"`)
              assert.equal(platform, wanted?.platform)
              assert.ok((wanted?.cpuMillis ?? 0) <= cpuMillis)
            }
            at.work(one)
          }
        // And none is left that one of them could have run.
        for (const [index, { platform, cpuMillis }] of tasks.entries()) {
          const able = offers.some((one) => one.engines.includes('process') && one.platform === platform && one.cpuMillis >= cpuMillis)
          assert.equal(at.record(`${batchId(1)}.${index}`).state, able ? 'ready' : 'staged')
        }
      }),
      { numRuns: 200 }
    )
    assert.ok(leased > 200, `${leased}`)
  })

  it('nodes beyond the last kind are found all the same, own ones first', async () => {
    const at = await world()
    for (let index = 0; index <= NODE_KINDS_MAX + 1; index++) at.join(`node ${index}`, offer(1, { tags: [`t${index}`] }))
    at.join('own', offer(1, { tags: ['beyond'], owner: 'ann' }))
    at.join('stranger', offer(4, { tags: ['beyond'] }))
    submit(at, 1, 'ann', { tags: [`t${NODE_KINDS_MAX + 1}`] })
    assert.equal(nodeOf(at, 1), `node ${NODE_KINDS_MAX + 1}`)
    submit(at, 2, 'ann', { tags: ['beyond'], tasks: 2 })
    assert.deepEqual([nodeOf(at, 2, 0), nodeOf(at, 2, 1)], ['own', 'stranger'])
  })
})

it('nodes are looked for in the order in which they were filed, though the last of them is in no file yet', () => {
  const step = fc.record({ node: fc.nat(4), free: fc.nat(2), look: fc.boolean(), draw: fc.nat(9) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const lists = new NodeLists()
      const nodes = Array.from({ length: 5 }, (_, index) => newNode(lists, `node ${index}`, offer(2), 0))
      const kinds = new Kinds(new KnownNodes())
      for (const node of nodes) kinds.file(node, null)
      const beside = Array.from({ length: 5 }, (_, index) => newNode(lists, `node ${index}`, offer(2), 0))
      const files = new FreeNodes()
      for (const { node, free, look, draw } of steps) {
        kinds.set(nodes[node] ?? assert.fail(), free)
        files.set(beside[node] ?? assert.fail(), free)
        assert.equal(kinds.size, beside.filter((one) => one.free > 0).length)
        if (look)
          assert.deepEqual(
            [...kinds.inOrder(draw)].map(({ id }) => id),
            [...inOrderOf([{ free: files }], draw)].map(({ id }) => id)
          )
      }
    })
  )
})
