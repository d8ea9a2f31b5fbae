import { parseArgs } from 'node:util'
import { messageOf } from '#protocol/message-of'
import { COMPUTERS_MIN } from '../stack/case.ts'

const SEEDS = 100
/** Computers of a world of the stack level. */
const COMPUTERS = 50
/** Attempts to make a failure smaller: at the protocol level, and at the stack level, where each is a process. */
const SHRINK_RUNS = 400
const STACK_SHRINK_RUNS = 60

export const USAGE =
  'usage: npm run sim -- [--seeds N] [--from N] | --seed N | --case FILE | --agents N   (--shrink N: attempts to make a failure smaller, 0 for none; --faults control-loss or floods: those alone; --large-last: seeds whose worlds are large after the others)\n       npm run sim -- --stack [--seeds N] [--from N] | --stack --seed N   (--nodes N: computers; --twice: each seed in two processes; --shrink N)'

/** Those that a seed draws. */
export const USUAL_FAULTS = 'drawn'

export class UsageError extends Error {}

export interface Arguments {
  readonly from: number
  /** Not included. */
  readonly to: number
  readonly shrinkRuns: number
  /** The name of a profile. */
  readonly faults: string
  /** Seeds whose worlds are large after the others, instead of in their order. */
  readonly largeLast: boolean
  /** A case that an earlier failure left. */
  readonly file: string | undefined
  /** Only measure with so many nodes; 0 for not. */
  readonly agents: number
  /** Runs of the stack level, each seed in a process of its own. */
  readonly stack: { readonly computers: number; readonly twice: boolean } | undefined
}

/** Throws UsageError. */
export function parse(argv: readonly string[] = process.argv.slice(2)): Arguments {
  const { seed, seeds, from: first, shrink, case: file, agents, stack, nodes, faults = USUAL_FAULTS, twice = false, ...flags } = valuesOf(argv)
  const whole = (name: string, text: string | undefined, otherwise: number, least = 0): number => {
    const value = Number(text ?? otherwise)
    if (!Number.isSafeInteger(value) || value < least || text === '') throw new UsageError(`--${name} is a whole number from ${least}, not ${text}`)
    return value
  }
  if (seed !== undefined && (seeds !== undefined || first !== undefined))
    throw new UsageError('--seed is one seed alone; --seeds so many, counted up from --from')
  const from = whole(seed === undefined ? 'from' : 'seed', seed ?? first, 1)
  const count = seed === undefined ? whole('seeds', seeds, SEEDS, 1) : 1
  const computers = whole('nodes', nodes, COMPUTERS)
  if (computers < COMPUTERS_MIN) throw new UsageError(`--nodes is ${COMPUTERS_MIN} at least: bootstrap peers, the project and some volunteers`)
  if (stack !== true && (nodes !== undefined || twice)) throw new UsageError('--nodes and --twice go with --stack')
  const largeLast = flags['large-last'] === true
  if (stack === true && largeLast) throw new UsageError('--large-last is for the protocol level: worlds of --stack are as large as --nodes says')
  return {
    from,
    to: from + count,
    stack: stack === true ? { computers, twice } : undefined,
    shrinkRuns: whole('shrink', shrink, stack === true ? STACK_SHRINK_RUNS : SHRINK_RUNS),
    largeLast,
    file,
    faults,
    agents: whole('agents', agents, 0)
  }
}

interface Values {
  readonly seed?: string
  readonly seeds?: string
  readonly from?: string
  readonly shrink?: string
  readonly case?: string
  readonly agents?: string
  readonly stack?: boolean
  readonly nodes?: string
  readonly faults?: string
  readonly twice?: boolean
  readonly 'large-last'?: boolean
}

function valuesOf(args: readonly string[]): Values {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  try {
    return parseArgs({
      args: [...args],
      options: {
        seed: text,
        seeds: text,
        from: text,
        shrink: text,
        case: text,
        agents: text,
        stack: flag,
        nodes: text,
        faults: text,
        twice: flag,
        'large-last': flag
      }
    }).values
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
