/** How long a run takes, while its host is there (our choice of numbers; suspension comes from availability). */
import type { Random } from '../random.ts'

export interface RunModel {
  /** What the rest of the machine leaves: u ~ Beta(a, b), mean 0.8. */
  readonly leaves: readonly [a: number, b: number]
  /** sigma of what differs from run to run. */
  readonly jitter: number
  /** Share of the runs that straggle, and by how much: Pareto(alpha) from `times[0]`, at most `times[1]`. */
  readonly stragglers: number
  readonly alpha: number
  readonly times: readonly [min: number, max: number]
}

export const VOLUNTEER_RUNS: RunModel = { leaves: [8, 2], jitter: 0.15, stragglers: 0.02, alpha: 1.5, times: [2, 20] }
export const EXACT_RUNS: RunModel = { ...VOLUNTEER_RUNS, leaves: [1, 0], jitter: 0, stragglers: 0 }

/** A host that can do `mips` needs so long for so many million operations. Milliseconds. */
export function drawRunMs(
  random: Random,
  { leaves: [a, b], jitter, stragglers, alpha, times: [min, max] }: RunModel,
  millionOps: number,
  mips: number
): number {
  const left = b === 0 ? 1 : random.beta(a, b)
  const noise = jitter === 0 ? 1 : random.logNormal(0, jitter)
  const slow = random.chance(stragglers) ? Math.min(max, random.pareto(alpha, min)) : 1
  return (1000 * millionOps * noise * slow) / (mips * Math.max(left, 0.01))
}

/** Lengths of a batch's tasks: log-normal around a median, in million operations. */
export interface TaskSizes {
  readonly medianMillionOps: number
  /** 0 makes all alike. */
  readonly sigma: number
}

export function taskMillionOps(random: Random, { medianMillionOps, sigma }: TaskSizes): number {
  return sigma === 0 ? medianMillionOps : medianMillionOps * random.logNormal(0, sigma)
}
