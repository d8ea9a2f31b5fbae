/** What a population's world is made from. */
import type { CoordinatorPolicy } from '#project-server/coordinator/policy'
import type { HostModel } from './hosts.ts'
import type { Arrivals } from './lifetimes.ts'
import type { RunModel } from './runs.ts'
import type { Workload } from './workload.ts'

export interface WorldOptions {
  readonly seed: number | string
  /** Hosts at the beginning, there or away. */
  readonly hosts: number
  readonly lengthMs: number
  readonly model: HostModel
  readonly runs: RunModel
  readonly workload: Workload
  readonly policy: CoordinatorPolicy
  /** Without, as many arrive as leave. */
  readonly arrivals: Arrivals | null
  /** The clock's step, and the coordinator's slow sweep: every half second in production, less often here, since it looks at every node. */
  readonly stepMs: number
  readonly sweepMs: number
  readonly sampleMs: number
  /** Share of the vanishings that end the control stream: a machine that is shut down does, one that sleeps does not. */
  readonly closes: number
  /** Whether a run that was under way goes on when its host is back (a machine that slept) or begins anew (one that was shut down). */
  readonly keeps: boolean
  /** When the coordinator is not there, in order and apart. What it knew is durable; hosts go on with what they hold. */
  readonly outages: readonly Outage[]
  /** The project's own line, shared by all transfers at one time; without, each takes its time on the host's line alone. */
  readonly line?: LineSpeeds
  /** Every task is held against a second model of the rules, at every commit: takes half as long again. */
  readonly check?: boolean
}

/** Each way; null: never full. */
export interface LineSpeeds {
  /** Inputs. */
  readonly sendsBytesPerS: number | null
  /** Outputs. */
  readonly receivesBytesPerS: number | null
}

export interface Outage {
  readonly fromMs: number
  readonly forMs: number
}
