/** Listing a task's output folder, and putting small files into it while the task runs. */
import { NAME_BYTES_MAX } from '#protocol/content/policy'
import { replicaId } from '#protocol/ids'
import { LIVE_ENTRIES_MAX, LIVE_TARGET_CHARS_MAX, LIVE_WRITE_BYTES_MAX, type LiveEntry } from '#protocol/live/messages'
import { parseLivePath } from '#protocol/live/path'
import type { Files, FilesView, FileView, TaskView, WrittenView } from '#protocol/owner/messages'
import { clip } from '../control/inbound.ts'
import { type LiveNodes, NodeLost } from './live.ts'
import { type OpenRequest, OwnerError } from './request.ts'
import { type Names, resolveTask } from './resolve.ts'
import { isOver, overFor, readable } from './running.ts'
import { type StoredContent, storedList } from './stored.ts'

export interface FilesPorts extends Names {
  readonly content: StoredContent
  readonly nodes: LiveNodes
}

/** Throws OwnerError. */
export async function files(request: Files, open: OpenRequest, ports: FilesPorts): Promise<FilesView | WrittenView> {
  const path = parseLivePath(request.path)
  if (path === undefined) throw new OwnerError('malformed', 'the path is one below the output folder, without . and ..')
  const task = await resolveTask(request.of, ports)
  const leave = await ports.nodes.enter(open.client, open.signal)
  try {
    const view = await ports.views.task(task)
    if (view === undefined) throw new OwnerError('not_found', `there is no task ${task}`)
    if (request.verb === 'list') return await list(view, path, request.attempt, open, ports)
    if (request.verb === 'write') return await write(view, path, request, open, ports)
    throw new OwnerError(
      'malformed',
      `nothing called ${JSON.stringify(clip(request.verb, 32))} can be done with files; the client may be newer than the server`
    )
  } finally {
    leave()
  }
}

async function list(view: TaskView, path: readonly string[], attempt: number, open: OpenRequest, ports: FilesPorts): Promise<FilesView> {
  const { id: task } = view
  if (isOver(view)) {
    if (attempt !== 0) throw overFor(view, attempt)
    return { task, attempt: 0, node: '', ...(await storedList(view, path, ports.content)) }
  }
  let why = `it does not run now (${view.status})`
  for (const replica of readable(view, attempt, ports.nodes)) {
    try {
      const { client, signal } = open
      const question = { replica: replicaId(task, replica.attempt), file: 'out', verb: 'list', path: path.join('/') }
      const entries: FileView[] = []
      let more = false
      for await (const frame of ports.nodes.ask(question, { client, node: replica.node, signal })) {
        entries.push(...frame.entries.slice(0, LIVE_ENTRIES_MAX - entries.length).map(fileView))
        more ||= frame.more
      }
      return { task, attempt: replica.attempt, node: replica.node, entries, more }
    } catch (error) {
      if (!(error instanceof NodeLost)) throw error
      why = error.message
    }
  }
  throw new OwnerError('not_running', `the files of task ${task} cannot be listed: ${why}`)
}

/** Into all executions that run, or one: each is told of by itself, since none waits for another. */
async function write(view: TaskView, path: readonly string[], { attempt, data }: Files, open: OpenRequest, ports: FilesPorts): Promise<WrittenView> {
  const { id: task } = view
  if (data.length > LIVE_WRITE_BYTES_MAX)
    throw new OwnerError(
      'too_large',
      `${data.length} bytes: at most ${LIVE_WRITE_BYTES_MAX} are written into a running task; larger data is an input (talko upload)`
    )
  if (path.length === 0) throw new OwnerError('malformed', 'the file to be written has to be named')
  if (isOver(view)) throw new OwnerError('not_running', `task ${task} is ${view.status}: what it left is not changed any more`)
  const running = readable(view, attempt, ports.nodes).filter(({ state }) => state === 'running')
  if (running.length === 0) throw new OwnerError('not_running', `task ${task} does not run now (${view.status}); see talko why ${task}`)
  const replicas = await Promise.all(
    running.map(async ({ attempt: number, node }) => {
      const question = { replica: replicaId(task, number), file: 'out', verb: 'write', path: path.join('/'), data }
      try {
        for await (const _ of ports.nodes.ask(question, { client: open.client, node, signal: open.signal }));
        return { attempt: number, node, fault: '' }
      } catch (error) {
        if (!(error instanceof NodeLost) && !(error instanceof OwnerError)) throw error
        return { attempt: number, node, fault: error.message }
      }
    })
  )
  const [first] = replicas
  if (first !== undefined && replicas.every(({ fault }) => fault !== ''))
    throw new OwnerError('not_running', `nothing was written into task ${task}: ${first.fault}`)
  return { task, replicas }
}

/** What a node says of a file, as far as it can be. */
function fileView({ name, kind, bytes, modifiedMs, target }: LiveEntry): FileView {
  const known = kind === 'file' || kind === 'directory' || kind === 'link' ? kind : 'special'
  return {
    name: name.slice(0, NAME_BYTES_MAX),
    kind: known,
    bytes: whole(bytes),
    modifiedMs: whole(modifiedMs),
    ...(known === 'link' ? { target: target.slice(0, LIVE_TARGET_CHARS_MAX) } : {})
  }
}

function whole(value: number): number {
  return Number.isSafeInteger(value) && value >= 0 ? value : 0
}
