/** How much disk an output tree takes, counted by blocks while a hostile program changes it. Links are never followed. */
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, opendir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { TREE_DEPTH_MAX } from '#protocol/content/policy'
import { OUTPUT_ENTRIES_MAX } from '../../policy.ts'
import { openUp } from '../open-up.ts'

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
/** Only Linux can name an open folder, which is what makes the walk safe against renames; elsewhere links are checked just before. */
const BY_DESCRIPTOR = process.platform === 'linux'
/** Root sees everything; anybody else opens what the task closed, so that every node sees the same tree. */
const OPENS = process.getuid?.() !== 0
const FOLDER_RIGHTS = 0o700
const FILE_RIGHTS = 0o400

/**
 * Bytes of the blocks used below `folder`; stops counting beyond `bytesMax`. Infinity for a tree that could not become content
 * (too many entries, too deep) or has folders we may not look into. What the task closed to itself is opened again.
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
  const handle = await openFolder(path, walk)
  if (handle === undefined) return
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
      const rights = info.isDirectory() ? FOLDER_RIGHTS : info.isFile() ? FILE_RIGHTS : 0
      if (OPENS && (info.mode & rights) !== rights) await openUp(child, info.mode, rights)
      if (info.isDirectory()) await walkFolder(child as unknown as string, depth + 1, walk)
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
  } finally {
    await handle.close()
  }
}

/** undefined for what was renamed or replaced meanwhile. */
async function openFolder(path: string, walk: Walk): Promise<FileHandle | undefined> {
  try {
    return await open(path, DIRECTORY)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') return undefined
    await openUp(path, FOLDER_RIGHTS, FOLDER_RIGHTS)
    return open(path, DIRECTORY).catch(() => {
      walk.bytes = Number.POSITIVE_INFINITY // hidden from us: it may hold anything
      return undefined
    })
  }
}

/** Bytes that can still be written where `folder` lies. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(join(folder))
  return bavail * bsize
}
