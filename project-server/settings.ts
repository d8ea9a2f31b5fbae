/** What an administrator may set of the coordinator's numbers, in `policy` of project.json, and within which bounds. Pure. */
import { NEXT_MAX } from '#protocol/control/messages'
import { COPIES_MAX, type CoordinatorPolicy, DEFAULT_COORDINATOR_POLICY, NODES_MAX } from './coordinator/policy.ts'

interface Bounds {
  readonly min: number
  readonly max: number
  /** 0 is allowed below `min`: it turns the rule off. */
  readonly zero?: true
  /** It need not be whole. */
  readonly fraction?: true
  /** null is allowed: without limit. */
  readonly endless?: true
}

/** A node beats every 100 ms to 60 s whatever it is told (node/policy.ts); below 500 ms nothing is gained, since nobody is lost before 6 s. */
const BOUNDS: { readonly [Key in keyof CoordinatorPolicy]: CoordinatorPolicy[Key] extends boolean ? 'flag' : Bounds } = {
  heartbeatMs: { min: 500, max: 60_000 },
  // A node hangs up after four beats without an answer and calls again: given up sooner, it would be lost whenever one connection breaks.
  missedMax: { min: 5, max: 1_000 },
  // A node tries again after 5 s at the most, and one attempt may take 10 s.
  restartGraceMs: { min: 15_000, max: 86_400_000 },
  stragglerFactor: { min: 1, max: 1_000, zero: true, fraction: true },
  idleCopies: { min: 0, max: COPIES_MAX },
  failuresMax: { min: 1, max: 1_000, endless: true },
  failingMin: { min: 0, max: 1_000_000 },
  deathsMax: { min: 0, max: 64 },
  trustedAfter: { min: 1, max: 1_000 },
  hybrid: 'flag',
  newcomersMax: { min: 1, max: NODES_MAX, endless: true },
  nextMax: { min: 0, max: NEXT_MAX }
}

/** heartbeatMs x missedMax, after which a silent node is lost: a node on a busy machine hangs up after 5 s (node/policy.ts), and work that nobody does should not wait for more than an hour. */
const SILENCE_MS_MIN = 6_000
const SILENCE_MS_MAX = 3_600_000

/** The numbers that are set; `fault` says which one cannot be and what is allowed. */
export function readPolicy(value: unknown): { readonly policy: Partial<CoordinatorPolicy> } | { readonly fault: string } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { fault: '"policy" must be an object such as {"heartbeatMs": 3000}' }
  const policy: Record<string, number | boolean> = {}
  for (const [key, given] of Object.entries(value)) {
    const bounds = Object.hasOwn(BOUNDS, key) ? BOUNDS[key as keyof typeof BOUNDS] : undefined
    if (bounds === undefined) return { fault: `"policy" has no ${JSON.stringify(key)}; it may have ${Object.keys(BOUNDS).join(', ')}` }
    const fits = bounds === 'flag' ? typeof given === 'boolean' : isWithin(given, bounds)
    if (!fits) return { fault: `"${key}" of "policy" must be ${bounds === 'flag' ? 'true or false' : within(bounds)}, not ${JSON.stringify(given)}` }
    policy[key] = given === null ? Number.POSITIVE_INFINITY : (given as number | boolean)
  }
  const { heartbeatMs, missedMax }: CoordinatorPolicy = { ...DEFAULT_COORDINATOR_POLICY, ...policy }
  const silenceMs = heartbeatMs * missedMax
  if (silenceMs < SILENCE_MS_MIN || silenceMs > SILENCE_MS_MAX)
    return {
      fault: `"heartbeatMs" times "missedMax" of "policy", after which a silent node is lost, must be from ${SILENCE_MS_MIN} to ${SILENCE_MS_MAX} milliseconds, not ${heartbeatMs} x ${missedMax} = ${silenceMs}`
    }
  return { policy }
}

function isWithin(value: unknown, { min, max, zero, fraction, endless }: Bounds): boolean {
  if (value === null) return endless === true
  if (typeof value !== 'number' || !(fraction === true ? Number.isFinite(value) : Number.isSafeInteger(value))) return false
  return (value === 0 && zero === true) || (value >= min && value <= max)
}

function within({ min, max, zero, fraction, endless }: Bounds): string {
  const number = `a ${fraction === true ? '' : 'whole '}number from ${min} to ${max}`
  return `${number}${zero === true ? ', or 0 for none' : ''}${endless === true ? ', or null for no limit' : ''}`
}
