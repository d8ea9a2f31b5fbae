/**
 * Names of content: what this client uploaded and imported, kept in its home so that people need not type ids. Newer
 * entries win; a name is only a convenience and never identity.
 */
import { acceptCid } from '#protocol/content/cid'
import { ClientError } from '../errors.ts'

export interface NameEntry {
  /** `''` when it was given none. */
  readonly name: string
  readonly kind: 'image' | 'data'
  /** CID as text. */
  readonly root: string
  readonly bytes: number
  readonly project: string
  readonly atMs: number
  /** Relative paths with an executable bit: ids carry no modes, manifests do. */
  readonly executables: readonly string[]
  /** Where it came from, for people. */
  readonly source: string
}

export const NAMES_MAX = 10_000
/** Shortest prefix of a CID that is looked up: all of one kind begin alike. */
const PREFIX_CHARS_MIN = 10
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}$/

/** Throws ClientError `usage` for a name that could be taken for something else. */
export function checkName(name: string): void {
  if (!NAME.test(name) || acceptCid(name) !== undefined)
    throw new ClientError('usage', `${JSON.stringify(name)} cannot be a name; use letters, digits and . _ : / @ + - and begin with a letter or digit`)
}

export function encodeEntry(entry: NameEntry): string {
  return `${JSON.stringify(entry)}\n`
}

/** The book from its lines, newest last; lines that are damaged (a crash while writing) are skipped. */
export function decodeBook(text: string): NameEntry[] {
  const entries: NameEntry[] = []
  for (const line of text.split('\n')) {
    if (line === '') continue
    try {
      const value: Partial<NameEntry> = JSON.parse(line)
      if (typeof value.root !== 'string' || acceptCid(value.root) === undefined || (value.kind !== 'image' && value.kind !== 'data')) continue
      entries.push({
        name: typeof value.name === 'string' ? value.name : '',
        kind: value.kind,
        root: value.root,
        bytes: Number.isSafeInteger(value.bytes) ? (value.bytes as number) : 0,
        project: typeof value.project === 'string' ? value.project : '',
        atMs: Number.isSafeInteger(value.atMs) ? (value.atMs as number) : 0,
        executables: Array.isArray(value.executables) ? value.executables.filter((path) => typeof path === 'string') : [],
        source: typeof value.source === 'string' ? value.source : ''
      })
    } catch {}
  }
  return entries.slice(-NAMES_MAX)
}

/** Newest entry for each name (unnamed ones: for each root), newest first. */
export function listBook(book: readonly NameEntry[], project: string, kind?: NameEntry['kind']): NameEntry[] {
  const seen = new Set<string>()
  const rows: NameEntry[] = []
  for (const entry of book.toReversed()) {
    if (entry.project !== project || (kind !== undefined && entry.kind !== kind)) continue
    const key = entry.name === '' ? entry.root : `${entry.name} ${entry.kind}`
    if (seen.has(key)) continue
    seen.add(key)
    rows.push(entry)
  }
  return rows
}

/**
 * What a text means to the book: the newest entry of that name, the entry of that id, or of that unique prefix of an id.
 * undefined when it means nothing here. Throws ClientError `ambiguous` when a prefix fits several roots.
 */
export function findEntry(book: readonly NameEntry[], project: string, text: string, kind?: NameEntry['kind']): NameEntry | undefined {
  const mine = book.filter((entry) => entry.project === project && (kind === undefined || entry.kind === kind))
  const named = mine.findLast((entry) => entry.name === text) ?? mine.findLast((entry) => entry.root === text)
  if (named !== undefined || text.length < PREFIX_CHARS_MIN) return named
  const roots = [...new Set(mine.filter((entry) => entry.root.startsWith(text)).map((entry) => entry.root))]
  if (roots.length > 1) throw new ClientError('ambiguous', `${text} could be ${roots.slice(0, 3).join(', ')}${roots.length > 3 ? ', …' : ''}; type more of it`)
  return mine.findLast((entry) => entry.root === roots[0])
}

/** What an argument says before anyone is asked: `ID[/path]`, or a path on this machine when it begins like one. */
export type Reference =
  | { readonly kind: 'local'; readonly path: string }
  | { readonly kind: 'named'; readonly of: string; readonly path: string; readonly whole: string }

export function parseReference(text: string): Reference {
  if (text === '') throw new ClientError('usage', 'an empty id; give an id, a name, or a path that begins with ./ or /')
  if (text === '.' || text === '..' || /^(\.{0,2}|~)\//.test(text)) return { kind: 'local', path: text }
  const slash = text.indexOf('/')
  const of = slash < 0 ? text : text.slice(0, slash)
  const path = slash < 0 ? '' : text.slice(slash + 1).replace(/\/+$/, '')
  if (path !== '' && path.split('/').some((part) => part === '..' || part === '.' || part === ''))
    throw new ClientError('usage', `${text}: the path below an id has no . .. or empty parts`)
  return { kind: 'named', of, path, whole: text }
}
