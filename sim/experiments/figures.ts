/**
 * The experiments by which the Distributed Completion Service (DCS) was measured, with its parameters, on our coordinator and
 * nodes: how time falls with clients, on one machine and over a network; how it grows with tasks; and how many of the tasks
 * that fail by chance come through with K attempts.
 */
import { DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
import { type Case, type Fault, type NodeCase, nodeCase, type TaskCase } from '../faults/case.ts'
import { type Band, binomialBand } from './binomial.ts'
import { type Played, type PlayedTask, play, spanMs } from './play.ts'

export const NAMES = ['local', 'remote', 'load', 'attempts'] as const
export type Name = (typeof NAMES)[number]

export interface TimePoint {
  readonly clients: number
  readonly tasks: number
  readonly ms: number
  /** Tasks by clients, rounded up, times the length of a task: nothing but the tasks. */
  readonly idealMs: number
}

export interface TimeFigure {
  readonly kind: 'time'
  readonly name: Name
  readonly title: string
  readonly taskMs: number
  readonly over: 'clients' | 'tasks'
  readonly points: readonly TimePoint[]
}

export interface SuccessPoint {
  /** K: attempts in all. */
  readonly attempts: number
  readonly tasks: number
  readonly ready: number
  /** 1 - p^K of the tasks. */
  readonly expected: number
  /** In which 95 of 100 such experiments end. */
  readonly band: Band
  readonly ms: number
  /** K times the ideal of one attempt each. */
  readonly idealMsMax: number
}

export interface SuccessFigure {
  readonly kind: 'success'
  readonly name: Name
  readonly title: string
  readonly fails: number
  readonly clients: number
  readonly taskMs: number
  readonly points: readonly SuccessPoint[]
}

export type Figure = TimeFigure | SuccessFigure

/** DCS trusts its clients: each task runs once. */
const ONE_RESULT: TaskPolicy = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1 }
/** All nodes are connected when the tasks come. */
const SUBMIT_MS = 5_000
/** Nodes of a network: 20 to 40 ms one way. */
const REMOTE = { delayMs: 20, jitterMs: 20 }
const BAND = 0.95

const powers = (from: number, to: number): number[] => Array.from({ length: Math.log2(to / from) + 1 }, (_, index) => from * 2 ** index)

/** `local` again on a real machine: the same tasks, slots and words. */
export const LOCAL_TASKS = 64
export const LOCAL_SLOTS: readonly number[] = powers(1, 8)
export const LOCAL = { name: 'local', title: '64 tasks of 2 s on slots of one machine', taskMs: 2_000, over: 'clients' } as const

/** `attempts`, simulated and on real machines. A run that breaks does so in its first second: a task lasts that long. */
export const ATTEMPTS: AttemptsSetup = { tasks: 500, fails: 0.5, clients: 32, taskMs: 1_000, attempts: [1, 2, 3, 4, 5, 6, 7, 8] }

export async function figureOf(name: Name, seed: number): Promise<Figure> {
  switch (name) {
    case 'local':
      return await timeFigure({ ...LOCAL, seed, local: true }, [[LOCAL_TASKS, LOCAL_SLOTS]])
    case 'remote':
      return await timeFigure({ name, title: '128 tasks of 5 s on remote clients', taskMs: 5_000, over: 'clients', seed, local: false }, [[128, powers(4, 64)]])
    case 'load':
      return await timeFigure(
        { name, title: '1 to 256 tasks of 5 s on 4 and on 32 remote clients', taskMs: 5_000, over: 'tasks', seed, local: false },
        powers(1, 256).map((tasks) => [tasks, [4, 32]])
      )
    case 'attempts':
      return await successFigure({ ...ATTEMPTS, seed })
  }
}

export interface TimeSetup {
  readonly name: Name
  readonly title: string
  readonly taskMs: number
  readonly over: 'clients' | 'tasks'
  readonly seed: number
  /** Slots of one node without a network between, or a node each. */
  readonly local: boolean
}

