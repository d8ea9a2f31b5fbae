/**
 * What a task takes from other tasks, which may not be over yet: its sources. A task with sources is submitted with a manifest
 * that lacks these inputs; the project server adds them, with the ids of what came out, when all sources are over. The wire and
 * the durable records share one form: dag-cbor of lists.
 */
import * as dagCbor from '@ipld/dag-cbor'
import { isBatchId, parseTaskId } from '../ids.ts'
import { DEPENDENCIES_MAX, isDependencyName, isRelativePath } from './manifest.ts'

/** output, stdout: of one task. all: a folder of each task's output and stdout (see `gatheredName`). after: nothing is taken, the task only comes later. */
export type SourcePart = 'output' | 'stdout' | 'all' | 'after'

const PARTS: readonly string[] = ['output', 'stdout', 'all', 'after'] satisfies SourcePart[]

export interface Source {
  /** The input's name below `/in`; '' for `after`. */
  readonly name: string
  /** A task, or a batch: all of its tasks. '' for tasks of the same batch. */
  readonly of: string
  /** In the same batch: index of the first and how many; else 0. */
  readonly from: number
  readonly count: number
  readonly part: SourcePart
  /** Below the output; only with `output`. */
  readonly path: string
}

export interface Sources {
  /** Sources that failed or were killed do not fail the task: it runs with what there is. */
  readonly allowFailed: boolean
  readonly list: readonly Source[]
}

/** Sources of one task: `after` adds no input, and is bounded with the inputs. */
export const SOURCES_MAX = DEPENDENCIES_MAX
/** Tasks of which one input can be gathered. */
export const GATHERED_MAX = 65_536
const INDEX_MAX = 2 ** 20

export type SourceRow = readonly [name: string, of: string, from: number, count: number, part: string, path: string]
type TaskRow = readonly [index: number, allowFailed: boolean, sources: readonly SourceRow[]]

export function sourceRow({ name, of, from, count, part, path }: Source): SourceRow {
  return [name, of, from, count, part, path]
}

export function sourceOfRow([name, of, from, count, part, path]: SourceRow): Source {
  return { name, of, from, count, part: part as SourcePart, path }
}

/** By index of the task in its batch. */
export function encodeSources(tasks: ReadonlyMap<number, Sources>): Uint8Array {
  return dagCbor.encode([...tasks].map(([index, { allowFailed, list }]): TaskRow => [index, allowFailed, list.map(sourceRow)]))
}

/** Decodes hostile bytes of at most `tasksMax` tasks; answers with what is wrong with them, for the person who sent them. */
export function decodeSources(bytes: Uint8Array, tasksMax: number): ReadonlyMap<number, Sources> | string {
  let value: unknown
  try {
    value = dagCbor.decode(bytes)
  } catch {
    return 'the sources are not dag-cbor'
  }
  if (!Array.isArray(value) || value.length > tasksMax) return `the sources are not a list of at most ${tasksMax} tasks`
  const found = new Map<number, Sources>()
  for (const row of value as unknown[]) {
    if (!Array.isArray(row) || row.length !== 3 || !isIndex(row[0]) || typeof row[1] !== 'boolean' || !Array.isArray(row[2]))
      return 'the sources of a task are not [index, allow failed, sources]'
    const [index, allowFailed, rows] = row as [number, boolean, unknown[]]
    if (found.has(index)) return `task ${index} has two lists of sources`
    const fault = sourcesFault(rows)
    if (fault !== undefined) return `task ${index}: ${fault}`
    found.set(index, { allowFailed, list: (rows as SourceRow[]).map(sourceOfRow) })
  }
  return found
}

function sourcesFault(rows: readonly unknown[]): string | undefined {
  if (rows.length === 0 || rows.length > SOURCES_MAX) return `a task has 1 to ${SOURCES_MAX} sources, not ${rows.length}`
  const names = new Set<string>()
  for (const row of rows) {
    if (!Array.isArray(row) || row.length !== 6) return 'a source is not [name, of, from, count, part, path]'
    const [name, of, from, count, part, path] = row as unknown[]
    if (typeof part !== 'string' || !PARTS.includes(part)) return 'a source gives its output, its stdout, all of them, or comes before'
    if (part === 'after' ? name !== '' : !isDependencyName(name)) return 'a source is no name for an input'
    if (part !== 'after' && names.has(String(name))) return `two inputs are named ${String(name)}`
    names.add(String(name))
    if (!isIndex(from) || !isIndex(count)) return 'a source counts tasks from 0'
    if (typeof of !== 'string' || !(of === '' || isBatchId(of) || parseTaskId(of) !== undefined)) return 'a source is neither a task nor a batch'
    if (of !== '' && (from !== 0 || count !== 0)) return 'a part of another batch cannot be a source: name the task, or the whole batch'
    if (of === '' && count === 0) return 'a source has no task'
    if ((part === 'output' || part === 'stdout') && (of === '' ? count !== 1 : isBatchId(of)))
      return `input ${String(name)} is the ${part} of one task; several are gathered`
    if (part === 'all' && count > GATHERED_MAX) return `at most ${GATHERED_MAX} tasks can be gathered, not ${count}`
    if (!isRelativePath(path) || (path !== '' && part !== 'output')) return `input ${String(name)}: the path is not one below an output`
  }
  return undefined
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= INDEX_MAX
}

const NAME_DIGITS = 4
const FOLDER_TASKS = 1000

/** Where one of `count` gathered tasks lies below its input: all names of one length, so that they sort as they count; in folders of a thousand when there are more than fit one. */
export function gatheredName(index: number, count: number): string {
  if (count <= 4096) return String(index).padStart(NAME_DIGITS, '0')
  return `${String(Math.floor(index / FOLDER_TASKS)).padStart(3, '0')}/${String(index).padStart(6, '0')}`
}
