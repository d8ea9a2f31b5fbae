/**
 * What enters and leaves the node's agent. Events are decoded, bounded and verified by the shell before they get here.
 * Effects are plain data. `changes` of a step are made durable before its `effects` are carried out; `prompts` need no
 * durability (repeating them after a crash is harmless) and are carried out at once.
 */
import type { RunManifest } from '#protocol/bundle/manifest'
import type { LastWords } from '#protocol/control/messages'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import type { ParkingCode } from '#protocol/parking/messages'
import type { Ended } from '../ports.ts'
import type { Figure } from '../progress-file.ts'
import type { Neighbour, Order, Parked } from './parking.ts'
import type { Parcel, SafekeepingView } from './safekeeping.ts'
import type { Holding, StockView } from './stock.ts'

/** Whose fault it is that a replica was not run to an end. */
type FaultClass = 'node' | 'task' | 'input' | 'owner' | 'cancelled'

export interface Fault {
  readonly class: FaultClass
  /** For programs. */
  readonly code: string
  /** For people. */
  readonly message: string
}

/** A lease whose manifest was decoded and whose signature was checked. */
export interface CheckedLease {
  readonly replica: ReplicaId
  readonly epoch: number
  /** Canonical bytes, kept for the next start of the node. */
  readonly bytes: Uint8Array
  /** With the memory that was leased. */
  readonly manifest: RunManifest
  /** UUIDs of this machine's GPUs that are its alone; left out for none. */
  readonly gpus?: readonly string[]
  /** Left out for what the manifest's bytes say. */
  readonly memoryBytes?: number
  /** Its result is committed to first; left out when it is not. */
  readonly sealed?: true
  /** Its run may leave snapshots; left out when it may not. */
  readonly checkpoint?: Checkpointing
}

export interface Checkpointing {
  /** From one snapshot to the next, at least. */
  readonly everyMs: number
  /** What it goes on from, CID as text; left out when it begins with nothing. */
  readonly root?: string
}

/** One lease of an Assign: good, or why it will not be run. */
/** `granted`: it may run without asking. */
export type OfferedLease =
  | { readonly ok: true; readonly lease: CheckedLease; readonly granted: boolean }
  | { readonly ok: false; readonly replica: ReplicaId; readonly fault: Fault }

/** What a run left, once it is in the content store. CIDs as text. */
export interface Published {
  readonly output: string
  readonly stdout: string
  readonly stderr: string
  /** Bytes of the three together. */
  readonly bytes: number
  /** The output tree was larger than the manifest allows and was not kept. */
  readonly overDisk: boolean
}

/** A bundle whose lease may come. */
export interface NextBundle {
  /** CID as text. */
  readonly bundle: string
  readonly manifest: RunManifest
}

