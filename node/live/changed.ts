/** When something at the top of what a running task writes changed last, in milliseconds: a sign of life. Nothing is opened or followed. */
import { lstatSync, opendirSync } from 'node:fs'
import { join } from 'node:path'
import { SIGN_ENTRIES_MAX } from '../sandbox/policy.ts'
import { CHECKPOINT_FOLDER } from './snapshots.ts'

/** In its folder: of its output and of the snapshots that it leaves. 0 while there is nothing. */
export function changedMs(folder: string): number {
  return Math.max(changedIn(join(folder, 'out')), changedIn(join(folder, CHECKPOINT_FOLDER)))
}

function changedIn(path: string): number {
  let latest = 0
  try {
    latest = lstatSync(path).mtimeMs
    const folder = opendirSync(path, { bufferSize: SIGN_ENTRIES_MAX })
    try {
      for (let seen = 0; seen < SIGN_ENTRIES_MAX; seen++) {
        const entry = folder.readSync()
        if (entry === null) break
        latest = Math.max(latest, lstatSync(join(path, entry.name), { throwIfNoEntry: false })?.mtimeMs ?? 0)
      }
    } finally {
      folder.closeSync()
    }
  } catch {
    // It was closed to us, or has gone meanwhile: what else it does tells.
  }
  return latest
}
