import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'
import { MemoryHistory, memoryKey, programOf } from './memory-history.ts'
import { MEMORY_GUESS_STEP_BYTES, MEMORY_PROGRAMS_MAX, MEMORY_RUNS_KEPT, MEMORY_RUNS_MIN } from './policy.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3
const NOWHERE = { put() {}, delete() {} }
const GUESSED: TaskPolicy = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1, guessMemory: true }

/** Bundles of one program whose owner did not say what it needs. */
const asked = (input: number) => bundle('a', { resources: { memoryBytes: 2 * GIB, timeMs: 60_000 + input } })

/** So many tasks of the program, each run by the node with this peak. */
function runSome(world: CoordinatorWorld, node: ScriptedNode, { batch, count, peak }: { batch: number; count: number; peak: number }): void {
  world.submit(
    batchId(batch),
    Array.from({ length: count }, (_, index) => asked(1_000 * batch + index)),
    GUESSED
  )
  while (node.leases.size > 0) world.work(node, { output: 'the truth', memoryPeakBytes: peak })
}

function leasedBytes(world: CoordinatorWorld, task: string): number {
  return world.record(task).replicas.at(-1)?.memoryBytes ?? -1
}

describe('S05: memory that nobody asked for', () => {
  it('is what the bundle says until five runs of the program have ended, then a fifth more than most of them took', async () => {
    const world = await new CoordinatorWorld().start()
    const ann = world.join('ann', offer(1))
    runSome(world, ann, { batch: 1, count: MEMORY_RUNS_MIN - 1, peak: 300 * MIB })
    world.submit(batchId(2), [asked(1)], GUESSED)
    assert.equal(leasedBytes(world, `${batchId(2)}.0`), 0)
    world.work(ann, { output: 'the truth', memoryPeakBytes: 300 * MIB })
    world.submit(batchId(3), [asked(2)], GUESSED)
    // 360 MiB in steps of 64.
    assert.equal(leasedBytes(world, `${batchId(3)}.0`), 384 * MIB)
  })

  it('lets nodes run more at once, and is known after a restart of the coordinator', async () => {
    const world = await new CoordinatorWorld().start()
    const ann = world.join('ann', offer(8, { memoryBytes: 2 * GIB }))
    runSome(world, ann, { batch: 1, count: 8, peak: 100 * MIB })
    assert.equal(ann.leases.size, 0)
    await world.start()
    world.join('ann', offer(8, { memoryBytes: 2 * GIB }))
    world.submit(
      batchId(2),
      Array.from({ length: 8 }, (_, index) => asked(index)),
      GUESSED
    )
    assert.equal(ann.leases.size, 8)
    // So it is of what waited over one.
    await world.start()
    assert.equal(world.coordinator.why(`${batchId(2)}.0`)?.needs?.memoryBytes, 128 * MIB)
  })

  it('that turns out too little, or in which a run fails, is no result: it is tried with what the bundle says', async () => {
    for (const outcome of [{ reason: 'memory' as const }, { exitCode: 1 }]) {
      const world = await new CoordinatorWorld().start()
      const ann = world.join('ann', offer(1))
      runSome(world, ann, { batch: 1, count: 6, peak: 100 * MIB })
      world.submit(batchId(2), [asked(1)], GUESSED)
      const task = `${batchId(2)}.0`
      assert.equal(leasedBytes(world, task), 128 * MIB)
      world.work(ann, outcome)
      assert.deepEqual([world.record(task).state, leasedBytes(world, task)], ['running', 0])
      world.work(ann, outcome)
      // Then it says what it says.
      assert.deepEqual([world.record(task).state, world.record(task).failure?.code], ['failed', 'reason' in outcome ? 'memory' : 'exit'])
    }
  })

  it("is another client's business, and another program's, no more than what an owner stated is changed", async () => {
    const world = await new CoordinatorWorld().start()
    const ann = world.join('ann', offer(1))
    runSome(world, ann, { batch: 1, count: 6, peak: 100 * MIB })
    world.submit(batchId(2), [asked(1)], GUESSED, { by: 'another' })
    world.work(ann, { output: 'x' })
    world.submit(batchId(3), [bundle('b', { resources: { memoryBytes: 2 * GIB } })], GUESSED)
    world.work(ann, { output: 'x' })
    world.submit(batchId(4), [asked(3)], { ...GUESSED, guessMemory: false })
    for (const batch of [2, 3, 4]) assert.equal(leasedBytes(world, `${batchId(batch)}.0`), 0)
  })

  it('goes by what the tasks of a sweep have in common', () => {
    const { manifest } = bundle('{x}')
    const other = bundle('{y}').manifest
    assert.equal(programOf(manifest), programOf({ ...manifest, resources: { ...manifest.resources, timeMs: 5 }, dependencies: [] }))
    assert.notEqual(programOf(manifest), programOf(other))
    assert.notEqual(programOf(manifest), programOf({ ...manifest, environment: { A: '1' } }))
  })

  it('is never less than 95 of a hundred of the last runs took, and hardly a fifth more than one of them', () => {
    const peaks = fc.array(fc.integer({ min: 1, max: 64 * GIB }), { minLength: MEMORY_RUNS_MIN, maxLength: 200 })
    fc.assert(
      fc.property(peaks, (list) => {
        const history = new MemoryHistory()
        for (const peak of list) history.ran('memory/ann/a', peak, NOWHERE)
        const guess = history.guess('memory/ann/a') ?? 0
        const last = list.slice(-MEMORY_RUNS_KEPT)
        assert.ok(last.filter((peak) => peak <= guess).length >= 0.95 * last.length)
        assert.ok(last.some((peak) => guess <= 1.2 * peak + MEMORY_GUESS_STEP_BYTES))
        assert.equal(guess % MEMORY_GUESS_STEP_BYTES, 0)
      })
    )
  })

  it('is remembered of so many programs, and forgotten of the one that ran longest ago, on disk too', () => {
    const records = new Map<string, Uint8Array>()
    const out = { put: (key: string, value: Uint8Array) => void records.set(key, value), delete: (key: string) => void records.delete(key) }
    const history = new MemoryHistory()
    for (let program = 0; program <= MEMORY_PROGRAMS_MAX; program++) history.ran(memoryKey('ann', `${program}`), MIB, out)
    assert.equal(records.size, MEMORY_PROGRAMS_MAX)
    assert.ok(!records.has(memoryKey('ann', '0')) && records.has(memoryKey('ann', '1')))
  })
})
