/** A case: everything that a run is made of, as data. A seed is drawn into one; shrinking takes parts of one away. */
import type { CoordinatorPolicy } from '#project-server/coordinator/policy'
import type { TaskPolicy } from '#protocol/bundle/policy'
import type { Home } from '../protocol/homes.ts'
import type { Role } from '../protocol/service.ts'
import type { TaskKind } from '../protocol/truth.ts'
import type { Unruly } from '../protocol/unruly.ts'

export interface NodeCase {
  readonly name: string
  readonly role: Role
  readonly slots: number
  /** One way to the server, and how much it varies. */
  readonly delayMs: number
  readonly jitterMs: number
  /** Share of messages that have to be sent again. */
  readonly loss: number
  /** After how long of silence its connections, and the server's to it, count as broken. */
  readonly patienceMs: number
  /** What becomes of the frames of its control streams until the faults stop; without it they all come once and in order. */
  readonly unruly?: Unruly
  /** What its access line carries; without them as much as comes. */
  readonly upBytesPerMs?: number
  readonly downBytesPerMs?: number
  readonly clockOffsetMs: number
  readonly clockPerMille: number
  /** Where it is at home: then others reach it as they would there, and give it what they have. */
  readonly home?: Home
  /** When it is there first; never when it is negative. */
  readonly joinsMs: number
  /** Which processor it has; without one, it does not tell. */
  readonly cpu?: string
  /** Which network it calls from; without one, nobody can tell. */
  readonly network?: number
  /** It has the tag; with `exclusive` it takes nothing that does not ask for it. */
  readonly tag?: 'plain' | 'exclusive'
}

/** Whether it is ever there. */
export function comes({ joinsMs }: NodeCase): boolean {
  return joinsMs >= 0
}

/** What some batches ask for, and some nodes have. */
export const TAG = 'lab'

export interface TaskCase {
  readonly kind: TaskKind
  readonly name: string
  readonly runMs: number
  readonly needsInput: boolean
  /** It takes the outputs of tasks so many before it in its batch, where there are such. */
  readonly takes?: readonly number[]
  /** And runs although some of them fail. */
  readonly allowFailed?: boolean
}

export interface BatchCase {
  readonly atMs: number
  /** Sent in so many Submits, one after the other. */
  readonly parts: number
  readonly tasks: readonly TaskCase[]
  readonly policy: TaskPolicy
  /** Which of the project's clients submits it; without one, the administrator. */
  readonly client?: number
}

export const NODE_FAULTS = [
  'cut',
  'block_up',
  'block_down',
  'block',
  'slow_path',
  'thin_line',
  'forgotten',
  'crash',
  'crash_at_publish',
  'power_loss',
  'wipe',
  'stop',
  'clock',
  'disk_slow',
  'disk_full',
  'disk_error',
  'bit_flip',
  'engine_hung',
  'engine_down',
  'runs_break',
  'withhold',
  'corrupt_output',
  'corrupt_input',
  'no_input',
  'content_full',
  'engine_restart',
  'pause',
  'drain',
  'quit',
  'leave'
] as const

export const SERVER_FAULTS = [
  'server_crash',
  'server_power_loss',
  'server_crash_at_write',
  'server_stop',
  'server_takeover',
  'server_restart',
  'server_disk_slow',
  'server_disk_full',
  'server_disk_error',
  'server_clock',
  'server_drift',
  'server_away',
  'block_all'
] as const

export const OWNER_ACTS = ['kill_batch', 'kill_task', 'submit_again', 'hold_batch', 'hold_task', 'submit_equal', 'ban_node', 'limit_client'] as const

export const HOSTILE_ACTS = [
  'garbage',
  'replay',
  'gap',
  'bad_ack',
  'forge',
  'steal',
  'old_epoch',
  'strange_field',
  'ungranted',
  'second_stream',
  'forget',
  'hoard',
  'copy'
] as const

/** What befalls those between nodes. */
export const RELAY_FAULTS = ['relay_dies'] as const

/** Of the hostile ones too: nothing but much. */
export const FLOOD_ACTS = ['flood_calls', 'flood_streams', 'flood_hellos', 'flood_frames', 'flood_requests', 'flood_large'] as const

export type FaultKind =
  | (typeof NODE_FAULTS)[number]
  | (typeof SERVER_FAULTS)[number]
  | (typeof OWNER_ACTS)[number]
  | (typeof HOSTILE_ACTS)[number]
  | (typeof FLOOD_ACTS)[number]
  | (typeof RELAY_FAULTS)[number]

/** Something that happens once, at its time. */
export interface Fault {
  readonly atMs: number
  readonly kind: FaultKind
  /** Index of a node or a batch, where one is meant. */
  readonly target: number
  /** How long it lasts, where that makes sense. */
  readonly forMs: number
  /** How much, in the kind's own unit. */
  readonly amount: number
}

/** A node that is as it should be, there from the start. */
export function nodeCase(name: string, changes: Partial<NodeCase> = {}): NodeCase {
  const patient = { loss: 0, patienceMs: 20_000, clockOffsetMs: 0, clockPerMille: 1000, joinsMs: 0 }
  return { name, role: 'honest', slots: 1, delayMs: 0, jitterMs: 0, ...patient, ...changes }
}

/** An honest node that comes when the faults stop; it still needs a name. */
export const FRESH = nodeCase('', { slots: 3, delayMs: 10, jitterMs: 5 })

/** The processors that there are. */
export const CPUS = ['one 1', 'two 2'] as const

export interface Case {
  readonly seed: number
  readonly nodes: readonly NodeCase[]
  /** Peers that follow no rules. */
  readonly hostile: number
  readonly batches: readonly BatchCase[]
  readonly faults: readonly Fault[]
  /** Until then there are faults; afterwards everything works, and everything must end. */
  readonly faultsMs: number
  /** Each node may leave results with so many others while the project is away; without it with none. */
  readonly neighbours?: number
  /** Where the project's policy is not the usual one. */
  readonly project?: Partial<CoordinatorPolicy>
}
