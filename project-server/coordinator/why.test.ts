import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import type { WhyReason, WhyView } from '#protocol/owner/messages'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer, plainBundle } from '#test/support/coordinator-parts'
import { Random } from '../../sim/random.ts'

const GIB = 1024 ** 3
const BATCH = batchId(1)
const TASK = `${BATCH}.0`

function whyOf(world: CoordinatorWorld, id = TASK): WhyView {
  const view = world.coordinator.why(id)
  assert.ok(view !== undefined, `nothing is known of ${id}`)
  return view
}

/** How many nodes each reason has. */
function reasons(view: WhyView): Partial<Record<WhyReason, number>> {
  return Object.fromEntries((view.nodes ?? []).map(({ reason, count }) => [reason, count]))
}

/** Twelve situations, each with what a person has to be told. */
describe('S09: why a task does not run', () => {
  it('1: its batch is not complete', async () => {
    const world = await new CoordinatorWorld().start()
    world.join('a')
    const one = bundle('x')
    world.apply({ kind: 'submit', batch: BATCH, name: 'b', by: 'owner', bundles: [one], policy: { ...policyOf(2) }, more: true, seed: 1 })
    assert.equal(whyOf(world).waitsFor, 'submission')
  })

  it('2: there are no nodes', async () => {
    const world = await new CoordinatorWorld().start()
    world.submit(BATCH, [bundle('x')], policyOf(2))
    const view = whyOf(world)
    assert.deepEqual([view.waitsFor, view.wanted, view.nodes], ['node', 2, []])
  })

  it('3: no node offers its engine', async () => {
    const world = await new CoordinatorWorld().start()
    world.join('a', offer(1, { engines: ['docker'] }))
    world.submit(BATCH, [bundle('x')], policyOf(1))
    const view = whyOf(world)
    assert.deepEqual([view.waitsFor, reasons(view), view.nearest], ['node', { engine: 1 }, undefined])
  })

  it('4: none has the memory, and the nearest miss is named', async () => {
    const world = await new CoordinatorWorld().start()
    world.join('small', offer(1, { memoryBytes: GIB }))
    world.join('middle', offer(1, { memoryBytes: 4 * GIB, name: 'aino' }))
    world.join('few cores', offer(1, { cpuMillis: 500 }))
    world.submit(BATCH, [bundle('x', { resources: { memoryBytes: 8 * GIB } })], policyOf(1))
    const view = whyOf(world)
    assert.deepEqual([view.waitsFor, reasons(view)], ['node', { memory: 2, cpu: 1 }])
    // Half of the memory or half of the CPUs: the first of equals.
    assert.deepEqual(view.nearest, { requirement: 'memory', needs: 8 * GIB, offers: 4 * GIB, node: 'middle', nodeName: 'aino' })
  })

  it('5: none has the CPUs, or the disk', async () => {
    const world = await new CoordinatorWorld().start()
    world.join('a', offer(1, { cpuMillis: 3000 }))
    world.join('b', offer(1, { diskBytes: 10 }))
    world.submit(BATCH, [bundle('x', { resources: { cpuMillis: 4000, diskBytes: 1000 } })], policyOf(1))
    const view = whyOf(world)
    assert.deepEqual(reasons(view), { cpu: 1, disk: 1 })
    assert.deepEqual(view.nearest, { requirement: 'cpu', needs: 4000, offers: 3000, node: 'a', nodeName: 'a node' })
  })

  it('6: it is for named nodes, one of which never came and one of which is away', async () => {
    const world = await new CoordinatorWorld().start()
    world.join('other')
    world.join('mine')
    world.apply({ kind: 'gone', node: 'mine' })
    world.submit(BATCH, [bundle('x')], { ...policyOf(1), nodes: ['mine', 'never seen'] })
    const view = whyOf(world)
    assert.deepEqual([view.waitsFor, reasons(view), view.needs?.named], ['node', { away: 2, not_named: 1 }, 2])
  })

  it('7: every node is away', async () => {
    const world = await new CoordinatorWorld().start()
    const node = world.join('a')
    world.pass(60_000, [node])
    world.submit(BATCH, [bundle('x')], policyOf(1))
    assert.deepEqual([whyOf(world).waitsFor, reasons(whyOf(world))], ['node', { away: 1 }])
  })

  it('8: those that could have had a run of it', async () => {
    const world = await new CoordinatorWorld().start()
    const node = world.join('a', offer(4))
    world.submit(BATCH, [bundle('x')], policyOf(2))
    world.work(node, { output: 'the truth' })
    const view = whyOf(world)
    assert.deepEqual([view.waitsFor, view.status, view.wanted, reasons(view)], ['node', 'validating', 1, { had_it: 1 }])
  })

  it('9: the nodes are paused', async () => {
    const world = await new CoordinatorWorld().start()
    world.join('a')
    world.apply({ kind: 'demand', node: 'a', slots: 0 })
    world.submit(BATCH, [bundle('x')], policyOf(1))
    assert.deepEqual([whyOf(world).waitsFor, reasons(whyOf(world))], ['node', { takes_none: 1 }])
  })

  it('10: others are before it, by their order and by their priority', async () => {
    const world = await new CoordinatorWorld().start()
    world.join('a', offer(2, { memoryBytes: 8 * GIB }))
    world.submit(
      batchId(2),
      Array.from({ length: 5 }, (_, index) => bundle(`${index}`)),
      policyOf(1)
    )
    world.submit(BATCH, [bundle('x')], policyOf(1))
    world.submit(batchId(3), [bundle('y')], { ...policyOf(2), priority: 1 })
    world.submit(batchId(4), [bundle('z')], policyOf(1))
    // For a node that does not exist: it is in nobody's way.
    world.submit(batchId(5), [bundle('w', { resources: { memoryBytes: 16 * GIB } })], { ...policyOf(1), priority: 2 })
    const view = whyOf(world)
    assert.deepEqual([view.waitsFor, reasons(view), view.ahead], ['turn', { full: 1 }, { tasks: 4, replicas: 5 }])
  })

  it('11: a slot is free, but its CPUs or memory are taken', async () => {
    const world = await new CoordinatorWorld().start()
    world.join('a', offer(4, { cpuMillis: 4000, memoryBytes: 8 * GIB }))
    world.join('b', offer(4, { cpuMillis: 8000, memoryBytes: 4 * GIB }))
    world.submit(
      batchId(2),
      [bundle('0'), bundle('1')].map(() => bundle('big', { resources: { cpuMillis: 3000, memoryBytes: 3 * GIB } })),
      policyOf(1)
    )
    world.submit(BATCH, [bundle('x', { resources: { cpuMillis: 3000, memoryBytes: 3 * GIB } })], policyOf(1))
    assert.deepEqual([whyOf(world).waitsFor, reasons(whyOf(world))], ['turn', { cpu_taken: 1, memory_taken: 1 }])
  })

  it('12: it runs, then its output is fetched, then it is over', async () => {
    const world = await new CoordinatorWorld().start()
    world.pulls = false
    const a = world.join('a')
    world.submit(BATCH, [bundle('x')], policyOf(1))
    world.begin(a, `${TASK}.1`)
    world.pass(2_000)
    const running = whyOf(world)
    assert.deepEqual(
      [running.waitsFor, running.runs],
      ['runs', [{ attempt: 1, node: 'a', nodeName: 'a node', state: 'running', forMs: 2_000, straggles: false }]]
    )
    world.report(a, `${TASK}.1`, { output: 'the truth' })
    assert.deepEqual([whyOf(world).waitsFor, whyOf(world).holders], ['output', [{ id: 'a', name: 'a node', here: true, asked: true }]])
    world.apply({ kind: 'pulled', task: TASK, node: 'a', ok: true, message: '' })
    assert.equal(world.coordinator.why(TASK), undefined)
  })

  it('is never that a node is free which gave it back unharmed', async () => {
    const world = await new CoordinatorWorld().start()
    const a = world.join('a', offer(2))
    world.join('b')
    // No more than three are issued: after the return there is one to come, as before it.
    world.submit(BATCH, [bundle('x')], { ...policyOf(3), maxErrorResults: 1, maxTotalResults: 3 })
    // Looks for more, and remembers that this task is none.
    world.apply({ kind: 'demand', node: 'a', slots: 3 })
    world.giveBack(a, `${TASK}.1`, 'owner')
    assert.equal(world.states(TASK), 'a returned, b leased, a leased')
  })

  it('of a batch: its first task that waits for a node', async () => {
    const world = await new CoordinatorWorld().start()
    world.join('a', offer(2))
    world.submit(BATCH, [bundle('0'), bundle('1'), bundle('2')], policyOf(1))
    assert.equal(whyOf(world, BATCH).task, `${BATCH}.2`)
  })
})

