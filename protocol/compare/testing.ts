/** Files and trees in memory, for tests. */
import type { FileSource } from './npz.ts'
import type { TreeEntry, TreeSource } from './trees.ts'

/** Comes in chunks of so many bytes. */
export function fileOf(content: Uint8Array | string, chunkBytes = 7): FileSource {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  return {
    bytes: bytes.length,
    async *read(from, to) {
      for (let at = from; at < Math.min(to, bytes.length); at += chunkBytes) yield bytes.subarray(at, Math.min(at + chunkBytes, to))
    }
  }
}

export function chunksOf(content: Uint8Array | string, chunkBytes = 7): AsyncIterable<Uint8Array> {
  const file = fileOf(content, chunkBytes)
  return file.read(0, file.bytes)
}

/** Files by path; the folders follow from them. */
export function treeOf(files: Readonly<Record<string, Uint8Array | string>>): TreeSource {
  return {
    async list(path) {
      const below = path === '' ? '' : `${path}/`
      const found = new Map<string, TreeEntry>()
      for (const [name, content] of Object.entries(files)) {
        if (!name.startsWith(below)) continue
        const [first = '', ...rest] = name.slice(below.length).split('/')
        const directory = rest.length > 0
        const entry = found.get(first)
        const part = `${rest.join('/')}=${Buffer.from(content).toString('hex')} `
        found.set(first, { name: first, directory, bytes: content.length, id: `${directory} ${(entry?.id ?? '').replace(/^\w+ /, '')}${part}` })
      }
      return [...found.values()].sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
    },
    read: (path, from, to) => fileOf(files[path] ?? '').read(from, to)
  }
}
