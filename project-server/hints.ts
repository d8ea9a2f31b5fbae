/**
 * Tells nodes that are away what they would be told if they were not, through those that they ask (protocol/hints): their
 * neighbours that are here are given the signed hint and keep it for them. Nothing depends on it, so what is too much, or whose
 * sending fails, is left out.
 */
import { encodeHintFrame, HINT_FRAME_BYTES_MAX, HINT_LIFE_MS_MAX, HINT_REPLICAS_MAX, HINTS_PROTOCOL, type HintKind, signHint } from '#protocol/hints/hints'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import type { Host } from '#protocol/peer/host'
import type { Signer } from '#protocol/signing/keys'
import type { Effect } from './coordinator/events.ts'
import { HINT_GATHER_MS, HINT_NODES_MAX, HINT_SEND_MS_MAX, HINTS_PER_SECOND } from './policy.ts'
import type { Clock } from './ports.ts'
import { Rates } from './rates.ts'

export interface HintsPorts {
  readonly host: Pick<Host, 'isConnected' | 'open'>
  readonly clock: Clock
  readonly signer: Pick<Signer, 'peerId' | 'sign'>
  /** Those that the node asks, as it was told. */
  readonly neighboursOf: (node: PeerIdString) => readonly PeerIdString[]
}

type Gathered = ReadonlyMap<HintKind, readonly ReplicaId[]>

export class Hints {
  readonly #ports: HintsPorts
  readonly #epoch: number
  readonly #rate = new Rates({ perSecond: HINTS_PER_SECOND, burst: HINTS_PER_SECOND })
  #waiting = new Map<PeerIdString, Map<HintKind, ReplicaId[]>>()
  #sequence = 0
  #stopped = false

  constructor(ports: HintsPorts, epoch: number) {
    this.#ports = ports
    this.#epoch = epoch
  }

  stop(): void {
    this.#stopped = true
    this.#waiting.clear()
  }

  /** Gathered for a moment: a batch that is killed is many of them. */
  hint({ what, node, replicas }: Extract<Effect, { kind: 'hint' }>): void {
    if (this.#stopped) return
    if (this.#waiting.size === 0) this.#ports.clock.after(HINT_GATHER_MS, () => this.#flush())
    const known = this.#waiting.get(node)
    if (known === undefined && this.#waiting.size >= HINT_NODES_MAX) return
    const gathered = known ?? new Map<HintKind, ReplicaId[]>()
    this.#waiting.set(node, gathered)
    const list = gathered.get(what) ?? []
    gathered.set(what, list)
    list.push(...replicas.slice(0, HINT_REPLICAS_MAX - list.length))
  }

  #flush(): void {
    const waiting = this.#waiting
    this.#waiting = new Map()
    for (const [node, gathered] of waiting) {
      const through = this.#ports.neighboursOf(node).filter((peer) => this.#ports.host.isConnected(peer))
      if (through.length === 0 || !this.#rate.take('', gathered.size, this.#ports.clock.nowMs())) continue
      const frames = this.#framesOf(gathered)
      for (const peer of through) this.#send(peer, frames).catch(() => undefined)
    }
  }

  #framesOf(gathered: Gathered): Uint8Array[] {
    const { signer, clock } = this.#ports
    const nowMs = clock.nowMs()
    const hints = [...gathered].map(([kind, replicas]) => {
      this.#sequence = Math.max(this.#sequence + 1, nowMs)
      const hint = {
        project: signer.peerId,
        sequence: this.#sequence,
        kind,
        epoch: this.#epoch,
        replicas,
        issuedAtMs: nowMs,
        expiresAtMs: nowMs + HINT_LIFE_MS_MAX
      }
      return encodeHintFrame({ kind: 'hint', bytes: signHint(signer, hint) })
    })
    return [encodeHintFrame({ kind: 'project', project: signer.peerId }), ...hints]
  }

  async #send(peer: PeerIdString, frames: readonly Uint8Array[]): Promise<void> {
    const late = new AbortController()
    const cancel = this.#ports.clock.after(HINT_SEND_MS_MAX, () => late.abort(new Error('no answer')))
    try {
      const stream = await this.#ports.host.open(peer, HINTS_PROTOCOL, { frameBytesMax: HINT_FRAME_BYTES_MAX }, late.signal)
      late.signal.addEventListener('abort', () => stream.abort(new Error('no answer')), { once: true })
      for (const frame of frames) await stream.write(frame)
      await stream.close()
    } finally {
      cancel()
    }
  }
}
