/**
 * Snapshots that runs leave: files or folders whose names are whole numbers, in a folder of their own. A program writes one under
 * another name and renames it when it is whole, so that no half of one is ever seen; the highest number is the newest. The
 * folder is hostile: what is taken is first moved out of the run's reach, and only then looked at.
 */
import { lstatSync, mkdirSync, rmSync, type Stats, writeFileSync } from 'node:fs'
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { ReplicaId } from '#protocol/ids'
import { SNAPSHOT_PATH } from '../leases.ts'

/** Below a replica's folder: where its run leaves them; and the one that was taken, beside a note of whose it is. */
export const CHECKPOINT_FOLDER = 'checkpoint'
export const TAKEN = 'snapshot'
const NOTE = 'of'
const NUMBER = /^\d{1,15}$/

/** Takes the newest to where another run will find it; undefined when there is no new one. `replica`: no two runs leave the same, so that what one goes on from never goes with what another left. `replaces`: called before the one that was taken earlier goes; whoever dies after it finds that one still there, and never content of which no file is left. */
export async function takeSnapshot(folder: string, replica: ReplicaId, replaces: () => Promise<void> = async () => {}): Promise<string | undefined> {
  const from = join(folder, CHECKPOINT_FOLDER)
  const names = (await namesIn(from)).filter((name) => NUMBER.test(name)).sort((a, b) => Number(b) - Number(a))
  const [newest, ...older] = names
  if (newest === undefined) return undefined
  const to = join(folder, TAKEN)
  await replaces()
  remove(to)
  mkdirSync(to)
  writeFileSync(join(to, NOTE), `${replica}\n`)
  await rename(join(from, newest), join(to, SNAPSHOT_PATH))
  for (const name of older) remove(join(from, name))
  return takenIn(folder)
}

/** What is neither file nor folder is no snapshot. */
export function takenIn(folder: string): string | undefined {
  const stats: Stats | undefined = lstatSync(join(folder, TAKEN, SNAPSHOT_PATH), { throwIfNoEntry: false })
  return stats?.isFile() === true || stats?.isDirectory() === true ? join(folder, TAKEN) : undefined
}

/** Its run may be changing it this very moment: this goes down by open folders instead of by paths, so that no link leads it elsewhere. */
function remove(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 3 })
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return []
    throw error
  }
}
