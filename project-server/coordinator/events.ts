/**
 * What enters and leaves the coordinator core. Events are decoded, bounded and verified by the shell before they get here;
 * every id and every draw is already in them. Effects are plain data, carried out by the shell only after the changes that
 * belong to them are committed.
 */
import type { RunManifest } from '#protocol/bundle/manifest'
import type { Comparing, TaskPolicy } from '#protocol/bundle/policy'
import type { Sources } from '#protocol/bundle/sources'
import type { Sweep } from '#protocol/bundle/sweep'
import type { BatchId, PeerIdString, ReplicaId, TaskId } from '#protocol/ids'
import type { BanTarget } from '#protocol/owner/bans'
import type { ClientSettings } from '#protocol/owner/clients'
import type { FailureCode } from '#protocol/owner/messages'
import type { Receipt } from '#protocol/result/receipt'
import type { Result } from '#protocol/result/result'
import type { Seal } from '#protocol/signing/batch'
import type { Figure } from './figures.ts'
import type { Holding } from './holders.ts'
import type { Outgoing } from './link-records.ts'
import type { DataNeed } from './model.ts'
import type { SealRef } from './receipt-records.ts'
import type { Recheck } from './rechecks.ts'
import type { Decision } from './task-records.ts'

/** A manifest as accepted. */
export interface AcceptedBundle {
  /** CID as text. */
  readonly cid: string
  readonly bytes: Uint8Array
  readonly manifest: RunManifest
  /** What it refers to and how large that is; absent when nobody looked. */
  readonly data?: readonly DataNeed[]
  /** Of its image, as `os/architecture`; left out without one. */
  readonly platform?: string
}

/** One that a node lends. */
export interface Gpu {
  /** As its driver names it. */
  readonly uuid: string
  readonly model: string
  readonly memoryBytes: number
  /** Numbers with dots between them. */
  readonly driver: string
}

export interface NodeOffer {
  readonly name: string
  readonly agent: string
  readonly platform: string
  /** Vendor and family of its processor; '' when it does not tell. */
  readonly cpu: string
  readonly engines: readonly string[]
  readonly cpuMillis: number
  /** Of the machine, for people to compare its slots with; left out where it does not say, and not kept over a restart. */
  readonly cores?: number
  readonly memoryBytes: number
  readonly diskBytes: number
  readonly slots: number
  readonly tags: readonly string[]
  /** Of the tags, those that a task must ask for to be given to the node at all. */
  readonly exclusive: readonly string[]
  readonly gpus: readonly Gpu[]
  /** It takes its owner's tasks and no others. */
  readonly ownerOnly: boolean
  /** It takes the tasks of clients of these groups, and its owner's; left out for those of all. */
  readonly groups?: readonly string[]
  /** It runs on the server's machine or in its local network, or its owner says so (the tag `local`). */
  readonly local?: true
  /** Its owner is the project's administrator. Not written down: told with every hello. */
  readonly vouched?: true
  /** The client that proved that the node is its own; null for a stranger's. */
  readonly owner: PeerIdString | null
  /** The network that it calls from, as the project's server sees it, or the relay that it calls through; '' when that is not known. */
  readonly network: string
  /** `network` is that of its relay, which does not tell from where it is called. Not written down. */
  readonly hidden?: true
}

/** What was decided of a bundle before, and is here. */
export interface Repeat {
  /** It has the receipt. */
  readonly task: TaskId
  readonly decision: Decision
}

/** What a client's request is about: a batch, one task of it, or those of its tasks that wait or that run. */
export interface Aim {
  readonly batch: BatchId
  readonly task?: TaskId
  readonly only?: 'waiting' | 'running'
}

