/**
 * The coordinator's side of the control protocol: hello within a bounded time, one stream a node (the newest wins), hostile
 * frames close their own stream and nothing else, and what the core sends goes out in order with acks riding along.
 */
import { CONTROL_PROTOCOL, CONTROL_VERSION, decodeFrame, FRAME_BYTES_MAX, Frame } from '#protocol/control/messages'
import type { PeerIdString } from '#protocol/ids'
import { messageOf } from '#protocol/message-of'
import { type FrameListener, type FrameStream, type Host, StreamError } from '#protocol/peer/host'
import { listen } from '#protocol/peer/listen'
import type { Rate } from '#protocol/token-bucket'
import type { Callers } from './callers.ts'
import type { Committer } from './commit.ts'
import { eventOf, type FrameFault, helloOf } from './control/inbound.ts'
import { Link, type OutboxBounds } from './control/link.ts'
import type { Effect } from './coordinator/events.ts'
import type { Logger } from './logger.ts'
import { pause } from './owner/changes.ts'
import {
  CONTROL_STREAMS_MAX,
  FRAMES,
  HEARTBEAT_FRAMES,
  HELD_BACK_MS_MAX,
  HELLO_MS_MAX,
  HELLOS,
  PARKED_COST,
  REFUSED_MS_MAX,
  REFUSED_RETRY_MS
} from './policy.ts'
import type { Clock } from './ports.ts'
import { Rates } from './rates.ts'

/** The code with which the core answers a hello that it does not welcome. */
const HELLO_REFUSED: readonly string[] = ['full', 'banned']

/** What no node says that means well, whatever its version. */
const BREACHES: readonly string[] = ['malformed', 'bad_signature']

export interface ControlPorts {
  readonly host: Pick<Host, 'handle'>
  readonly committer: Pick<Committer, 'apply' | 'room'>
  readonly clock: Clock
  readonly logger: Logger
  /** Of which network a caller is; without it only of those who call directly. */
  readonly callers?: Pick<Callers, 'whereFrom'>
}

export interface ControlOptions {
  readonly project: PeerIdString
  /** Its own nodes are no newcomers. */
  readonly administrator?: PeerIdString | undefined
  readonly epoch: number
  readonly heartbeatMs: number
  readonly outbox?: OutboxBounds
  readonly hellos?: Rate
  readonly frames?: Rate
}

export class ControlService {
  /** Streams closed by us, by reason. */
  readonly closed = new Map<string, number>()
  readonly #ports: ControlPorts
  readonly #options: ControlOptions
  readonly #links = new Map<PeerIdString, Link>()
  /** Hellos that the core has not answered yet, per node in order. */
  readonly #greeting = new Map<PeerIdString, Link[]>()
  readonly #touched = new Set<Link>()
  readonly #hellos: Rates
  readonly #frames: Rates
  #stopped = false

  constructor(ports: ControlPorts, options: ControlOptions) {
    this.#ports = ports
    this.#options = options
    this.#hellos = new Rates(options.hellos ?? HELLOS)
    this.#frames = new Rates(options.frames ?? FRAMES)
  }

  async start(): Promise<void> {
    await this.#ports.host.handle(CONTROL_PROTOCOL, { frameBytesMax: FRAME_BYTES_MAX, streamsMax: CONTROL_STREAMS_MAX }, (stream) => this.#serve(stream))
  }

