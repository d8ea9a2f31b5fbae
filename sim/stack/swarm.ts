/**
 * `npm run sim -- --stack`: runs of the stack level, each in a process of its own, because its time and dice are the whole
 * process's. Exit status 3 when a run is not as it should be, with one line that repeats it and what happened in it.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { storyOf } from '../runner/story.ts'
import { Sometimes } from '../sometimes.ts'
import { drawStackCase, STACK_FAULTS } from './case.ts'
import type { StackRan } from './one.ts'

export interface SwarmOptions {
  readonly from: number
  /** Not included. */
  readonly to: number
  readonly computers: number
  /** Each seed in two processes, whose hashes must be equal. */
  readonly twice: boolean
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

const PROGRAM = fileURLToPath(new URL('./one.ts', import.meta.url))
/** As a shell says of a program that Ctrl-C ended. */
const STOPPED = 130
/** Bytes of a run's last words that are kept. */
const ERRORS_MAX = 4_096

export async function swarm({ from, to, computers, twice }: SwarmOptions): Promise<number> {
  const began = performance.now()
  const all = new Sometimes()
  const history = createHash('sha256')
  const seeds = Array.from({ length: to - from }, (_, index) => from + index)
  const times = twice ? 2 : 1
  let events = 0
  let virtualMs = 0
  let stopped = false
  process.once('SIGINT', () => {
    stopped = true
  })
  let failed: { readonly ran: StackRan; readonly why: string } | undefined
  const runs = inTurns(
    seeds.flatMap((seed) => Array.from({ length: times }, () => () => runApart(seed, computers))),
    () => stopped || failed !== undefined
  )
  let passed = 0
  for (const [index, seed] of seeds.entries()) {
    const [first, second = first] = await Promise.all(runs.slice(index * times, (index + 1) * times))
    if (first === undefined || second === undefined) break
    if (first.complaint !== null) failed = { ran: first, why: first.complaint }
    else if (first.hash !== second.hash) failed = { ran: first, why: `one process says ${first.hash}, another ${second.hash}` }
    if (failed !== undefined) break
    for (const [name, count] of Object.entries(first.sometimes)) all.see(name, count)
    passed++
    events += first.events
    virtualMs += first.ms
    history.update(first.hash)
    console.error(`seed ${seed}: ${first.hash}${twice ? ', twice' : ''}; ${first.events} events, ${(first.ms / first.realMs).toFixed(0)} times as fast as life`)
  }
  if (failed !== undefined) return tell(failed.ran, failed.why, computers)
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

function tell(ran: StackRan, why: string, computers: number): number {
  const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', cwd: import.meta.dirname }).stdout?.trim() || 'unknown'
  console.error(`seed ${ran.seed} failed: ${why}`)
  console.error(`repeat it at commit ${commit}, Node ${process.version}, with: npm run sim -- --stack --seed ${ran.seed} --nodes ${computers}`)
  console.error(`\n${storyOf({ ...drawStackCase(ran.seed, computers), hostile: 0 }, { story: [...ran.story], complaint: why })}`)
  return 3
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

/** One run in a process of its own. Rejects when that ends without an answer. */
export function runApart(seed: number, computers: number): Promise<StackRan> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, String(seed), String(computers)], { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-ERRORS_MAX)
    })
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(out))
      else reject(new Error(`the run of seed ${seed} ended with ${code}: ${errors}`))
    })
  })
}
