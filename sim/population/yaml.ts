/**
 * Reads YAML written by people against a description of what may stand there. Whatever does not fit is refused with its line
 * and what is allowed in its place.
 */
import { type Document, isCollection, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml'
import { messageOf } from '#protocol/message-of'

export const YAML_CHARS_MAX = 1_000_000

/** `line` is counted from 1, 0 for what is not in the text but was changed; the message says what is allowed. */
export class YamlFault extends Error {
  override readonly name = 'YamlFault'
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** A value and where it stands. */
export interface Place {
  readonly node: Node | null
  /** As a path of keys, for messages. */
  readonly path: string
  readonly lines: LineCounter
  /** Of the key, when there is no value. */
  readonly offset: number
}

/** The offset of what stands nowhere: a change put it there. */
const CHANGED = -1

export type Read<T> = (place: Place) => T

/** `changes` are set before it is read: a path of keys joined by dots, and YAML for its value. */
export function readYaml<T>(text: string, read: Read<T>, changes: readonly (readonly [path: string, value: string])[] = []): T {
  const { document, lines } = parse(text)
  for (const [path, value] of changes) change(document, path, value)
  return read({ node: document.contents, path: '', lines, offset: 0 })
}

function change(document: Document, path: string, value: string): void {
  const keys = path.split('.')
  for (let count = 1; count < keys.length; count++) {
    const around = document.getIn(keys.slice(0, count), true)
    if (isScalar(around) && around.value === null) document.deleteIn(keys.slice(0, count))
    else if (around !== undefined && !isCollection(around)) throw new YamlFault(0, `${path}: ${keys.slice(0, count).join('.')} is one value and has no keys`)
  }
  const node = document.createNode(changedTo(path, value))
  // It stands in no line, whatever is around it.
  visit(node, {
    Node: (_, one) => {
      one.range = [CHANGED, CHANGED, CHANGED]
    }
  })
  try {
    document.setIn(keys, node)
  } catch (cause) {
    // A list is asked for a key, say.
    throw new YamlFault(0, `${path}: cannot be set: ${messageOf(cause)}`)
  }
}

function changedTo(path: string, value: string): unknown {
  try {
    return parse(value).document.toJS()
  } catch (error) {
    throw error instanceof YamlFault ? new YamlFault(0, `${path}: ${JSON.stringify(value)} is no value: ${error.message}`) : error
  }
}

function parse(text: string): { readonly document: Document; readonly lines: LineCounter } {
  if (text.length > YAML_CHARS_MAX) throw new YamlFault(1, `more than ${YAML_CHARS_MAX} characters`)
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const [error] = [...document.errors, ...document.warnings]
  if (error !== undefined) throw new YamlFault(lines.linePos(error.pos[0]).line, error.message)
  visit(document, {
    Alias: (_, { range, source }) => {
      throw new YamlFault(lines.linePos(range?.[0] ?? 0).line, `*${source}: aliases are not read here; write the value itself`)
    }
  })
  return { document, lines }
}

export function refuse(place: Place, message: string): never {
  throw new YamlFault(lineOf(place), place.path === '' ? message : `${place.path}: ${message}`)
}

/** Counted from 1; 0 for what was changed. */
export function lineOf({ node, lines, offset }: Place): number {
  const at = node?.range?.[0] ?? offset
  return at === CHANGED ? 0 : Math.max(1, lines.linePos(at).line)
}

/** What stands there, or the nearest that is around it. The items of a list are counted from 0. */
export function inside(place: Place, ...keys: readonly (string | number)[]): Place {
  let at = place
  for (const key of keys) {
    if (typeof key === 'number') {
      const item = isSeq(at.node) ? at.node.items[key] : undefined
      if (item === undefined) return at
      at = { ...at, node: item as Node | null }
      continue
    }
    const pair = isMap(at.node) ? at.node.items.find((one) => wordOf(one.key) === key) : undefined
    if (pair === undefined) return at
    at = { ...at, node: pair.value as Node | null, offset: offsetOf(pair.key) }
  }
  return at
}

/** A field that may be missing, or empty. */
export interface Optional<T> {
  readonly read: Read<T>
  readonly otherwise: () => T
}

export type Fields<T> = { readonly [Key in keyof T]: Read<T[Key]> | Optional<T[Key]> }

export function optional<T>(read: Read<T>, otherwise: T): Optional<T> {
  return { read, otherwise: () => otherwise }
}

/** A map with these keys and no others. */
export function record<T>(fields: Fields<T>): Read<T> {
  const names = Object.keys(fields) as (keyof T & string)[]
  return (place) => {
    const { node, path, lines } = place
    if (!isMap(node)) return refuse(place, `a map is expected; its keys: ${names.join(', ')}`)
    const found = new Map<string, Place>()
    for (const { key, value } of node.items) {
      const name = wordOf(key)
      const at: Place = { node: value as Node | null, path: path === '' ? name : `${path}.${name}`, lines, offset: offsetOf(key) }
      if (!names.some((known) => known === name)) refuse({ ...at, node: null, path }, `unknown key ${JSON.stringify(name)}; allowed: ${names.join(', ')}`)
      found.set(name, at)
    }
    const entries = names.map((name) => {
      const field = fields[name]
      const at = found.get(name)
      if (typeof field === 'function') return [name, at === undefined ? refuse(place, `${name} is missing`) : field(at)] as const
      return [name, at === undefined || isNothing(at.node) ? field.otherwise() : field.read(at)] as const
    })
    return Object.fromEntries(entries) as T
  }
}

/** A map of any of the names to values of one kind. */
export function table<Name extends string, T>(names: readonly Name[], read: Read<T>): Read<readonly (readonly [Name, T])[]> {
  return (place) => {
    const { node, path, lines } = place
    if (!isMap(node)) return refuse(place, `a map is expected; its keys: ${names.join(', ')}`)
    return node.items.map(({ key, value }) => {
      const text = wordOf(key)
      const name = names.find((known) => known === text)
      const at: Place = { node: value as Node | null, path: `${path}.${text}`, lines, offset: offsetOf(key) }
      if (name === undefined) return refuse({ ...at, node: null, path }, `unknown key ${JSON.stringify(text)}; allowed: ${names.join(', ')}`)
      return [name, read(at)] as const
    })
  }
}

/** Keys of any name, joined by dots, with their values as they are written. */
export const changes: Read<readonly (readonly [path: string, value: string])[]> = (place) => {
  const { node } = place
  if (!isMap(node)) return refuse(place, 'a map is expected, such as { policy.quorum: 3 }')
  return node.items.map(({ key, value }) => [wordOf(key), isScalar(value) ? String(value.value) : JSON.stringify(value)] as const)
}

export function list<T>(read: Read<T>, max: number): Read<readonly T[]> {
  return (place) => {
    const { node, path, lines, offset } = place
    if (!isSeq(node)) return refuse(place, 'a list is expected')
    if (node.items.length > max) refuse(place, `at most ${max} are allowed`)
    return node.items.map((item, index) => read({ node: item as Node | null, path: `${path}[${index}]`, lines, offset }))
  }
}

export const text: Read<string> = (place) => {
  const value = scalar(place)
  return typeof value === 'string' ? value : refuse(place, 'text is expected')
}

export const flag: Read<boolean> = (place) => {
  const value = scalar(place)
  return typeof value === 'boolean' ? value : refuse(place, 'true or false is expected')
}

export function whole(min: number, max: number): Read<number> {
  return (place) => {
    const value = scalar(place)
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value
    return refuse(place, `a whole number from ${min} to ${max} is expected, not ${show(value)}`)
  }
}

export function number(min: number, max: number): Read<number> {
  return (place) => {
    const value = scalar(place)
    if (typeof value === 'number' && value >= min && value <= max) return value
    return refuse(place, `a number from ${min} to ${max} is expected, not ${show(value)}`)
  }
}

export function oneOf<Word extends string>(...words: readonly Word[]): Read<Word> {
  return (place) => {
    const value = scalar(place)
    return words.find((word) => word === value) ?? refuse(place, `${words.join(' or ')} is expected, not ${show(value)}`)
  }
}

const TIMES: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 }
const SIZES: Readonly<Record<string, number>> = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 }
const SPEEDS: Readonly<Record<string, number>> = {
  'kbit/s': 125,
  'Mbit/s': 125e3,
  'Gbit/s': 125e6,
  'kB/s': 1e3,
  'MB/s': 1e6,
  'GB/s': 1e9
}
const AMOUNT = /^(\d+(?:\.\d+)?)\s*([A-Za-z%]+(?:\/s)?)$/

