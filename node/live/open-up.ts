/** Opens for their owner what a hostile program closed to itself. No link is followed. */
import { constants } from 'node:fs'
import { chmod, lchmod, open } from 'node:fs/promises'

/** Names a file without opening it (Linux); Node has no word for it. */
const O_PATH = 0o10000000

/**
 * Gives the owner of a file or folder its rights on it back. Root needs none: with this a node run by root and one run by
 * anybody else see the same tree. Where that cannot be done, nothing is.
 */
export async function openUp(path: string | Buffer, mode: number, rights: number): Promise<void> {
  const wanted = (mode & 0o7777) | rights
  try {
    if (process.platform !== 'linux') {
      await lchmod(path, wanted)
      return
    }
    // The handle holds what was looked at, whatever stands at the path by now.
    const handle = await open(path, O_PATH | constants.O_NOFOLLOW)
    try {
      await chmod(`/proc/self/fd/${handle.fd}`, wanted)
    } finally {
      await handle.close()
    }
  } catch {
    // Gone meanwhile, or not ours: whoever wants to read it will see.
  }
}
