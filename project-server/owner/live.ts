/**
 * Questions to a node about a replica that it has: one stream each, over the node's own connection. Who asks how often, how
 * much at once and how many bytes is bounded for each client and each node, so that nobody's questions are in another's way.
 */
import type { PeerIdString } from '#protocol/ids'
import { decodeLiveFrame, LIVE_FRAME_BYTES_MAX, LIVE_PROTOCOL, type LiveErrorCode, type LiveFrame, LiveOpen } from '#protocol/live/messages'
import type { OwnerErrorCode } from '#protocol/owner/messages'
import { type FrameStream, HostError, StreamError } from '#protocol/peer/host'
import { clip } from '../control/inbound.ts'
import {
  HELD_BACK_MS_MAX,
  LIVE_ANSWER_MS_MAX,
  LIVE_BYTES,
  LIVE_FRAME_COST_BYTES,
  LIVE_NODE_BYTES,
  LIVE_NODE_STREAMS_MAX,
  LIVE_OPENS,
  LIVE_READS_MAX,
  LIVE_READS_ON_NODE_MAX,
  LIVE_REFUSED_MS,
  LIVE_WHOLE_MS_MAX,
  MESSAGE_CHARS_MAX
} from '../policy.ts'
import type { Clock } from '../ports.ts'
import { Rates } from '../rates.ts'
import { pause } from './changes.ts'
import { OwnerError } from './request.ts'

export interface LivePorts {
  readonly nodes: {
    /** What a node is led over; undefined while it is away. */
    streamOf(node: PeerIdString): Pick<FrameStream, 'beside' | 'gone'> | undefined
  }
  readonly clock: Clock
}

/** What a node did not give, and may give another time, or another node: it is away, busy, or no longer has the replica. */
export class NodeLost extends Error {
  override readonly name = 'NodeLost'
}

/** Codes that say how it is, not that somebody could not say it. */
const REFUSALS: Readonly<Partial<Record<LiveErrorCode, OwnerErrorCode>>> = {
  no_file: 'not_found',
  is_directory: 'unreadable',
  not_a_directory: 'unreadable',
  link: 'unreadable',
  special: 'unreadable',
  changed: 'changed',
  too_large: 'too_large',
  malformed: 'unreadable'
}

export interface Asking {
  readonly client: PeerIdString
  readonly node: PeerIdString
  readonly signal: AbortSignal
  /** The node may be silent: it waits for something to happen. */
  readonly follow?: boolean
}

export class LiveNodes {
  readonly #ports: LivePorts
  readonly #opens = new Rates(LIVE_OPENS)
  readonly #bytes = new Rates(LIVE_BYTES)
  readonly #nodeBytes = new Rates(LIVE_NODE_BYTES)
  readonly #ofClient = new Map<PeerIdString, number>()
  /** Of a client on a node, as `node client`. */
  readonly #ofBoth = new Map<string, number>()
  readonly #ofNode = new Map<PeerIdString, number>()

  constructor(ports: LivePorts) {
    this.#ports = ports
  }

  isConnected(node: PeerIdString): boolean {
    return this.#ports.nodes.streamOf(node) !== undefined
  }

