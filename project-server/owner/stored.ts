/** What a task that is over left: the project's own copy of its output and logs. */
import { CID } from 'multiformats/cid'
import { ContentError, type ContentStore } from '#protocol/content/content'
import { LIVE_ENTRIES_MAX, type LiveFile } from '#protocol/live/messages'
import { tailOffset } from '#protocol/live/tail'
import type { FileView, TaskView } from '#protocol/owner/messages'
import { OwnerError } from './request.ts'

export type StoredContent = Pick<ContentStore, 'read' | 'sizeOf' | 'list'>

export interface StoredFile {
  readonly size: number
  read(from: number, to: number): AsyncGenerator<Uint8Array, void, undefined>
}

/** A log, or the file at `path` of the output. Throws OwnerError `no_output`, `not_found`, `unreadable`. */
export async function storedFile(view: TaskView, file: LiveFile, path: readonly string[], content: StoredContent): Promise<StoredFile> {
  if (file !== 'out') {
    const root = rootOf(view, file, content)
    return { size: content.sizeOf(root) ?? 0, read: (from, to) => content.read(root, '', { from, to }) }
  }
  const root = rootOf(view, 'output', content)
  const name = path.at(-1)
  if (name === undefined) throw new OwnerError('unreadable', 'the output is a folder: list it (talko ls), or name a file in it')
  const entry = (await listed(view, path.slice(0, -1), content)).find((one) => one.name === name)
  if (entry === undefined) throw missing(view, path)
  if (entry.directory) throw new OwnerError('unreadable', `${shown(path)} is a folder: list it (talko ls), or fetch it (talko get)`)
  return { size: entry.bytes, read: (from, to) => content.read(root, path.join('/'), { from, to }) }
}

/** Entries of a folder of the output, by name. Throws OwnerError as `storedFile` does. */
export async function storedList(
  view: TaskView,
  path: readonly string[],
  content: StoredContent
): Promise<{ readonly entries: readonly FileView[]; readonly more: boolean }> {
  const entries = await listed(view, path, content)
  return {
    entries: entries.slice(0, LIVE_ENTRIES_MAX).map(({ name, bytes, directory }) => ({ name, bytes, kind: directory ? 'directory' : 'file' })),
    more: entries.length > LIVE_ENTRIES_MAX
  }
}

/** Where the last lines begin. */
export function storedTail({ size, read }: StoredFile, lines: number): Promise<number> {
  return tailOffset(size, lines, async (from, to) => {
    const pieces: Uint8Array[] = []
    for await (const piece of read(from, to)) pieces.push(piece)
    return Buffer.concat(pieces)
  })
}

async function listed(view: TaskView, path: readonly string[], content: StoredContent): ReturnType<ContentStore['list']> {
  try {
    return await content.list(rootOf(view, 'output', content), path.join('/'))
  } catch (error) {
    if (error instanceof ContentError && error.code === 'not_a_directory') throw new OwnerError('unreadable', `${shown(path)} is a file, and no folder`)
    if (error instanceof ContentError && error.code === 'not_found') throw missing(view, path)
    throw error
  }
}

function rootOf(view: TaskView, what: 'stdout' | 'stderr' | 'output', content: StoredContent): CID {
  const text = view[what]
  if (text === undefined) throw new OwnerError('no_output', `task ${view.id} is ${view.status} and left no ${what}`)
  const root = CID.parse(text)
  if (content.sizeOf(root) === undefined) throw new OwnerError('no_output', `the ${what} of task ${view.id} is no longer here`)
  return root
}

function missing(view: TaskView, path: readonly string[]): OwnerError {
  return new OwnerError('not_found', `there is no ${shown(path)} in the output of task ${view.id} (links and special files are left out)`)
}

function shown(path: readonly string[]): string {
  return JSON.stringify(path.join('/'))
}
