import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import type { ReplicaId } from '#protocol/ids'
import type { ClientSettings } from '#protocol/owner/clients'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, offer, plainBundle } from '#test/support/coordinator-parts'
import { TICK_MS } from '../policy.ts'
import type { Event } from './events.ts'

interface Load {
  readonly client: string
  /** Tasks of its batches, and what each of them takes; taken in turn. */
  readonly batches: readonly { readonly tasks: number; readonly runMs: number }[]
}

/** Clients that never run out of tasks on one node of so many slots, for so long: what each got of the slots' time. */
async function contend(loads: readonly Load[], { slots, forMs, restartAtMs }: { slots: number; forMs: number; restartAtMs: number }) {
  const world = await new CoordinatorWorld().start()
  const ownerOf = new Map<string, { readonly load: Load; readonly runMs: number }>()
  const submitted = new Map<Load, { batches: number; tasks: number }>(loads.map((load) => [load, { batches: 0, tasks: 0 }]))
  const submit = (load: Load): void => {
    const so = submitted.get(load)
    const next = so === undefined ? undefined : load.batches[so.batches % load.batches.length]
    if (so === undefined || next === undefined) return
    so.batches++
    so.tasks += next.tasks
    const id = batchId(ownerOf.size + 1)
    ownerOf.set(id, { load, runMs: next.runMs })
    const policy = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1 }
    const bundles = Array.from({ length: next.tasks }, (_, index) => plainBundle(`${id} ${index}`))
    world.apply({ kind: 'submit', batch: id, name: '', by: load.client, bundles, policy, more: false, seed: 1 })
  }
  const gotMs = new Map<string, number>(loads.map(({ client }) => [client, 0]))
  const running = new Map<ReplicaId, { readonly load: Load; readonly sinceMs: number; readonly untilMs: number }>()
  const look = (node: ScriptedNode): void => {
    for (const load of loads) for (const so = submitted.get(load); so !== undefined && so.tasks < 2 * slots; ) submit(load)
    for (const replica of node.leases.keys()) {
      const of = ownerOf.get(replica.slice(0, replica.indexOf('.')))
      if (of === undefined || running.has(replica)) continue
      running.set(replica, { load: of.load, sinceMs: world.nowMs, untilMs: world.nowMs + of.runMs })
      const so = submitted.get(of.load)
      if (so !== undefined) so.tasks--
    }
  }
  const startMs = world.nowMs
  for (const load of loads) submit(load)
  const node = world.join('node', offer(slots))
  look(node)
  for (let restarted = false; world.nowMs < startMs + forMs; ) {
    const next = Math.min(...[...running.values()].map(({ untilMs }) => untilMs))
    const tickMs = startMs + (Math.floor((world.nowMs - startMs) / TICK_MS) + 1) * TICK_MS
    world.nowMs = Math.min(next, tickMs)
    if (!restarted && world.nowMs - startMs >= restartAtMs) {
      restarted = true
      await world.start()
      world.join('node', offer(slots))
    }
    world.coordinator.apply({ kind: 'heartbeat', node: 'node' }, world.nowMs)
    for (const [replica, { load, sinceMs, untilMs }] of running) {
      if (untilMs > world.nowMs) continue
      running.delete(replica)
      gotMs.set(load.client, (gotMs.get(load.client) ?? 0) + untilMs - sinceMs)
      world.report(node, replica)
    }
    if (world.nowMs === tickMs) world.apply({ kind: 'tick' })
    look(node)
  }
  for (const { load, sinceMs } of running.values()) gotMs.set(load.client, (gotMs.get(load.client) ?? 0) + world.nowMs - sinceMs)
  const all = [...gotMs.values()].reduce((sum, ms) => sum + ms, 0)
  return new Map([...gotMs].map(([client, ms]) => [client, ms / all]))
}

const batches = fc.array(fc.record({ tasks: fc.constantFrom(1, 2, 7, 40), runMs: fc.constantFrom(1_000, 3_000, 10_000, 60_000) }), {
  minLength: 1,
  maxLength: 3
})

