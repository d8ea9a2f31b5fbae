import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cidOfBytes, RAW } from '#protocol/content/cid'
import type { ContentStore, FetchOptions } from '#protocol/content/content'
import type { Host } from '#protocol/peer/host'
import type { AgentEvent } from './agent/events.ts'
import { fetchInputs } from './inputs.ts'
import { FETCH_SILENCE_MS_MAX, START_MS_MAX } from './policy.ts'
import type { Executor, Running, Workspace } from './ports.ts'
import { Runner } from './runner.ts'
import { until } from './testing/live/until.ts'
import { ENDED, leaseOf, manifestOf, replicaOf } from './testing/samples.ts'

/** Moved by hand. */
class HandClock {
  #nowMs = 0
  readonly #timers = new Set<{ readonly atMs: number; readonly call: () => void }>()

  after(ms: number, call: () => void): () => void {
    const timer = { atMs: this.#nowMs + ms, call }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** How many wait. */
  get waiting(): number {
    return this.#timers.size
  }

  pass(ms: number): void {
    this.#nowMs += ms
    for (const timer of [...this.#timers]) if (timer.atMs <= this.#nowMs && this.#timers.delete(timer)) timer.call()
  }
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }

describe('a state that lasts too long (F12)', () => {
  it('a run that its engine does not start in its time is given back as a fault of the node, and ended when it starts after all', async () => {
    const clock = new HandClock()
    const events: AgentEvent[] = []
    const kills: number[] = []
    const removed: string[] = []
    const started = Promise.withResolvers<Running>()
    const executor: Executor = {
      engine: 'process',
      async probe() {},
      async prepare() {},
      start: () => started.promise,
      recover: async () => new Map<string, Running>(),
      async sweep() {},
      async remove(replica) {
        removed.push(replica)
      },
      async stop() {}
    }
    const lease = leaseOf(replicaOf(1))
    const runner = new Runner(
      {
        executors: [executor],
        content: {} as ContentStore,
        workspace: { pathOf: () => '/run' } as Partial<Workspace> as Workspace,
        host: {} as Host,
        clock,
        logger: silent
      },
      { project: '', apply: (event) => events.push(event), engineDown: () => assert.fail('no engine is down'), online: async () => {}, isStocked: () => false }
    )
    runner.start(lease)
    clock.pass(START_MS_MAX - 1)
    assert.deepEqual(events, [])
    clock.pass(1)
    await until('given back', () => events.length === 1)
    const fault = { class: 'node', code: 'stalled', message: 'the engine process did not start it within 60 s' }
    assert.deepEqual(events, [{ kind: 'failed', replica: lease.replica, fault }])
    started.resolve({ ended: Promise.resolve(ENDED), kill: async (graceMs) => void kills.push(graceMs) })
    await until('ended', () => removed.length === 1)
    assert.deepEqual([kills, removed, events.length], [[0], [lease.replica], 1])
    await runner.stop()
  })

  it('a download of which nothing comes for so long is given up; whatever comes begins the wait anew', async () => {
    const clock = new HandClock()
    const asked: FetchOptions[] = []
    const store = {
      check: async () => false,
      has: () => false,
      locate: () => undefined,
      fetch: (_root: unknown, options: FetchOptions) => {
        asked.push(options)
        return new Promise((_, reject) => options.signal?.addEventListener('abort', () => reject(options.signal?.reason)))
      }
    } as unknown as ContentStore
    const root = cidOfBytes(RAW, Uint8Array.of(1))
    const manifest = manifestOf({ dependencies: [{ name: 'data', root, path: '', executables: [] }] })
    const ports = { store, host: {} as Host, from: [], clock, online: async () => {}, using: () => undefined, moved: () => undefined }
    const fetched = fetchInputs(ports, manifest, new AbortController().signal)
    await until('asked for', () => asked.length === 1)
    clock.pass(FETCH_SILENCE_MS_MAX - 1)
    asked[0]?.onProgress?.({ bytes: 1, totalBytes: 2, blocks: 1 })
    clock.pass(FETCH_SILENCE_MS_MAX - 1)
    assert.equal(asked[0]?.signal?.aborted, false)
    clock.pass(1)
    await assert.rejects(fetched, new RegExp(`^StalledError: nothing of input ${root} came for 600 s`))
    assert.deepEqual([asked.length, clock.waiting], [1, 0])
  })
})
