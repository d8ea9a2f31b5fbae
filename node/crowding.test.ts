import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Crowding, counted } from './crowding.ts'
import { type Ended, type Executor, ExecutorError } from './ports.ts'

/** Runs on a machine that shares its cores evenly among those that compute: at any moment, the lesser of 1 and cores by runs. */
function play(
  cores: number,
  runs: readonly { readonly atMs: number; readonly forMs: number }[]
): { readonly crowding: Crowding; readonly mosts: readonly number[] } {
  const crowding = new Crowding(cores)
  const events = runs.flatMap(({ atMs, forMs }, run) => [
    { atMs, run, begins: true },
    { atMs: atMs + forMs, run, begins: false }
  ])
  const going = new Map<number, { readonly one: ReturnType<Crowding['begin']>; cpuMs: number }>()
  const mosts: number[] = runs.map(() => 0)
  let beforeMs = 0
  for (const { atMs, run, begins } of events.sort((a, b) => a.atMs - b.atMs || Number(a.begins) - Number(b.begins))) {
    for (const entry of going.values()) entry.cpuMs += (atMs - beforeMs) * Math.min(1, cores / going.size)
    beforeMs = atMs
    const { atMs: startedAtMs = 0 } = runs[run] ?? {}
    if (begins) going.set(run, { one: crowding.begin(), cpuMs: 0 })
    else {
      const entry = going.get(run)
      assert.ok(entry !== undefined)
      going.delete(run)
      crowding.end(entry.one, { startedAtMs, endedAtMs: atMs, cpuMs: entry.cpuMs })
    }
    for (const other of going.keys()) mosts[other] = Math.max(mosts[other] ?? 0, going.size)
  }
  return { crowding, mosts }
}

describe('X12: more slots than cores', () => {
  it('is told with what it does: runs that compute share the cores', () => {
    const alone = Array.from({ length: 4 }, (_, index) => ({ atMs: 0, forMs: 1_000 + index }))
    assert.deepEqual(play(4, alone).crowding.view(), { cores: 4, upToCores: { runs: 4, processorsEach: 1 } })
    const twice = Array.from({ length: 8 }, () => ({ atMs: 0, forMs: 1_000 }))
    assert.deepEqual(play(4, twice).crowding.view(), { cores: 4, beyondCores: { runs: 8, processorsEach: 0.5 } })
    assert.deepEqual(new Crowding(2).view(), { cores: 2 })
  })

  it('counts each run once, by the most that went on with it, whatever begins and ends when', () => {
    const run = fc.record({ atMs: fc.integer({ min: 0, max: 500 }), forMs: fc.integer({ min: 1, max: 500 }) })
    let crowded = 0
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(run, { maxLength: 20 }), (cores, runs) => {
        const { crowding, mosts } = play(cores, runs)
        const { upToCores, beyondCores } = crowding.view()
        const beyond = mosts.filter((most) => most > cores).length
        assert.deepEqual([upToCores?.runs ?? 0, beyondCores?.runs ?? 0], [runs.length - beyond, beyond])
        // Nobody shares as long as there are cores for all.
        if (upToCores !== undefined) assert.equal(upToCores.processorsEach, 1)
        if (beyondCores !== undefined) {
          assert.ok(beyondCores.processorsEach <= 1)
          crowded++
        }
      })
    )
    assert.ok(crowded > 20, `${crowded}`)
  })

  it('is counted for what an executor starts and finds again, and for nothing that broke', async () => {
    const ends: PromiseWithResolvers<Ended>[] = []
    class Engine {
      readonly engine = 'process'
      readonly #name = 'an engine'
      begin() {
        const end = Promise.withResolvers<Ended>()
        ends.push(end)
        return { ended: end.promise, kill: async () => {} }
      }
      async start() {
        if (ends.length === 3) throw new ExecutorError('failed', `${this.#name} is broken`)
        return this.begin()
      }
      async recover() {
        return new Map([['old.0.1', this.begin()]])
      }
      async probe() {
        return this.#name
      }
    }
    const crowding = new Crowding(2)
    const executor = counted(new Engine() as unknown as Executor, crowding)
    assert.equal(await executor.probe(), 'an engine')
    await executor.recover([])
    await executor.start({} as never)
    const broken = await executor.start({} as never)
    await assert.rejects(executor.start({} as never), /an engine is broken/)
    ends[2]?.reject(new ExecutorError('failed', 'gone'))
    await assert.rejects(broken.ended)
    const ended = { reason: 'exit' as const, exitCode: 0, startedAtMs: 0, endedAtMs: 1_000, cpuMs: 700, memoryPeakBytes: 0 }
    for (const end of ends.slice(0, 2)) end.resolve(ended)
    await Promise.all(ends.slice(0, 2).map(({ promise }) => promise))
    assert.equal(executor.engine, 'process')
    assert.deepEqual(crowding.view(), { cores: 2, beyondCores: { runs: 2, processorsEach: 0.7 } })
  })
})
