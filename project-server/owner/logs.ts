/**
 * What a task prints, and the files in its output folder. A decided task's are content the project holds; a running one's come
 * live from a node that runs it, over the node's own connection. A stream that breaks is taken up again at the same offset, on
 * the same or another execution; the client is told which one it reads, and where.
 */
import { parseTaskId, replicaId } from '#protocol/ids'
import { isLiveFile, LIVE_LINES_MAX, LIVE_SEEN_BYTES_MAX, type LiveFile } from '#protocol/live/messages'
import { parseLivePath } from '#protocol/live/path'
import type { LogPlace, Logs, ReplicaView, TaskView } from '#protocol/owner/messages'
import { LOG_ATTEMPTS_MAX, LOG_PIECE_BYTES_MAX, LOG_RETRY_MS } from '../policy.ts'
import type { Clock } from '../ports.ts'
import { type Changes, pause } from './changes.ts'
import type { Cursor, FeedStep, Feeds } from './feed.ts'
import { type LiveNodes, NodeLost } from './live.ts'
import { type OpenRequest, OwnerError } from './request.ts'
import { type Names, resolveTask } from './resolve.ts'
import { isOver, overFor, readable } from './running.ts'
import { type StoredContent, storedFile, storedTail } from './stored.ts'

export interface LogsPorts extends Names {
  readonly changes: Changes
  readonly clock: Clock
  readonly content: StoredContent
  readonly nodes: LiveNodes
  readonly feeds: Feeds
}

/** One reading, from its request to its end. */
interface Reading extends Cursor {
  readonly task: string
  readonly file: LiveFile
  readonly path: readonly string[]
  readonly follow: boolean
  readonly attempt: number
  /** The execution whose file `identity` and `seen` are of; 0 for none. */
  of: number
  /** Lines from the end to begin with; 0 once it has begun. */
  lines: number
  /** What the client was told last, and the offset of what it was sent since. */
  told: LogPlace | undefined
}

export async function logs(request: Logs, open: OpenRequest, ports: LogsPorts): Promise<void> {
  const reading = await readingOf(request, ports)
  const leave = await ports.nodes.enter(open.client, open.signal)
  try {
    await read(reading, open, ports)
  } finally {
    leave()
  }
}

async function readingOf(request: Logs, ports: LogsPorts): Promise<Reading> {
  const { file, follow, offset, attempt, lines, identity } = request
  const path = parseLivePath(request.path)
  if (!isLiveFile(file)) throw new OwnerError('malformed', 'what is read is stdout, stderr or a file of the output (out)')
  if (path === undefined || (file === 'out') !== path.length > 0)
    throw new OwnerError('malformed', 'the path is that of a file below the output folder, without . and .., and only with it')
  if (!Number.isSafeInteger(offset) || offset < 0) throw new OwnerError('malformed', 'the offset is a whole number of bytes')
  if (lines > LIVE_LINES_MAX) throw new OwnerError('malformed', `at most ${LIVE_LINES_MAX} lines from the end can be asked for`)
  const task = await resolveTask(request.of, ports)
  return { task, file, path, follow, attempt, lines, offset, ...known(identity), seen: new Uint8Array(), told: undefined }
}

/** To the client it is one word: a file of another execution is another file, whatever its node calls it. */
function known(identity: string): { readonly of: number; readonly identity: string } {
  const [, attempt = '0', own = ''] = /^(\d{1,9}):(.*)$/s.exec(identity) ?? []
  return { of: Number(attempt), identity: own }
}

async function read(reading: Reading, open: OpenRequest, ports: LogsPorts): Promise<void> {
  const { task, attempt, follow } = reading
  const batch = parseTaskId(task)?.batch ?? ''
  for (let idle = 0; ; ) {
    if (open.signal.aborted) throw new OwnerError('unavailable', 'the request was given up')
    const changed = ports.changes.next(batch, open.signal)
    const view = await ports.views.task(task)
    if (view === undefined) throw new OwnerError('not_found', `there is no task ${task}`)
    if (isOver(view)) return decided(view, reading, open, ports)
    const before = reading.offset
    const outcome = await live(view, reading, open, ports)
    if (outcome.kind === 'complete') return
    if (outcome.kind === 'nobody') {
      if (!follow) {
        const which = attempt === 0 ? `task ${task} does not run` : `execution ${attempt} of task ${task} cannot be read`
        throw new OwnerError('not_running', `${which} now (${view.status}); follow it (-f) to wait for it`)
      }
      await Promise.race([changed, pause(ports.clock, LOG_RETRY_MS, open.signal)])
      continue
    }
    idle = reading.offset > before ? 0 : idle + 1
    if (idle >= LOG_ATTEMPTS_MAX) throw new OwnerError('unavailable', `task ${task} cannot be read from its nodes: ${outcome.reason}`)
    await pause(ports.clock, LOG_RETRY_MS, open.signal)
  }
}

