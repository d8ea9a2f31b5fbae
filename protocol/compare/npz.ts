/**
 * NumPy's .npz files: zip archives of .npy files, stored or deflated. Two agree when they have the same names and each file agrees
 * with its namesake; dates and packing do not count. What is no whole, plain archive of that kind is not compared here.
 */
import { pipeline, Readable } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import { compareNpy } from './npy.ts'
import type { Tolerance } from './numbers.ts'
import { BLOCK_BYTES, ZIP_DIRECTORY_BYTES_MAX, ZIP_ENTRIES_MAX, ZIP_UNFOLDED_BYTES_MAX } from './policy.ts'

/** A file whose parts can be read. */
export interface FileSource {
  readonly bytes: number
  read(from: number, to: number): AsyncIterable<Uint8Array>
}

interface ZipEntry {
  readonly name: string
  readonly deflated: boolean
  readonly crc: number
  readonly packedBytes: number
  readonly bytes: number
  /** Of its local header. */
  readonly at: number
}

/** It is no archive that can be compared. */
class ZipFault extends Error {
  override readonly name = 'ZipFault'
}

/** Where two archives differ; undefined when they agree. */
export async function compareNpz(a: FileSource, b: FileSource, tolerance: Tolerance): Promise<string | undefined> {
  try {
    const [left, right] = [await entriesOf(a), await entriesOf(b)]
    for (const [name, x] of left) {
      const y = right.get(name)
      if (y === undefined) return `only one has ${name}`
      const found = await compareNpy(unfold(a, x), unfold(b, y), tolerance)
      if (found !== undefined) return `${name}: ${found}`
    }
    const lone = [...right.keys()].find((name) => !left.has(name))
    return lone === undefined ? undefined : `only one has ${lone}`
  } catch (error) {
    if (error instanceof ZipFault) return error.message
    throw error
  }
}

const END = 0x06054b50
const CENTRAL = 0x02014b50
const LOCAL = 0x04034b50
const END_BYTES = 22
const COMMENT_BYTES_MAX = 65_535

/** By name, from the directory at the end. Throws ZipFault. */
async function entriesOf(file: FileSource): Promise<Map<string, ZipEntry>> {
  const tailAt = Math.max(0, file.bytes - END_BYTES - COMMENT_BYTES_MAX)
  const tail = await bytesOf(file, tailAt, file.bytes)
  let end = tail.length - END_BYTES
  while (end >= 0 && tail.readUInt32LE(end) !== END) end--
  if (end < 0) throw new ZipFault('no zip archive')
  const count = tail.readUInt16LE(end + 10)
  const size = tail.readUInt32LE(end + 12)
  const at = tail.readUInt32LE(end + 16)
  if (count > ZIP_ENTRIES_MAX || size > ZIP_DIRECTORY_BYTES_MAX) throw new ZipFault('an archive with too many files')
  if (at + size > file.bytes) throw new ZipFault('a broken zip archive')
  const directory = await bytesOf(file, at, at + size)
  const entries = new Map<string, ZipEntry>()
  let total = 0
  for (let next = 0, i = 0; i < count; i++) {
    if (next + 46 > directory.length || directory.readUInt32LE(next) !== CENTRAL) throw new ZipFault('a broken zip archive')
    const method = directory.readUInt16LE(next + 10)
    const [nameChars, extra, comment] = [directory.readUInt16LE(next + 28), directory.readUInt16LE(next + 30), directory.readUInt16LE(next + 32)]
    const name = directory.toString('latin1', next + 46, next + 46 + nameChars)
    const entry = {
      name,
      deflated: method === 8,
      crc: directory.readUInt32LE(next + 16),
      packedBytes: directory.readUInt32LE(next + 20),
      bytes: directory.readUInt32LE(next + 24),
      at: directory.readUInt32LE(next + 42)
    }
    if ((method !== 0 && method !== 8) || (directory.readUInt16LE(next + 8) & 1) !== 0) throw new ZipFault(`${name} is packed in a way that is not known`)
    if (entries.has(name)) throw new ZipFault(`${name} is there twice`)
    total += entry.bytes
    entries.set(name, entry)
    next += 46 + nameChars + extra + comment
  }
  if (total > ZIP_UNFOLDED_BYTES_MAX) throw new ZipFault('an archive that unfolds to too much')
  return entries
}

/** Its bytes, no more than the directory says, and checked by its sum. Throws ZipFault. */
async function* unfold(file: FileSource, { name, deflated, crc, packedBytes, bytes, at }: ZipEntry): AsyncGenerator<Uint8Array, void, undefined> {
  const header = await bytesOf(file, at, at + 30)
  if (header.length < 30 || header.readUInt32LE(0) !== LOCAL) throw new ZipFault('a broken zip archive')
  const from = at + 30 + header.readUInt16LE(26) + header.readUInt16LE(28)
  if (from + packedBytes > file.bytes) throw new ZipFault('a broken zip archive')
  const packed = file.read(from, from + packedBytes)
  let [sum, left] = [0, bytes]
  try {
    for await (const chunk of deflated ? inflate(packed) : packed) {
      left -= chunk.length
      if (left < 0) throw new ZipFault(`${name} is longer than its archive says`)
      sum = crc32(chunk, sum)
      yield chunk
    }
  } catch (error) {
    throw error instanceof Error && 'code' in error && String(error.code).startsWith('Z_') ? new ZipFault(`${name} cannot be unpacked`) : error
  }
  if (left !== 0 || sum !== crc) throw new ZipFault(`${name} is not what its archive says`)
}

async function* inflate(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const inflater = createInflateRaw({ chunkSize: BLOCK_BYTES })
  // What goes wrong destroys the last of the line, and is thrown by the loop.
  pipeline(Readable.from(packed), inflater, () => undefined)
  try {
    for await (const chunk of inflater) yield chunk as Uint8Array
  } finally {
    inflater.destroy()
  }
}

async function bytesOf(file: FileSource, from: number, to: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of file.read(from, to)) chunks.push(chunk)
  return Buffer.concat(chunks)
}
