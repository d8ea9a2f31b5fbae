import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EMPTY_FILE } from '#protocol/content/content'
import { LiveFrame, LiveOpen } from '#protocol/live/messages'
import type { Logs, ReplicaView, TaskView } from '#protocol/owner/messages'
import { type FrameStream, HostError } from '#protocol/peer/host'
import { until } from '#test/support/until'
import { LOG_ATTEMPTS_MAX, LOG_RETRY_MS } from '../policy.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { Changes } from './changes.ts'
import { DataNames } from './data.ts'
import { Feeds } from './feed.ts'
import { LiveNodes, type LivePorts } from './live.ts'
import { type LogsPorts, logs } from './logs.ts'
import type { Views } from './views.ts'

const TASK = `${'a'.repeat(26)}.0`

/** What a node answers on a live stream: pieces of its log from the offset it is asked for, then an end or a break. */
type NodeLog = { readonly text: string; readonly after: 'end' | 'break' | 'gone' }

function replica(node: string, attempt: number, state = 'running'): ReplicaView {
  return { attempt, node, state, atMs: 0 }
}

function setUp(task: Partial<TaskView>, nodes: Record<string, NodeLog>, held = '') {
  const view = { id: TASK, status: 'running', replicas: [], ...task } as TaskView
  const clock = new ManualClock()
  const changes = new Changes()
  const asked: LiveOpen[] = []
  const abort = new AbortController()
  let printed = ''
  const stream = (node: string): FrameStream => {
    let open: LiveOpen | undefined
    return {
      remotePeer: node,
      remoteAddress: '',
      gone: new AbortController().signal,
      async write(bytes) {
        open = LiveOpen.decode(bytes)
        asked.push(open)
      },
      async *frames() {
        const { text, after } = nodes[node] ?? { text: '', after: 'end' }
        const rest = Buffer.from(text).subarray(open?.offset ?? 0)
        for (let at = 0; at < rest.length; at += 4) yield LiveFrame.encode({ data: new Uint8Array(rest.subarray(at, at + 4)), end: false })
        if (after === 'end') yield LiveFrame.encode({ end: true })
        if (after === 'gone') yield LiveFrame.encode({ end: true, code: 'not_running', message: 'no such replica' })
      },
      async close() {},
      abort() {}
    }
  }
  const led: LivePorts['nodes'] = {
    streamOf(node) {
      if (!(node in nodes)) return undefined
      const beside = async (): Promise<FrameStream> => {
        if (nodes[node]?.text === '!') throw new HostError('not_connected', 'no connection')
        return stream(node)
      }
      return { beside, gone: new AbortController().signal }
    }
  }
  const live = new LiveNodes({ nodes: led, clock })
  const ports: LogsPorts = {
    nodes: live,
    feeds: new Feeds(live),
    views: { task: async () => ({ ...view }) } as unknown as Views,
    data: new DataNames().of('c'),
    changes,
    clock,
    content: {
      list: async () => [],
      sizeOf: () => held.length,
      async *read(_root, _path, range) {
        yield Buffer.from(held.slice(range?.from, range?.to))
      }
    }
  }
  const part = async ({ data }: { data?: Uint8Array }): Promise<void> => {
    printed += Buffer.from(data ?? []).toString()
  }
  const run = (change: Partial<Logs> = {}): Promise<void> =>
    logs(
      { of: TASK, file: 'stdout', offset: 0, follow: true, path: '', attempt: 0, lines: 0, identity: '', ...change },
      { client: 'c', signal: abort.signal, part },
      ports
    )
  return { view, clock, changes, asked, abort, run, printed: () => printed }
}

describe('the log of a task', () => {
  it("of a decided task is the project's own copy, from the offset on", async () => {
    const { run, printed } = setUp({ status: 'ready', stdout: EMPTY_FILE }, {}, 'hello world')
    await run({ offset: 6 })
    assert.equal(printed(), 'world')
    await run({ offset: 99 })
    assert.equal(printed(), 'world')
  })

  it('of a running task comes live from a node that runs it', async () => {
    const { run, printed, asked } = setUp({ replicas: [replica('away', 1), replica('n', 2)] }, { n: { text: 'one two three', after: 'end' } })
    await run({ follow: false })
    assert.equal(printed(), 'one two three')
    assert.deepEqual(asked, [LiveOpen.decode(LiveOpen.encode({ replica: `${TASK}.2`, file: 'stdout' }))])
  })

  it('goes on at the same byte on another replica when a stream breaks', async () => {
    const nodes: Record<string, NodeLog> = { bad: { text: 'one two', after: 'break' }, good: { text: 'one two three', after: 'end' } }
    const { run, printed, asked, clock, view } = setUp({ replicas: [replica('bad', 1)] }, nodes)
    const running = run()
    await until('the pause', () => clock.waiting > 0)
    Object.assign(view, { replicas: [replica('good', 2)] })
    clock.forward(LOG_RETRY_MS)
    await running
    assert.equal(printed(), 'one two three')
    assert.deepEqual(
      asked.map(({ offset }) => offset),
      [0, 7]
    )
  })

  it('waits for a task that does not run yet, until it is decided', async () => {
    const { run, printed, changes, view } = setUp({ status: 'created' }, {}, 'all of it')
    const running = run()
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    Object.assign(view, { status: 'ready', stdout: EMPTY_FILE })
    changes.changed(TASK.slice(0, 26))
    await running
    assert.equal(printed(), 'all of it')
  })

  it('ends with the reason when nodes give nothing again and again', async () => {
    const { run, clock } = setUp({ replicas: [replica('n', 1), replica('m', 2)] }, { n: { text: '', after: 'gone' }, m: { text: '!', after: 'end' } })
    const running = assert.rejects(run(), { code: 'unavailable', message: /no connection|no such replica/ })
    for (let i = 1; i < LOG_ATTEMPTS_MAX; i++) {
      await until('the pause', () => clock.waiting > 0)
      clock.forward(LOG_RETRY_MS)
    }
    await running
  })

  it('is refused when there is none', async () => {
    await assert.rejects(setUp({ status: 'created' }, {}).run({ follow: false }), { code: 'not_running' })
    await assert.rejects(setUp({ status: 'killed' }, {}).run(), { code: 'no_output' })
    await assert.rejects(setUp({}, {}).run({ file: '../key' }), { code: 'malformed' })
    await assert.rejects(setUp({}, {}).run({ offset: -1 }), { code: 'malformed' })
  })

  it('stops when the client gives up', async () => {
    const { run, abort, clock } = setUp({ status: 'created' }, {})
    const running = assert.rejects(run(), { code: 'unavailable' })
    await until('the wait', () => clock.waiting > 0)
    abort.abort()
    await running
    assert.equal(clock.waiting, 0)
  })
})