export type Event =
  /** Repeating a batch id is a no-op. `seed` decides ties between equal nodes. `more`: the batch is not complete yet; its tasks are not scheduled until a submit without it. */
  | {
      readonly kind: 'submit'
      readonly batch: BatchId
      readonly name: string
      readonly by: PeerIdString
      readonly bundles: readonly AcceptedBundle[]
      readonly policy: TaskPolicy
      readonly more: boolean
      /** Index of the first of `bundles` in the batch, so that a part sent twice is known; without it they follow what is there. */
      readonly from?: number
      /** What tasks of this part take from others, by index in the batch; of a sweep at 0 what each of its tasks takes. */
      readonly sources?: ReadonlyMap<number, Sources>
      /** Of the sources that are over: null for ready, else how they failed. */
      readonly ended?: ReadonlyMap<string, string | null>
      /** In place of `bundles`, with `more` false: the tasks are made from this when they are wanted. */
      readonly sweep?: { readonly template: AcceptedBundle; readonly sweep: Sweep }
      readonly seed: number
      /** By bundle: its tasks are ready at once, without any replica. */
      readonly repeats?: ReadonlyMap<string, Repeat>
    }
  /** One task, or of the whole batch those that wait or run, or all. */
  | ({ readonly kind: 'kill'; readonly by: PeerIdString } & Aim)
  /** No new replica for a batch, or for one task of it, until a release; `stop`: what runs is taken back. */
  | ({ readonly kind: 'hold'; readonly by: PeerIdString; readonly reason: string; readonly stop: boolean } & Aim)
  | ({ readonly kind: 'release'; readonly by: PeerIdString } & Aim)
  /** A node's stream began. Links are hex; a new one is named `spare`. Answered by a `welcome` effect, then replays, then new work. */
  | {
      readonly kind: 'hello'
      readonly node: PeerIdString
      readonly link: string
      readonly spare: string
      readonly received: number
      readonly offer: NodeOffer
      readonly replicas: readonly ReplicaId[]
      /** Data that lies there; absent for none. */
      readonly holdings?: readonly Holding[]
      /** Of so many bundles it brings the content to itself ahead of their leases; absent for none. */
      readonly next?: number
    }
  /** Its stream ended. Not yet a loss: silence decides. */
  | { readonly kind: 'gone'; readonly node: PeerIdString }
  /** Anything at all arrived from the node. */
  | { readonly kind: 'heartbeat'; readonly node: PeerIdString }
  /** Data that has come to lie at the node, and roots that lie there no more. */
  | { readonly kind: 'holdings'; readonly node: PeerIdString; readonly got: readonly Holding[]; readonly dropped: readonly string[] }
  /** Results of others that were left with the node, each signed alone; with all that they name. */
  | {
      readonly kind: 'parked'
      readonly node: PeerIdString
      readonly results: readonly { readonly result: Result; readonly body: Uint8Array; readonly seal: Seal }[]
    }
  /** Snapshots of what the node runs, or (`last`) ran until now; complete there. CIDs as text. */
  | {
      readonly kind: 'checkpoints'
      readonly node: PeerIdString
      readonly replicas: readonly { readonly replica: ReplicaId; readonly root: string; readonly bytes: number; readonly last: boolean }[]
    }
  /** Answers `save`: it is here, or could not be had. */
  | {
      readonly kind: 'saved'
      readonly replica: ReplicaId
      readonly node: PeerIdString
      readonly root: string
      readonly ok: boolean
      readonly bytes: number
    }
  /** It went down with these, before its start: the end of its log. */
  | { readonly kind: 'crashed'; readonly node: PeerIdString; readonly replicas: readonly { readonly replica: ReplicaId; readonly log: string }[] }
  | { readonly kind: 'demand'; readonly node: PeerIdString; readonly slots: number }
  /** The node made everything up to `seq` durable. */
  | { readonly kind: 'ack'; readonly node: PeerIdString; readonly seq: number }
  /** Numbered messages of the node: applied once each, in order. A gap breaks the stream. */
  | {
      readonly kind: 'start'
      readonly node: PeerIdString
      readonly seq: number
      readonly replicas: readonly { readonly replica: ReplicaId; readonly epoch: number }[]
    }
  | {
      readonly kind: 'progress'
      readonly node: PeerIdString
      readonly seq: number
      /** `again`: it will be said again as long as something moves. `figure`: how far a run says that it is. */
      readonly replicas: readonly { readonly replica: ReplicaId; readonly state: string; readonly again: boolean; readonly figure?: Figure }[]
    }
  | {
      readonly kind: 'reports'
      readonly node: PeerIdString
      readonly seq: number
      readonly results: readonly { readonly result: Result; readonly body: Uint8Array }[]
      /** What its node signed of all these results together, in this order; null without results. */
      readonly seal: Seal | null
    }
  | {
      readonly kind: 'returned'
      readonly node: PeerIdString
      readonly seq: number
      readonly replicas: readonly { readonly replica: ReplicaId; readonly class: string; readonly code: string; readonly message: string }[]
    }
  | { readonly kind: 'bye'; readonly node: PeerIdString; readonly seq: number }
  /** Sealed results: the node is bound to what has this hash, in hex. */
  | {
      readonly kind: 'commits'
      readonly node: PeerIdString
      readonly seq: number
      readonly replicas: readonly { readonly replica: ReplicaId; readonly digest: string }[]
    }
  /** The output of a decided task, or what a killed one left, is here and pinned (`ok`; so many bytes, where that is known better than from what its nodes said), or could not be had from `node`. */
  | { readonly kind: 'pulled'; readonly task: TaskId; readonly node: PeerIdString; readonly ok: boolean; readonly message: string; readonly bytes?: number }
  /** What came of a `compare`: pairs of votes, and those whose outputs could not be had. */
  | {
      readonly kind: 'compared'
      readonly task: TaskId
      readonly pairs: readonly { readonly a: string; readonly b: string; readonly agree: boolean }[]
      readonly missing: readonly string[]
      /** Why the owner's comparator did not answer: it is at fault itself (`program`), or the project's machine could not run it now. */
      readonly fault?: { readonly of: 'program' | 'project'; readonly message: string }
    }
  /** Answer to `complete`: the bundle with what its sources gave; null when an input cannot be had, and why. */
  | {
      readonly kind: 'completed'
      readonly task: TaskId | BatchId
      readonly bundle: AcceptedBundle | null
      readonly message: string
      readonly repeat?: Repeat | undefined
    }
  /** Answers `look`: all tasks before this index may be made; these were decided before, by index. */
  | { readonly kind: 'looked'; readonly batch: BatchId; readonly to: number; readonly repeats: ReadonlyMap<number, Repeat> }
  /** Instead: what a task takes from others is lost, and is computed again by these, which were submitted just now. It waits for them; `template` is its bundle without what it takes. */
  | { readonly kind: 'again'; readonly task: TaskId | BatchId; readonly template: string; readonly through: readonly TaskId[] }
  /** Answers `inputs`. `lost`: something of it was gone; what these compute again, which were submitted just now, is not here yet. `message`: why it cannot be had again. */
  | { readonly kind: 'inputs'; readonly task: TaskId; readonly lost: boolean; readonly through: readonly TaskId[]; readonly message: string }
  /** The project's administrator grants a client what these settings say, and may add or remove it. */
  | { readonly kind: 'client'; readonly client: PeerIdString; readonly settings: Partial<ClientSettings>; readonly member?: boolean }
  /** The project's administrator lets these in no more, or (`lift`) again. */
  | { readonly kind: 'ban'; readonly by: PeerIdString; readonly target: BanTarget; readonly reason: string; readonly lift: boolean }
  /** The data that a client brought is so many bytes now. Counted by the shell from its own records. */
  | { readonly kind: 'brought'; readonly client: PeerIdString; readonly bytes: number }
  /** What the shell read for a `recheck` effect: the same bundles, in a batch of their client; `of` are the decisions that its tasks look at, by index. `dropped` were killed. */
  | {
      readonly kind: 'recheck'
      readonly batch: BatchId
      readonly submit: Pick<Extract<Event, { kind: 'submit' }>, 'name' | 'by' | 'bundles' | 'policy' | 'seed'>
      readonly of: readonly Recheck[]
      readonly dropped: readonly TaskId[]
    }
  /** The slow sweep: silent nodes, deadlines, queue against free slots. */
  | { readonly kind: 'tick' }

