/**
 * The end of the node's own log, for the owners of tasks that it lost: lines about the node and about that one run, each made
 * harmless before it is kept. What could name the machine, its files, its network or a secret is left out by its shape: rather
 * a word too many than one too few. Pure.
 */
import { LAST_WORDS_CHARS_MAX } from '#protocol/control/messages'
import type { ReplicaId } from '#protocol/ids'

/** A line of the log. */
export interface Word {
  readonly atMs: number
  readonly level: 'info' | 'warn' | 'error'
  /** Harmless, and on one line. */
  readonly text: string
  /** What it is about; left out for the node itself. */
  readonly replica?: ReplicaId
}

const TEXT_CHARS_MAX = 240
/** Looked at of one message, or one fact. */
const RAW_CHARS_MAX = 2_000
const HIDDEN = '<…>'
/** Shorter ones are in too many other words. */
const PRIVATE_CHARS_MIN = 3
/** Ids, keys and digests; plain words are shorter. */
const TOKEN_CHARS_MIN = 24

/** `hidden`: words that are never kept, like the folder of the node, the name of the machine and of its user. */
export function wordOf(
  { level, facts, message, atMs }: { readonly level: Word['level']; readonly facts: object; readonly message: string; readonly atMs: number },
  hidden: readonly string[]
): Word {
  const { replica, ...others }: { replica?: unknown } = { ...facts }
  const said = Object.entries(others).map(([name, value]) => `${name}: ${textOf(value)}`)
  const text = [message.slice(0, RAW_CHARS_MAX), ...said].map((part) => clean(part, hidden)).join('; ')
  return { atMs, level, text: text.slice(0, TEXT_CHARS_MAX), ...(typeof replica === 'string' ? { replica } : {}) }
}

/** Of words in the order of their times: the last lines about the node and about this replica, and about no other. */
export function lastWords(words: readonly Word[], replica: ReplicaId): string {
  const lines: string[] = []
  let chars = 0
  for (const word of words.toReversed()) {
    if (word.replica !== undefined && word.replica !== replica) continue
    const line = `${new Date(word.atMs).toISOString()} ${word.level}: ${word.text}${word.replica === undefined ? '' : ' (this run)'}`
    chars += line.length + 1
    if (chars > LAST_WORDS_CHARS_MAX) break
    lines.push(line)
  }
  return lines.reverse().join('\n')
}

/** A line of the file, read back; undefined for one that is torn or not ours. */
export function parseWord(line: string): Word | undefined {
  try {
    const { atMs, level, text, replica }: { atMs?: unknown; level?: unknown; text?: unknown; replica?: unknown } = JSON.parse(line)
    if (!isTime(atMs) || typeof text !== 'string' || (level !== 'info' && level !== 'warn' && level !== 'error')) return undefined
    return { atMs, level, text: text.slice(0, TEXT_CHARS_MAX), ...(typeof replica === 'string' ? { replica } : {}) }
  } catch {
    return undefined
  }
}

/** As far as a Date goes. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= 8.64e15
}

function textOf(value: unknown): string {
  if (value instanceof Error) return value.message.slice(0, RAW_CHARS_MAX)
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))).slice(0, RAW_CHARS_MAX)
}

/** After such a word and a sign of giving, all that follows. */
const SECRET = /\b(pass(?:word|wd|phrase)?|secrets?|tokens?|(?:api|private|access)[-_ ]?key|credentials?|authorization|cookie)["']?\s*[=:].*$/i
const BEARER = /\b(bearer|basic)\s+\S+/gi
/** With a slash in it. */
const QUOTED_PATH = /(["'`])(?:(?!\1).)*[/\\](?:(?!\1).)*\1/g

function clean(text: string, hidden: readonly string[]): string {
  let line = text.replace(/[\p{C}\u2028\u2029]/gu, ' ')
  for (const word of [...hidden].sort((a, b) => b.length - a.length)) if (word.length >= PRIVATE_CHARS_MIN) line = line.replaceAll(word, HIDDEN)
  line = line.replace(SECRET, `$1 ${HIDDEN}`).replace(BEARER, `$1 ${HIDDEN}`).replace(QUOTED_PATH, HIDDEN)
  return line
    .split(/\s+/)
    .map((token) => (isPrivate(token) ? HIDDEN : token))
    .join(' ')
    .trim()
}

/** A path, an address of whatever kind, a name of a host, or something as long as a key. */
function isPrivate(token: string): boolean {
  if (/[/\\@~]/.test(token)) return true
  if (/\d{1,3}(\.\d{1,3}){3}/.test(token)) return true
  if (/[0-9a-f]*:[0-9a-f]*:/i.test(token)) return true
  if (/[a-z0-9-]+(\.[a-z0-9-]+){2,}/i.test(token)) return true
  return new RegExp(`[A-Za-z0-9+=_-]{${TOKEN_CHARS_MIN},}`).test(token)
}
