/** What a power cut leaves of files: nothing is on disk before it was asked to be. And whether there may have been one. */
import { readFileSync } from 'node:fs'
import { type FileHandle, open, opendir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Files of one folder that are asked for at once. */
const SYNCS_AT_ONCE = 8
let known: string | undefined

/** Which start of the machine this is: what was only in its memory is gone with another one. Empty where the system does not tell. */
export function bootId(): string {
  try {
    known ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    known = ''
  }
  return known
}

/** Both are known, and the machine was started again between them: what was written without waiting for the disk may be torn. */
export function isOtherBoot(before: string | undefined, now: string): boolean {
  return before !== undefined && before !== '' && now !== '' && before !== now
}

/** Replaces a file: whole or not at all, and on disk when it resolves. */
export async function writeDurably(path: string, data: string | Uint8Array, mode: number): Promise<void> {
  const part = `${path}.part`
  await writeSynced(await open(part, 'w', mode), data)
  await rename(part, path)
  await syncPath(dirname(path))
}

/** Makes a file that must not be there yet; on disk when it resolves. */
export async function createDurably(path: string, data: string | Uint8Array, mode: number): Promise<void> {
  await writeSynced(await open(path, 'wx', mode), data)
  await syncPath(dirname(path))
}

/** Resolves when a file, or a tree that holds no links, is on disk as it is now. */
export async function syncTree(path: string): Promise<void> {
  await syncBelow(path)
  await syncPath(dirname(path))
}

async function syncBelow(path: string): Promise<void> {
  const folder = await opendir(path).catch(() => undefined)
  if (folder !== undefined) {
    let at: Promise<void>[] = []
    for await (const entry of folder) {
      at.push(entry.isDirectory() ? syncBelow(join(path, entry.name)) : syncPath(join(path, entry.name)))
      if (at.length < SYNCS_AT_ONCE) continue
      await Promise.all(at)
      at = []
    }
    await Promise.all(at)
  }
  await syncPath(path)
}

async function syncPath(path: string): Promise<void> {
  await using file = await open(path)
  await file.sync()
}

async function writeSynced(file: FileHandle, data: string | Uint8Array): Promise<void> {
  try {
    await file.writeFile(data)
    await file.sync()
  } finally {
    await file.close()
  }
}
