/**
 * `npm run sim`: the real coordinator and the real nodes in drawn worlds. Exit status 3 when a run is not as it should be,
 * with one line that repeats it and the story of the smallest case that fails alike; 2 for arguments that make no sense.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '#protocol/message-of'
import type { Case } from '../faults/case.ts'
import { PROFILES } from '../faults/profiles.ts'
import { Sometimes } from '../sometimes.ts'
import { swarm } from '../stack/swarm.ts'
import { type Arguments, parse, USAGE, USUAL_FAULTS, UsageError } from './arguments.ts'
import { parseCase } from './case-file.ts'
import { crowd, crowdBytes } from './crowd.ts'
import { EXPECTED, EXPECTED_FROM_SEEDS } from './expected.ts'
import { run } from './run.ts'
import { shrink } from './shrink.ts'
import { storyOf } from './story.ts'

const PROGRESS_MS = 2_000
/** As a shell says of a program that Ctrl-C ended. */
const STOPPED = 130

process.exitCode = await main().catch((error: unknown) => {
  if (!(error instanceof UsageError)) throw error
  console.error(`${error.message}\n${USAGE}`)
  return 2
})

async function main(): Promise<number> {
  const { from, to, shrinkRuns, file, agents, stack, faults } = parse()
  if (stack !== undefined) return await swarm({ from, to, ...stack })
  if (file !== undefined) return await repeat(read(file))
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
  for (let seed = from; seed < to && !stopped; seed++) {
    const one = profile.draw(seed)
    const ran = await run(one)
    all.add(ran.sometimes)
    events += ran.events
    virtualMs += ran.ms
    if (ran.complaint !== undefined) return await fail(one, ran.complaint, { faults, shrinkRuns })
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

async function fail(one: Case, complaint: string, { faults, shrinkRuns: runsMax }: Pick<Arguments, 'faults' | 'shrinkRuns'>): Promise<number> {
  const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', cwd: import.meta.dirname }).stdout?.trim() || 'unknown'
  console.error(`seed ${one.seed} failed: ${complaint}`)
  console.error(
    `repeat it at commit ${commit}, Node ${process.version}, with: npm run sim -- --seed ${one.seed}${faults === USUAL_FAULTS ? '' : ` --faults ${faults}`}`
  )
  if (runsMax === 0) return 3
  const smallest = await shrink(one, complaint, { run: async (smaller) => (await run(smaller)).complaint, runsMax })
  const file = join(tmpdir(), `talko-sim-${one.seed}.json`)
  writeFileSync(file, JSON.stringify(smallest))
  console.error(`\n${storyOf(smallest, await run(smallest))}\n\nthe small case: npm run sim -- --case ${file}`)
  return 3
}

async function repeat(one: Case): Promise<number> {
  const ran = await run(one)
  console.log(storyOf(one, ran))
  console.log(`hash ${ran.hash}`)
  return ran.complaint === undefined ? 0 : 3
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

function read(file: string): Case {
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
