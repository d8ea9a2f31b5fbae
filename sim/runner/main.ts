/**
 * `npm run sim`: the real coordinator and the real nodes in drawn worlds. Exit status 3 when a run is not as it should be,
 * with one line that repeats it and the story of the smallest case that fails alike; 2 for arguments that make no sense.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { messageOf } from '#protocol/message-of'
import type { Case } from '../faults/case.ts'
import { PROFILES, type Profile } from '../faults/profiles.ts'
import type { Failure } from '../shrink.ts'
import { Sometimes } from '../sometimes.ts'
import { swarm } from '../stack/swarm.ts'
import { type Arguments, parse, USAGE, USUAL_FAULTS, UsageError } from './arguments.ts'
import { type AnyCase, parseCase } from './case-file.ts'
import { crowd, crowdBytes } from './crowd.ts'
import { EXPECTED, EXPECTED_FROM_SEEDS } from './expected.ts'
import { keepCase, tellFailure } from './failure.ts'
import { repeat } from './repeat.ts'
import { type Ran, run } from './run.ts'
import { shrinkCase } from './shrink.ts'
import { storyOf } from './story.ts'

const PROGRESS_MS = 2_000
/** Nobody waits longer for a smaller case: events take as long as what floods the server says in them. */
const SHRINK_MS_MAX = 60_000
/** Nodes, tasks and faults of a world that is not large: about one in forty is, and those take as long as many others. */
const SIZE_MAX = 500
/** As a shell says of a program that Ctrl-C ended. */
const STOPPED = 130

process.exitCode = await main().catch((error: unknown) => {
  if (!(error instanceof UsageError)) throw error
  console.error(`${error.message}\n${USAGE}`)
  return 2
})

async function main(): Promise<number> {
  const { from, to, shrinkRuns, file, agents, stack, faults, largeLast } = parse()
  if (file !== undefined) return await again(read(file))
  if (stack !== undefined) return await swarm({ from, to, shrinkRuns, ...stack })
  if (agents > 0) return await measure(agents)
  const profile = PROFILES[faults]
  if (profile === undefined) throw new UsageError(`--faults is one of ${Object.keys(PROFILES).join(', ')}, not ${faults}`)
  let stopped = false
  process.once('SIGINT', () => {
    stopped = true
  })
  const began = performance.now()
  const all = new Sometimes()
  let events = 0
  let virtualMs = 0
  let toldAt = began
  let passed = 0
  const history = createHash('sha256')
  for (const seed of seedsOf({ from, to, largeLast }, profile)) {
    if (stopped) break
    const one = profile.draw(seed)
    const ran = await run(one)
    all.add(ran.sometimes)
    events += ran.events
    virtualMs += ran.ms
    if (ran.complaint !== undefined) return await fail({ world: one, ran }, { faults, shrinkRuns, stopped: () => stopped })
    passed++
    if (performance.now() - toldAt > PROGRESS_MS) {
      toldAt = performance.now()
      console.error(`${passed} of ${to - from} seeds, ${rate(events, began)}`)
    }
    history.update(ran.hash)
  }
  for (const [name, times] of [...all.counts].sort(([a], [b]) => (a < b ? -1 : 1))) console.log(`${String(times).padStart(9)}  ${name}`)
  console.log(`${passed} seeds passed: ${(virtualMs / 3_600_000).toFixed(1)} virtual hours, ${rate(events, began)}`)
  console.log(`hash ${history.digest('hex').slice(0, 16)}`)
  if (stopped) return STOPPED
  const never = (profile.expected ?? EXPECTED).filter((name) => !all.counts.has(name))
  if (to - from < EXPECTED_FROM_SEEDS || never.length === 0) return 0
  console.error(`these never happened, so the run proves nothing about them: ${never.join(', ')}`)
  return 3
}

/** In the order in which they are run. */
function seedsOf({ from, to, largeLast }: Pick<Arguments, 'from' | 'to' | 'largeLast'>, { draw }: Profile): readonly number[] {
  const seeds = Array.from({ length: to - from }, (_, index) => from + index)
  if (!largeLast) return seeds
  const large = new Set(seeds.filter((seed) => sizeOf(draw(seed)) > SIZE_MAX))
  return [...seeds.filter((seed) => !large.has(seed)), ...large]
}

/** What there is in a world: what its run takes grows with it. */
function sizeOf({ nodes, batches, faults }: Case): number {
  return nodes.length + faults.length + batches.reduce((sum, { tasks }) => sum + tasks.length, 0)
}

interface FailOptions extends Pick<Arguments, 'faults' | 'shrinkRuns'> {
  /** Nobody waits for a smaller one any more. */
  readonly stopped: () => boolean
}

async function fail(failure: Failure<Case, Ran>, { faults, shrinkRuns: runsMax, stopped }: FailOptions): Promise<number> {
  const { seed } = failure.world
  tellFailure(seed, failure.ran.complaint ?? '', faults === USUAL_FAULTS ? [] : ['--faults', faults])
  if (runsMax === 0) return 3
  const endMs = performance.now() + SHRINK_MS_MAX
  const { world, ran } = await shrinkCase(failure, { run, runsMax, stopped: () => stopped() || performance.now() > endMs })
  console.error(`\n${storyOf(world, ran)}\n\n${keepCase(String(seed), world)}`)
  return 3
}

async function again(one: AnyCase): Promise<number> {
  const { complaint, hash, story } = await repeat(one)
  console.log(story)
  console.log(`hash ${hash}`)
  return complaint === null ? 0 : 3
}

/** What a node takes, and how fast it goes: a task each ten minutes a node, as volunteers' tasks are, and one a minute. */
async function measure(agents: number): Promise<number> {
  const { all, node, server } = await crowdBytes(agents)
  console.log(`${agents} nodes: ${node} bytes a node, beside ${server} that the server has of it, together ${all}`)
  for (const tasks of [0.1, 1]) {
    const { events, seconds, rate: perSecond, receipts } = await crowd(agents, tasks)
    console.log(`${tasks} tasks a node and minute: ${events} events in ${seconds.toFixed(1)} s, ${perSecond} a second; ${receipts} receipts`)
  }
  return 0
}

function read(file: string): AnyCase {
  try {
    return parseCase(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new UsageError(`${file} is not a case: ${messageOf(error)}`)
  }
}

function rate(events: number, began: number): string {
  const seconds = (performance.now() - began) / 1000
  return `${events} events in ${seconds.toFixed(1)} s, ${Math.round(events / seconds)} a second`
}