  /** One client's request, counted until the answer is called. Who asks too often waits for its turn; who has too much open waits, too, before it is refused. Throws OwnerError `unavailable`. */
  async enter(client: PeerIdString, signal: AbortSignal): Promise<() => void> {
    const { clock } = this.#ports
    if ((this.#ofClient.get(client) ?? 0) >= LIVE_READS_MAX) await pause(clock, LIVE_REFUSED_MS, signal)
    const leave = take(this.#ofClient, client, LIVE_READS_MAX, () => {
      throw new OwnerError('unavailable', `${LIVE_READS_MAX} readings of yours are open already: end one (Ctrl-C), or wait for it`)
    })
    const heldMs = this.#opens.charge(client, 1, clock.nowMs())
    if (heldMs > 0) await pause(clock, Math.min(heldMs, HELD_BACK_MS_MAX), signal)
    if (!signal.aborted) return leave
    leave()
    throw new OwnerError('unavailable', 'the request was given up')
  }

  /** Waits when the client took more than its share of bytes lately. */
  async pace(client: PeerIdString, bytes: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports
    const heldMs = this.#bytes.charge(client, bytes, clock.nowMs())
    if (heldMs > 0) await pause(clock, Math.min(heldMs, HELD_BACK_MS_MAX), signal)
  }

  /** The node's frames to one question, until the end that it says. Throws NodeLost; OwnerError for what it refuses. */
  async *ask(open: Partial<LiveOpen>, asking: Asking): AsyncGenerator<LiveFrame, void, undefined> {
    const { client, node, signal, follow = false } = asking
    const { verb, until = 0 } = open
    const busy = (): never => {
      throw new NodeLost('its node is asked too much at once; it is asked again in a moment')
    }
    const leaveNode = take(this.#ofNode, node, LIVE_NODE_STREAMS_MAX, busy)
    const led = this.#ports.nodes.streamOf(node)
    let leaveBoth = (): void => {}
    let stream: FrameStream | undefined
    const giveUp = (): void => stream?.abort(new Error('nobody waits for it any more'))
    let ended = false
    try {
      leaveBoth = take(this.#ofBoth, `${node} ${client}`, LIVE_READS_ON_NODE_MAX, busy)
      if (led?.beside === undefined) throw new NodeLost('its node is away')
      stream = await led.beside(LIVE_PROTOCOL, { frameBytesMax: LIVE_FRAME_BYTES_MAX, streamsMax: LIVE_NODE_STREAMS_MAX }, signal)
      for (const end of [signal, led.gone]) end.addEventListener('abort', giveUp, { once: true })
      if (signal.aborted) return
      if (led.gone.aborted) throw new NodeLost('its node is away')
      await stream.write(LiveOpen.encode(open))
      for await (const frame of this.#frames(stream, follow, verb === 'list' || verb === 'write' || until > 0)) {
        if (frame.code !== undefined) throw faultOf(frame.code, frame.message ?? '')
        await this.#paceNode(node, Math.max(frame.data?.length ?? 0, LIVE_FRAME_COST_BYTES), signal)
        yield frame
        if (!frame.end) continue
        ended = true
        return
      }
      throw new NodeLost('the node ended the stream early')
    } catch (error) {
      if (error instanceof HostError || error instanceof StreamError) throw new NodeLost(error.message, { cause: error })
      throw error
    } finally {
      for (const end of [signal, led?.gone]) end?.removeEventListener('abort', giveUp)
      leaveNode()
      leaveBoth()
      // What is left in the middle is not read to its end.
      if (ended) await stream?.close().catch(() => undefined)
      else stream?.abort(new Error('it is no longer read'))
    }
  }

  /** `bounded`: what is asked for is little, and a node that gives it drop by drop is given up, too. */
  async *#frames(stream: FrameStream, follow: boolean, bounded: boolean): AsyncGenerator<LiveFrame, void, undefined> {
    const { clock } = this.#ports
    const within = (ms: number, what: string): (() => void) =>
      follow ? () => {} : clock.after(ms, () => stream.abort(new Error(`the node ${what} for ${ms / 1000} s`)))
    const cancelAll = bounded ? within(LIVE_WHOLE_MS_MAX, 'has been at it') : () => {}
    let cancel = within(LIVE_ANSWER_MS_MAX, 'said nothing')
    try {
      for await (const bytes of stream.frames()) {
        cancel()
        const frame = decodeLiveFrame(bytes)
        if (frame === undefined) throw new NodeLost('the node sent what is no answer')
        yield frame
        cancel = within(LIVE_ANSWER_MS_MAX, 'said nothing')
      }
    } finally {
      cancel()
      cancelAll()
    }
  }

  async #paceNode(node: PeerIdString, bytes: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports
    const heldMs = this.#nodeBytes.charge(node, bytes, clock.nowMs())
    if (heldMs > 0) await pause(clock, Math.min(heldMs, HELD_BACK_MS_MAX), signal)
  }
}

function faultOf(code: string, message: string): Error {
  const text = clip(message, MESSAGE_CHARS_MAX)
  if (code === 'malformed') return new OwnerError('unreadable', 'its node does not know the question: its talko is older, and shows stdout and stderr only')
  const known = Object.entries(REFUSALS).find(([one]) => one === code)?.[1]
  return known === undefined ? new NodeLost(text === '' ? clip(code, 64) : text) : new OwnerError(known, text)
}

/** Counts one more, if there are fewer than `max`; the answer takes it away again, once. */
function take(counts: Map<string, number>, key: string, max: number, refuse: () => never): () => void {
  const before = counts.get(key) ?? 0
  if (before >= max) refuse()
  counts.set(key, before + 1)
  let left = false
  return () => {
    if (left) return
    left = true
    const now = (counts.get(key) ?? 1) - 1
    if (now === 0) counts.delete(key)
    else counts.set(key, now)
  }
}