export type AgentEvent =
  /** A stream to the coordinator is open: hello follows. `spare` is a fresh link id, for when the coordinator or the node starts a new link. */
  | { readonly kind: 'connected'; readonly spare: Uint8Array }
  | { readonly kind: 'disconnected' }
  | {
      readonly kind: 'welcome'
      readonly resumed: boolean
      readonly received: number
      readonly unknown: readonly ReplicaId[]
    }
  /** The coordinator made everything of ours up to `seq` durable. */
  | { readonly kind: 'acked'; readonly seq: number }
  /** Numbered frames, applied once each and in order. */
  | { readonly kind: 'assign'; readonly seq: number; readonly leases: readonly OfferedLease[] }
  | { readonly kind: 'grant'; readonly seq: number; readonly granted: readonly ReplicaId[]; readonly refused: readonly ReplicaId[] }
  | { readonly kind: 'cancel'; readonly seq: number; readonly replicas: readonly ReplicaId[]; readonly reason: string }
  | { readonly kind: 'release'; readonly seq: number; readonly replicas: readonly ReplicaId[] }
  /** The sealed results of these may be reported. */
  | { readonly kind: 'reveal'; readonly seq: number; readonly replicas: readonly ReplicaId[] }
  /** What is likely to be leased here next, all of it: see next.ts. */
  | { readonly kind: 'next'; readonly bundles: readonly NextBundle[] }
  /** A numbered frame that says nothing we know; it is counted all the same. */
  | { readonly kind: 'skipped'; readonly seq: number }
  /** A tree that the replica needs is here, complete: it stays while the replica may read it. `fetched`: it was brought here for it. */
  | { readonly kind: 'using'; readonly replica: ReplicaId; readonly root: string; readonly bytes: number; readonly fetched: boolean }
  /** What a released replica left lies here on, in its folder. */
  | { readonly kind: 'kept'; readonly replica: ReplicaId; readonly root: string; readonly bytes: number }
  /** A tree of the stock is not here any more. */
  | { readonly kind: 'missing'; readonly root: string }
  /** What a run left of itself is in the content store; with `last` it has ended. CID as text. */
  | { readonly kind: 'snapshot'; readonly replica: ReplicaId; readonly root: string; readonly bytes: number; readonly last: boolean }
  /** Answers `save`: it never left anything. */
  | { readonly kind: 'unsaved'; readonly replica: ReplicaId }
  /** The project holds these, or does not want them. */
  | { readonly kind: 'taken'; readonly replicas: readonly { readonly replica: ReplicaId; readonly root: string }[] }
  /** What the project said through others, of replicas of perhaps this node: it counts while the project itself cannot be heard. */
  | { readonly kind: 'hinted'; readonly what: 'kill' | 'release'; readonly replicas: readonly ReplicaId[] }
  /** The node has started and finds that it went down with these in hand: its log of the time before. */
  | { readonly kind: 'crashed'; readonly words: readonly LastWords[] }
  /** Whom it may leave results with while the project is away. */
  | { readonly kind: 'neighbours'; readonly neighbours: readonly Neighbour[] }
  /** What came of a `park`. */
  | ({ readonly kind: 'answered'; readonly code: Parked } & Order)
  /** Another node wants to leave a result here, which it signed. */
  | { readonly kind: 'offered'; readonly parcel: Parcel }
  /** What a `collect` asked for is here, on the disk; or cannot be had, or is not here any more. */
  | { readonly kind: 'collected'; readonly replica: ReplicaId }
  | { readonly kind: 'uncollected'; readonly replica: ReplicaId }
  | { readonly kind: 'prepared'; readonly replica: ReplicaId }
  | { readonly kind: 'ended'; readonly replica: ReplicaId; readonly ended: Ended }
  | { readonly kind: 'published'; readonly replica: ReplicaId; readonly published: Published }
  /** Preparing, running or publishing broke: not the task's doing. */
  | { readonly kind: 'failed'; readonly replica: ReplicaId; readonly fault: Fault }
  /** After a start: what the executors found of the replicas that were running. */
  | { readonly kind: 'recovered'; readonly found: ReadonlySet<ReplicaId> }
  /** Whether the engines can run things now. */
  | { readonly kind: 'engine'; readonly up: boolean }
  /** `now`: what runs is ended, too, and goes back with what it left of itself. */
  | { readonly kind: 'pause'; readonly now?: boolean }
  | { readonly kind: 'resume' }
  /** Take nothing more; what runs goes on and is reported. */
  | { readonly kind: 'drain' }
  /** End everything now: what is held goes back to the queue. */
  | { readonly kind: 'quit' }
  /** About once a second. `moved`: of these bytes of inputs came since the last, or of an output were added. `figures`: what runs said anew of how far they are. */
  | { readonly kind: 'tick'; readonly moved?: readonly ReplicaId[]; readonly figures?: readonly RunFigure[] }

export interface RunFigure extends Figure {
  readonly replica: ReplicaId
}

export type Prompt =
  | { readonly kind: 'prepare'; readonly replica: ReplicaId; readonly manifest: RunManifest }
  | { readonly kind: 'abandon'; readonly replica: ReplicaId }
  | { readonly kind: 'kill'; readonly replica: ReplicaId; readonly graceMs: number }
  /** Add what the run left to the content store. */
  | { readonly kind: 'publish'; readonly replica: ReplicaId; readonly manifest: RunManifest }
  /** Its run has ended: add what it left of itself, answered by `snapshot` or `unsaved`. */
  | { readonly kind: 'save'; readonly replica: ReplicaId }
  /** The project has its snapshot: the next may be made. */
  | { readonly kind: 'saved'; readonly replica: ReplicaId }
  /** Bring its content here, for a lease that may come. */
  | { readonly kind: 'bring'; readonly bundle: string; readonly manifest: RunManifest }
  | { readonly kind: 'let_go'; readonly bundle: string }
  /** There is no room for this tree any more, unless it is used again by now. `replica`: whose folder it lies in; null when it was fetched. */
  | { readonly kind: 'evict'; readonly root: string; readonly replica: ReplicaId | null }
  /** Leave this result of a replica with that node; answered by `answered`. */
  | ({ readonly kind: 'park'; readonly body: Uint8Array } & Order)
  /** No result that is kept for others names these any more. CIDs as text. */
  | { readonly kind: 'unkeep'; readonly content: readonly string[] }
  /** The stream breaks the rules: drop it and connect again. */
  | { readonly kind: 'disconnect'; readonly message: string }

