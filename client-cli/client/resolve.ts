/** What people type for images, inputs and ids, turned into roots. */
import { acceptCid } from '#protocol/content/cid'
import type { TaskView } from '#protocol/owner/messages'
import { ClientError } from '../errors.ts'
import type { Found } from './client.ts'
import { findEntry, type NameEntry, parseReference } from './names.ts'
import type { OwnerLink } from './owner-link.ts'
import { queryResolve, queryTask } from './queries.ts'
import { executablesBelow } from './spec.ts'

export interface ResolvePorts {
  readonly link: Pick<OwnerLink, 'ask'>
  readonly project: string
  readonly names: () => Promise<readonly NameEntry[]>
}

interface Options {
  readonly kind?: 'image' | 'data'
  readonly signal?: AbortSignal
}

/**
 * `ID[/path]`: a CID, a name or a unique prefix known here, then what the project makes of it (a name given by another
 * client, a finished task or its batch). Names may hold slashes: the longest that means something wins.
 */
export async function findContent(ports: ResolvePorts, text: string, options: Options = {}): Promise<Found> {
  const reference = parseReference(text)
  if (reference.kind === 'local')
    throw new ClientError('usage', `${text} is a path on this machine; upload it first (talko upload ${text}) and use the id it prints`)
  const book = await ports.names()
  for (const { of, path } of splits(text)) {
    const entry = findEntry(book, ports.project, of, options.kind)
    if (entry !== undefined) return { kind: entry.kind, root: entry.root, path, executables: executablesBelow(entry.executables, path) }
  }
  if (acceptCid(reference.of) !== undefined) return { kind: options.kind ?? 'data', root: reference.of, path: reference.path }
  return findRemote(ports, text, options)
}

async function findRemote(ports: ResolvePorts, text: string, { kind, signal }: Options): Promise<Found> {
  let missing: unknown
  for (const { of, path } of splits(text)) {
    let task: TaskView
    try {
      const resolved = await queryResolve(ports.link, of, signal)
      if (resolved.kind === 'data') return { kind: kind ?? 'data', root: resolved.id, path }
      task = await queryTask(ports.link, resolved.id, signal)
    } catch (error) {
      if (!(error instanceof ClientError) || error.code !== 'not_found') throw error
      missing ??= error
      continue
    }
    // A task that is found and has no output is no task that is not found.
    return { kind: 'output', root: outputOf(task), path }
  }
  const where =
    kind === 'image' ? 'see `talko image list`, or import it with `talko image import`' : 'see `talko ps -a`, or write ./ before a path on this machine'
  throw new ClientError('not_found', `no ${kind ?? 'data, image or task'} is known as ${JSON.stringify(text)}; ${where}`, { cause: missing })
}

/** The root of a finished task's output. */
export function outputOf(task: TaskView): string {
  if (task.output !== undefined) return task.output
  const next =
    task.status === 'killed'
      ? 'what its runs leave comes when they have ended, some seconds after the kill'
      : task.status === 'failed'
        ? `see \`talko info ${task.id}\``
        : `wait for it with \`talko logs -f ${task.id}\``
  throw new ClientError('not_found', `task ${task.id} has no output: it is ${task.status}; ${next}`)
}

/** `a/b/c` as `a/b/c`, `a/b` + `c`, `a` + `b/c`: bounded by the length of an argument. */
export function splits(text: string): { readonly of: string; readonly path: string }[] {
  const parts = text.replace(/\/+$/, '').split('/')
  return parts.map((_, index) => ({ of: parts.slice(0, parts.length - index).join('/'), path: parts.slice(parts.length - index).join('/') })).slice(0, 16)
}
