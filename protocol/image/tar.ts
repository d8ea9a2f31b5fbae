/** Reading and writing tar headers: ustar with pax records, which is what every container tool reads. Pure; the callers move the bytes. */

export const TAR_BLOCK = 512
/** Two empty blocks end an archive. */
export const TAR_END = new Uint8Array(2 * TAR_BLOCK)

type TarKind = 'file' | 'directory' | 'symlink' | 'hardlink' | 'pax' | 'pax_global' | 'gnu_name' | 'gnu_link' | 'other'

interface TarHeader {
  readonly name: string
  readonly kind: TarKind
  /** Bytes of data that follow the header, before padding. */
  readonly size: number
  readonly link: string
}

const KINDS: Readonly<Record<string, TarKind>> = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  '1': 'hardlink',
  '2': 'symlink',
  '5': 'directory',
  x: 'pax',
  g: 'pax_global',
  L: 'gnu_name',
  K: 'gnu_link'
}
/** Links, devices, directories and fifos have no data whatever their size field says. */
const WITHOUT_DATA = '123456'

const utf8 = new TextDecoder()
const latin1 = new TextDecoder('latin1')

/** Zero bytes that fill the last block of `size` bytes of data. */
export function paddingOf(size: number): number {
  return (TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK
}

/** The header in a block of 512 bytes; `end` for an empty block; undefined when it is no header (its checksum is wrong, or its size is beyond 2^53). */
export function readHeader(block: Uint8Array): TarHeader | 'end' | undefined {
  let sum = 256 // the checksum field counts as eight spaces
  let signed = 256
  for (let index = 0; index < TAR_BLOCK; index++) {
    if (index >= 148 && index < 156) continue
    const byte = block[index] ?? 0
    sum += byte
    signed += byte > 127 ? byte - 256 : byte
  }
  if (sum === 256 && block[148] === 0) return 'end'
  const checksum = octal(block, 148, 156)
  if (checksum !== sum && checksum !== signed) return undefined
  const flag = String.fromCharCode(block[156] ?? 0)
  const size = WITHOUT_DATA.includes(flag) ? 0 : numberOf(block, 124, 136)
  if (size === undefined) return undefined
  const prefix = latin1.decode(block.subarray(257, 262)) === 'ustar' && block[262] === 0 ? text(block, 345, 500) : ''
  const name = text(block, 0, 100)
  return { name: prefix === '' ? name : `${prefix}/${name}`, kind: KINDS[flag] ?? 'other', size, link: text(block, 157, 257) }
}

function text(block: Uint8Array, from: number, to: number): string {
  const end = block.indexOf(0, from)
  return utf8.decode(block.subarray(from, end === -1 || end > to ? to : end))
}

function octal(block: Uint8Array, from: number, to: number): number | undefined {
  const digits = /^ *([0-7]+)[\0 ]*$/.exec(latin1.decode(block.subarray(from, to)))?.[1]
  return digits === undefined ? undefined : Number.parseInt(digits, 8)
}

/** Octal, or GNU's big-endian form for what does not fit. */
function numberOf(block: Uint8Array, from: number, to: number): number | undefined {
  if (((block[from] ?? 0) & 0x80) === 0) return block[from] === 0 ? 0 : octal(block, from, to)
  let value = (block[from] ?? 0) & 0x7f
  for (let index = from + 1; index < to; index++) value = value * 256 + (block[index] ?? 0)
  return Number.isSafeInteger(value) ? value : undefined
}

/** The records of a pax header's data; those that break the format are left out. */
export function readPax(data: Uint8Array): ReadonlyMap<string, string> {
  const records = new Map<string, string>()
  let at = 0
  while (at < data.length) {
    const space = data.indexOf(0x20, at)
    const length = space === -1 || space - at > 10 ? Number.NaN : Number(latin1.decode(data.subarray(at, space)))
    if (!Number.isSafeInteger(length) || length <= space - at + 1 || at + length > data.length) break
    const record = utf8.decode(data.subarray(space + 1, at + length - 1))
    const equals = record.indexOf('=')
    if (equals > 0) records.set(record.slice(0, equals), record.slice(equals + 1))
    at += length
  }
  return records
}

export interface TarEntry {
  readonly path: string
  readonly kind: 'file' | 'directory' | 'symlink'
  /** Permission bits, 0 to 0o7777. */
  readonly mode: number
  /** Bytes of a file; 0 for the others. */
  readonly size: number
  readonly link?: string
  readonly uid?: number
  readonly gid?: number
}

const FLAGS = { file: '0', directory: '5', symlink: '2' } as const
const OCTAL_11_MAX = 0o77777777777

/** Header blocks of an entry with modification time 0: the same bytes for the same entry, everywhere. A pax header comes first when a name or size needs it. */
export function writeHeader(entry: TarEntry): Uint8Array {
  const path = entry.kind === 'directory' ? `${entry.path}/` : entry.path
  const link = entry.link ?? ''
  const records: string[] = []
  if (Buffer.byteLength(path) > 100 || !isAscii(path)) records.push(record('path', path))
  if (Buffer.byteLength(link) > 100 || !isAscii(link)) records.push(record('linkpath', link))
  if (entry.size > OCTAL_11_MAX) records.push(record('size', String(entry.size)))
  const header = block({ ...entry, path, link, flag: FLAGS[entry.kind] })
  if (records.length === 0) return header
  const data = Buffer.from(records.join(''))
  const pax = block({ path: 'pax', mode: 0o644, size: data.length, link: '', flag: 'x' })
  return Buffer.concat([pax, data, new Uint8Array(paddingOf(data.length)), header])
}

function isAscii(name: string): boolean {
  for (let index = 0; index < name.length; index++) if (name.charCodeAt(index) > 126) return false
  return true
}

/** `<length> <key>=<value>\n`, the length counting itself. */
function record(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest + String(rest).length
  if (String(length).length !== String(rest).length) length = rest + String(length).length
  return `${length} ${key}=${value}\n`
}

interface Fields {
  readonly path: string
  readonly mode: number
  readonly size: number
  readonly link: string
  readonly flag: string
  readonly uid?: number
  readonly gid?: number
}

function block(fields: Fields): Uint8Array {
  const bytes = Buffer.alloc(TAR_BLOCK)
  Buffer.from(fields.path).copy(bytes, 0, 0, 100)
  bytes.write(`${octalText(fields.mode, 7)}\0`, 100, 'latin1')
  bytes.write(`${octalText(fields.uid ?? 0, 7)}\0`, 108, 'latin1')
  bytes.write(`${octalText(fields.gid ?? 0, 7)}\0`, 116, 'latin1')
  bytes.write(`${octalText(fields.size > OCTAL_11_MAX ? 0 : fields.size, 11)}\0`, 124, 'latin1')
  bytes.write(`${octalText(0, 11)}\0`, 136, 'latin1')
  bytes.write('        ', 148, 'latin1')
  bytes.write(fields.flag, 156, 'latin1')
  Buffer.from(fields.link).copy(bytes, 157, 0, 100)
  bytes.write('ustar\0' + '00', 257, 'latin1')
  let sum = 0
  for (const byte of bytes) sum += byte
  bytes.write(`${octalText(sum, 6)}\0 `, 148, 'latin1')
  return bytes
}

function octalText(value: number, digits: number): string {
  const written = value.toString(8).padStart(digits, '0')
  if (written.length > digits) throw new RangeError(`${value} does not fit ${digits} octal digits`)
  return written
}
