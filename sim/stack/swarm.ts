/**
 * `npm run sim -- --stack`: runs of the stack level, each in a process of its own, because its time and dice are the whole
 * process's. Exit status 3 when a run is not as it should be, with one line that repeats it and the story of the smallest case that fails alike.
 */
import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { keepCase, tellFailure } from '../runner/failure.ts'
import { stackStoryOf } from '../runner/story.ts'
import { Sometimes } from '../sometimes.ts'
import { runApart } from './apart.ts'
import { drawStackCase, STACK_FAULTS, type StackCase } from './case.ts'
import type { StackRan } from './one.ts'
import { shrinkStackCase } from './shrink.ts'

export interface SwarmOptions {
  readonly from: number
  /** Not included. */
  readonly to: number
  readonly computers: number
  /** Each seed in two processes, whose hashes must be equal. */
  readonly twice: boolean
  /** Attempts to make a failure smaller; 0 for none. */
  readonly shrinkRuns: number
}

/** What must have happened in so many seeds for them to prove anything. */
const EXPECTED_FROM_SEEDS = 20
const EXPECTED: readonly string[] = [
  ...STACK_FAULTS,
  'a node found its runs again',
  'link begun',
  'link resumed',
  'task failed (exit)',
  'task killed',
  'task ready',
  'the record was not published: dht_unavailable',
  'the record was published'
]

/** Nobody waits longer for a smaller case. */
const SHRINK_MS_MAX = 180_000
/** As a shell says of a program that Ctrl-C ended. */
const STOPPED = 130

export async function swarm({ from, to, computers, twice, shrinkRuns }: SwarmOptions): Promise<number> {
  const began = performance.now()
  const all = new Sometimes()
  const history = createHash('sha256')
  const seeds = Array.from({ length: to - from }, (_, index) => from + index)
  let events = 0
  let virtualMs = 0
  let stopped = false
  process.once('SIGINT', () => {
    stopped = true
  })
  let failed: StackRan | undefined
  const runs = inTurns(
    seeds.flatMap((seed) => Array.from({ length: twice ? 2 : 1 }, () => () => runApart(drawStackCase(seed, computers)))),
    () => stopped || failed !== undefined
  )
  let passed = 0
  for (const [index, seed] of seeds.entries()) {
    const first = both(await Promise.all(twice ? runs.slice(2 * index, 2 * index + 2) : [runs[index]]))
    if (first === undefined) break
    if (first.complaint !== null) {
      failed = first
      break
    }
    for (const [name, count] of Object.entries(first.sometimes)) all.see(name, count)
    passed++
    events += first.events
    virtualMs += first.ms
    history.update(first.hash)
    console.error(`seed ${seed}: ${first.hash}${twice ? ', twice' : ''}; ${first.events} events, ${(first.ms / first.realMs).toFixed(0)} times as fast as life`)
  }
  if (failed !== undefined) {
    // What becomes of other seeds' runs, which go on meanwhile, is nobody's business any more.
    void Promise.allSettled(runs)
    return await fail(failed, { computers, twice, shrinkRuns, stopped: () => stopped })
  }
  for (const [name, count] of [...all.counts].sort(([a], [b]) => (a < b ? -1 : 1))) console.log(`${String(count).padStart(9)}  ${name}`)
  const seconds = (performance.now() - began) / 1000
  console.log(
    `${passed} seeds passed${twice ? ', each twice with equal hashes' : ''}: ${computers} computers, ${(virtualMs / 3_600_000).toFixed(1)} virtual hours, ${events} events in ${seconds.toFixed(1)} s`
  )
  console.log(`hash ${history.digest('hex').slice(0, 16)}`)
  if (stopped) return STOPPED
  const never = EXPECTED.filter((name) => !all.counts.has(name))
  if (seeds.length < EXPECTED_FROM_SEEDS || never.length === 0) return 0
  console.error(`these never happened, so the run proves nothing about them: ${never.join(', ')}`)
  return 3
}

interface FailOptions extends Pick<SwarmOptions, 'computers' | 'twice' | 'shrinkRuns'> {
  readonly stopped: () => boolean
}

async function fail(ran: StackRan, { computers, twice, shrinkRuns: runsMax, stopped }: FailOptions): Promise<number> {
  tellFailure(ran.seed, ran.complaint ?? '', ['--stack', '--nodes', String(computers), ...(twice ? ['--twice'] : [])])
  const run = async (one: StackCase, untilMs: number): Promise<StackRan> => {
    const runs = Array.from({ length: twice ? 2 : 1 }, () => runApart(one, untilMs))
    // A process that broke down, or that Ctrl-C ended, fails in another way.
    return both(await Promise.all(runs).catch(() => [])) ?? { ...ran, complaint: null }
  }
  const endMs = performance.now() + SHRINK_MS_MAX
  const ports = { run, runsMax, stopped: () => stopped() || performance.now() > endMs }
  const smallest = await shrinkStackCase({ world: drawStackCase(ran.seed, computers), ran }, ports)
  console.error(`\n${stackStoryOf(smallest.world, smallest.ran)}\n\n${keepCase(`stack-${ran.seed}`, smallest.world)}`)
  return 3
}

/** Runs of one case, whose hashes must be equal, as one. Undefined when one is missing. */
function both([first, second = first]: readonly (StackRan | undefined)[]): StackRan | undefined {
  if (first === undefined || second === undefined || first.complaint !== null || first.hash === second.hash) return first
  return { ...first, complaint: `two processes do not do the same: one says ${first.hash}, another ${second.hash}` }
}

/** As many at once as there are cores; those not yet begun when `stop` says so are not, and give undefined. */
function inTurns<T>(tasks: readonly (() => Promise<T>)[], stop: () => boolean): Promise<T | undefined>[] {
  const results = tasks.map(() => Promise.withResolvers<T | undefined>())
  let next = 0
  const lane = async (): Promise<void> => {
    for (let index = next++; index < tasks.length; index = next++) {
      const result = results[index]
      if (stop()) result?.resolve(undefined)
      // Ctrl-C ends the runs, too.
      else await tasks[index]?.().then(result?.resolve, (error: unknown) => (stop() ? result?.resolve(undefined) : result?.reject(error)))
    }
  }
  for (let count = Math.min(availableParallelism(), tasks.length); count > 0; count--) void lane()
  return results.map(({ promise }) => promise)
}
