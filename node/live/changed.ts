/** When something at the top of a running task's output changed last, in milliseconds: a sign of life. Nothing is opened or followed. */
import { lstatSync, opendirSync } from 'node:fs'
import { join } from 'node:path'
import { SIGN_ENTRIES_MAX } from '../sandbox/policy.ts'

/** 0 while there is nothing. */
export function changedMs(out: string): number {
  let latest = 0
  try {
    latest = lstatSync(out).mtimeMs
    const folder = opendirSync(out, { bufferSize: SIGN_ENTRIES_MAX })
    try {
      for (let seen = 0; seen < SIGN_ENTRIES_MAX; seen++) {
        const entry = folder.readSync()
        if (entry === null) break
        latest = Math.max(latest, lstatSync(join(out, entry.name), { throwIfNoEntry: false })?.mtimeMs ?? 0)
      }
    } finally {
      folder.closeSync()
    }
  } catch {
    // It was closed to us, or has gone meanwhile: what else it does tells.
  }
  return latest
}