async function decided(view: TaskView, reading: Reading, open: OpenRequest, ports: LogsPorts): Promise<void> {
  if (reading.attempt !== 0) throw overFor(view, reading.attempt)
  const file = await storedFile(view, reading.file, reading.path, ports.content)
  if (reading.lines > 0) reading.offset = await storedTail(file, reading.lines)
  Object.assign(reading, { of: 0, identity: '' })
  await tell(reading, { attempt: 0, node: '' }, open)
  if (reading.offset >= file.size) return
  for await (const bytes of file.read(reading.offset, file.size)) {
    for (let at = 0; at < bytes.length; at += LOG_PIECE_BYTES_MAX) {
      const data = bytes.subarray(at, at + LOG_PIECE_BYTES_MAX)
      await open.part({ data })
      await ports.nodes.pace(open.client, data.length, open.signal)
    }
  }
}

type Outcome = { readonly kind: 'complete' } | { readonly kind: 'nobody' } | { readonly kind: 'broken'; readonly reason: string }

/** Reads from the one that it read before, if that is still there, and else from the first execution that gives something. */
async function live(view: TaskView, reading: Reading, open: OpenRequest, ports: LogsPorts): Promise<Outcome> {
  let outcome: Outcome = { kind: 'nobody' }
  const { of } = reading
  const replicas = readable(view, reading.attempt, ports.nodes).toSorted((a, b) => Number(b.attempt === of) - Number(a.attempt === of))
  for (const replica of replicas) {
    const before = reading.offset
    outcome = await from(replica, reading, open, ports)
    if (outcome.kind === 'complete' || reading.offset > before) return outcome
  }
  return outcome
}

async function from(replica: ReplicaView, reading: Reading, open: OpenRequest, ports: LogsPorts): Promise<Outcome> {
  // Another run has files of its own: only the offset means the same there.
  if (reading.of !== replica.attempt) Object.assign(reading, { of: replica.attempt, identity: '', seen: new Uint8Array() })
  const followed = { node: replica.node, replica: replicaId(reading.task, replica.attempt), file: reading.file, path: reading.path.join('/') }
  const send = async (step: FeedStep): Promise<void> => {
    if (step.kind === 'place') return tell(reading, { ...replica, missed: step.place.missed }, open)
    await tell(reading, replica, open, step.bytes.length)
    for (let at = 0; at < step.bytes.length; at += LOG_PIECE_BYTES_MAX) await open.part({ data: step.bytes.subarray(at, at + LOG_PIECE_BYTES_MAX) })
    await ports.nodes.pace(open.client, step.bytes.length, open.signal)
  }
  try {
    if (reading.lines > 0 || !reading.follow) await once(followed, reading, open, ports, send)
    reading.lines = 0
    if (reading.follow) for await (const step of ports.feeds.follow(followed, reading, open.client, open.signal)) await send(step)
    return { kind: 'complete' }
  } catch (error) {
    if (!(error instanceof NodeLost)) throw error
    return { kind: 'broken', reason: error.message }
  }
}

/** What there is now. */
async function once(
  followed: { readonly node: string; readonly replica: string; readonly file: LiveFile; readonly path: string },
  reading: Reading,
  { client, signal }: OpenRequest,
  ports: LogsPorts,
  send: (step: FeedStep) => Promise<void>
): Promise<void> {
  const { node, ...what } = followed
  const { offset, lines, identity } = reading
  for await (const frame of ports.nodes.ask({ ...what, offset, lines, identity }, { client, node, signal })) {
    if (frame.offset !== undefined) {
      Object.assign(reading, { offset: frame.offset, identity: frame.identity })
      await send({ kind: 'place', place: { offset: frame.offset, identity: frame.identity, missed: frame.missed } })
    }
    if (frame.data === undefined || frame.data.length === 0) continue
    reading.offset += frame.data.length
    reading.seen = frame.data.slice(-LIVE_SEEN_BYTES_MAX)
    reading.lines = 0
    await send({ kind: 'data', bytes: frame.data })
  }
}

/** Tells the client where what it is sent next begins, unless it knows; `ahead` bytes of it are counted already. */
async function tell(
  reading: Reading,
  { attempt, node, missed = false }: { attempt: number; node: string; missed?: boolean },
  open: OpenRequest,
  ahead = 0
): Promise<void> {
  const { task, told } = reading
  const identity = reading.identity === '' ? '' : `${attempt}:${reading.identity}`
  const offset = reading.offset - ahead
  const isKnown = told !== undefined && told.attempt === attempt && told.node === node && told.identity === identity && told.offset === offset && !missed
  if (!isKnown) await open.part({ body: { task, attempt, node, offset, identity, missed } satisfies LogPlace })
  reading.told = { task, attempt, node, offset: reading.offset, identity, missed }
}
