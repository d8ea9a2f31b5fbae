/** How long runs take lately, and how much longer on each node: what estimates stand on. */
import type { Node } from './model.ts'

/** Runs whose mean counts; older ones fade. */
const RUNS_COUNTED = 64
/** Share of the latest run in what is known of its node, and how far one run can move that. */
const LATEST_SHARE = 0.5
const SLOWNESS_MAX = 64
/** Runs of a node of so long together; then what was before counts half. */
const COMPUTED_MS = 86_400_000

/** A run of the node ended with a result, after so long; others of its batch took `meanMs`, where that is known. */
export function measure(node: Node, ms: number, meanMs: number | undefined): void {
  if (meanMs === undefined || meanMs <= 0) return
  const slowness = Math.min(SLOWNESS_MAX, Math.max(1 / SLOWNESS_MAX, ms / meanMs))
  node.slowness += LATEST_SHARE * (slowness - node.slowness)
}

/** A run took so long and had so much of processors, as its node signed. For people who lend more slots than cores: whether that helps. */
export function measureShare(node: Node, { ranMs, cpuMs }: { readonly ranMs: number; readonly cpuMs: number }): void {
  const { cores, slots } = node.offer
  if (cores === undefined || slots <= cores || ranMs <= 0) return
  node.computed ??= { ranMs: 0, cpuMs: 0 }
  node.computed.ranMs += ranMs
  node.computed.cpuMs += Math.min(cpuMs, ranMs * cores)
  if (node.computed.ranMs < COMPUTED_MS) return
  node.computed.ranMs /= 2
  node.computed.cpuMs /= 2
}

export class Pace {
  #runs = 0
  #meanMs = 0

  /** A run has ended by itself after so long. */
  ran(ms: number): void {
    this.#runs = Math.min(this.#runs + 1, RUNS_COUNTED)
    this.#meanMs += (ms - this.#meanMs) / this.#runs
  }

  /** Of a run, while so many are being run. Undefined until half as many have ended: the first to end are the short ones. */
  meanMs(running: number): number | undefined {
    return this.#runs === 0 || this.#runs < Math.min(RUNS_COUNTED, running / 2) ? undefined : this.#meanMs
  }
}
