/**
 * Opening files below a folder that somebody else may be changing: each component is opened by itself, relative to the open
 * folder above it and never through a link. Linux has this for programs without openat through /proc/self/fd; elsewhere the
 * plain path is used, and only the last component is protected.
 */
import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { ContentError } from '../content.ts'

const LINUX = process.platform === 'linux'
const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY

export interface OpenDirectory {
  readonly fd: number
  readonly path: string
}

/** A folder by its path, links in it followed: for the folder that the user or the store named. */
export function openRoot(path: string): OpenDirectory {
  return { fd: openSync(path, constants.O_RDONLY | constants.O_DIRECTORY), path }
}

/** The path under which the kernel finds this entry of an open folder, or the folder itself for ''. */
export function entryPath(directory: OpenDirectory, name: string): string {
  const base = LINUX ? `/proc/self/fd/${directory.fd}` : directory.path
  return name === '' ? base : `${base}/${name}`
}

export function openDirectory(parent: OpenDirectory, name: string): OpenDirectory {
  return { fd: openSync(entryPath(parent, name), DIRECTORY), path: join(parent.path, name) }
}

/** A plain file; throws ContentError `special_file` when it is anything else by now. */
export function openFile(path: string): { fd: number; stats: Stats } {
  const fd = openSync(path, FILE)
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw new ContentError('special_file', `${path} is not a plain file`)
    return { fd, stats }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** The code of a failed system call; undefined for any other error. */
export function errno(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
