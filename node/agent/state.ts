/** What the agent knows. The files beside this one decide on it, each about its own part; what few nodes ever need is made when it is needed. */
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import type { Signer } from '#protocol/signing/keys'
import { Boot } from './boot.ts'
import { Crash } from './crash.ts'
import type { AgentView, Effect, Prompt, Replica } from './events.ts'
import { Gathered } from './gathered.ts'
import { Holdings } from './holdings.ts'
import type { Leaving } from './leaving.ts'
import type { Next } from './next.ts'
import { Outbox } from './outbox.ts'
import type { Outgoing } from './outgoing.ts'
import type { Parking } from './parking.ts'
import { Pause } from './pause.ts'
import { Safekeeping, type SafekeepingOptions } from './safekeeping.ts'
import type { Snapshots } from './snapshots.ts'
import { Stock } from './stock.ts'

/** Kept as they are given: many nodes may share them. */
export interface AgentOptions {
  readonly project: PeerIdString
  /** Replicas run at once. */
  readonly slots: number
  /** Of data kept for later runs. */
  readonly stockBytesMax: number
  /** What may be kept for others; left out for nothing. */
  readonly keep?: SafekeepingOptions
  /** How long the project may be away before results are left with others. */
  readonly parkAfterMs?: number | undefined
  /** Which start of the machine this is; left out or empty where the system does not tell. */
  readonly boot?: string
}

export type AgentSigner = Pick<Signer, 'sign' | 'peerId'>

const NOTHING_KEPT: SafekeepingOptions = { bytesMax: 0, msMax: 0 }
/** Shared by all that hold nothing. */
const NOTHING_HELD: Held = new Holdings()

/** Changes what is there, and adds nothing. */
type Held = Omit<Holdings, 'add' | 'restore'>

export class State {
  readonly options: AgentOptions
  readonly signer: AgentSigner
  readonly outbox: Outbox
  mode: AgentView['mode'] = 'active'
  engineUp = false
  /** What the last hello named, until it is answered: a new link's id. */
  spare: Uint8Array | undefined
  welcomed = false
  /** As last told on this stream. */
  demandTold = 0
  awaySinceMs: number | undefined
  /** What begins now, or was looked for, belongs to this start of the machine. */
  begun = false
  /** Undefined while it knows nobody to leave results with. */
  parking: Parking | undefined
  /** Undefined while the project has named nothing. */
  coming: Next | undefined
  /** Undefined while no run left anything. */
  snapshots: Snapshots | undefined
  /** Undefined while it stays. */
  leaving: Leaving | undefined
  #gathered: Gathered | undefined
  #held: Holdings | undefined
  #stock: Stock | undefined
  #kept: Safekeeping | undefined
  #pause: Pause | undefined
  #crash: Crash | undefined
  #boot: Boot | undefined

  constructor(options: AgentOptions, signer: AgentSigner, link: Uint8Array) {
    this.options = options
    this.signer = signer
    this.outbox = new Outbox(link)
  }

  /** The replicas that it holds. */
  get held(): Held {
    return this.#held ?? NOTHING_HELD
  }

  /** The same, to be added to. */
  get holding(): Holdings {
    this.#held ??= new Holdings()
    return this.#held
  }

  phaseOf(replica: ReplicaId): Replica['phase'] | undefined {
    return this.held.get(replica)?.phase
  }

  /** Data that lies here for later runs; undefined while there was none. */
  get stock(): Stock | undefined {
    return this.#stock
  }

  get stocking(): Stock {
    this.#stock ??= new Stock(this.options.stockBytesMax)
    return this.#stock
  }

  /** Results of others; undefined while nothing was offered. */
  get kept(): Safekeeping | undefined {
    return this.#kept
  }

  get keeping(): Safekeeping {
    this.#kept ??= new Safekeeping(this.keep)
    return this.#kept
  }

  get keep(): SafekeepingOptions {
    return this.options.keep ?? NOTHING_KEPT
  }

  /** As its owner said last, also over restarts; a node that is being stopped keeps it for its next start. Undefined while nothing was said. */
  get paused(): Pause | undefined {
    return this.#pause
  }

  get pausing(): Pause {
    this.#pause ??= new Pause()
    return this.#pause
  }

  /** The node's last words before it went down; undefined while there are none. */
  get lastWords(): Crash | undefined {
    return this.#crash
  }

  get crash(): Crash {
    this.#crash ??= new Crash()
    return this.#crash
  }

  /** In which start of the machine the runs began; undefined where the system does not tell. */
  get boot(): Boot | undefined {
    const { boot = '' } = this.options
    if (boot !== '') this.#boot ??= new Boot(boot)
    return this.#boot
  }

  /** The machine was started again since what is held began: nobody may be asked what came of it. */
  get isAnotherBoot(): boolean {
    return this.#boot?.again === true
  }

  /** What the next step causes, so far; undefined for nothing. */
  get gathered(): Gathered | undefined {
    return this.#gathered
  }

  get gathering(): Gathered {
    this.#gathered ??= new Gathered()
    return this.#gathered
  }

  /** It begins anew. */
  takeGathered(): Gathered | undefined {
    const gathered = this.#gathered
    this.#gathered = undefined
    return gathered
  }

  prompt(prompt: Prompt): void {
    this.gathering.prompt(prompt)
  }

  effect(effect: Effect): void {
    this.gathering.effects.push(effect)
  }

  /** To tell the coordinator. */
  get say(): Outgoing {
    return this.gathering.say(this.signer)
  }
}