describe('clients of one project', () => {
  it('two at equal share get 50 +- 5 % of the slots under contention, at any mix of batch sizes and task lengths, also over a restart (S13)', async () => {
    await fc.assert(
      fc.asyncProperty(
        batches,
        batches,
        fc.integer({ min: 2, max: 8 }),
        fc.constantFrom(Number.POSITIVE_INFINITY, 700_000),
        async (one, other, slots, restartAtMs) => {
          const got = await contend(
            [
              { client: 'ann', batches: one },
              { client: 'bob', batches: other }
            ],
            { slots, forMs: 1_800_000, restartAtMs }
          )
          assert.ok(Math.abs((got.get('ann') ?? 0) - 0.5) <= 0.05, `ann got ${got.get('ann')}`)
        }
      ),
      { numRuns: 8 }
    )
  })

  it('keep their order: by priority, and within one first come, first served, over 1,000 tasks (S02)', async () => {
    const world = await new CoordinatorWorld().start()
    const plain = Array.from({ length: 100 }, (_, index) => plainBundle(`${index}`))
    const priorities = [0, 5, 0, 5, -3, 5, 0, 0, -3, 5]
    for (const [index, priority] of priorities.entries()) {
      const policy = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1, priority }
      world.apply({ kind: 'submit', batch: batchId(index + 1), name: '', by: index % 2 === 0 ? 'ann' : 'bob', bundles: plain, policy, more: false, seed: 1 })
    }
    const node = world.join('node', offer(1))
    const order = new Map<string, [number, number, number][]>([
      ['0', []],
      ['1', []]
    ])
    for (let ran = 0; ran < 1_000; ran++) {
      const [replica = ''] = node.leases.keys()
      const [batch = '', index] = replica.split('.')
      const number = priorities.findIndex((_, at) => batchId(at + 1) === batch)
      order.get(String(number % 2))?.push([priorities[number] as number, number, Number(index)])
      world.report(node, replica)
    }
    for (const rows of order.values())
      assert.deepEqual(
        rows,
        rows.toSorted((a, b) => b[0] - a[0] || a[1] - b[1] || a[2] - b[2])
      )
    assert.equal(order.get('0')?.length, 500)
  })

  it('are told whose turn it is before theirs', async () => {
    const world = await new CoordinatorWorld().start()
    const node = world.join('node', offer(3))
    const policy = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1 }
    const submit = (by: string, number: number): void =>
      world.apply({
        kind: 'submit',
        batch: batchId(number),
        name: '',
        by,
        bundles: [1, 2, 3, 4].map((index) => plainBundle(`${index}`)),
        policy,
        more: false,
        seed: 1
      })
    submit('ann', 1)
    assert.equal(world.coordinator.why(batchId(1))?.shares, undefined)
    submit('bob', 2)
    const why = world.coordinator.why(batchId(1))
    assert.deepEqual(why?.shares, {
      own: { client: 'ann', share: 1, slots: 3, waiting: 1 },
      before: [{ client: 'bob', share: 1, slots: 0, waiting: 4 }],
      others: 1
    })
    assert.deepEqual(why?.ahead, { tasks: 1, replicas: 1 })
    assert.equal(world.coordinator.why(batchId(2))?.shares?.others, 0)
    const [first = ''] = node.leases.keys()
    world.report(node, first)
    assert.deepEqual([...node.leases.keys()].at(-1), `${batchId(2)}.0.1`)
  })
})

