/** Replicas' folders under the node's `run/`. The trees in them are hostile: nothing here follows a link. */
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { lstat, mkdir, opendir, readdir, readFile, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Workspace } from '../ports.ts'
import { PROGRESS_BYTES_MAX, PROGRESS_FILE } from '../progress-file.ts'
import { readStartBelow } from './below.ts'
import { removeTree } from './remove-tree.ts'
import { CHECKPOINT_FOLDER, TAKEN, takenIn, takeSnapshot } from './snapshots.ts'

/** Makes the folder that holds the folders. */
export async function openWorkspace(folder: string): Promise<Workspace> {
  await mkdir(folder, { recursive: true, mode: 0o755 })
  const pathOf = (replica: string): string => join(folder, replica)
  return {
    pathOf,
    async remove(replica) {
      // Looking costs a hundredth of a failed removal.
      if (!existsSync(pathOf(replica))) return
      try {
        await rmdir(pathOf(replica))
      } catch (error) {
        if (!isCode(error, 'ENOENT')) await removeTree(pathOf(replica))
      }
    },
    all: () => readdir(folder),
    async names(replica) {
      if (!existsSync(pathOf(replica))) return new Set()
      try {
        return new Set(await readdir(pathOf(replica)))
      } catch (error) {
        if (isCode(error, 'ENOENT')) return new Set()
        throw error
      }
    },
    async fileBytes(path) {
      try {
        const stat = await lstat(path)
        return stat.isFile() ? stat.size : undefined
      } catch (error) {
        if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR')) return undefined
        throw error
      }
    },
    async isEmpty(path) {
      try {
        if (!(await lstat(path)).isDirectory()) return true
        // One entry is enough to know, however many there are.
        const directory = await opendir(path)
        try {
          return (await directory.read()) === null
        } finally {
          await directory.close()
        }
      } catch (error) {
        if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR')) return true
        throw error
      }
    },
    read: (path) => readFile(path),
    takeSnapshot: async (replica, replaces) => takeSnapshot(pathOf(replica), replica, replaces),
    takenSnapshot: async (replica) => takenIn(pathOf(replica)),
    async dropSnapshots(replica) {
      for (const name of [CHECKPOINT_FOLDER, TAKEN]) if (existsSync(join(pathOf(replica), name))) await removeTree(join(pathOf(replica), name))
    },
    progress: async (replica) => readStartBelow(pathOf(replica), ['out', PROGRESS_FILE], PROGRESS_BYTES_MAX)
  }
}

/** An empty folder for one run; what was there before is removed. */
export function makeRunFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
    rmSync(path, { recursive: true, force: true, maxRetries: 3 })
    mkdirSync(path)
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
