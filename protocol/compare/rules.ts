/** What an owner says about which files count, and how closely. */
import type { Tolerance } from './numbers.ts'
import { FILE_RULES_MAX, PATTERN_CHARS_MAX } from './policy.ts'

export type FileFormat = 'text' | 'csv' | 'json' | 'npy' | 'npz' | 'bytes'

/** Of the files that a pattern names: the first rule that names a file holds for it. */
export interface FileRule {
  /** `*` within a name, `**` across folders, `?` one character; without a `/` it names files in every folder. */
  readonly files: string
  /** Not compared at all, not even whether it is there. */
  readonly ignore: boolean
  readonly abs: number
  readonly rel: number
  /** '' for what its name says. */
  readonly format: FileFormat | ''
}

/** Files that no rule names are compared as their names say, with these tolerances. */
export interface CompareRules extends Tolerance {
  readonly files: readonly FileRule[]
}

const FORMATS: readonly (FileFormat | '')[] = ['', 'text', 'csv', 'json', 'npy', 'npz', 'bytes']

/** Why the rules make no sense, for the person who wrote them; undefined when they do. Takes whatever was decoded. */
export function rulesFault(rules: unknown): string | undefined {
  if (!isMap(rules)) return 'the rules of comparing are a map'
  const unknown = Object.keys(rules).find((name) => !['abs', 'rel', 'files'].includes(name))
  if (unknown !== undefined) return `the rules of comparing have an unknown field ${unknown.slice(0, 64)}`
  if (!isTolerance(rules)) return NO_TOLERANCE
  const { files } = rules
  if (!Array.isArray(files) || files.length > FILE_RULES_MAX) return `the rules for files are a list of at most ${FILE_RULES_MAX}`
  for (const rule of files as unknown[]) {
    if (!isMap(rule) || Object.keys(rule).sort().join() !== 'abs,files,format,ignore,rel') return 'a rule for files has files, ignore, abs, rel and format'
    if (typeof rule.files !== 'string' || rule.files === '' || rule.files.length > PATTERN_CHARS_MAX)
      return `a pattern has 1 to ${PATTERN_CHARS_MAX} characters`
    if (typeof rule.ignore !== 'boolean' || !isTolerance(rule)) return NO_TOLERANCE
    if (!FORMATS.some((format) => format === rule.format)) return 'a format is text, csv, json, npy, npz or bytes'
  }
  return undefined
}

const NO_TOLERANCE = 'a tolerance is a number: abs from 0, rel from 0 to below 1'

/**
 * `*.csv: rel=1e-6`, `log/**: ignore`, `*.dat: as=text abs=0.1`, or without a pattern `rel=1e-9` for all files: the form that people
 * write. Throws an Error that says what is wrong.
 */
export function parseRules(texts: readonly string[]): CompareRules {
  let all: Tolerance = { abs: 0, rel: 0 }
  const files: FileRule[] = []
  for (const text of texts) {
    const colon = text.lastIndexOf(':')
    const words = text
      .slice(colon + 1)
      .split(/[\s,]+/)
      .filter((word) => word !== '')
    const rule = parseWords(text, words)
    if (colon >= 0) files.push({ files: text.slice(0, colon).trim(), ...rule })
    else if (rule.ignore || rule.format !== '') throw new Error(`${JSON.stringify(text)} lacks the files that it is for, such as "*.log: ignore"`)
    else all = { abs: rule.abs, rel: rule.rel }
  }
  const rules = { ...all, files }
  const fault = rulesFault(rules)
  if (fault !== undefined) throw new Error(fault)
  return rules
}

function parseWords(text: string, words: readonly string[]): Omit<FileRule, 'files'> {
  let rule: Omit<FileRule, 'files'> = { ignore: false, abs: 0, rel: 0, format: '' }
  if (words.length === 0) throw new Error(`${JSON.stringify(text)} says nothing: write rel=1e-6, abs=0.01, as=text, exact or ignore`)
  for (const word of words) {
    const [name = '', value = ''] = word.split('=')
    if (word === 'ignore') rule = { ...rule, ignore: true }
    else if (word === 'exact') rule = { ...rule, format: 'bytes' }
    else if ((name === 'rel' || name === 'abs') && value !== '' && Number.isFinite(Number(value))) rule = { ...rule, [name]: Number(value) }
    else if (name === 'as' && value !== '' && FORMATS.some((format) => format === value)) rule = { ...rule, format: value as FileFormat }
    else throw new Error(`${JSON.stringify(word)} is none of rel=1e-6, abs=0.01, as=text|csv|json|npy|npz|bytes, exact and ignore`)
  }
  return rule
}

export interface FileWay extends Tolerance {
  readonly format: FileFormat
}

/** How the file at a path is compared; undefined when it is not. */
export function wayOf(path: string, { abs, rel, files }: CompareRules): FileWay | undefined {
  const rule = files.find(({ files: pattern }) => matches(pattern, path))
  if (rule === undefined) return { abs, rel, format: formatOf(path) ?? 'bytes' }
  // Who writes a tolerance for a file of an unknown kind means its numbers.
  return rule.ignore ? undefined : { abs: rule.abs, rel: rule.rel, format: rule.format === '' ? (formatOf(path) ?? 'text') : rule.format }
}

const BY_ENDING: ReadonlyMap<string, FileFormat> = new Map([
  ['txt', 'text'],
  ['dat', 'text'],
  ['log', 'text'],
  ['out', 'text'],
  ['xyz', 'text'],
  ['md', 'text'],
  ['csv', 'csv'],
  ['tsv', 'csv'],
  ['json', 'json'],
  ['jsonl', 'json'],
  ['ndjson', 'json'],
  ['geojson', 'json'],
  ['npy', 'npy'],
  ['npz', 'npz']
])

function formatOf(path: string): FileFormat | undefined {
  return BY_ENDING.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase())
}

/** Whether a pattern names a path. Steps are bounded by the product of their lengths: patterns come from others. */
export function matches(pattern: string, path: string): boolean {
  const text = pattern.includes('/') ? path : path.slice(path.lastIndexOf('/') + 1)
  const parts = pattern.replace(/^\//, '').match(/\*\*\/?|[\s\S]/gu) ?? []
  const chars = [...text]
  // row[j]: the parts so far match the first j characters.
  let row = chars.map(() => false)
  row.unshift(true)
  for (const part of parts) {
    const next: boolean[] = [part.startsWith('*') && row[0] === true]
    let began = false
    for (let j = 1; j <= chars.length; j++) {
      const char = chars[j - 1]
      began ||= row[j - 1] === true
      if (part === '*') next.push(row[j] === true || (next[j - 1] === true && char !== '/'))
      else if (part === '**') next.push(row[j] === true || next[j - 1] === true)
      // `**/` ends where a folder does.
      else if (part === '**/') next.push(row[j] === true || (char === '/' && began))
      else next.push(row[j - 1] === true && (part === '?' ? char !== '/' : part === char))
    }
    row = next
  }
  return row.at(-1) === true
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTolerance({ abs, rel }: Record<string, unknown>): boolean {
  return typeof abs === 'number' && typeof rel === 'number' && Number.isFinite(abs) && abs >= 0 && rel >= 0 && rel < 1
}
