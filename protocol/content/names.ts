/** Names in a tree that comes from elsewhere: what is accepted from a disk is what is accepted from a peer, and nothing else. */
import { ContentError } from './content.ts'
import { NAME_BYTES_MAX, TREE_DEPTH_MAX } from './policy.ts'

const CONTROL_MAX = 0x1f
const DELETE = 0x7f

/** What is wrong with the name of an entry, as a phrase; undefined when nothing is. */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'is empty'
  if (name === '.' || name === '..') return 'leaves its folder'
  if (name.length > NAME_BYTES_MAX || Buffer.byteLength(name) > NAME_BYTES_MAX) return `is longer than ${NAME_BYTES_MAX} bytes`
  for (let index = 0; index < name.length; index++) {
    const code = name.charCodeAt(index)
    if (code === 0x2f) return 'contains a slash'
    if (code <= CONTROL_MAX || code === DELETE) return 'contains a control character'
    if (code === 0xfffd) return 'is not UTF-8'
  }
  if (name.charCodeAt(0) === 0xfeff) return 'begins with a byte order mark'
  return undefined
}

/** The components of a path below a root; '' is the root itself. Throws ContentError `not_found` for a path no tree can have. */
export function splitPath(path: string | undefined): string[] {
  if (path === undefined || path === '') return []
  const parts = path.split('/')
  if (parts.at(-1) === '') parts.pop()
  const problem = parts.length > TREE_DEPTH_MAX ? 'is too deep' : parts.map(nameProblem).find((found) => found !== undefined)
  if (problem !== undefined) throw new ContentError('not_found', `no tree has the path ${JSON.stringify(path.slice(0, 200))}: it ${problem}`)
  return parts
}

/** The paths of `list` that lie below (or are) `path`, relative to it. */
export function below(list: readonly string[], path: string | undefined): string[] {
  const prefix = splitPath(path).join('/')
  if (prefix === '') return [...list]
  return list.flatMap((entry) => (entry === prefix ? [''] : entry.startsWith(`${prefix}/`) ? [entry.slice(prefix.length + 1)] : []))
}