describe('quotas', () => {
  const policy = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1 }
  const submission = (by: string, number: number, tasks: number): Extract<Event, { kind: 'submit' }> => ({
    kind: 'submit',
    batch: batchId(number),
    name: '',
    by,
    bundles: Array.from({ length: tasks }, (_, index) => plainBundle(`${number} ${index}`)),
    policy,
    more: false,
    seed: 1
  })
  const grant = (world: CoordinatorWorld, settings: Partial<ClientSettings>, client = 'ann'): void => world.apply({ kind: 'client', client, settings })

  it('refuse what is beyond them with the numbers, before anything is stored (D18)', async () => {
    const world = await new CoordinatorWorld().start()
    const refusal = (number: number, tasks: number, by = 'ann') => world.coordinator.refusal(submission(by, number, tasks))
    grant(world, { tasks: 5, batches: 2 })
    world.apply(submission('ann', 1, 3))
    assert.match(refusal(2, 3)?.message ?? '', /you have 3 tasks that are not over, these are 3 more, and your limit is 5/)
    assert.equal(refusal(2, 3)?.code, 'quota')
    assert.equal(refusal(2, 3, 'bob'), undefined)
    const before = world.store.keys('')
    world.apply(submission('ann', 2, 3))
    assert.deepEqual(world.store.keys(''), before)
    world.apply(submission('ann', 2, 1))
    assert.match(refusal(3, 1)?.message ?? '', /you have 2 batches that are not over, and your limit is 2/)
    // Said again, because its answer was lost: no harm.
    assert.equal(refusal(2, 1), undefined)
    world.apply({ kind: 'kill', batch: batchId(1), by: 'ann' })
    assert.equal(refusal(3, 4), undefined)
    grant(world, { diskBytes: 1000 })
    world.apply({ kind: 'brought', client: 'ann', bytes: 600 })
    assert.deepEqual([world.coordinator.room('ann'), refusal(3, 1)], [400, undefined])
    const node = world.join('node', offer(1))
    world.report(node, `${batchId(2)}.0.1`, { output: 'x'.repeat(400) })
    assert.match(refusal(3, 1)?.message ?? '', /keeps 1000 bytes for you, and your limit is 1000/)
    grant(world, { diskBytes: null })
    assert.equal(refusal(3, 1), undefined)
  })

  it('let what is beyond the runs at once wait, which "why" tells, and no one else', async () => {
    const world = await new CoordinatorWorld().start()
    grant(world, { parallel: 2 })
    const node = world.join('node', offer(4))
    world.apply(submission('ann', 1, 5))
    assert.equal(node.leases.size, 2)
    assert.deepEqual(
      [world.coordinator.why(`${batchId(1)}.4`)?.waitsFor, world.coordinator.why(`${batchId(1)}.4`)?.quota],
      ['quota', { limit: 'parallel', used: 2, max: 2 }]
    )
    world.apply(submission('bob', 2, 1))
    assert.equal(node.leases.size, 3)
    world.report(node, `${batchId(1)}.0.1`)
    assert.deepEqual([...node.leases.keys()].slice(-1), [`${batchId(1)}.2.1`])
    grant(world, { parallel: null })
    assert.equal(node.leases.size, 4)
  })

  it('let tasks wait once so many bytes are kept as may be, until that is raised (D18)', async () => {
    const world = await new CoordinatorWorld().start()
    grant(world, { diskBytes: 1000 })
    const node = world.join('node', offer(1))
    world.apply(submission('ann', 1, 9))
    const run = (): void => {
      const [replica = ''] = node.leases.keys()
      world.report(node, replica, { output: 'x'.repeat(400) })
    }
    for (let ran = 0; ran < 3; ran++) run()
    assert.equal(node.leases.size, 1, 'what the third left is fetched while the fourth runs')
    run()
    assert.equal(node.leases.size, 0)
    assert.deepEqual(world.coordinator.why(batchId(1))?.quota, { limit: 'disk', used: 1600, max: 1000 })
    world.apply(submission('bob', 2, 1))
    assert.equal(node.leases.size, 1)
    world.report(node, [...node.leases.keys()][0] ?? '')
    // Also over a restart.
    await world.start()
    const again = world.join('node', offer(1))
    assert.equal(again.leases.size, 0)
    grant(world, { diskBytes: 2000 })
    assert.equal(again.leases.size, 1)
  })

  it('hold the batches of a client whose time is used up until the next period, or until it is raised', async () => {
    const world = await new CoordinatorWorld().start()
    world.nowMs = 10 * 3_600_000
    grant(world, { timeMs: 30_000, periodMs: 3_600_000 })
    const node = world.join('node', offer(1))
    world.apply(submission('ann', 1, 5))
    const run = (ms: number): void => {
      const [replica = ''] = node.leases.keys()
      world.pass(ms)
      world.report(node, replica, { ranMs: ms + 500 })
    }
    run(20_000)
    run(20_000)
    assert.equal(node.leases.size, 0)
    assert.deepEqual(world.coordinator.why(batchId(1))?.quota, { limit: 'time', used: 40_000, max: 30_000, untilMs: 3_560_000 })
    grant(world, { timeMs: 50_000 })
    assert.equal(node.leases.size, 1)
    run(20_000)
    assert.equal(node.leases.size, 0)
    // Also over a restart.
    await world.start()
    world.join('node', offer(1))
    assert.equal(node.leases.size, 0)
    world.pass(3_540_000)
    assert.equal(node.leases.size, 1)
    const { used } = world.coordinator.client('ann')
    assert.deepEqual([used.timeMs < 1_000, used.totalMs, used.runs], [true, 60_000, 3])
  })
})
