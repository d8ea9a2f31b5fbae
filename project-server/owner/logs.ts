/**
 * What a task printed. A decided task's logs are content the project holds; a running one's come live from a node that runs
 * it, over the node's own connection, read only as fast as the client reads. A stream that breaks is taken up again at the
 * same offset, on the same or another replica.
 */
import { CID } from 'multiformats/cid'
import type { ContentStore } from '#protocol/content/content'
import { parseTaskId, replicaId } from '#protocol/ids'
import { decodeLiveFrame, LIVE_FRAME_BYTES_MAX, LIVE_PROTOCOL, LiveOpen } from '#protocol/live/messages'
import type { Logs, TaskView } from '#protocol/owner/messages'
import { type FrameStream, type Host, HostError, StreamError } from '#protocol/peer/host'
import { clip } from '../control/inbound.ts'
import { LOG_ATTEMPTS_MAX, LOG_PIECE_BYTES_MAX, LOG_RETRY_MS, MESSAGE_CHARS_MAX } from '../policy.ts'
import type { Clock } from '../ports.ts'
import { type Changes, pause } from './changes.ts'
import { type OpenRequest, OwnerError } from './request.ts'
import { type Names, resolveTask } from './resolve.ts'

export interface LogsPorts extends Names {
  readonly changes: Changes
  readonly clock: Clock
  readonly content: Pick<ContentStore, 'read' | 'sizeOf'>
  readonly host: Pick<Host, 'open' | 'isConnected'>
}

interface Cursor {
  readonly task: string
  readonly file: 'stdout' | 'stderr'
  readonly follow: boolean
  offset: number
}

const LIVE_STATES = ['running', 'uploading', 'reported']

export async function logs(request: Logs, open: OpenRequest, ports: LogsPorts): Promise<void> {
  const { file, follow, offset } = request
  if (file !== 'stdout' && file !== 'stderr') throw new OwnerError('malformed', 'the file of a log is stdout or stderr')
  if (!Number.isSafeInteger(offset) || offset < 0) throw new OwnerError('malformed', 'the offset is a whole number of bytes')
  const task = await resolveTask(request.of, ports)
  const cursor: Cursor = { task, file, follow, offset }
  const batch = parseTaskId(task)?.batch ?? ''
  for (let idle = 0; ; ) {
    if (open.signal.aborted) throw new OwnerError('unavailable', 'the request was given up')
    const changed = ports.changes.next(batch, open.signal)
    const view = await ports.views.task(task)
    if (view === undefined) throw new OwnerError('not_found', `there is no task ${task}`)
    if (view.status === 'ready' || view.status === 'failed' || view.status === 'killed') return decided(view, cursor, open, ports)
    const before = cursor.offset
    const outcome = await live(view, cursor, open, ports)
    if (outcome.kind === 'complete') return
    if (outcome.kind === 'nobody') {
      if (!follow) throw new OwnerError('not_running', `task ${task} does not run now (${view.status}); follow it (-f) to wait for it`)
      await Promise.race([changed, pause(ports.clock, LOG_RETRY_MS, open.signal)])
      continue
    }
    idle = cursor.offset > before ? 0 : idle + 1
    if (idle >= LOG_ATTEMPTS_MAX) throw new OwnerError('unavailable', `the log of task ${task} cannot be had from its nodes: ${outcome.reason}`)
    await pause(ports.clock, LOG_RETRY_MS, open.signal)
  }
}

async function decided(view: TaskView, cursor: Cursor, open: OpenRequest, ports: LogsPorts): Promise<void> {
  const text = view[cursor.file]
  if (text === undefined) throw new OwnerError('no_output', `task ${view.id} is ${view.status} and left no ${cursor.file}`)
  const root = CID.parse(text)
  const size = ports.content.sizeOf(root)
  if (size === undefined) throw new OwnerError('no_output', `the ${cursor.file} of task ${view.id} is no longer here`)
  if (cursor.offset >= size) return
  for await (const bytes of ports.content.read(root, '', { from: cursor.offset, to: size })) {
    for (let at = 0; at < bytes.length; at += LOG_PIECE_BYTES_MAX) await open.part({ data: bytes.subarray(at, at + LOG_PIECE_BYTES_MAX) })
  }
}

type Outcome = { readonly kind: 'complete' } | { readonly kind: 'nobody' } | { readonly kind: 'broken'; readonly reason: string }

/** Reads from the first replica that gives something: running ones first. */
async function live(view: TaskView, cursor: Cursor, open: OpenRequest, ports: LogsPorts): Promise<Outcome> {
  const replicas = (view.replicas ?? [])
    .filter(({ state, node }) => LIVE_STATES.includes(state) && ports.host.isConnected(node))
    .toSorted((a, b) => LIVE_STATES.indexOf(a.state) - LIVE_STATES.indexOf(b.state))
  let outcome: Outcome = { kind: 'nobody' }
  for (const { node, attempt } of replicas) {
    const before = cursor.offset
    try {
      const stream = await ports.host.open(node, LIVE_PROTOCOL, { frameBytesMax: LIVE_FRAME_BYTES_MAX }, open.signal)
      outcome = await relay(stream, replicaId(view.id, attempt), cursor, open)
    } catch (error) {
      if (!(error instanceof HostError) && !(error instanceof StreamError)) throw error
      outcome = { kind: 'broken', reason: error.message }
    }
    if (outcome.kind === 'complete' || cursor.offset > before) return outcome
  }
  return outcome
}

/** One piece is in hand at a time: a slow client slows the node's reading of its file. */
async function relay(stream: FrameStream, replica: string, cursor: Cursor, open: OpenRequest): Promise<Outcome> {
  const { file, follow, offset } = cursor
  const giveUp = (): void => stream.abort(new Error('the client gave up'))
  open.signal.addEventListener('abort', giveUp, { once: true })
  try {
    await stream.write(LiveOpen.encode({ replica, file, offset, follow }))
    for await (const bytes of stream.frames()) {
      const frame = decodeLiveFrame(bytes)
      if (frame === undefined) return { kind: 'broken', reason: 'the node sent what is not a log' }
      if (frame.data !== undefined && frame.data.length > 0) {
        await open.part({ data: frame.data })
        cursor.offset += frame.data.length
      }
      if (frame.code !== undefined) return { kind: 'broken', reason: clip(frame.message ?? frame.code, MESSAGE_CHARS_MAX) }
      if (frame.end) return { kind: 'complete' }
    }
    return { kind: 'broken', reason: 'the node ended the stream early' }
  } finally {
    open.signal.removeEventListener('abort', giveUp)
    await stream.close().catch(() => undefined)
  }
}