export type Effect =
  | { readonly kind: 'welcome'; readonly node: PeerIdString; readonly resumed: boolean; readonly received: number; readonly unknown: readonly ReplicaId[] }
  /** One encoded Frame without its `ack`; seq > 0 was recorded for replay in the same commit. `said`: what it says, of those with a number. */
  | { readonly kind: 'send'; readonly node: PeerIdString; readonly seq: number; readonly frame: Uint8Array; readonly said?: Outgoing }
  /** Everything from the node up to `seq` is durable now. */
  | { readonly kind: 'ack'; readonly node: PeerIdString; readonly seq: number }
  | { readonly kind: 'disconnect'; readonly node: PeerIdString; readonly code: string; readonly message: string }
  /** Fetch these from the first of `nodes` that gives them, pin them, and answer with `pulled` for that node (or for the last one that failed). */
  | {
      readonly kind: 'pull'
      readonly task: TaskId
      readonly nodes: readonly PeerIdString[]
      readonly output: string
      readonly stdout: string
      readonly stderr: string
      readonly bytesMax: number
    }
  /** Fetch this snapshot of a run from its node, in place of an older one that is not here yet, and answer with `saved`. */
  | { readonly kind: 'save'; readonly replica: ReplicaId; readonly node: PeerIdString; readonly root: string; readonly bytesMax: number }
  /** Nobody goes on from it any more: drop it, unless something else is that, too. */
  | { readonly kind: 'unsave'; readonly root: string }
  /** Fetch these outputs, compare the pairs, and answer with `compared`. What was fetched is kept for the next time, until `compared_enough`. */
  | {
      readonly kind: 'compare'
      readonly task: TaskId
      readonly by: Comparing
      /** Whose task it is. */
      readonly client: PeerIdString
      readonly candidates: readonly Candidate[]
      readonly pairs: readonly (readonly [a: string, b: string])[]
      /** Of each output. */
      readonly bytesMax: number
    }
  | { readonly kind: 'compared_enough'; readonly task: TaskId }
  /** All sources of a task, or of a sweep, are over: add what they gave to its bundle, and answer with `completed`. */
  | { readonly kind: 'complete'; readonly task: TaskId | BatchId }
  /** Nodes say that an input of this task is at fault: look whether it is here, have computed again what is not, and answer with `inputs`. */
  | { readonly kind: 'inputs'; readonly task: TaskId }
  /** Tasks of a sweep are to be made: look which of them were decided before, and answer with `looked`. */
  | { readonly kind: 'look'; readonly batch: BatchId; readonly from: number; readonly to: number }
  /** Read what these tasks of a batch ran and how they were decided by one node alone, and answer with a `recheck` event. */
  | { readonly kind: 'recheck'; readonly batch: BatchId; readonly tasks: readonly { readonly task: TaskId; readonly node: PeerIdString }[] }
  /** Tell this node through others what it would be told if it were connected: the task of these replicas was killed, or is over without them; or (`work`) there is a task for it. */
  | { readonly kind: 'hint'; readonly what: 'kill' | 'release' | 'work'; readonly node: PeerIdString; readonly replicas: readonly ReplicaId[] }
  /** For watchers. */
  | { readonly kind: 'changed'; readonly batch: BatchId; readonly task: TaskId }

/** A receipt that must be signed and stored in the same commit as the changes it came with. */
export interface Unsigned {
  /** Key of the page that it is stored on; those of one page come together, in their order. */
  readonly page: string
  readonly receipt: Receipt
  /** Where the signature of each of its results is kept. */
  readonly seals: readonly SealRef[]
}

/** An output that differs from others of its task. */
export interface Candidate {
  readonly vote: string
  /** That have it; those that are here first. */
  readonly nodes: readonly PeerIdString[]
  /** CIDs as text. */
  readonly output: string
  /** When it counts. */
  readonly stdout: string | null
}

export interface TaskFailure {
  readonly code: FailureCode
  readonly message: string
}
