/** How much disk an output tree takes, counted by blocks while a hostile program changes it. Links are never followed. */
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, opendir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { TREE_DEPTH_MAX } from '#protocol/content/policy'
import { OUTPUT_ENTRIES_MAX } from '../../policy.ts'

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
/** Only Linux can name an open folder, which is what makes the walk safe against renames; elsewhere links are checked just before. */
const BY_DESCRIPTOR = process.platform === 'linux'

/**
 * Bytes of the blocks used below `folder`; stops counting beyond `bytesMax`. Infinity for a tree that could not become content
 * (too many entries, too deep) or has folders we may not look into.
 */
export async function diskUse(folder: string, bytesMax: number): Promise<number> {
  const walk = { bytes: 0, entries: 0, bytesMax }
  await walkFolder(folder, 0, walk)
  return walk.bytes
}

interface Walk {
  bytes: number
  entries: number
  readonly bytesMax: number
}

async function walkFolder(path: string, depth: number, walk: Walk): Promise<void> {
  let handle: FileHandle
  try {
    handle = await open(path, DIRECTORY)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') walk.bytes = Number.POSITIVE_INFINITY // hidden from us: it may hold anything
    return // renamed or replaced meanwhile
  }
  try {
    const base = BY_DESCRIPTOR ? `/proc/self/fd/${handle.fd}` : path
    for await (const entry of await opendir(base, { encoding: 'buffer' as BufferEncoding, bufferSize: 256 })) {
      if (++walk.entries > OUTPUT_ENTRIES_MAX || depth >= TREE_DEPTH_MAX) walk.bytes = Number.POSITIVE_INFINITY
      if (walk.bytes > walk.bytesMax) return
      const name = entry.name as unknown as Buffer
      const child = Buffer.concat([Buffer.from(`${base}/`), name])
      const info = await lstat(child).catch(() => undefined)
      if (info === undefined) continue
      walk.bytes += (info.blocks ?? 0) * 512
      if (info.isDirectory()) await walkFolder(child as unknown as string, depth + 1, walk)
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
  } finally {
    await handle.close()
  }
}

/** Bytes that can still be written where `folder` lies. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(join(folder))
  return bavail * bsize
}
