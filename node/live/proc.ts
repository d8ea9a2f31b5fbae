/** What /proc says of a process. On systems without it nothing is known, and nothing is taken for ours. */
import { readFileSync } from 'node:fs'

/** Linux counts CPU time in hundredths of a second on every architecture Node runs on. */
const TICK_MS = 10

export interface ProcessFacts {
  /** Ticks after boot at which it started: with the pid, the identity of a process. */
  readonly startTicks: number
  /** Session it belongs to. */
  readonly session: number
  /** CPU time of itself and its ended children, in milliseconds. */
  readonly cpuMs: number
  readonly residentBytes: number
  /** A zombie has ended. */
  readonly ended: boolean
}

export function factsOf(pid: number): ProcessFacts | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined
  }
  // The second field is the name in parentheses, and may itself contain anything.
  const rest = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const field = (number: number): number => Number(rest[number - 3] ?? Number.NaN)
  const startTicks = field(22)
  if (!Number.isSafeInteger(startTicks)) return undefined
  return {
    startTicks,
    session: field(6),
    cpuMs: (field(14) + field(15) + field(16) + field(17)) * TICK_MS,
    residentBytes: field(24) * 4096,
    ended: rest[0] === 'Z' || rest[0] === 'X'
  }
}