  /** Ends every stream: nodes come back by themselves. Who calls before the host is stopped is not answered: what the core still says, it says to those of before. */
  stop(): void {
    this.#stopped = true
    for (const link of this.#links.values()) link.abort(new Error('the project server stops'))
    this.#links.clear()
    this.#greeting.clear()
  }

  isConnected(node: PeerIdString): boolean {
    return this.#links.has(node)
  }

  /** The stream over which a node is led now: what is asked of it beside that goes over the same connection, since an older one may be dead without anybody knowing. */
  streamOf(node: PeerIdString): FrameStream | undefined {
    const link = this.#links.get(node)
    return link?.welcomed === true ? link.stream : undefined
  }

  get connected(): number {
    return this.#links.size
  }

  /** Carries out one committed effect for a node. Call `flush` after the last of a commit. */
  carry(effect: Extract<Effect, { kind: 'welcome' | 'send' | 'ack' | 'disconnect' }>): void {
    if (this.#stopped) return
    switch (effect.kind) {
      case 'welcome':
        this.#welcome(effect)
        return
      case 'disconnect': {
        const link = this.#links.get(effect.node)
        // Who said hello may have gone before it was answered: the next answer is to the next one.
        if (link === undefined && HELLO_REFUSED.includes(effect.code)) this.#nextGreeting(effect.node)
        // Said of a stream that a newer one has replaced meanwhile, unless it is what the core answers this one's hello.
        if (link === undefined || (!link.welcomed && !HELLO_REFUSED.includes(effect.code))) return
        this.#greeting.delete(effect.node)
        this.#refuse(link, { code: effect.code, message: effect.message })
        return
      }
      default: {
        const link = this.#links.get(effect.node)
        if (link?.welcomed !== true) return
        this.#touched.add(link)
        if (effect.kind === 'ack') link.ack(effect.seq)
        else if (!link.push(effect.frame)) this.#drop(link, 'slow', 'the node reads too slowly; what it missed is replayed when it is back')
      }
    }
  }

  /** Sends what the effects of one commit left waiting. */
  flush(): void {
    for (const link of this.#touched) link.flush()
    this.#touched.clear()
  }

  #welcome(effect: Extract<Effect, { kind: 'welcome' }>): void {
    const link = this.#nextGreeting(effect.node)
    if (link === undefined || this.#links.get(effect.node) !== link) return
    link.welcomed = true
    const { epoch, heartbeatMs } = this.#options
    const { resumed, received, unknown } = effect
    link.push(Frame.encode({ seq: 0, ack: 0, welcome: { version: CONTROL_VERSION, epoch, resumed, received, heartbeatMs, unknown: [...unknown] } }))
    this.#touched.add(link)
  }

  /** Whose hello the core answers now. */
  #nextGreeting(node: PeerIdString): Link | undefined {
    const waiting = this.#greeting.get(node)
    const link = waiting?.shift()
    if (waiting?.length === 0) this.#greeting.delete(node)
    return link
  }

  #serve(stream: FrameStream): Promise<void> {
    const link = new Link(stream, this.#options.outbox)
    const cancel = this.#ports.clock.after(HELLO_MS_MAX, () => this.#drop(link, 'silent', 'no hello came'))
    return new Promise((resolve) => {
      listen(stream, new Caller(this, link, { cancel, resolve }))
    })
  }

  /** A frame of a stream; false when no more of it counts. For the streams' callers. */
  heard(link: Link, bytes: Uint8Array, greeted: boolean): boolean {
    const node = link.stream.remotePeer
    if (this.#stopped) link.abort(new Error('the project server stops'))
    if (link.closed || (greeted && this.#links.get(node) !== link)) return false
    if (!greeted && !this.#hellos.take(node, 1, this.#ports.clock.nowMs())) {
      this.#refuse(link, { code: 'too_often', message: 'the node says hello again and again; it may in a while' })
      return false
    }
    const frame = decodeFrame(bytes)
    const arrival = frame === undefined ? 'new' : link.sequence.accept(frame)
    if (arrival === 'again') return true
    if (arrival === 'gap') {
      this.#refuse(link, { code: 'gap', message: 'something that the node said was lost on the way' })
      return false
    }
    const { project, administrator } = this.#options
    const { callers } = this.#ports
    const address = link.stream.remoteAddress
    const inbound = greeted ? eventOf(frame, node, project) : helloOf(frame, node, project, { address, ...callers?.whereFrom(node, address), administrator })
    if ('fault' in inbound) {
      this.#refuse(link, inbound.fault)
      return false
    }
    if (inbound.event.kind === 'parked') this.#frames.charge(node, PARKED_COST * (frame?.parked?.results.length ?? 0), this.#ports.clock.nowMs())
    if (!greeted) this.#greet(node, link)
    this.#ports.committer.apply(inbound.event)
    if (frame !== undefined && frame.ack > 0 && inbound.event.kind !== 'hello') this.#ports.committer.apply({ kind: 'ack', node, seq: frame.ack })
    if (inbound.heartbeat === true) {
      this.#frames.charge(node, HEARTBEAT_FRAMES - 1, this.#ports.clock.nowMs())
      if (link.welcomed) {
        link.pulse()
        link.flush()
      }
    }
    return true
  }

  /** Undefined when there is room for what a caller says next; otherwise resolves when there is: for all, or for one that says more than its rate. */
  room(stream: FrameStream): Promise<void> | undefined {
    const { clock, committer } = this.#ports
    const heldMs = this.#frames.charge(stream.remotePeer, 1, clock.nowMs())
    const room = committer.room()
    if (heldMs === 0) return room
    const held = pause(clock, Math.min(heldMs, HELD_BACK_MS_MAX), stream.gone)
    return room === undefined ? held : Promise.all([held, room]).then(() => undefined)
  }

  /** A stream is over. */
  left(link: Link, error: unknown): void {
    const node = link.stream.remotePeer
    if (error !== undefined) this.#ports.logger.debug({ node, reason: messageOf(error) }, 'a control stream ended')
    this.#ended(node, link)
  }

  #greet(node: PeerIdString, link: Link): void {
    const old = this.#links.get(node)
    this.#links.set(node, link)
    if (old !== undefined) this.#drop(old, 'replaced', 'the node opened a newer control stream')
    const waiting = this.#greeting.get(node) ?? []
    waiting.push(link)
    this.#greeting.set(node, waiting)
    link.stream.gone.addEventListener('abort', () => this.#ended(node, link), { once: true })
  }

  #ended(node: PeerIdString, link: Link): void {
    if (this.#links.get(node) !== link) return
    this.#links.delete(node)
    this.#touched.delete(link)
    this.#ports.committer.apply({ kind: 'gone', node })
  }

  #drop(link: Link, code: string, message: string): void {
    this.#count(link, code, message)
    link.abort(new Error(message))
    this.#ended(link.stream.remotePeer, link)
  }

  /** Tells the node why, then ends its stream. */
  #refuse(link: Link, fault: FrameFault | { code: string; message: string }): void {
    this.#count(link, fault.code, fault.message)
    if (BREACHES.includes(fault.code)) link.stream.accuse?.(fault.message)
    const lasting = fault.code === 'wrong_project' || fault.code === 'version'
    const frame = Frame.encode({ seq: 0, ack: 0, refused: { code: fault.code, message: fault.message, retryMs: lasting ? 0 : REFUSED_RETRY_MS } })
    const reset = new Error(fault.message)
    const cancel = this.#ports.clock.after(REFUSED_MS_MAX, () => link.abort(reset))
    link.stream.gone.addEventListener('abort', cancel, { once: true })
    link.end(frame).catch(() => link.abort(reset))
    this.#ended(link.stream.remotePeer, link)
  }

  #count(link: Link, code: string, message: string): void {
    this.closed.set(code, (this.closed.get(code) ?? 0) + 1)
    this.#ports.logger.info({ node: link.stream.remotePeer, address: link.stream.remoteAddress, code, reason: message }, 'closed a control stream')
  }
}

/** The other end of one control stream. */
class Caller implements FrameListener {
  readonly #service: ControlService
  readonly #link: Link
  readonly #over: () => void
  /** Until its hello has come. */
  #cancel: (() => void) | undefined

  constructor(service: ControlService, link: Link, { cancel, resolve }: { readonly cancel: () => void; readonly resolve: () => void }) {
    this.#service = service
    this.#link = link
    this.#cancel = cancel
    this.#over = resolve
  }

  frame(bytes: Uint8Array): Promise<void> | undefined {
    const greeted = this.#cancel === undefined
    this.#cancel?.()
    this.#cancel = undefined
    if (!this.#service.heard(this.#link, bytes, greeted)) throw new StreamError('closed', 'nothing more of this stream counts')
    return this.#service.room(this.#link.stream)
  }

  over(error: unknown): void {
    this.#cancel?.()
    this.#service.left(this.#link, error)
    this.#over()
  }
}
