/**
 * How hints spread among the nodes of a project: a pure state machine, one of each node. A node that has lost its project opens
 * streams to a few neighbours; over an open stream goes what is newest, and what comes new goes on over the others. So with
 * everybody connected nothing is sent at all, and a hint costs those who are without the project, and their neighbours, one
 * frame each.
 *
 * What stops a loop is that a node passes on nothing twice: of hints it remembers the ids of the latest by their sequence, and
 * takes whatever is older than all of those for known; of records it has the newest.
 */
import type { Hint } from '#protocol/hints/hints'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import { type Rate, TokenBucket } from '#protocol/token-bucket'
import { FRAMES_PER_MINUTE, HINT_DIALS, HINT_PEERS_MAX, HINTS_KEPT_MAX, HINTS_PER_MINUTE, LINGER_MS, REDIAL_MS, SPEAKERS_MAX, STRANDED_MS } from './policy.ts'

const FRAMES: Rate = { burst: FRAMES_PER_MINUTE, perSecond: FRAMES_PER_MINUTE / 60 }
const HINTS: Rate = { burst: HINTS_PER_MINUTE, perSecond: HINTS_PER_MINUTE / 60 }

/** What is passed on as it came. */
export interface Passed {
  readonly kind: 'record' | 'hint'
  readonly bytes: Uint8Array
}

export type SpreadEvent =
  /** The control stream is there, or not. */
  | { readonly kind: 'online' }
  | { readonly kind: 'away' }
  /** Whom it may ask, as the project said last. */
  | { readonly kind: 'neighbours'; readonly peers: readonly PeerIdString[] }
  /** The other end of a stream said that it is of this project. */
  | { readonly kind: 'opened'; readonly peer: PeerIdString; readonly dialled: boolean }
  | { readonly kind: 'closed'; readonly peer: PeerIdString }
  /** The project's record, its signature checked; `from` is null for the project itself. */
  | { readonly kind: 'record'; readonly from: PeerIdString | null; readonly sequence: number; readonly bytes: Uint8Array }
  /** Likewise; `id` is that of its bytes. */
  | { readonly kind: 'hint'; readonly from: PeerIdString | null; readonly id: string; readonly hint: Hint; readonly bytes: Uint8Array }
  /** `draw` in 0 to 1: not all begin with the same neighbour. */
  | { readonly kind: 'tick'; readonly draw: number }

export type SpreadEffect =
  | { readonly kind: 'dial'; readonly peer: PeerIdString }
  | { readonly kind: 'send'; readonly peer: PeerIdString; readonly what: Passed }
  | { readonly kind: 'close'; readonly peer: PeerIdString }
  /** The project is perhaps to be reached now. */
  | { readonly kind: 'wake' }
  /** A newer record than any before. */
  | { readonly kind: 'keep'; readonly bytes: Uint8Array }
  | { readonly kind: 'end'; readonly what: 'kill' | 'release'; readonly replicas: readonly ReplicaId[] }

interface Known {
  readonly hint: Hint
  readonly bytes: Uint8Array
}

export class Spread {
  #awaySinceMs: number | undefined
  #onlineSinceMs = 0
  #neighbours: readonly PeerIdString[] = []
  readonly #dialledMs = new Map<PeerIdString, number>()
  readonly #open = new Map<PeerIdString, { readonly dialled: boolean }>()
  #record: { readonly sequence: number; readonly bytes: Uint8Array } | undefined
  readonly #known = new Map<string, Known>()
  /** Whatever is not above is known, or too old to tell. */
  #floor = -1
  readonly #frames = new Map<PeerIdString, TokenBucket>()
  readonly #hints: TokenBucket
  #effects: SpreadEffect[] = []
  /** Hints and records that were new. */
  #heard = 0

  /** `record`: the project's last one that is known here. */
  constructor(nowMs: number, record?: { readonly sequence: number; readonly bytes: Uint8Array }) {
    this.#record = record
    this.#awaySinceMs = nowMs
    this.#hints = new TokenBucket(HINTS, nowMs)
  }

