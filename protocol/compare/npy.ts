/**
 * NumPy's .npy files (numpy.lib.format, versions 1 to 3): the same type, shape and order; floating-point and complex numbers are
 * close, everything else is equal. The byte order may differ. What is no such file, or holds objects, structures or long doubles,
 * is compared byte by byte.
 */
import { ByteReader } from './byte-reader.ts'
import { isClose, type Tolerance } from './numbers.ts'
import { BLOCK_BYTES, NPY_HEADER_BYTES_MAX } from './policy.ts'

export interface NpyHeader {
  /** b, i, u, f, c, S, U, m, M or V. */
  readonly kind: string
  readonly itemBytes: number
  readonly littleEndian: boolean
  readonly fortran: boolean
  readonly shape: readonly number[]
  readonly dataBytes: number
}

type Chunks = AsyncIterable<Uint8Array>

/** Where two files differ; undefined when they agree. */
export async function compareNpy(a: Chunks, b: Chunks, tolerance: Tolerance): Promise<string | undefined> {
  const left = new ByteReader(a)
  const right = new ByteReader(b)
  try {
    const [x, y] = [await headerOf(left), await headerOf(right)]
    if (x.header === undefined || y.header === undefined) {
      if (Buffer.compare(x.bytes, y.bytes) !== 0) return 'their first bytes differ'
      return await compareBytes(left, right)
    }
    return contradiction(x.header, y.header) ?? (await compareItems(left, right, { a: x.header, b: y.header, tolerance }))
  } finally {
    await left.end()
    await right.end()
  }
}

/** Reads on until they differ or both end. */
async function compareBytes(left: ByteReader, right: ByteReader): Promise<string | undefined> {
  for (let at = 0; ; at += BLOCK_BYTES) {
    const [x, y] = [await left.take(BLOCK_BYTES), await right.take(BLOCK_BYTES)]
    if (Buffer.compare(x, y) !== 0) return `they differ within ${BLOCK_BYTES} bytes of byte ${at}`
    if (x.length < BLOCK_BYTES) return undefined
  }
}

function contradiction(a: NpyHeader, b: NpyHeader): string | undefined {
  if (a.kind !== b.kind || a.itemBytes !== b.itemBytes) return `types ${a.kind}${a.itemBytes} and ${b.kind}${b.itemBytes}`
  if (a.shape.join() !== b.shape.join()) return `shapes (${a.shape.join(', ')}) and (${b.shape.join(', ')})`
  return a.fortran === b.fortran ? undefined : 'one lies by rows and one by columns'
}

async function headerOf(reader: ByteReader): Promise<{ readonly bytes: Uint8Array; readonly header: NpyHeader | undefined }> {
  const start = await reader.take(10)
  const wide = (start[6] ?? 0) > 1
  const more = wide && isNpy(start) ? await reader.take(2) : new Uint8Array(0)
  const bytes = Buffer.concat([start, more])
  if (!isNpy(start) || bytes.length < (wide ? 12 : 10)) return { bytes, header: undefined }
  const size = wide ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8)
  if (size > NPY_HEADER_BYTES_MAX) return { bytes, header: undefined }
  const text = await reader.take(size)
  const whole = Buffer.concat([bytes, text])
  return { bytes: whole, header: text.length === size ? parseHeader(Buffer.from(text).toString('latin1')) : undefined }
}

function isNpy(start: Uint8Array): boolean {
  return start.length === 10 && Buffer.from(start.subarray(0, 6)).toString('latin1') === '\x93NUMPY' && [1, 2, 3].includes(start[6] as number)
}

const HEADER = /^\{'descr': '([<>|=])([biufcSUVmM])(\d{1,9})(?:\[\w{1,20}\])?', 'fortran_order': (True|False), 'shape': \(([\d, ]{0,999})\),? ?\} *\n?$/
/** Items of text have four bytes a character. */
const WIDE = 4
const ITEM_BYTES_MAX = BLOCK_BYTES