/** `rows`: so many tasks on so many clients each. */
export async function timeFigure(
  { seed, local, ...setup }: TimeSetup,
  rows: readonly (readonly [tasks: number, clients: readonly number[]])[]
): Promise<TimeFigure> {
  const { taskMs } = setup
  const points: TimePoint[] = []
  for (const [tasks, counts] of rows) {
    for (const clients of counts) {
      const nodes = local ? [nodeCase('local', { slots: clients })] : remoteNodes(clients)
      const played = await play(caseOf({ seed, nodes, tasks: tasksOf(tasks, taskMs), policy: ONE_RESULT }))
      points.push({ clients, tasks, ms: spanOf(played, tasks), idealMs: idealMs(tasks, clients, taskMs) })
    }
  }
  return { kind: 'time', ...setup, points }
}

export interface AttemptsSetup {
  readonly tasks: number
  /** p: chance that an attempt fails. */
  readonly fails: number
  readonly clients: number
  readonly taskMs: number
  readonly attempts: readonly number[]
}

export async function successFigure({ seed, ...setup }: AttemptsSetup & { readonly seed: number }): Promise<SuccessFigure> {
  const { tasks, fails, clients, taskMs } = setup
  return await attemptsFigure(setup, async (attempts) => {
    const nodes = remoteNodes(clients)
    const faults = nodes.map((_, target): Fault => ({ atMs: 0, kind: 'runs_break', target, forMs: Number.MAX_SAFE_INTEGER, amount: Math.round(100 * fails) }))
    const one = caseOf({ seed: seed * 100 + attempts, nodes, tasks: tasksOf(tasks, taskMs), policy: attemptsPolicy(attempts), faults })
    return (await play(one)).tasks
  })
}

/** `run` has the tasks run with so many attempts each, and says what became of them. */
export async function attemptsFigure(setup: AttemptsSetup, run: (attempts: number) => Promise<readonly PlayedTask[]>): Promise<SuccessFigure> {
  const { tasks, fails, clients, taskMs } = setup
  const points: SuccessPoint[] = []
  for (const attempts of setup.attempts) {
    const played = await run(attempts)
    const success = 1 - fails ** attempts
    points.push({
      attempts,
      tasks,
      ready: played.filter(({ ready }) => ready).length,
      expected: tasks * success,
      band: binomialBand(tasks, success, BAND),
      ms: spanMs(played),
      idealMsMax: attempts * idealMs(tasks, clients, taskMs)
    })
  }
  const title = `${tasks} tasks whose attempts fail with p = ${fails}, with K attempts each`
  return { kind: 'success', name: 'attempts', title, fails, clients, taskMs, points }
}

/** Each task is to be run once, and again after a failure until it was run so often. */
export function attemptsPolicy(attempts: number): TaskPolicy {
  return { ...ONE_RESULT, maxErrorResults: attempts, maxTotalResults: Math.max(DEFAULT_POLICY.maxTotalResults, attempts) }
}

export function isInside({ ready, band }: SuccessPoint): boolean {
  return ready >= band.low && ready <= band.high
}

export function idealMs(tasks: number, clients: number, taskMs: number): number {
  return Math.ceil(tasks / clients) * taskMs
}

function remoteNodes(count: number): NodeCase[] {
  return Array.from({ length: count }, (_, index) => nodeCase(`remote ${index}`, REMOTE))
}

function tasksOf(count: number, runMs: number): TaskCase[] {
  return Array.from({ length: count }, (_, index) => ({ kind: 'silent', name: String(index), runMs, needsInput: false }))
}

interface Parts {
  readonly seed: number
  readonly nodes: readonly NodeCase[]
  readonly tasks: readonly TaskCase[]
  readonly policy: TaskPolicy
  readonly faults?: readonly Fault[]
}

/** Its clients crash by chance, and are not set aside for it; nothing is run a second time but what has failed. */
const PROJECT = { stragglerFactor: 0, failuresMax: Number.MAX_SAFE_INTEGER }

function caseOf({ seed, nodes, tasks, policy, faults = [] }: Parts): Case {
  return { seed, nodes, hostile: 0, batches: [{ atMs: SUBMIT_MS, parts: 1, tasks, policy }], faults, faultsMs: 0, project: PROJECT }
}

/** Throws unless all came out: nothing fails in these experiments. */
function spanOf({ tasks }: Played, expected: number): number {
  const ready = tasks.filter((task) => task.ready).length
  if (ready !== expected) throw new Error(`of ${expected} tasks ${ready} were agreed on`)
  return spanMs(tasks)
}
