/**
 * `npm run sim -- [--seeds N] [--from N] | --seed N`: the real coordinator and the real nodes in drawn worlds. Exit status 3
 * when a run is not as it should be, with one line that repeats it; 2 for arguments that make no sense.
 */
import { parseArgs } from 'node:util'
import { drawCase } from '../faults/draw.ts'
import { Sometimes } from '../sometimes.ts'
import { run } from './run.ts'

const SEEDS = 100
const PROGRESS_MS = 2_000

const USAGE = 'usage: npm run sim -- [--seeds N] [--from N] | --seed N'

class UsageError extends Error {}

process.exitCode = await main().catch((error: unknown) => {
  if (!(error instanceof UsageError)) throw error
  console.error(`${error.message}\n${USAGE}`)
  return 2
})

async function main(): Promise<number> {
  const { from, to } = range()
  const began = performance.now()
  const all = new Sometimes()
  let events = 0
  let virtualMs = 0
  let toldAt = began
  for (let seed = from; seed < to; seed++) {
    const ran = await run(drawCase(seed))
    all.add(ran.sometimes)
    events += ran.events
    virtualMs += ran.ms
    if (ran.complaint !== undefined) {
      console.error(`seed ${seed} failed: ${ran.complaint}\nrepeat it with: npm run sim -- --seed ${seed}   (Node ${process.version})`)
      return 3
    }
    if (performance.now() - toldAt > PROGRESS_MS) {
      toldAt = performance.now()
      console.error(`${seed + 1 - from} of ${to - from} seeds, ${rate(events, began)}`)
    }
    if (to === from + 1) console.log(`hash ${ran.hash}`)
  }
  for (const [name, times] of [...all.counts].sort(([a], [b]) => (a < b ? -1 : 1))) console.log(`${String(times).padStart(9)}  ${name}`)
  console.log(`${to - from} seeds passed: ${(virtualMs / 3_600_000).toFixed(1)} virtual hours, ${rate(events, began)}`)
  return 0
}

function rate(events: number, began: number): string {
  const seconds = (performance.now() - began) / 1000
  return `${events} events in ${seconds.toFixed(1)} s, ${Math.round(events / seconds)} a second`
}

function range(): { readonly from: number; readonly to: number } {
  const { values } = parse()
  const whole = (name: string, text: string | undefined, otherwise: number): number => {
    const value = Number(text ?? otherwise)
    if (!Number.isSafeInteger(value) || value < 0) throw new UsageError(`--${name} is a whole number, not ${text}`)
    return value
  }
  if (values.seed !== undefined) {
    const seed = whole('seed', values.seed, 0)
    return { from: seed, to: seed + 1 }
  }
  const from = whole('from', values.from, 1)
  return { from, to: from + whole('seeds', values.seeds, SEEDS) }
}

function parse(): { readonly values: { readonly seed?: string; readonly seeds?: string; readonly from?: string } } {
  try {
    return parseArgs({ options: { seed: { type: 'string' }, seeds: { type: 'string' }, from: { type: 'string' } } })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
