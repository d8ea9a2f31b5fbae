import { parseArgs } from 'node:util'

const SEEDS = 100
/** Attempts to make a failure smaller. */
const SHRINK_RUNS = 400

export const USAGE =
  'usage: npm run sim -- [--seeds N] [--from N] | --seed N | --case FILE | --agents N   (--shrink N: attempts to make a failure smaller, 0 for none)'

export class UsageError extends Error {}

export interface Arguments {
  readonly from: number
  /** Not included. */
  readonly to: number
  readonly shrinkRuns: number
  /** A case that an earlier failure left. */
  readonly file: string | undefined
  /** Only measure with so many nodes; 0 for not. */
  readonly agents: number
}

/** Throws UsageError. */
export function parse(argv: readonly string[] = process.argv.slice(2)): Arguments {
  const { seed, seeds, from: first, shrink, case: file, agents } = valuesOf(argv)
  const whole = (name: string, text: string | undefined, otherwise: number): number => {
    const value = Number(text ?? otherwise)
    if (!Number.isSafeInteger(value) || value < 0 || text === '') throw new UsageError(`--${name} is a whole number, not ${text}`)
    return value
  }
  const from = whole(seed === undefined ? 'from' : 'seed', seed ?? first, 1)
  const count = seed === undefined ? whole('seeds', seeds, SEEDS) : 1
  return { from, to: from + count, shrinkRuns: whole('shrink', shrink, SHRINK_RUNS), file, agents: whole('agents', agents, 0) }
}

interface Values {
  readonly seed?: string
  readonly seeds?: string
  readonly from?: string
  readonly shrink?: string
  readonly case?: string
  readonly agents?: string
}

function valuesOf(args: readonly string[]): Values {
  const text = { type: 'string' } as const
  try {
    return parseArgs({ args: [...args], options: { seed: text, seeds: text, from: text, shrink: text, case: text, agents: text } }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
