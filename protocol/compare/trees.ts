/**
 * Two outputs: which files differ, told by their ids without reading them, and whether they agree under the owner's rules, reading
 * only those that differ.
 */
import { compareNpy } from './npy.ts'
import { compareNpz, type FileSource } from './npz.ts'
import { type CompareRules, type FileWay, wayOf } from './rules.ts'
import { compareTexts } from './tokens.ts'

export interface TreeEntry {
  readonly name: string
  /** Equal for equal content. */
  readonly id: string
  readonly bytes: number
  readonly directory: boolean
}

/** An output, or two of them side by side in one store. */
export interface TreeSource {
  /** Entries of a folder, '' for the top, sorted by the bytes of their names. */
  list(path: string): Promise<readonly TreeEntry[]>
  read(path: string, from: number, to: number): AsyncIterable<Uint8Array>
}

/** `only_a`, `only_b`: the other has nothing of that name there. `differs`: files of other content. `kind`: a file and a folder. */
export interface TreeDifference {
  readonly path: string
  readonly what: 'only_a' | 'only_b' | 'differs' | 'kind'
  readonly bytesA: number
  readonly bytesB: number
}

/** Every difference in the order of paths; folders with equal ids are not looked into, a folder that only one has is named file by file (by itself when it is empty). Depth and entries are bounded by who fetched the trees. */
export async function* treeDifferences(a: TreeSource, b: TreeSource, at = ''): AsyncGenerator<TreeDifference, void, undefined> {
  const [left, right] = await Promise.all([a.list(at), b.list(at)])
  for (const [name, x, y] of pairs(left, right)) {
    const path = at === '' ? name : `${at}/${name}`
    if (x === undefined && y === undefined) continue
    if (x === undefined || y === undefined)
      yield* lone(x === undefined ? b : a, { path, entry: (x ?? y) as TreeEntry, what: x === undefined ? 'only_b' : 'only_a' })
    else if (x.id === y.id) continue
    else if (x.directory && y.directory) yield* treeDifferences(a, b, path)
    else yield { path, what: x.directory === y.directory ? 'differs' : 'kind', bytesA: x.bytes, bytesB: y.bytes }
  }
}

/** How two outputs do not agree; undefined when they do. */
export async function compareTrees(
  a: TreeSource,
  b: TreeSource,
  rules: CompareRules
): Promise<{ readonly path: string; readonly message: string } | undefined> {
  for await (const { path, what, bytesA, bytesB } of treeDifferences(a, b)) {
    const way = wayOf(path, rules)
    if (way === undefined) continue
    if (what !== 'differs') return { path, message: what === 'kind' ? 'a file in one, a folder in the other' : 'only one has it' }
    const found = await compareFiles(sourceOf(a, path, bytesA), sourceOf(b, path, bytesB), way)
    if (found !== undefined) return { path, message: found }
  }
  return undefined
}

/** How two files that are not byte for byte the same do not agree; undefined when they do. */
export async function compareFiles(a: FileSource, b: FileSource, way: FileWay): Promise<string | undefined> {
  switch (way.format) {
    case 'text':
    case 'csv':
    case 'json':
      return await compareTexts(whole(a), whole(b), way.format, way)
    case 'npy':
      return await compareNpy(whole(a), whole(b), way)
    case 'npz':
      return await compareNpz(a, b, way)
    case 'bytes':
      return 'their bytes differ'
  }
}

function whole(file: FileSource): AsyncIterable<Uint8Array> {
  return file.read(0, file.bytes)
}

export function sourceOf(tree: TreeSource, path: string, bytes: number): FileSource {
  return { bytes, read: (from, to) => tree.read(path, from, to) }
}

interface Lone {
  readonly path: string
  readonly entry: TreeEntry
  readonly what: 'only_a' | 'only_b'
}

async function* lone(tree: TreeSource, { path, entry, what }: Lone): AsyncGenerator<TreeDifference, void, undefined> {
  const below = entry.directory ? await tree.list(path) : []
  for (const child of below) yield* lone(tree, { path: `${path}/${child.name}`, entry: child, what })
  if (below.length === 0) yield { path, what, bytesA: what === 'only_a' ? entry.bytes : 0, bytesB: what === 'only_b' ? entry.bytes : 0 }
}

/** By name, in the order of both lists. */
function* pairs(
  left: readonly TreeEntry[],
  right: readonly TreeEntry[]
): Generator<readonly [string, TreeEntry | undefined, TreeEntry | undefined], void, undefined> {
  for (let i = 0, j = 0; i < left.length || j < right.length; ) {
    const [x, y] = [left[i], right[j]]
    const order = x === undefined ? 1 : y === undefined ? -1 : Buffer.compare(Buffer.from(x.name), Buffer.from(y.name))
    yield [((order > 0 ? y : x) as TreeEntry).name, order > 0 ? undefined : x, order < 0 ? undefined : y]
    if (order <= 0) i++
    if (order >= 0) j++
  }
}