/** A second opinion on what keeps each node from a task, and on who is nearest. */
it('S08: a task that no node can ever run waits, with how many lack what, and the nearest miss; the first that can gets it', async () => {
  const amount = fc.integer({ min: 1, max: 8 })
  const offered = fc.record({
    engines: fc.constantFrom<string[]>(['process'], ['docker'], ['docker', 'process']),
    platform: fc.constantFrom('linux/amd64', 'linux/arm64'),
    tags: fc.constantFrom<string[]>([], ['big']),
    cpu: amount,
    memory: amount,
    disk: amount
  })
  const asked = fc.record({
    platform: fc.constantFrom(undefined, 'linux/amd64'),
    tags: fc.constantFrom<string[]>([], ['big']),
    cpu: amount,
    memory: amount,
    disk: amount
  })
  let missed = 0
  await fc.assert(
    fc.asyncProperty(fc.array(offered, { maxLength: 12 }), asked, async (nodes, { platform, tags, cpu, memory, disk }) => {
      const lackOf = (node: (typeof nodes)[number]): WhyReason | undefined => {
        if (!node.engines.includes('process')) return 'engine'
        if (platform !== undefined && node.platform !== platform) return 'platform'
        if (tags.some((tag) => !node.tags.includes(tag))) return 'tags'
        if (node.cpu < cpu) return 'cpu'
        if (node.memory < memory) return 'memory'
        return node.disk < disk ? 'disk' : undefined
      }
      fc.pre(nodes.every((node) => lackOf(node) !== undefined))
      const world = await new CoordinatorWorld().start()
      const offerOf = (node: (typeof nodes)[number]) =>
        offer(1, {
          engines: node.engines,
          platform: node.platform,
          tags: node.tags,
          cpuMillis: node.cpu * 1000,
          memoryBytes: node.memory * GIB,
          diskBytes: node.disk * GIB
        })
      for (const [index, node] of nodes.entries()) world.join(`node ${index}`, offerOf(node))
      const needs = { cpuMillis: cpu * 1000, memoryBytes: memory * GIB, diskBytes: disk * GIB }
      world.submit(BATCH, [bundle('x', { resources: needs, ...(platform === undefined ? {} : { platform }) })], { ...policyOf(1), tags })
      world.pass(60_000)
      const view = whyOf(world)
      assert.deepEqual([view.status, view.waitsFor], ['staged', 'node'])
      const counts: Partial<Record<WhyReason, number>> = {}
      for (const node of nodes) {
        const lack = lackOf(node) ?? 'free'
        counts[lack] = (counts[lack] ?? 0) + 1
      }
      assert.deepEqual(reasons(view), counts)
      const shares = nodes
        .filter((node) => ['cpu', 'memory', 'disk'].includes(lackOf(node) ?? ''))
        .map((node) => Math.min(node.cpu / cpu, node.memory / memory, node.disk / disk))
      assert.equal(view.nearest === undefined, shares.length === 0)
      if (view.nearest !== undefined) {
        missed++
        assert.ok(Math.abs(view.nearest.offers / view.nearest.needs - Math.max(...shares)) < 1e-9, JSON.stringify(view.nearest))
      }
      const able = world.join('able', offer(1, { tags: ['big'], ...needs }))
      assert.deepEqual([...able.leases.keys()], [`${TASK}.1`])
    }),
    { numRuns: 200 }
  )
  assert.ok(missed > 50, `${missed}`)
})

