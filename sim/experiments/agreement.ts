/**
 * One load for a live run and for a simulated one, and how far the two are apart. What the parts of the live machine cost
 * (a question to the server and back, a durable record, a run beyond its own time) is measured while it runs, and is all that
 * the simulation knows of it: nothing is fitted.
 */
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { type BatchCase, nodeCase } from '../faults/case.ts'
import type { Pace } from '../protocol/pace.ts'
import { Random } from '../random.ts'
import { type PlayedTask, play, spanMs } from './play.ts'

/** Tasks of known lengths, submitted at known times, in milliseconds. */
export interface Load {
  readonly name: string
  readonly seed: number
  /** With a slot each. */
  readonly nodes: number
  /** Results that must agree. */
  readonly quorum: number
  readonly submissions: readonly { readonly atMs: number; readonly runMs: readonly number[] }[]
}

/** What was measured beside a live run, in milliseconds; at least one of each. */
export interface Costs {
  /** A question to the server and its answer. */
  readonly roundTrips: readonly number[]
  /** A record on the disk. */
  readonly writes: readonly number[]
  /** A run of a program that does nothing. */
  readonly runs: readonly number[]
}

export interface Measures {
  /** Tasks a second, from the first submission to the last decision. */
  readonly throughput: number
  /** From a submission to its decision. */
  readonly p95Ms: number
}

const [RUN_MS_MIN, RUN_MS_MAX] = [200, 1_000]
const SUBMIT_MS = 5_000

/** So many tasks at once, each run once: every node is busy until none are left. */
export function burst(seed: number, nodes: number, tasks: number): Load {
  const random = new Random('agreement', seed, 'burst')
  return { name: 'all tasks at once', seed, nodes, quorum: 1, submissions: [{ atMs: 0, runMs: Array.from({ length: tasks }, () => drawRunMs(random)) }] }
}

/** Tasks that come one by one by chance and are run twice each; `busy` is the share of the nodes that they keep busy. */
export function stream(seed: number, nodes: number, tasks: number, busy: number): Load {
  const random = new Random('agreement', seed, 'stream')
  const quorum = 2
  const meanMs = (quorum * (RUN_MS_MIN + RUN_MS_MAX)) / 2 / (nodes * busy)
  let atMs = 0
  const submissions = Array.from({ length: tasks }, () => {
    atMs += random.exponential(meanMs)
    return { atMs: Math.round(atMs), runMs: [drawRunMs(random)] }
  })
  return { name: `tasks one by one, two runs each, nodes ${Math.round(100 * busy)} % busy`, seed, nodes, quorum, submissions }
}

function drawRunMs(random: Random): number {
  return RUN_MS_MIN + random.below(RUN_MS_MAX - RUN_MS_MIN + 1)
}

export async function simulate({ seed, nodes, quorum, submissions }: Load, costs: Costs): Promise<readonly PlayedTask[]> {
  const policy = { ...DEFAULT_POLICY, minQuorum: quorum, targetResults: quorum }
  let name = 0
  const batches = submissions.map(
    ({ atMs, runMs }): BatchCase => ({
      atMs: SUBMIT_MS + atMs,
      parts: 1,
      tasks: runMs.map((ms) => ({ kind: 'silent', name: String(name++), runMs: ms, needsInput: false })),
      policy
    })
  )
  const { tasks } = await play(
    { seed, nodes: Array.from({ length: nodes }, (_, index) => nodeCase(`node ${index}`)), hostile: 0, batches, faults: [], faultsMs: 0 },
    paceOf(costs)
  )
  return tasks
}

/** Draws from what was measured. */
export function paceOf({ roundTrips, writes, runs }: Costs): Pace {
  const drawn = (values: readonly number[], part = 1) => {
    return (random: Random): number => wholeOf(random, random.pick(values) * part)
  }
  const wayMs = drawn(roundTrips, 0.5)
  const writeMs = drawn(writes)
  return { serverWriteMs: writeMs, nodeWriteMs: writeMs, engineMs: () => 0, runMs: drawn(runs), ownerMs: wayMs, wayMs }
}

/** The simulated clock counts milliseconds: 0.3 is 1 in three of ten cases, and 0 in the others. */
function wholeOf(random: Random, ms: number): number {
  const whole = Math.floor(ms)
  return whole + (random.chance(ms - whole) ? 1 : 0)
}

/** Throws when a task has failed: then there is nothing to compare. */
export function measuresOf(tasks: readonly PlayedTask[]): Measures {
  const lost = tasks.filter(({ ready }) => !ready).length
  if (lost > 0 || tasks.length === 0) throw new Error(`of ${tasks.length} tasks ${lost} were not agreed on`)
  const turnarounds = tasks.map(({ submittedMs, endedMs }) => endedMs - submittedMs).sort((a, b) => a - b)
  return { throughput: (1000 * tasks.length) / spanMs(tasks), p95Ms: turnarounds[Math.ceil(0.95 * turnarounds.length) - 1] ?? Number.NaN }
}
