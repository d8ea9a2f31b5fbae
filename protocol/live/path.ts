/** Paths below a task's output folder, as clients name them: no way leads out of it by its name. */
import { NAME_BYTES_MAX, TREE_DEPTH_MAX, TREE_PATH_BYTES_MAX } from '../content/policy.ts'

const encoder = new TextEncoder()

/** The components of `a/b/c`; none for ''. undefined for what is no such path: too long, too deep, or with a component that means something else to a file system. */
export function parseLivePath(text: string): readonly string[] | undefined {
  if (text === '') return []
  // Bytes are counted after characters, of which there cannot be more.
  if (text.length > TREE_PATH_BYTES_MAX || encoder.encode(text).length > TREE_PATH_BYTES_MAX) return undefined
  const parts = text.split('/')
  const fine = (part: string): boolean =>
    part !== '' && part !== '.' && part !== '..' && !part.includes('\0') && part.isWellFormed() && encoder.encode(part).length <= NAME_BYTES_MAX
  return parts.length <= TREE_DEPTH_MAX && parts.every(fine) ? parts : undefined
}
