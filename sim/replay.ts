/** Runs again what was run before: a report of a population, whose hash must be the same, or the case that a failure left. */
import { readFile } from 'node:fs/promises'
import { messageOf } from '#protocol/message-of'
import { type Recipe, replanned } from './population/plan.ts'
import { ScenarioError } from './population/scenario.ts'
import { play, type StudyPorts } from './population/study.ts'
import { parseCase } from './runner/case-file.ts'
import { repeat } from './runner/repeat.ts'

export interface ReplayedRun {
  readonly variant: string
  readonly seed: number | string
  readonly was: string
  readonly is: string
  /** What is not as it must be; null when all is. */
  readonly complaint: string | null
}

interface ReplayedReport {
  readonly kind: 'report'
  readonly equal: boolean
  readonly wasCommit: string
  readonly commit: string
  readonly runs: readonly ReplayedRun[]
  /** The run that was stopped, and how far it came; null when all were played. */
  readonly stopped: {
    readonly variant: string
    readonly seed: number | string
    readonly run: number
    readonly ofRuns: number
    readonly nowMs: number
    readonly untilMs: number
  } | null
}

export type Replayed =
  | ReplayedReport
  | { readonly kind: 'case'; readonly complaint: string | null; readonly hash: string; readonly events: number; readonly story: string }

/** What of a report is needed. */
interface Memory {
  readonly commit: string
  readonly variants: readonly (Recipe & { readonly reports: readonly Remembered[] })[]
}

interface Remembered {
  readonly seed: number | string
  readonly hash: string
  readonly reachedMs: number
}

const FILE_CHARS_MAX = 200_000_000
const PAGE = /<script type="application\/json" id="talko-simulation">([\s\S]*?)<\/script>/

/** Throws ScenarioError for a file that is neither. */
export async function replay(file: string, ports: StudyPorts): Promise<Replayed> {
  const { text, memory } = await open(file)
  return memory === undefined ? await replayCase(file, text) : await replayReport(memory, ports)
}

/** What would be run again, in a line each. */
export async function describeReplay(file: string): Promise<readonly string[]> {
  const { text, memory } = await open(file)
  if (memory === undefined) {
    const { case: one } = caseIn(file, text)
    return [`the case of seed ${one.seed}: ${one.nodes.length} nodes, ${one.faults.length} faults`]
  }
  return memory.variants.flatMap(({ name, file: scenario, reports }) =>
    reports.map(({ seed, hash }) => `${scenario}${name === '' ? '' : ` (${name})`}, seed ${seed}, hash ${hash} at commit ${memory.commit}`)
  )
}

async function replayReport({ commit: wasCommit, variants }: Memory, ports: StudyPorts): Promise<ReplayedReport> {
  const runs: ReplayedRun[] = []
  const total = variants.reduce((sum, { reports }) => sum + reports.length, 0)
  for (const variant of variants) {
    const planned = await replanned(variant)
    for (const { seed, hash, reachedMs } of variant.reports) {
      const report = await play(planned, seed, reachedMs, ports, { run: runs.length + 1, runs: total })
      if (ports.signal.aborted) {
        const stopped = { variant: variant.name, seed, run: runs.length + 1, ofRuns: total, nowMs: report.reachedMs, untilMs: reachedMs }
        return { kind: 'report', equal: false, wasCommit, commit: ports.commit, runs, stopped }
      }
      runs.push({ variant: variant.name, seed, was: hash, is: report.hash, complaint: report.complaint })
    }
  }
  return { kind: 'report', equal: runs.every(({ was, is }) => was === is), wasCommit, commit: ports.commit, runs, stopped: null }
}

async function replayCase(file: string, text: string): Promise<Replayed> {
  return { kind: 'case', ...(await repeat(caseIn(file, text))) }
}

function caseIn(file: string, text: string): ReturnType<typeof parseCase> {
  try {
    return parseCase(text)
  } catch (cause) {
    throw new ScenarioError(`${file} is neither a report of talko sim (JSON or HTML) nor a case: ${messageOf(cause)}`, {
      cause
    })
  }
}

async function open(file: string): Promise<{ readonly text: string; readonly memory: Memory | undefined }> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    throw new ScenarioError(`${file}: cannot be read: ${messageOf(cause)}`, { cause })
  }
  if (text.length > FILE_CHARS_MAX) throw new ScenarioError(`${file} is larger than any report`)
  return { text, memory: memoryIn(PAGE.exec(text)?.[1] ?? text) }
}

/** Undefined for what is no report. */
function memoryIn(text: string): Memory | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isMemory(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isMemory(value: unknown): value is Memory {
  const { kind, commit, variants } = (value ?? {}) as Readonly<Record<string, unknown>>
  return kind === 'talko simulation' && typeof commit === 'string' && Array.isArray(variants) && variants.every(isVariant)
}

function isVariant(value: unknown): boolean {
  const { name, file, source, changes, trace, reports } = (value ?? {}) as Readonly<Record<string, unknown>>
  const texts = [name, file, source].every((one) => typeof one === 'string')
  const pairs = Array.isArray(changes) && changes.every((one) => Array.isArray(one) && one.length === 2 && one.every((part) => typeof part === 'string'))
  return texts && pairs && (trace === null || typeof trace === 'object') && Array.isArray(reports) && reports.every(isRemembered)
}

function isRemembered(value: unknown): boolean {
  const { seed, hash, reachedMs } = (value ?? {}) as Readonly<Record<string, unknown>>
  return (Number.isSafeInteger(seed) || typeof seed === 'string') && typeof hash === 'string' && typeof reachedMs === 'number'
}