/** Nodes of several sizes, run times spread around a mean (sigma 0.5), quorum 1 and 2. */
it('S09: says when a waiting task will be over, within twice or half for four of five', async () => {
  const random = new Random(5, 'why')
  let right = 0
  let asked = 0
  for (let round = 0; round < 10; round++) {
    const world = await new CoordinatorWorld().start()
    const nodes = Array.from({ length: 3 + random.below(6) }, (_, index) => world.join(`n${index}`, offer(1 + random.below(4))))
    const tasks = 60
    world.submit(
      BATCH,
      Array.from({ length: tasks }, (_, index) => plainBundle(`${index}`)),
      policyOf(1 + random.below(2))
    )
    const meanMs = 20_000
    const due = new Map<string, number>()
    const said = new Map<string, { readonly atMs: number; readonly endMs: number }>()
    const ends = new Map<string, number>()
    while (ends.size < tasks) {
      for (const node of nodes)
        for (const replica of [...node.leases.keys()]) {
          const atMs = due.get(replica) ?? world.nowMs + meanMs * Math.exp(0.5 * random.normal() - 0.125)
          due.set(replica, atMs)
          if (world.nowMs >= atMs) world.report(node, replica, { output: 'the truth' })
        }
      const asksFor = random.below(tasks)
      for (let index = 0; index < tasks; index++) {
        const id = `${BATCH}.${index}`
        const view = ends.has(id) ? undefined : world.coordinator.why(id)
        if (view === undefined && !ends.has(id)) ends.set(id, world.nowMs)
        // A person asks about one now and then; each counts once.
        if (index === asksFor && !said.has(id) && view?.waitsFor === 'turn' && view.endMs !== undefined) said.set(id, { atMs: world.nowMs, endMs: view.endMs })
      }
      world.pass(500)
    }
    for (const [id, { atMs, endMs }] of said) {
      const ratio = endMs / Math.max(1, (ends.get(id) ?? 0) - atMs)
      asked++
      if (ratio >= 0.5 && ratio <= 2) right++
    }
  }
  assert.ok(asked > 200, `${asked} were asked about`)
  assert.ok(right >= 0.8 * asked, `${right} of ${asked} estimates were right`)
})

function policyOf(quorum: number) {
  return { ...DEFAULT_POLICY, minQuorum: quorum, targetResults: quorum }
}
