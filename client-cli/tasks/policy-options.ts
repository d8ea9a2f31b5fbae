/**
 * How a batch is decided, as people write it: one word of each setting, which is an option of `talko run`, `map` and `sweep`
 * and a key of a file of steps. Pure.
 */
import { DEFAULT_RESOURCES } from '#protocol/bundle/manifest'
import { COPY_RULES, INDEPENDENCES, SAME_CLASSES, type TaskPolicy, TRUST_CLASSES } from '#protocol/bundle/policy'
import { parseBytes, parseDuration, parseWhole } from '../client/units.ts'
import { ClientError } from '../errors.ts'

type Parse<T> = (value: string, option: string) => T

/** Settings with a value. */
const VALUES = {
  quorum: { field: 'minQuorum', parse: whole(1, 64) },
  target: { field: 'targetResults', parse: whole(1, 64) },
  total: { field: 'maxTotalResults', parse: whole(1, 64) },
  success: { field: 'maxSuccessResults', parse: whole(1, 64) },
  attempts: { field: 'maxErrorResults', parse: whole(1, 64) },
  priority: { field: 'priority', parse: whole(-1_000_000, 1_000_000) },
  estimate: { field: 'estimateMs', parse: parseDuration },
  'queue-limit': { field: 'queueLimitMs', parse: parseDuration },
  deadline: { field: 'deadlineMs', parse: parseDuration },
  'retry-memory': { field: 'retryMemoryBytes', parse: parseBytes },
  'same-class': { field: 'sameClass', parse: oneOf(SAME_CLASSES.filter((name) => name !== 'no')) },
  copies: { field: 'copies', parse: oneOf(COPY_RULES) },
  trust: { field: 'trust', parse: oneOf(TRUST_CLASSES) },
  checkpoint: { field: 'checkpointMs', parse: parseDuration },
  confidence: { field: 'doubtPpm', parse: parseConfidence }
} satisfies {
  readonly [key: string]: { readonly [Field in keyof TaskPolicy]: { readonly field: Field; readonly parse: Parse<TaskPolicy[Field]> } }[keyof TaskPolicy]
}

/** Settings that are there or not. */
const FLAGS: Readonly<Record<string, Partial<TaskPolicy>>> = {
  independent: { independence: INDEPENDENCES[1] },
  adaptive: { adaptive: true },
  commit: { commit: true },
  force: { force: true }
}

export const POLICY_VALUE_KEYS: readonly string[] = Object.keys(VALUES)
export const POLICY_FLAG_KEYS: readonly string[] = Object.keys(FLAGS)

/** What is asked for by these settings: `value` and `flag` say what was given under a key. `nameOf`: how it is called in what is refused. Throws ClientError `usage`. */
export function readPolicy(value: (key: string) => string | undefined, flag: (key: string) => boolean, nameOf: (key: string) => string): Partial<TaskPolicy> {
  const policy: Partial<Record<keyof TaskPolicy, unknown>> = {}
  for (const [key, { field, parse }] of Object.entries(VALUES)) {
    const given = value(key)
    if (given !== undefined) policy[field] = parse(given, nameOf(key))
  }
  for (const [key, said] of Object.entries(FLAGS)) if (flag(key)) Object.assign(policy, said)
  return policy as Partial<TaskPolicy>
}

/** A run that may take all the time there is leaves a node no time to be away: half of it, and no more than the default. */
export function timeWithin(deadlineMs: number | undefined): number | undefined {
  return deadlineMs === undefined || deadlineMs === 0 ? undefined : Math.max(1, Math.min(DEFAULT_RESOURCES.timeMs, Math.floor(deadlineMs / 2)))
}

function whole(min: number, max: number): Parse<number> {
  return (value, option) => parseWhole(value, option, min, max)
}

function oneOf<T extends string>(all: readonly T[]): Parse<T> {
  return (value, option) => {
    const found = all.find((one) => one === value)
    if (found === undefined) throw new ClientError('usage', `${option} is ${all.slice(0, -1).join(', ')} or ${all.at(-1)}, not ${JSON.stringify(value)}`)
    return found
  }
}

/** 99.9% or 0.999: the doubt that is left, in millionths. */
function parseConfidence(value: string, option: string): number {
  const number = value.endsWith('%') ? Number(value.slice(0, -1)) / 100 : Number(value)
  const doubtPpm = Math.round((1 - number) * 1_000_000)
  if (value.trim() === '' || !(doubtPpm >= 1 && doubtPpm <= 500_000))
    throw new ClientError('usage', `${option} is a share from 50% to 99.9999%, not ${JSON.stringify(value)}`)
  return doubtPpm
}
