import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CID } from 'multiformats/cid'
import { ContentError, type ContentStore, EMPTY_DIRECTORY, EMPTY_FILE, type FetchOptions } from '#protocol/content/content'
import type { Host } from '#protocol/peer/host'
import { until } from '#test/support/until'
import type { Event } from './coordinator/events.ts'
import { SILENT } from './logger.ts'
import { Pulls, type PullsOptions } from './pulls.ts'
import { ManualClock } from './testing/manual-clock.ts'

type Fetch = (root: CID, options: FetchOptions) => Promise<{ bytes: number }>

function setUp(fetch: Fetch, options: PullsOptions = {}) {
  const clock = new ManualClock()
  const pulled: Extract<Event, { kind: 'pulled' }>[] = []
  const content: Pick<ContentStore, 'check' | 'fetch' | 'pin' | 'sizeOf'> = {
    fetch,
    check: async (root) => root.toString() === EMPTY_FILE,
    sizeOf: (root) => (root.toString() === EMPTY_FILE ? 0 : 7),
    async pin() {}
  }
  const host = { isConnected: (node: string) => node !== 'away' } as Host
  const pulls = new Pulls({ content, host, clock, logger: SILENT, done: (event) => pulled.push(event) }, options)
  const pull = (task: string, nodes: readonly string[], bytesMax = 100): void =>
    pulls.pull({ kind: 'pull', task, nodes, output: EMPTY_DIRECTORY, stdout: EMPTY_FILE, stderr: EMPTY_FILE, bytesMax })
  return { clock, pulled, pulls, pull }
}

describe('pulling outputs', () => {
  it('takes the output from the first node that gives it', async () => {
    const asked: string[] = []
    const { pulled, pull } = setUp(async (_root, { from }) => {
      asked.push(...from)
      if (from[0] === 'broken') throw new ContentError('corrupt', 'no')
      return { bytes: 1 }
    })
    pull('t', ['away', 'broken', 'good', 'spare'])
    await until('the answer', () => pulled.length > 0)
    assert.deepEqual(asked, ['broken', 'good'])
    assert.deepEqual(pulled, [{ kind: 'pulled', task: 't', node: 'good', ok: true, message: '', bytes: 7 }])
  })

  it('names the last node that failed when none gives it', async () => {
    const { pulled, pull } = setUp(async () => {
      throw new ContentError('too_large', 'more than 100 bytes')
    })
    pull('t', ['a', 'b'])
    await until('the answer', () => pulled.length > 0)
    assert.deepEqual(pulled, [{ kind: 'pulled', task: 't', node: 'b', ok: false, message: 'too_large: more than 100 bytes' }])
  })

  it('fetches a bounded number at once, each task once', async () => {
    let running = 0
    let most = 0
    const gates: (() => void)[] = []
    const { pulled, pull } = setUp(
      async () => {
        most = Math.max(most, ++running)
        await new Promise<void>((resolve) => gates.push(resolve))
        running--
        return { bytes: 1 }
      },
      { atOnceMax: 2 }
    )
    for (const task of ['a', 'b', 'c', 'd', 'e']) pull(task, ['n'])
    pull('e', ['n'])
    await until('all answers', () => {
      gates.shift()?.()
      return pulled.length === 5
    })
    assert.equal(most, 2)
  })

  it('gives up a transfer that brings nothing, and goes on with the next node', async () => {
    const { clock, pulled, pull } = setUp(
      async (_root, { from, signal, onProgress }) => {
        if (from[0] === 'good') return { bytes: 1 }
        onProgress?.({ bytes: 1, totalBytes: 9, blocks: 1 })
        return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
      },
      { silenceMsMax: 1000 }
    )
    pull('t', ['stuck', 'good'])
    await until('the transfer', () => clock.waiting === 1)
    clock.forward(1000)
    await until('the answer', () => pulled.length > 0)
    assert.equal(pulled[0]?.node, 'good')
  })

  it('stops without an answer when the server stops', async () => {
    const { pulled, pull, pulls } = setUp(
      (_root, { signal }) => new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    )
    pull('t', ['n'])
    await pulls.stop()
    assert.deepEqual(pulled, [])
  })
})
