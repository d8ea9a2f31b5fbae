/** Makes files of a tree; used by the store's thread and by the one beside it. */
import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync, rmSync, type Stats, writeSync } from 'node:fs'
import { errno } from './safe-open.ts'

const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants

/** A new file, open for reading and writing; with `resume`, what an earlier attempt left under its name gives way. */
export function createFile(full: string, mode: number, resume: boolean): number {
  try {
    return openSync(full, 'wx+', mode)
  } catch (error) {
    if (errno(error) !== 'EEXIST' || !resume || lstatSync(full).isDirectory()) throw error
    rmSync(full)
    return openSync(full, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
  }
}

/** Marks of an open file, after the bits that the user's mask took from its mode are given back. */
export function settleMode(fd: number, mode: number): Stats {
  const stats = fstatSync(fd)
  if ((stats.mode & 0o777) !== mode) fchmodSync(fd, mode)
  return stats
}

export function writeAll(fd: number, data: Uint8Array, position: number): void {
  for (let at = 0; at < data.length; ) at += writeSync(fd, data, at, data.length - at, position + at)
}

/** A whole file at once. */
export function writeFile(full: string, data: Uint8Array, { mode, resume }: { mode: number; resume: boolean }): Stats {
  const fd = createFile(full, mode, resume)
  try {
    writeAll(fd, data, 0)
    return settleMode(fd, mode)
  } finally {
    closeSync(fd)
  }
}
