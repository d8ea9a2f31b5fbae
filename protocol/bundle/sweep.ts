/**
 * A sweep: tasks given as a generator, one manifest with `{name}` in its command and environment, and what each name stands
 * for. Which manifest the task of an index has is a function of the generator and nothing else, so that the generator is all
 * that is submitted and stored however many tasks there are.
 */
import * as dagCbor from '@ipld/dag-cbor'
import type { RunManifest } from './manifest.ts'

export interface Parameter {
  readonly name: string
  readonly values: Range | readonly string[]
}

/** Whole numbers from `from` to `to`, both included. */
export interface Range {
  readonly from: number
  readonly to: number
  readonly step: number
}

export interface Sweep {
  /** product: every combination, the last parameter going round fastest. zip: the first values together, then the second ones. */
  readonly mode: 'product' | 'zip'
  readonly parameters: readonly Parameter[]
}

export const PARAMETERS_MAX = 16
/** Values of all lists together, and their characters. Longer ones belong into a file that tasks read by their number. */
export const LISTED_MAX = 1_000_000
export const SWEEP_BYTES_MAX = 4 * 1024 * 1024
/** As many as a batch can have: the coordinator numbers them in 20 bits. */
export const SWEEP_TASKS_MAX = 2 ** 20
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
const HOLE = /\{([A-Za-z_][A-Za-z0-9_]{0,63})\}/g

export function encodeSweep(sweep: Sweep): Uint8Array {
  return dagCbor.encode(sweep)
}

/** A sweep as it was accepted. */
export function storedSweep(bytes: Uint8Array): Sweep {
  return dagCbor.decode<Sweep>(bytes)
}

/** Decodes hostile bytes; answers with what is wrong with them, for the person who sent them. */
export function decodeSweep(bytes: Uint8Array): Sweep | string {
  if (bytes.length > SWEEP_BYTES_MAX) return `a sweep has at most ${SWEEP_BYTES_MAX} bytes, not ${bytes.length}: let its tasks read a file by their number`
  let value: unknown
  try {
    value = dagCbor.decode(bytes)
  } catch {
    return 'the sweep is not dag-cbor'
  }
  const { mode, parameters } = (value ?? {}) as Partial<Record<keyof Sweep, unknown>>
  if (mode !== 'product' && mode !== 'zip') return 'a sweep is a product or a zip of its parameters'
  if (!Array.isArray(parameters) || parameters.length === 0 || parameters.length > PARAMETERS_MAX) return `a sweep has 1 to ${PARAMETERS_MAX} parameters`
  const names = new Set<string>()
  let listed = 0
  for (const parameter of parameters as Partial<Record<keyof Parameter, unknown>>[]) {
    const { name, values } = parameter ?? {}
    if (typeof name !== 'string' || !NAME.test(name) || name === 'index' || name === 'count')
      return `a parameter's name is letters, digits and _, and not "index" or "count", which are there anyway`
    if (names.has(name)) return `two parameters are named ${name}`
    names.add(name)
    if (Array.isArray(values)) {
      listed += values.length
      if (values.length === 0 || listed > LISTED_MAX || !values.every(isValue)) return `the values of ${name} are not 1 to ${LISTED_MAX} texts`
    } else if (!isRange(values)) return `${name} has neither a list of values nor a range of whole numbers`
  }
  const sweep = { mode, parameters: parameters as Parameter[] } satisfies Sweep
  const counts = sweep.parameters.map(countOf)
  if (mode === 'zip' && counts.some((count) => count !== counts[0])) return `parameters that go together have as many values: not ${counts.join(', ')}`
  const count = sweepCount(sweep)
  return count <= SWEEP_TASKS_MAX ? sweep : `the sweep has ${count} tasks, at most ${SWEEP_TASKS_MAX} are possible; cut it into several`
}

export function sweepCount({ mode, parameters }: Sweep): number {
  const counts = parameters.map(countOf)
  return mode === 'zip' ? (counts[0] ?? 0) : counts.reduce((product, count) => product * count, 1)
}

/** What each name stands for in the task of this index. */
export function valuesAt({ mode, parameters }: Sweep, index: number): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  let rest = index
  for (const parameter of mode === 'zip' ? parameters : parameters.toReversed()) {
    const count = countOf(parameter)
    found.set(parameter.name, textAt(parameter, mode === 'zip' ? index : rest % count))
    rest = Math.floor(rest / count)
  }
  return found
}

/** The template with its holes filled. `{index}` and `{count}` are there always; what stands for nothing stays as it is. */
export function manifestAt(template: RunManifest, sweep: Sweep, index: number): RunManifest {
  const values = new Map(valuesAt(sweep, index))
  return filled(template, values.set('index', String(index)).set('count', String(sweepCount(sweep))))
}

function filled(template: RunManifest, values: ReadonlyMap<string, string>): RunManifest {
  const fill = (text: string): string => text.replace(HOLE, (hole, name: string) => values.get(name) ?? hole)
  return {
    ...template,
    command: template.command.map(fill),
    environment: Object.fromEntries(Object.entries(template.environment).map(([name, text]) => [name, fill(text)]))
  }
}

/** The largest manifests that the sweep makes: by bytes, and by characters. */
export function largestOf(template: RunManifest, sweep: Sweep): readonly RunManifest[] {
  const longest = (lengthOf: (value: string) => number) => {
    const values = new Map([...sweep.parameters].map((parameter) => [parameter.name, longestOf(parameter, lengthOf)]))
    const number = String(sweepCount(sweep))
    return filled(template, values.set('index', number).set('count', number))
  }
  return [longest((value) => Buffer.byteLength(value)), longest((value) => value.length)]
}

function longestOf(parameter: Parameter, lengthOf: (value: string) => number): string {
  const { values } = parameter
  const all = 'from' in values ? [textAt(parameter, 0), textAt(parameter, countOf(parameter) - 1)] : values
  let found = ''
  for (const value of all) if (lengthOf(value) > lengthOf(found)) found = value
  return found
}

function countOf({ values }: Parameter): number {
  return 'from' in values ? Math.floor((values.to - values.from) / values.step) + 1 : values.length
}

function textAt({ values }: Parameter, at: number): string {
  return 'from' in values ? String(values.from + at * values.step) : (values[at] ?? '')
}

function isValue(value: unknown): boolean {
  return typeof value === 'string' && value.length <= 1024 && value.isWellFormed() && !value.includes('\0')
}

function isRange(value: unknown): value is Range {
  const { from, to, step } = (value ?? {}) as Partial<Record<keyof Range, unknown>>
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || !Number.isSafeInteger(step)) return false
  return (step as number) !== 0 && ((to as number) - (from as number)) / (step as number) >= 0 && Number.isSafeInteger((to as number) - (from as number))
}