export type Effect =
  | {
      readonly kind: 'hello'
      readonly link: Uint8Array
      readonly spare: Uint8Array
      readonly received: number
      readonly replicas: readonly ReplicaId[]
      readonly slots: number
      readonly holdings: readonly Holding[]
      /** Of so many bundles it brings the content here ahead of their leases. */
      readonly next: number
    }
  /** One encoded Frame without its `ack`; numbered ones are in the outbox already. */
  | { readonly kind: 'send'; readonly frame: Uint8Array }
  /** Everything from the coordinator up to `seq` is durable here. */
  | { readonly kind: 'ack'; readonly seq: number }
  | { readonly kind: 'start'; readonly lease: CheckedLease }
  /** Its result is recorded: what the engine still keeps of it (the container) can go. */
  | { readonly kind: 'clean'; readonly lease: CheckedLease }
  /** The replica is over: forget its container, its folder and its content. `began` is null when nothing of it was ever started. */
  | { readonly kind: 'remove'; readonly replica: ReplicaId; readonly began: CheckedLease | null }
  /** The coordinator has what it left: it is removed, or stays as data for later runs. `content` are CIDs as text, the output first. */
  | { readonly kind: 'release'; readonly replica: ReplicaId; readonly content: readonly string[] }
  /** It is on record that this node fetches what it names: if the node goes down meanwhile, what was fetched is found and removed. */
  | { readonly kind: 'collect'; readonly parcel: Parcel }
  /** To the node that offered the result: what has become of it. */
  | { readonly kind: 'answer'; readonly peer: PeerIdString; readonly replica: ReplicaId; readonly code: ParkingCode }
  /** Draining or quitting is complete and the coordinator knows. */
  | { readonly kind: 'done' }

export interface Change {
  readonly key: string
  readonly value: Uint8Array | null
}

export interface Step {
  readonly changes: readonly Change[]
  readonly prompts: readonly Prompt[]
  readonly effects: readonly Effect[]
}

/** preparing -> ready -> asking -> running -> publishing -> reported -> (gone); running -> killing -> (gone), or publishing when its owner killed it; running, killing -> saving -> (gone); each of the others -> (gone). */
export type Replica =
  /** `asked`: it has a slot. Both only when it was granted with its lease, or after a restart: the question was sent before it. */
  | { readonly phase: 'preparing'; readonly lease: CheckedLease; readonly asked: boolean; readonly granted: boolean }
  | { readonly phase: 'ready'; readonly lease: CheckedLease }
  | { readonly phase: 'asking'; readonly lease: CheckedLease }
  | { readonly phase: 'running'; readonly lease: CheckedLease }
  /** `fault` is told when it has ended; null when nobody wants to know. With `publish` what it leaves is reported instead. */
  | { readonly phase: 'killing'; readonly lease: CheckedLease; readonly fault: Fault | null; readonly publish: boolean }
  /** It has ended without a result, and goes back with `fault` when the project has its last snapshot. `ended`: it ended by itself to go on elsewhere, which is its result if it never left a snapshot. */
  | { readonly phase: 'saving'; readonly lease: CheckedLease; readonly fault: Fault; readonly ended?: Ended }
  | { readonly phase: 'publishing'; readonly lease: CheckedLease; readonly ended: Ended }
  /** Its output is kept and served until the coordinator releases it. `content` are CIDs as text; `sealed` is the result that it has only committed itself to, `body` (in memory alone) one that others may be given. */
  | { readonly phase: 'reported'; readonly content: readonly string[]; readonly sealed?: Uint8Array; readonly body?: Uint8Array }

/** For people: `talko node status`. */
export interface AgentView {
  readonly mode: 'active' | 'paused' | 'draining' | 'quitting'
  readonly connected: boolean
  readonly engineUp: boolean
  readonly slots: number
  readonly unacknowledged: number
  /** Data that lies here for the next runs, and how many trees were brought here since the start. */
  readonly stock: StockView
  /** Results of others that are kept here until the project is back; and how often one of its own was left with another since the start. */
  readonly keeping: SafekeepingView
  readonly parked: number
  /** Bundles whose content is brought here, or lies here, for leases that may come. */
  readonly next: number
  readonly replicas: readonly { readonly replica: ReplicaId; readonly phase: Replica['phase']; readonly sinceMs: number }[]
}
