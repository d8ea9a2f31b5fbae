/** What a power cut may leave of a LevelDB folder whose last write nobody was told of: its log cut off anywhere, or filled up with zeros from there on. */
import { cpSync, readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'

const CUTS = 9

/** Bytes of its newest log. */
export function logBytes(folder: string): number {
  return statSync(logOf(folder)).size
}

/** Copies of the folder, which may be open, next to it; its log is whole up to `from` bytes. */
export function* tornCopies(folder: string, from: number): Generator<string> {
  const to = logBytes(folder)
  for (let cut = 0; cut <= CUTS; cut++) {
    for (const zeros of [false, true]) {
      const copy = `${folder}-${cut}-${zeros ? 'zeros' : 'short'}`
      cpSync(folder, copy, { recursive: true, filter: (path) => !path.endsWith('/LOCK') })
      truncateSync(logOf(copy), from + Math.floor(((to - from) * cut) / CUTS))
      if (zeros) truncateSync(logOf(copy), to)
      yield copy
    }
  }
}

function logOf(folder: string): string {
  const name = readdirSync(folder)
    .filter((file) => file.endsWith('.log'))
    .sort()
    .at(-1)
  if (name === undefined) throw new Error(`${folder} has no log`)
  return join(folder, name)
}