/** `90 s`, `5 min`, `6 h`, `30 d`; milliseconds. */
export function time(minMs: number, maxMs: number): Read<number> {
  return amount(TIMES, 'a time such as 90 s, 5 min, 6 h or 30 d', (ms) =>
    ms < minMs || ms > maxMs ? `from ${minMs / 1000} s to ${maxMs / 1000} s is allowed` : undefined
  )
}

/** `10 MB`, `512 MiB`; bytes. A bare 0 is nothing. */
export function size(maxBytes: number): Read<number> {
  return amount(SIZES, 'a size such as 0, 10 MB or 512 MiB', (bytes) => (bytes > maxBytes ? `at most ${maxBytes} B is allowed` : undefined))
}

/** `100 Mbit/s`, `125 MB/s`; bytes a second. */
export function speed(minBytesPerS: number, maxBytesPerS: number): Read<number> {
  return amount(SPEEDS, 'a speed such as 100 Mbit/s, 1 Gbit/s or 125 MB/s', (bytesPerS) =>
    bytesPerS < minBytesPerS || bytesPerS > maxBytesPerS ? `from ${minBytesPerS / 1e3} kB/s to ${maxBytesPerS / 1e9} GB/s is allowed` : undefined
  )
}

/** `45 %` or 0.45. */
export const share: Read<number> = (place) => {
  const value = scalar(place)
  const percent = typeof value === 'string' && AMOUNT.exec(value.trim())
  const part = typeof value === 'number' ? value : percent && percent[2] === '%' ? Number(percent[1]) / 100 : Number.NaN
  return part >= 0 && part <= 1 ? part : refuse(place, `a share from 0 % to 100 % is expected, not ${show(value)}`)
}

function amount(units: Readonly<Record<string, number>>, expected: string, fault: (amount: number) => string | undefined): Read<number> {
  return (place) => {
    const value = scalar(place)
    const match = typeof value === 'string' ? AMOUNT.exec(value.trim()) : value === 0 ? ['', '0', Object.keys(units)[0]] : null
    const unit = match?.[2] === undefined ? undefined : units[match[2]]
    if (match === null || unit === undefined) return refuse(place, `${expected} is expected, not ${show(value)}; units: ${Object.keys(units).join(', ')}`)
    const found = Number(match[1]) * unit
    const wrong = fault(found)
    return wrong === undefined ? found : refuse(place, `${wrong}, not ${show(value)}`)
  }
}

function isNothing(node: Node | null): boolean {
  return node === null || (isScalar(node) && node.value === null)
}

/** Keys that a change set are bare words. */
function wordOf(key: unknown): string {
  return String(isScalar(key) ? key.value : key)
}

function offsetOf(key: unknown): number {
  return isScalar(key) ? (key.range?.[0] ?? CHANGED) : CHANGED
}

function scalar(place: Place): unknown {
  return isScalar(place.node) ? place.node.value : refuse(place, 'one value is expected')
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? String(value)
}
