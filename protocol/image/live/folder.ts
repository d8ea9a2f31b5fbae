/** A root file system folder as one tar that is the same everywhere: sorted, modification time 0, owner 0, modes and symlinks kept. */
import { constants, type Dirent } from 'node:fs'
import { type FileHandle, lstat, open, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ImageError } from '../errors.ts'
import { paddingOf, TAR_END, type TarEntry, writeHeader } from '../tar.ts'

interface FolderOptions {
  readonly uid?: number
  readonly gid?: number
  readonly signal?: AbortSignal
}

const READ_BYTES = 256 * 1024
/** Headers and small files are gathered to chunks of this size. */
const CHUNK_BYTES = 256 * 1024
const ENTRIES_MAX = 2_000_000

/** `e_machine` of the programs in a folder -> Docker's name of the architecture. */
const MACHINES: ReadonlyMap<number, string> = new Map([
  [62, 'amd64'],
  [183, 'arm64'],
  [243, 'riscv64'],
  [21, 'ppc64le'],
  [22, 's390x'],
  [3, '386'],
  [40, 'arm']
])

export class FolderTar {
  readonly #folder: string
  readonly #options: FolderOptions
  /** What the first program found is made for; undefined when there is none (or not read yet). */
  architecture: string | undefined

  constructor(folder: string, options: FolderOptions = {}) {
    this.#folder = folder
    this.#options = options
  }

  /** The tar's bytes. Throws ImageError `unsupported` for sockets, fifos, devices and names that are not UTF-8, naming the first. */
  async *bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    let gathered: Uint8Array[] = []
    let size = 0
    for await (const chunk of this.#entries()) {
      gathered.push(chunk)
      size += chunk.length
      if (size < CHUNK_BYTES) continue
      yield Buffer.concat(gathered)
      gathered = []
      size = 0
    }
    gathered.push(TAR_END)
    yield Buffer.concat(gathered)
  }

  async *#entries(): AsyncGenerator<Uint8Array, void, undefined> {
    const stack: string[] = [...(await this.#names('')).reverse()]
    let entries = 0
    for (let path = stack.pop(); path !== undefined; path = stack.pop()) {
      this.#options.signal?.throwIfAborted()
      if (++entries > ENTRIES_MAX)
        throw new ImageError('unsupported', `the folder has more than ${ENTRIES_MAX} entries; import what the tasks need, and pass data as inputs`)
      const full = join(this.#folder, path)
      const info = await lstat(full)
      const entry = { path, mode: info.mode & 0o7777, size: 0, uid: this.#options.uid ?? 0, gid: this.#options.gid ?? 0 }
      if (info.isDirectory()) {
        yield writeHeader({ ...entry, kind: 'directory' })
        stack.push(...(await this.#names(path)).reverse())
      } else if (info.isSymbolicLink()) {
        const target = await readlink(full, { encoding: 'buffer' })
        const link = target.toString()
        if (!Buffer.from(link).equals(target)) throw new ImageError('unsupported', `the target of the link ${path} is not UTF-8; rename what it points to`)
        yield writeHeader({ ...entry, kind: 'symlink', mode: 0o777, link })
      } else if (info.isFile()) yield* this.#file(full, { ...entry, kind: 'file', size: info.size })
      else throw new ImageError('unsupported', `${path} is neither file, folder nor link (a socket, fifo or device); remove it from the folder`)
    }
  }

  /** Paths of a folder's entries relative to the root, in byte order. */
  async #names(path: string): Promise<string[]> {
    const entries: Dirent<Buffer>[] = await readdir(join(this.#folder, path), { withFileTypes: true, encoding: 'buffer' })
    return entries
      .map(({ name }) => name)
      .sort(Buffer.compare)
      .map((bytes) => {
        const name = bytes.toString()
        if (!Buffer.from(name).equals(bytes))
          throw new ImageError('unsupported', `a name in ${path === '' ? 'the folder' : path} is not UTF-8: ${JSON.stringify(name)}; rename it`)
        return path === '' ? name : `${path}/${name}`
      })
  }

  async *#file(full: string, entry: TarEntry): AsyncGenerator<Uint8Array, void, undefined> {
    yield writeHeader(entry)
    const file = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      let left = entry.size
      while (left > 0) {
        const chunk = await readSome(file, Math.min(left, READ_BYTES))
        if (chunk.length === 0)
          throw new ImageError('layer_mismatch', `${entry.path} became shorter while it was read; leave the folder alone and import it again`)
        if (left === entry.size && this.architecture === undefined) this.architecture = architectureOf(chunk)
        left -= chunk.length
        yield chunk
      }
    } finally {
      await file.close()
    }
    const padding = paddingOf(entry.size)
    if (padding > 0) yield new Uint8Array(padding)
  }
}

async function readSome(file: FileHandle, bytes: number): Promise<Uint8Array> {
  const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(bytes), 0, bytes, null)
  return buffer.subarray(0, bytesRead)
}

/** What an ELF file is made for; undefined for other files and unknown machines. */
function architectureOf(start: Uint8Array): string | undefined {
  if (start.length < 20 || start[0] !== 0x7f || start[1] !== 0x45 || start[2] !== 0x4c || start[3] !== 0x46) return undefined
  const [low = 0, high = 0] = start[5] === 2 ? [start[19], start[18]] : [start[18], start[19]]
  return MACHINES.get(low | (high << 8))
}
