import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { decodeFrame } from '#protocol/control/messages'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, bundle, offer, outputOf } from '#test/support/coordinator-parts'
import { peekTasks } from '../../sim/stored-tasks.ts'
import { decodeBatchRecord } from './batch-records.ts'
import type { AcceptedBundle } from './events.ts'
import { DEFAULT_COORDINATOR_POLICY } from './policy.ts'
import type { TaskRecord } from './task-records.ts'

const A = batchId(1)

async function world(): Promise<CoordinatorWorld> {
  return new CoordinatorWorld({ ...DEFAULT_COORDINATOR_POLICY, failuresMax: Number.POSITIVE_INFINITY }).start()
}

function tasks(at: CoordinatorWorld): TaskRecord[] {
  return [...peekTasks(at.store, A).values()]
}

function draws(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Every node does all that it was leased, round after round, until nothing is leased. */
function workAll(at: CoordinatorWorld, nodes: readonly ScriptedNode[], end: (node: ScriptedNode, replica: string) => void): void {
  while (nodes.some((node) => node.leases.size > 0))
    for (const node of nodes) {
      const replicas = [...node.leases.keys()]
      if (replicas.length === 0) continue
      at.begin(node, ...replicas)
      for (const replica of replicas) if (node.leases.has(replica)) end(node, replica)
    }
}

it('F15: 3 of 5 with one liar yields the truth in 10,000 tasks', async () => {
  const at = await world()
  const nodes = ['liar', 'a', 'b', 'c', 'd'].map((id) => at.join(id, offer(64)))
  const same: AcceptedBundle = bundle('x')
  at.submit(
    A,
    Array.from({ length: 10_000 }, () => same),
    { minQuorum: 3, targetResults: 3, maxTotalResults: 5, maxSuccessResults: 5 }
  )
  workAll(at, nodes, (node, replica) => at.report(node, replica, { output: node.id === 'liar' ? 'a lie' : 'the truth' }))
  const counts = decodeBatchRecord(at.store.peek(`batch/${A}`) ?? new Uint8Array(0))
  assert.equal(counts.ready, 10_000)
  for (const { decision } of tasks(at)) assert.equal(decision?.output, outputOf('the truth').toString())
  const liar = at.coordinator.nodes().find(({ id }) => id === 'liar')
  assert.ok((liar?.invalid ?? 0) > 4_000, 'the liar was leased its share')
  assert.equal(liar?.valid, 0)
})

it('F07: with K attempts that crash with probability C, 1 - C^K of the tasks succeed', async () => {
  const random = draws(5)
  const count = 300
  for (const crash of [0.1, 0.5, 0.9])
    for (let attempts = 1; attempts <= 8; attempts++) {
      const at = await world()
      const nodes = Array.from({ length: 8 }, (_, index) => at.join(`node ${index}`, offer(64)))
      const same = bundle('x')
      at.submit(
        A,
        Array.from({ length: count }, () => same),
        { minQuorum: 1, targetResults: 1, maxErrorResults: attempts, maxTotalResults: 8 }
      )
      workAll(at, nodes, (node, replica) => {
        if (random() < crash) at.giveBack(node, replica, 'node')
        else at.report(node, replica)
      })
      const { ready, failed } = decodeBatchRecord(at.store.peek(`batch/${A}`) ?? new Uint8Array(0))
      assert.equal(ready + failed, count)
      const p = 1 - crash ** attempts
      // Five standard deviations of a binomial, and one task for the tails.
      const band = 5 * Math.sqrt(count * p * (1 - p)) + 1
      assert.ok(Math.abs(ready - count * p) <= band, `C ${crash}, K ${attempts}: ${ready} of ${count} ready, expected ${count * p} +- ${band}`)
      assert.ok(tasks(at).every(({ replicas }) => replicas.length <= attempts))
    }
})

it('S02: 1,000 tasks are leased first come, first served, higher priorities first', async () => {
  const at = await world()
  const batches = [1, 2, 3, 4].map(batchId)
  for (const [index, batch] of batches.entries())
    at.submit(
      batch,
      Array.from({ length: 250 }, (_, task) => bundle(`${task}`, { resources: { memoryBytes: 1024 ** 3 + (task % 3) } })),
      { minQuorum: 1, targetResults: 1, priority: index === 2 ? 5 : 0 }
    )
  const leased: string[] = []
  const nodes = ['a', 'b', 'c'].map((id) => at.join(id, offer(2)))
  const note = (): void => {
    for (const effect of at.effects.splice(0)) if (effect.kind === 'send') for (const { leases } of assigned(effect.frame)) leased.push(...leases)
  }
  note()
  workAll(at, nodes, (node, replica) => {
    at.report(node, replica)
    note()
  })
  const order = [2, 0, 1, 3].flatMap((batch) => Array.from({ length: 250 }, (_, task) => `${batches[batch]}.${task}.1`))
  assert.deepEqual(leased, order)
})

it('S01: no node is idle beside tasks that it could run', async () => {
  const at = await world()
  const [fast, slow] = [at.join('fast', offer(4)), at.join('slow', offer(4))]
  at.submit(
    A,
    Array.from({ length: 500 }, (_, task) => bundle(`${task}`)),
    { minQuorum: 3, targetResults: 3 }
  )
  // The fast one is through with everything long before the slow one: neither may be barred by what stands first.
  workAll(at, [fast], (node, replica) => at.report(node, replica))
  assert.equal(tasks(at).filter(({ replicas }) => replicas.some(({ node }) => node === 'fast')).length, 500)
  workAll(at, [slow], (node, replica) => at.report(node, replica))
  const third = at.join('third', offer(4))
  workAll(at, [third], (node, replica) => at.report(node, replica))
  assert.equal(decodeBatchRecord(at.store.peek(`batch/${A}`) ?? new Uint8Array(0)).ready, 500)
})

it('S04: what is leased never exceeds what a node has, and a task that fits nowhere holds up nobody', async () => {
  const sizes = fc.array(fc.record({ cpu: fc.integer({ min: 1, max: 12 }), memory: fc.integer({ min: 1, max: 12 }) }), { minLength: 1, maxLength: 60 })
  const offers = fc.array(fc.record({ cpu: fc.integer({ min: 1, max: 8 }), memory: fc.integer({ min: 1, max: 8 }), slots: fc.integer({ min: 1, max: 6 }) }), {
    minLength: 1,
    maxLength: 6
  })
  await fc.assert(
    fc.asyncProperty(sizes, offers, async (wanted, offered) => {
      const at = await world()
      const nodes = offered.map(({ cpu, memory, slots }, index) =>
        at.join(`node ${index}`, offer(slots, { cpuMillis: cpu * 1000, memoryBytes: memory * 1024 ** 3 }))
      )
      const bundles = wanted.map(({ cpu, memory }, index) => bundle(`${index}`, { resources: { cpuMillis: cpu * 1000, memoryBytes: memory * 1024 ** 3 } }))
      at.submit(A, bundles, { minQuorum: 1, targetResults: 1 })
      const fitting = wanted.filter(({ cpu, memory }) => offered.some((one) => cpu <= one.cpu && memory <= one.memory)).length
      const check = (): void => {
        for (const [index, node] of nodes.entries()) {
          const held = [...node.leases.keys()].map((replica) => wanted[Number(replica.split('.')[1])])
          const { cpu, memory, slots } = offered[index] ?? { cpu: 0, memory: 0, slots: 0 }
          assert.ok(held.length <= slots)
          assert.ok(held.reduce((sum, one) => sum + (one?.cpu ?? 0), 0) <= cpu)
          assert.ok(held.reduce((sum, one) => sum + (one?.memory ?? 0), 0) <= memory)
        }
      }
      check()
      workAll(at, nodes, (node, replica) => {
        at.report(node, replica)
        check()
      })
      const done = fitting === wanted.length ? decodeBatchRecord(at.store.peek(`batch/${A}`) ?? new Uint8Array(0)) : at.coordinator.batch(A)
      assert.equal(done?.ready, fitting)
    }),
    { numRuns: 200 }
  )
})

it('S06: equal nodes get equal shares', async () => {
  const at = await world()
  const nodes = Array.from({ length: 10 }, (_, index) => at.join(`node ${index}`, offer(200)))
  at.submit(
    A,
    Array.from({ length: 1_000 }, (_, task) => bundle(`${task}`)),
    { minQuorum: 1, targetResults: 1 }
  )
  const shares = nodes.map(({ leases }) => leases.size)
  assert.ok(Math.max(...shares) <= 1.5 * 100, `shares ${shares.join(' ')}`)
})

it('100,000 tasks in one batch, in parts of 2,048, are accepted, recovered and killed', async () => {
  const at = await world()
  const policy = {
    minQuorum: 1,
    targetResults: 1,
    maxErrorResults: 3,
    maxTotalResults: 8,
    maxSuccessResults: 6,
    priority: 0,
    nodes: [],
    queueLimitMs: 0,
    force: false,
    independence: 'prefer' as const,
    tags: [],
    deadlineMs: 0,
    estimateMs: 0,
    retryMemoryBytes: 0,
    guessMemory: false,
    compare: null,
    copies: 'tail' as const,
    sameClass: 'no' as const,
    trust: 'any' as const,
    adaptive: false,
    commit: false,
    checkpointMs: 0,
    doubtPpm: 0
  }
  const bundles = Array.from({ length: 2_048 }, (_, task) => bundle(`${task}`))
  for (let from = 0; from < 100_000; from += 2_048) {
    const part = bundles.slice(0, Math.min(2_048, 100_000 - from))
    at.apply({ kind: 'submit', batch: A, name: 'big', by: 'owner', bundles: part, policy, more: from + 2_048 < 100_000, from, seed: 1 })
  }
  const node = at.join('ann', offer(1_000))
  at.work(node)
  await at.start()
  at.join('ann', offer(1_000))
  assert.equal(at.coordinator.batch(A)?.tasks, 100_000)
  assert.equal(at.coordinator.batch(A)?.ready, 1_000)
  at.apply({ kind: 'kill', batch: A, by: 'owner' })
  assert.equal(decodeBatchRecord(at.store.peek(`batch/${A}`) ?? new Uint8Array(0)).killed, 99_000)
})

function assigned(frame: Uint8Array): { leases: string[] }[] {
  const decoded = decodeFrame(frame)
  return decoded?.assign === undefined ? [] : [{ leases: decoded.assign.leases.map(({ replica }) => replica) }]
}