  view(): { readonly neighbours: number; readonly peers: number; readonly kept: number; readonly heard: number } {
    return { neighbours: this.#neighbours.length, peers: this.#open.size, kept: this.#known.size, heard: this.#heard }
  }

  /** Whether the peer may say one thing more; asked before anything that it says is looked at. */
  mayHear(peer: PeerIdString, nowMs: number): boolean {
    const known = this.#frames.get(peer)
    if (known === undefined && this.#frames.size >= SPEAKERS_MAX) return false
    const frames = known ?? new TokenBucket(FRAMES, nowMs)
    this.#frames.set(peer, frames)
    return frames.take(1, nowMs)
  }

  apply(event: SpreadEvent, nowMs: number): readonly SpreadEffect[] {
    this.#effects = []
    switch (event.kind) {
      case 'online':
        if (this.#awaySinceMs !== undefined) this.#onlineSinceMs = nowMs
        this.#awaySinceMs = undefined
        break
      case 'away':
        if (this.#awaySinceMs !== undefined) break
        this.#awaySinceMs = nowMs
        // The stream may have been dead for a while: what was said meanwhile was for this node, too.
        for (const { hint } of this.#known.values()) if (hint.expiresAtMs > nowMs) this.#act(hint)
        break
      case 'neighbours':
        this.#neighbours = event.peers
        break
      case 'opened':
        this.#opened(event.peer, event.dialled, nowMs)
        break
      case 'closed':
        this.#open.delete(event.peer)
        break
      case 'record':
        this.#heardRecord(event)
        break
      case 'hint':
        this.#heardHint(event, nowMs)
        break
      case 'tick':
        this.#tick(event.draw, nowMs)
        break
    }
    return this.#effects
  }

  #opened(peer: PeerIdString, dialled: boolean, nowMs: number): void {
    if (!this.#open.has(peer) && this.#open.size >= HINT_PEERS_MAX) {
      this.#effects.push({ kind: 'close', peer })
      return
    }
    this.#open.set(peer, { dialled })
    if (this.#record !== undefined) this.#send(peer, { kind: 'record', bytes: this.#record.bytes })
    for (const { hint, bytes } of this.#known.values()) if (hint.expiresAtMs > nowMs) this.#send(peer, { kind: 'hint', bytes })
  }

  #heardRecord({ from, sequence, bytes }: Extract<SpreadEvent, { kind: 'record' }>): void {
    if (this.#record !== undefined && sequence <= this.#record.sequence) return
    this.#record = { sequence, bytes }
    this.#heard += 1
    this.#effects.push({ kind: 'keep', bytes })
    if (this.#awaySinceMs !== undefined) this.#effects.push({ kind: 'wake' })
    this.#pass({ kind: 'record', bytes }, from)
  }

  #heardHint({ from, id, hint, bytes }: Extract<SpreadEvent, { kind: 'hint' }>, nowMs: number): void {
    if (hint.expiresAtMs <= nowMs || hint.sequence <= this.#floor || this.#known.has(id)) return
    if (!this.#hints.take(1, nowMs)) return
    this.#heard += 1
    this.#known.set(id, { hint, bytes })
    this.#forget(nowMs)
    if (this.#awaySinceMs !== undefined) this.#act(hint)
    this.#pass({ kind: 'hint', bytes }, from)
  }

  #act({ kind, replicas }: Hint): void {
    if (kind === 'work') this.#effects.push({ kind: 'wake' })
    else if (replicas.length > 0) this.#effects.push({ kind: 'end', what: kind, replicas })
  }

  /** What is over is kept out by its time, and needs no remembering. */
  #forget(nowMs: number): void {
    for (const [id, { hint }] of this.#known) if (hint.expiresAtMs <= nowMs) this.#known.delete(id)
    while (this.#known.size > HINTS_KEPT_MAX) {
      const [oldest] = [...this.#known].sort(([, a], [, b]) => a.hint.sequence - b.hint.sequence)
      if (oldest === undefined) return
      this.#floor = Math.max(this.#floor, oldest[1].hint.sequence)
      this.#known.delete(oldest[0])
    }
  }

  #tick(draw: number, nowMs: number): void {
    this.#forget(nowMs)
    for (const [peer, frames] of this.#frames) if (!this.#open.has(peer) && frames.isFull(nowMs)) this.#frames.delete(peer)
    for (const [peer, atMs] of this.#dialledMs) if (nowMs - atMs >= REDIAL_MS) this.#dialledMs.delete(peer)
    if (this.#awaySinceMs === undefined) {
      if (nowMs - this.#onlineSinceMs >= LINGER_MS) for (const [peer, { dialled }] of this.#open) if (dialled) this.#effects.push({ kind: 'close', peer })
      return
    }
    if (nowMs - this.#awaySinceMs < STRANDED_MS) return
    const first = Math.floor(draw * this.#neighbours.length)
    const inTurn = [...this.#neighbours.slice(first), ...this.#neighbours.slice(0, first)]
    let wanted = HINT_DIALS - this.#open.size
    for (const peer of inTurn) {
      if (wanted <= 0) break
      if (this.#open.has(peer) || this.#dialledMs.has(peer)) continue
      this.#dialledMs.set(peer, nowMs)
      this.#effects.push({ kind: 'dial', peer })
      wanted -= 1
    }
  }

  #pass(what: Passed, from: PeerIdString | null): void {
    for (const peer of this.#open.keys()) if (peer !== from) this.#send(peer, what)
  }

  #send(peer: PeerIdString, what: Passed): void {
    this.#effects.push({ kind: 'send', peer, what })
  }
}
