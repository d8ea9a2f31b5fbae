/** Removes trees that a hostile program left. No link is followed. */
import { rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { diskUse } from './docker/disk.ts'

/**
 * Removes a file or folder, also one that is nested deeper than a path can name, or that its maker may not look into.
 * Throws what the system says when even that fails.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    await diskUse(path, Number.POSITIVE_INFINITY) // opens what is closed to us
    // It goes down by open folders instead of by paths, but holds up everything else meanwhile.
    rmSync(path, { recursive: true, force: true, maxRetries: 3 })
  }
}
