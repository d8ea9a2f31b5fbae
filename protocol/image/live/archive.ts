/** Reading a `docker save` or OCI archive where it lies on disk: an index of its entries, then each part by offset. */
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { posix } from 'node:path'
import type { Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { messageOf } from '../../message-of.ts'
import { ImageError } from '../errors.ts'
import { CONFIG_BYTES_MAX, LAYERS_MAX } from '../image.ts'
import { paddingOf, readHeader, readPax, TAR_BLOCK } from '../tar.ts'

const ENTRIES_MAX = 100_000
const PAX_BYTES_MAX = 1024 * 1024
const INDEX_BYTES_MAX = 4 * 1024 * 1024

interface Part {
  readonly offset: number
  readonly size: number
}

interface ArchivedImage {
  readonly config: Uint8Array
  /** Plain bytes of each layer, bottom first, decompressed while they are read. */
  layer(index: number): AsyncIterable<Uint8Array>
  /** Bytes of the layers as they lie in the archive. */
  readonly storedBytes: number
  readonly layers: number
}

type Compression = 'none' | 'gzip' | 'zstd'

/** By the first bytes. Throws ImageError `unsupported` for what we cannot unpack. */
export function compressionOf(start: Uint8Array): Compression {
  const magic = Buffer.from(start.subarray(0, 6)).toString('hex')
  if (magic.startsWith('1f8b')) return 'gzip'
  if (magic.startsWith('28b52ffd')) return 'zstd'
  if (magic.startsWith('fd377a585a00') || magic.startsWith('425a68'))
    throw new ImageError(
      'unsupported',
      'the archive (or a layer) is packed with xz or bzip2, which talko does not unpack; unpack it first, or use gzip or zstd'
    )
  return 'none'
}

/** Nothing is read before the first chunk is asked for: an error that came earlier would be nobody's. */
export async function* decompress(source: Readable, compression: Compression): AsyncGenerator<Uint8Array, void, undefined> {
  if (compression === 'none') {
    yield* source
    return
  }
  const plain = compression === 'gzip' ? createGunzip() : createZstdDecompress()
  source.once('error', (error) => plain.destroy(error))
  source.pipe(plain)
  try {
    yield* plain
  } finally {
    source.destroy()
    plain.destroy()
  }
}

/** One archive on disk, plain (not compressed as a whole). Close it after use. */
export class Archive {
  readonly #path: string
  readonly #file: FileHandle
  readonly #parts: ReadonlyMap<string, Part>

  private constructor(path: string, file: FileHandle, parts: ReadonlyMap<string, Part>) {
    this.#path = path
    this.#file = file
    this.#parts = parts
  }

  /** Throws ImageError `not_an_archive`. */
  static async open(path: string): Promise<Archive> {
    const file = await open(path, 'r')
    try {
      return new Archive(path, file, await indexOf(path, file))
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  /** The image of that name (or the only one). `platform` picks among those of an OCI index. */
  async image(choice: { readonly reference?: string; readonly platform: string }): Promise<ArchivedImage> {
    if (this.#parts.has('manifest.json')) return this.#saved(choice.reference)
    if (this.#parts.has('index.json')) return this.#oci(choice)
    throw new ImageError(
      'not_an_archive',
      `${this.#path} is a tar but holds no image (neither manifest.json nor index.json); make one with: docker save NAME -o FILE`
    )
  }

  async #saved(reference: string | undefined): Promise<ArchivedImage> {
    const images = listOf(await this.#json('manifest.json'), 'manifest.json')
    const named = reference === undefined ? images : images.filter((image) => listOf(field(image, 'RepoTags') ?? [], 'RepoTags').includes(reference))
    const image = this.#onlyOne(named, reference, images.length)
    const layers = listOf(field(image, 'Layers'), 'Layers').map((name) => this.#part(textOf(name, 'a layer')))
    return this.#parts2image(await this.#bytes(textOf(field(image, 'Config'), 'Config'), CONFIG_BYTES_MAX), layers)
  }

  async #oci({ reference, platform }: { readonly reference?: string; readonly platform: string }): Promise<ArchivedImage> {
    let candidates = listOf(field(await this.#json('index.json'), 'manifests'), 'manifests')
    if (reference !== undefined)
      candidates = candidates.filter((item) => Object.values((field(item, 'annotations') ?? {}) as object).some((name) => name === reference))
    for (let depth = 0; depth < 3; depth++) {
      const item = this.#onlyOne(ofPlatform(candidates, platform), reference ?? platform, candidates.length)
      const manifest = await this.#json(blobPath(item))
      const nested = field(manifest, 'manifests')
      if (nested !== undefined) {
        candidates = listOf(nested, 'manifests')
        continue
      }
      const layers = listOf(field(manifest, 'layers'), 'layers').map((layer) => this.#part(blobPath(layer)))
      return this.#parts2image(await this.#bytes(blobPath(field(manifest, 'config')), CONFIG_BYTES_MAX), layers)
    }
    throw new ImageError('unsupported', "the archive's indexes point to indexes; export a single image")
  }

  #onlyOne(found: readonly unknown[], name: string | undefined, all: number): unknown {
    if (found.length === 1) return found[0]
    if (found.length === 0 && all > 0) throw new ImageError('unknown_image', `the archive has no image ${name ?? ''} among its ${all}`)
    if (found.length === 0) throw new ImageError('not_an_archive', 'the archive holds no image')
    throw new ImageError('unsupported', `the archive holds ${found.length} images; save the one you need alone: docker save NAME -o FILE`)
  }

  #parts2image(config: Uint8Array, layers: readonly Part[]): ArchivedImage {
    if (layers.length > LAYERS_MAX)
      throw new ImageError('unsupported', `the image has ${layers.length} layers, at most ${LAYERS_MAX} are allowed; build it again with fewer`)
    const path = this.#path
    const file = this.#file
    return {
      config,
      layers: layers.length,
      storedBytes: layers.reduce((sum, layer) => sum + layer.size, 0),
      async *layer(index) {
        const part = layers[index]
        if (part === undefined) throw new RangeError(`no layer ${index}`)
        if (part.size === 0) return
        const start = await readAt(file, part.offset, Math.min(6, part.size))
        const source = createReadStream(path, { start: part.offset, end: part.offset + part.size - 1, highWaterMark: 256 * 1024 })
        try {
          yield* decompress(source, compressionOf(start))
        } catch (cause) {
          if (cause instanceof ImageError) throw cause
          throw new ImageError('layer_mismatch', `a layer of ${path} cannot be unpacked (${messageOf(cause)}); make the archive again`, { cause })
        } finally {
          source.destroy()
        }
      }
    }
  }

  #part(name: string): Part {
    const part = this.#parts.get(posix.normalize(name))
    if (part === undefined) throw new ImageError('not_an_archive', `${this.#path} names ${JSON.stringify(name)} but does not hold it; make the archive again`)
    return part
  }

  async #bytes(name: string, max: number): Promise<Uint8Array> {
    const part = this.#part(name)
    if (part.size > max) throw new ImageError('unsupported', `${name} in the archive has ${part.size} bytes, at most ${max} are allowed`)
    return readAt(this.#file, part.offset, part.size)
  }

  async #json(name: string): Promise<unknown> {
    const bytes = await this.#bytes(name, INDEX_BYTES_MAX)
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    } catch (cause) {
      throw new ImageError('not_an_archive', `${name} in ${this.#path} is not JSON`, { cause })
    }
  }
}

async function readAt(file: FileHandle, offset: number, size: number): Promise<Uint8Array> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(size), 0, size, offset)
  if (bytesRead !== size) throw new ImageError('not_an_archive', 'the archive is cut short; make or fetch it again')
  return buffer
}

/** Walks the headers, skipping the data. Older `docker save` stores a layer that two images share as a symlink. */
async function indexOf(path: string, file: FileHandle): Promise<ReadonlyMap<string, Part>> {
  const end = (await file.stat()).size
  const parts = new Map<string, Part>()
  const links = new Map<string, string>()
  let name: string | undefined
  let link: string | undefined
  let paxSize: number | undefined
  let headers = 0
  for (let offset = 0; offset + TAR_BLOCK <= end; ) {
    const header = readHeader(await readAt(file, offset, TAR_BLOCK))
    if (header === 'end') break
    if (header === undefined || ++headers > ENTRIES_MAX)
      throw new ImageError('not_an_archive', `${path} is not an image archive (no tar header at byte ${offset}); make one with: docker save NAME -o FILE`)
    offset += TAR_BLOCK
    const size = header.kind === 'file' ? (paxSize ?? header.size) : header.size
    if (offset + size > end) throw new ImageError('not_an_archive', `${path} is cut short; make or fetch it again`)
    if (header.kind === 'pax' || header.kind === 'gnu_name' || header.kind === 'gnu_link') {
      if (size > PAX_BYTES_MAX) throw new ImageError('not_an_archive', `${path} has a header of ${size} bytes`)
      const data = await readAt(file, offset, size)
      const records =
        header.kind === 'pax'
          ? readPax(data)
          : new Map([[header.kind === 'gnu_name' ? 'path' : 'linkpath', new TextDecoder().decode(data).replace(/\0.*$/s, '')]])
      name = records.get('path') ?? name
      link = records.get('linkpath') ?? link
      const stated = Number(records.get('size') ?? Number.NaN)
      if (Number.isSafeInteger(stated) && stated >= 0) paxSize = stated
    } else {
      const full = posix.normalize(name ?? header.name)
      if (header.kind === 'file') parts.set(full, { offset, size })
      if (header.kind === 'symlink') links.set(full, posix.normalize(posix.join(posix.dirname(full), link ?? header.link)))
      if (header.kind === 'hardlink') links.set(full, posix.normalize(link ?? header.link))
      if (header.kind !== 'pax_global') name = link = paxSize = undefined
    }
    offset += size + paddingOf(size)
  }
  if (headers === 0) throw new ImageError('not_an_archive', `${path} is not an image archive; make one with: docker save NAME -o FILE`)
  for (const [from, to] of links) {
    const part = parts.get(to)
    if (part !== undefined) parts.set(from, part)
  }
  return parts
}

function ofPlatform(items: readonly unknown[], platform: string): readonly unknown[] {
  if (items.length <= 1) return items
  return items.filter((item) => {
    const stated = field(item, 'platform')
    return stated !== undefined && `${field(stated, 'os')}/${field(stated, 'architecture')}` === platform.split('/').slice(0, 2).join('/')
  })
}

function blobPath(descriptor: unknown): string {
  const digest = /^(sha256|sha512):([0-9a-f]{64,128})$/.exec(textOf(field(descriptor, 'digest'), 'a digest'))
  if (digest === null) throw new ImageError('not_an_archive', 'the archive has a descriptor without a digest')
  return `blobs/${digest[1]}/${digest[2]}`
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new ImageError('not_an_archive', `\`${what}\` of the archive is not a list`)
  return value
}

function textOf(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new ImageError('not_an_archive', `${what} of the archive is not text`)
  return value
}
