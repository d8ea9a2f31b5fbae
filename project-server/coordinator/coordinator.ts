/**
 * The coordinator of one project in one epoch: events in, changes, effects and receipts to sign out. It mutates its own state
 * in place and has no hidden inputs: the same events at the same times give the same output. README.md has the diagram.
 *
 * The shell applies any number of events, then calls `take` once, commits the changes (with the signed receipts) and only
 * then carries out the effects.
 */
import type { BatchId, PeerIdString, TaskId } from '#protocol/ids'
import type { NodeView, Resolved } from '#protocol/owner/messages'
import type { Change, Store } from '../ports.ts'
import type { Effect, Event, Unsigned } from './events.ts'
import type { CoordinatorPolicy } from './policy.ts'
import type { BatchRecord, BundleRecord, TaskRecord } from './records.ts'

export interface CoordinatorOptions {
  /** Peer id of the project's key. */
  readonly project: PeerIdString
  /** As `Store.beginEpoch` gave it. */
  readonly epoch: number
  readonly policy?: CoordinatorPolicy
}

export interface Taken {
  readonly changes: readonly Change[]
  readonly effects: readonly Effect[]
  readonly unsigned: readonly Unsigned[]
}

/** Why a submission cannot be accepted. */
export interface SubmitRefusal {
  readonly code: 'not_owner' | 'too_large' | 'unavailable'
  readonly message: string
}

export class Coordinator {
  constructor(options: CoordinatorOptions) {
    throw new Error(`not built yet: ${options.project}`)
  }

  /** Rebuilds the live state: what is not terminal, and every node. `nowMs` is the time of the restart: nodes get a full grace period from it. */
  async load(store: Pick<Store, 'get' | 'range'>, nowMs: number): Promise<void> {
    throw new Error(`not built yet: ${nowMs}${typeof store}`)
  }

  /** Why this submit would be refused; undefined when `apply` will accept it (or has already: repeating is harmless). */
  refusal(event: Extract<Event, { kind: 'submit' }>): SubmitRefusal | undefined {
    throw new Error(`not built yet: ${event.kind}`)
  }

  apply(event: Event, nowMs: number): void {
    throw new Error(`not built yet: ${event.kind} ${nowMs}`)
  }

  /** Everything gathered since the last call, for one group commit. */
  take(): Taken {
    throw new Error('not built yet')
  }

  /** A batch that has tasks which are not terminal; others are read with `decodeBatchRecord` from `batch/<id>`. */
  batch(id: BatchId): BatchRecord | undefined {
    throw new Error(`not built yet: ${id}`)
  }

  /** A task of such a batch that is not terminal; others are read with `decodeTaskRecord` from `taskKey(id)`. */
  task(id: TaskId): TaskRecord | undefined {
    throw new Error(`not built yet: ${id}`)
  }

  /** A manifest that a live task needs; others are read with `decodeBundleRecord` from `bundle/<cid>`. */
  bundle(cid: string): BundleRecord | undefined {
    throw new Error(`not built yet: ${cid}`)
  }

  /** Every node of the project, the present ones first. */
  nodes(): readonly NodeView[] {
    throw new Error('not built yet')
  }

  /** What an id, a unique prefix of one or a batch's name can mean among live batches, at most 16; finished ones are found by the shell with `batch/<prefix>` and `name/<name>/`. */
  find(text: string): readonly Resolved[] {
    throw new Error(`not built yet: ${text}`)
  }
}
