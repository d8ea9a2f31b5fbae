/** The node's durable records in LevelDB, which also keeps a second node out of the folder. */
import { dirname } from 'node:path'
import { Level } from 'level'
import { messageOf } from '#protocol/message-of'
import { NodeError } from '../errors.ts'
import { openPages, type PageStore } from '../pages.ts'
import type { NodeStore } from '../ports.ts'

/** Opens or makes the store. Throws NodeError `in_use` when another process has it, `storage` for anything else. */
export async function openLevelStore(folder: string): Promise<NodeStore> {
  const level = new Level<string, Uint8Array>(folder, { valueEncoding: 'view' })
  try {
    await level.open()
  } catch (cause) {
    const why = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
    if (why instanceof Error && 'code' in why && why.code === 'LEVEL_LOCKED')
      throw new NodeError('in_use', `another node runs on ${dirname(folder)}; stop it first (talko node stop), or use another folder`, { cause })
    throw storageError(folder, `the node's state in ${folder} cannot be opened`, why)
  }
  const pages: PageStore = {
    async write(put, deleted) {
      const writes = deleted.map((key) => ({ type: 'del' as const, key }))
      try {
        // On disk before it resolves: what we say to the coordinator must outlive a power cut.
        await level.batch(put === undefined ? writes : [...writes, { type: 'put' as const, ...put }], { sync: true })
      } catch (cause) {
        throw storageError(folder, `the node's state in ${folder} cannot be written`, cause)
      }
    },
    all: () => level.iterator(),
    get: (key) => level.get(key),
    close: () => level.close()
  }
  try {
    return await openPages(pages)
  } catch (cause) {
    await level.close()
    throw storageError(folder, `the node's state in ${folder} cannot be read; remove it to start afresh (what the node ran is lost)`, cause)
  }
}

function storageError(folder: string, what: string, cause: unknown): NodeError {
  const why = messageOf(cause)
  if (/no space left|disk quota/i.test(why))
    return new NodeError('storage', `the disk that holds ${dirname(folder)} is full; free some space and start the node again`, { cause })
  return new NodeError('storage', `${what}: ${why}`, { cause })
}
