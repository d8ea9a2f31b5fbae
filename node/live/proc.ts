/** What /proc says of a process. On systems without it nothing is known, and nothing is taken for ours. */
import { readFileSync } from 'node:fs'

/** Linux counts CPU time in hundredths of a second on every architecture Node runs on. */
const TICK_MS = 10

export interface ProcessFacts {
  /** Ticks after boot at which it started: with the pid, the identity of a process. */
  readonly startTicks: number
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
    cpuMs: (field(14) + field(15) + field(16) + field(17)) * TICK_MS,
    residentBytes: field(24) * 4096,
    ended: rest[0] === 'Z' || rest[0] === 'X'
  }
}

/** A process tree may be as large as it likes; no more of it than this is looked at. */
const TREE_MAX = 1_024

/** What a process and all below it use now. Ended ones count when their parents have waited for them. */
export function usageOf(pid: number): { readonly cpuMs: number; readonly residentBytes: number } {
  const pids = [pid]
  let cpuMs = 0
  let residentBytes = 0
  for (let at = 0; at < pids.length && at < TREE_MAX; at++) {
    const one = pids[at] ?? pid
    const facts = factsOf(one)
    if (facts === undefined) continue
    cpuMs += facts.cpuMs
    residentBytes += facts.residentBytes
    pids.push(...childrenOf(one))
  }
  return { cpuMs, residentBytes }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}
