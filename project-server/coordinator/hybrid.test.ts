import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import type { ReplicaId } from '#protocol/ids'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, offer, plainBundle } from '#test/support/coordinator-parts'
import { DEFAULT_COORDINATOR_POLICY, HYBRID_WAIT_MS_MAX } from './policy.ts'

const LOCAL = { local: true } as const

/** Runs of a batch take `runMs`, and its owner says `estimateMs`. */
interface Load {
  readonly batch: string
  readonly tasks: number
  readonly runMs: number
  readonly estimateMs: number
}

/** Nodes that run what they are given for as long as it takes. */
class Hall {
  readonly world: CoordinatorWorld
  /** Tasks in the order in which they ended, with when and where. */
  readonly ended: { readonly batch: string; readonly atMs: number; readonly node: string }[] = []
  readonly #runMs = new Map<string, number>()
  readonly #running = new Map<ReplicaId, { readonly node: ScriptedNode; readonly untilMs: number }>()
  readonly #startMs: number

  constructor(world: CoordinatorWorld) {
    this.world = world
    this.#startMs = world.nowMs
  }

  submit({ batch, tasks, runMs, estimateMs }: Load, priority = 0): void {
    this.#runMs.set(batch, runMs)
    const policy = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1, estimateMs, priority }
    const bundles = Array.from({ length: tasks }, (_, index) => plainBundle(`${batch} ${index}`))
    this.world.apply({ kind: 'submit', batch, name: '', by: 'owner', bundles, policy, more: false, seed: 1 })
    this.#look()
  }

  join(id: string, slots: number, local: boolean): void {
    this.world.join(id, offer(slots, local ? LOCAL : {}))
    this.#look()
  }

  pass(ms: number): void {
    for (const endMs = this.world.nowMs + ms; this.world.nowMs < endMs; ) {
      this.world.pass(500)
      for (const [replica, { node, untilMs }] of this.#running) {
        if (untilMs > this.world.nowMs) continue
        this.#running.delete(replica)
        this.ended.push({ batch: replica.slice(0, replica.indexOf('.')), atMs: untilMs - this.#startMs, node: node.id })
        this.world.report(node, replica, { ranMs: this.#runMs.get(replica.slice(0, replica.indexOf('.'))) ?? 0 })
      }
      this.#look()
    }
  }

  #look(): void {
    for (const node of this.world.nodes.values())
      for (const replica of node.leases.keys())
        if (!this.#running.has(replica))
          this.#running.set(replica, { node, untilMs: this.world.nowMs + (this.#runMs.get(replica.slice(0, replica.indexOf('.'))) ?? 0) })
  }
}

const [LONG, SHORT] = [batchId(1), batchId(2)]

describe('local nodes take the shortest first, remote ones the first that came', () => {
  it('a mixed load of 1 s and 60 s: the short tasks are done before the first remote node is up (S03)', async () => {
    const REMOTE_UP_MS = 30_000
    const run = async (hybrid: boolean): Promise<Hall> => {
      const hall = new Hall(await new CoordinatorWorld({ ...DEFAULT_COORDINATOR_POLICY, hybrid }).start())
      hall.submit({ batch: LONG, tasks: 40, runMs: 60_000, estimateMs: 60_000 })
      hall.submit({ batch: SHORT, tasks: 40, runMs: 1_000, estimateMs: 1_000 })
      hall.join('local', 2, true)
      hall.pass(REMOTE_UP_MS)
      hall.join('remote', 20, false)
      hall.pass(600_000)
      assert.equal(hall.ended.length, 80)
      return hall
    }
    const hybrid = await run(true)
    const short = hybrid.ended.filter(({ batch }) => batch === SHORT)
    assert.ok(short.every(({ atMs, node }) => atMs <= REMOTE_UP_MS && node === 'local'))
    // The same without: the local slots were taken by what came first.
    const plain = await run(false)
    assert.ok(plain.ended.filter(({ batch }) => batch === SHORT).every(({ atMs }) => atMs > REMOTE_UP_MS))
  })

  it('remote nodes take what came first', async () => {
    const hall = new Hall(await new CoordinatorWorld().start())
    hall.submit({ batch: LONG, tasks: 3, runMs: 5_000, estimateMs: 60_000 })
    hall.submit({ batch: SHORT, tasks: 3, runMs: 1_000, estimateMs: 1_000 })
    hall.join('remote', 1, false)
    hall.pass(60_000)
    assert.deepEqual(
      hall.ended.map(({ batch }) => batch),
      [LONG, LONG, LONG, SHORT, SHORT, SHORT]
    )
  })

  it('what earlier runs took is known without an estimate, priority goes before, and nothing waits for ever', async () => {
    const hall = new Hall(await new CoordinatorWorld().start())
    hall.join('local', 1, true)
    hall.submit({ batch: batchId(3), tasks: 1, runMs: 20_000, estimateMs: 0 }, 1)
    hall.submit({ batch: batchId(4), tasks: 2, runMs: 5_000, estimateMs: 5_000 }, 1)
    hall.submit({ batch: LONG, tasks: 1, runMs: 60_000, estimateMs: 60_000 }, 2)
    hall.pass(20_500)
    // Twenty seconds are what the first took; the important one comes first all the same, then those of five.
    hall.submit({ batch: batchId(5), tasks: 1, runMs: 20_000, estimateMs: 0 }, 1)
    hall.pass(120_000)
    assert.deepEqual(
      hall.ended.map(({ batch }) => batch),
      [batchId(3), LONG, batchId(4), batchId(4), batchId(5)]
    )
    const flood = new Hall(await new CoordinatorWorld().start())
    flood.join('local', 1, true)
    flood.submit({ batch: batchId(7), tasks: 1, runMs: 1_000, estimateMs: 1_000 })
    flood.submit({ batch: LONG, tasks: 1, runMs: 60_000, estimateMs: 60_000 })
    for (let number = 10; flood.ended.every(({ batch }) => batch !== LONG); number++) {
      flood.submit({ batch: batchId(number), tasks: 20, runMs: 1_000, estimateMs: 1_000 })
      flood.pass(20_000)
      assert.ok(flood.world.nowMs - 1_000_000 <= HYBRID_WAIT_MS_MAX + 120_000, 'the long task waits for ever')
    }
  })

  it('of what waits a local node gets the shortest, whatever came in which order', async () => {
    const load = fc.array(fc.record({ tasks: fc.integer({ min: 1, max: 4 }), estimateMs: fc.constantFrom(1_000, 2_000, 30_000, 60_000) }), {
      minLength: 1,
      maxLength: 6
    })
    await fc.assert(
      fc.asyncProperty(load, async (batches) => {
        const world = await new CoordinatorWorld().start()
        const policy = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1 }
        const estimates = new Map<string, number>()
        for (const [index, { tasks, estimateMs }] of batches.entries()) {
          estimates.set(batchId(index + 1), estimateMs)
          const bundles = Array.from({ length: tasks }, (_, task) => plainBundle(`${index} ${task}`))
          world.apply({ kind: 'submit', batch: batchId(index + 1), name: '', by: 'owner', bundles, policy: { ...policy, estimateMs }, more: false, seed: 1 })
        }
        const node = world.join('local', offer(1, LOCAL))
        const took: number[] = []
        for (let [replica] = node.leases.keys(); replica !== undefined; [replica] = node.leases.keys()) {
          took.push(estimates.get(replica.slice(0, replica.indexOf('.'))) ?? 0)
          world.report(node, replica)
        }
        assert.deepEqual(
          took,
          took.toSorted((a, b) => a - b)
        )
        assert.equal(
          took.length,
          batches.reduce((sum, { tasks }) => sum + tasks, 0)
        )
      }),
      { numRuns: 50 }
    )
  })
})