/** The dictionary that a header is; undefined for what is compared byte by byte. */
export function parseHeader(text: string): NpyHeader | undefined {
  const [, order, kind, count, fortran, sizes] = HEADER.exec(text) ?? []
  if (order === undefined || kind === undefined || sizes === undefined) return undefined
  const itemBytes = Number(count) * (kind === 'U' ? WIDE : 1)
  const shape = sizes
    .split(',')
    .map((size) => size.trim())
    .filter((size) => size !== '')
    .map(Number)
  const dataBytes = shape.reduce((product, size) => product * size, itemBytes)
  const isFloat = kind === 'f' || kind === 'c'
  if (itemBytes === 0 || itemBytes > ITEM_BYTES_MAX || !Number.isSafeInteger(dataBytes) || !shape.every(Number.isSafeInteger)) return undefined
  if (isFloat && ![2, 4, 8].includes(kind === 'c' ? itemBytes / 2 : itemBytes)) return undefined
  if (kind === 'i' || kind === 'u' ? ![1, 2, 4, 8].includes(itemBytes) : false) return undefined
  return { kind, itemBytes, littleEndian: order !== '>', fortran: fortran === 'True', shape, dataBytes }
}

interface Two {
  readonly a: NpyHeader
  readonly b: NpyHeader
  readonly tolerance: Tolerance
}

async function compareItems(left: ByteReader, right: ByteReader, { a, b, tolerance }: Two): Promise<string | undefined> {
  const { kind, itemBytes, dataBytes } = a
  const partBytes = kind === 'f' ? itemBytes : kind === 'c' ? itemBytes / 2 : kind === 'U' ? WIDE : itemBytes
  const block = Math.floor(BLOCK_BYTES / itemBytes) * itemBytes
  for (let at = 0; at < dataBytes; at += block) {
    const size = Math.min(block, dataBytes - at)
    const [x, y] = [await left.take(size), await right.take(size)]
    if (x.length < size || y.length < size) return 'one of them ends before its last item'
    if (a.littleEndian === b.littleEndian && Buffer.compare(x, y) === 0) continue
    const floats = kind === 'f' || kind === 'c'
    const [xs, ys] = [viewOf(x), viewOf(y)]
    for (let offset = 0; offset < size; offset += partBytes) {
      const same = floats
        ? isClose(floatAt(xs, offset, partBytes, a.littleEndian), floatAt(ys, offset, partBytes, b.littleEndian), tolerance)
        : sameBytes(x, y, { offset, bytes: partBytes, turned: hasOrder(kind) && a.littleEndian !== b.littleEndian })
      if (same) continue
      const item = (at + offset - ((at + offset) % itemBytes)) / itemBytes
      if (!floats) return `item ${item}`
      return `item ${item}: ${floatAt(xs, offset, partBytes, a.littleEndian)} and ${floatAt(ys, offset, partBytes, b.littleEndian)}`
    }
  }
  const [x, y] = [await left.take(1), await right.take(1)]
  return x.length + y.length === 0 ? undefined : 'bytes follow the last item'
}

/** Bytes as such have no order. */
function hasOrder(kind: string): boolean {
  return kind !== 'S' && kind !== 'V' && kind !== 'b'
}

function sameBytes(x: Uint8Array, y: Uint8Array, { offset, bytes, turned }: { offset: number; bytes: number; turned: boolean }): boolean {
  for (let at = 0; at < bytes; at++) if (x[offset + at] !== y[offset + (turned ? bytes - 1 - at : at)]) return false
  return true
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function floatAt(view: DataView, offset: number, bytes: number, littleEndian: boolean): number {
  if (bytes === 8) return view.getFloat64(offset, littleEndian)
  return bytes === 4 ? view.getFloat32(offset, littleEndian) : halfOf(view.getUint16(offset, littleEndian))
}

/** IEEE 754 binary16: sign, 5 bits of exponent, 10 of fraction. */
export function halfOf(bits: number): number {
  const sign = bits >= 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25)
}
