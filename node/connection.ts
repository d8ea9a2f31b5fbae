/**
 * The node's end of the control stream: finds the coordinator, opens the stream, says hello, reads frames into events and
 * writes what the agent sends; and does it again for as long as the node lives. When, is decided in calling.ts.
 */
import {
  type Capabilities,
  CONTROL_PROTOCOL,
  CONTROL_VERSION,
  decodeFrame,
  FRAME_BYTES_MAX,
  Frame,
  type Refused,
  type Welcome
} from '#protocol/control/messages'
import { Sequence } from '#protocol/control/sequence'
import type { PeerIdString } from '#protocol/ids'
import { messageOf } from '#protocol/message-of'
import { isRelayed, throughRelay } from '#protocol/peer/addresses'
import { type FrameListener, type FrameStream, type Host, HostError, StreamError } from '#protocol/peer/host'
import { listen } from '#protocol/peer/listen'
import { projectAddresses, RecordError, verifyRecord } from '#protocol/record/record'
import type { AgentEvent, Effect, OfferedLease } from './agent/events.ts'
import { type CallEvent, type CallState, FIRST_CALL, step } from './calling.ts'
import { NodeError } from './errors.ts'
import { checkLeases, nextBundles } from './leases.ts'
import { LAN_EVERY } from './policy.ts'
import type { Clock, Logger, Random } from './ports.ts'

export interface ConnectionOptions {
  readonly project: PeerIdString
  readonly addresses: readonly string[]
  /** Relays at which the project may have a place, with `/p2p/<peer>`. */
  readonly relays?: readonly string[]
  /** The last signed record of the project that came here. */
  readonly known?: () => Uint8Array | undefined
  /** Asks for the project in this machine's own network. */
  readonly onLan?: (signal: AbortSignal) => Promise<Uint8Array | undefined>
  /** Look the project up in the DHT when no pinned address answers. */
  readonly lookUp: boolean
  readonly name: string
  readonly agent: string
  readonly capabilities: Capabilities
}

export interface ConnectionPorts {
  readonly host: Host
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** Whose connection it is. */
export interface ConnectionOwner {
  apply(event: AgentEvent): void
  /** A promise while too much is not yet durable: reading waits for it. */
  room(): Promise<void> | undefined
  /** The project does not want this node: it stays away until its owner has read why. */
  refused(error: NodeError): void
}

type Hello = Extract<Effect, { kind: 'hello' }>

const BEAT = Frame.encode({ heartbeat: {} })
const NOTHING = (): void => {}

export class Connection implements FrameListener {
  readonly #ports: ConnectionPorts
  readonly #options: ConnectionOptions
  readonly #owner: ConnectionOwner
  #state: CallState = FIRST_CALL
  /** Dialling and opening. */
  #attempt: AbortController | undefined
  #dialling: Promise<void> | undefined
  #stream: FrameStream | undefined
  /** Of this stream. */
  #sequence: Sequence | undefined
  /** The same, until its hello is answered: it would weigh on each of many simulated nodes. */
  #spare: Uint8Array | undefined
  #trouble = 'not connected yet'
  #wakeUp: (() => void)[] | undefined
  #cancelTime = NOTHING
  /** When the pause before the next call is over; undefined when there is none. */
  #dueMs: number | undefined
  #stopped = false

  constructor(ports: ConnectionPorts, options: ConnectionOptions, owner: ConnectionOwner) {
    this.#ports = ports
    this.#options = options
    this.#owner = owner
  }

  /** Why there is no connection; empty when there is one. */
  get trouble(): string {
    return this.#trouble
  }

  get #welcomed(): boolean {
    return this.#state.at === 'online'
  }

  start(): void {
    this.#time()
  }

  /** Resolves when the coordinator has welcomed the node; rejects with the signal's reason. */
  async online(signal: AbortSignal): Promise<void> {
    while (!this.#welcomed) {
      signal.throwIfAborted()
      await new Promise<void>((resolve) => {
        this.#wakeUp ??= []
        this.#wakeUp.push(resolve)
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    }
    signal.throwIfAborted()
  }

  /** The first frame of a stream; of one that is over by now it is not said: on a slow disk it may be durable only when the next one is open. */
  hello({ link, spare, received, replicas, slots, holdings, next }: Hello): void {
    if (spare !== this.#spare) return
    const { project, agent, name, capabilities } = this.#options
    const hello = {
      versions: [CONTROL_VERSION],
      link: new Uint8Array(link),
      spare: new Uint8Array(spare),
      received,
      project,
      capabilities,
      replicas: [...replicas],
      agent,
      name,
      demand: { slots },
      holdings: [...holdings],
      next
    }
    this.#write(Frame.encode({ hello }))
  }

  /** Sends the frames of one commit, with the acknowledgement on the last of them. Before the welcome nothing but hello may go out: the agent replays what this drops. */
  send(frames: readonly Uint8Array[], ack: number): void {
    if (!this.#welcomed) return
    const acknowledgement = ack > 0 ? Frame.encode({ ack }) : undefined
    for (const frame of frames.slice(0, -1)) this.#write(frame)
    const last = frames.at(-1)
    // Messages may be concatenated: later fields of a message join the earlier ones.
    if (last !== undefined) this.#write(acknowledgement === undefined ? last : Buffer.concat([last, acknowledgement]))
    else if (acknowledgement !== undefined) this.#write(acknowledgement)
  }

  /** There is news of the project: a pause before the next call is cut short. */
  wake(): void {
    const [draw = 0] = this.#ports.random.bytes(1)
    this.#step({ kind: 'news', draw: draw / 255, leftMs: Math.max(0, (this.#dueMs ?? 0) - this.#ports.clock.nowMs()) })
  }

  /** Drops the stream; the next one begins after a pause. */
  drop(message: string): void {
    this.#stream?.abort(new StreamError('malformed', message))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelTime()
    this.#attempt?.abort(new Error('the node stops'))
    await this.#stream?.close().catch(() => undefined)
    this.#stream?.abort(new StreamError('closed', 'the node stops'))
    await this.#dialling
    this.#ended()
  }

  #write(frame: Uint8Array): void {
    // The reader of `gone` learns of a broken stream; what could not be sent is replayed on the next.
    if (this.#sequence !== undefined) this.#stream?.write(this.#sequence.next(frame)).catch(() => undefined)
  }

  #step(event: CallEvent): void {
    if (this.#stopped) return
    const { state, act, waitMs } = step(this.#state, event)
    this.#state = state
    if (waitMs !== undefined) this.#wait(waitMs)
    switch (act) {
      case 'call':
        this.#call()
        break
      case 'beat':
        this.#write(BEAT)
        break
      case 'give up':
        this.#hangUp('the coordinator did not answer in time')
        break
      case 'hang up':
        this.#hangUp('the coordinator has fallen silent')
        break
      case 'nothing':
        break
    }
  }

  #wait(ms: number): void {
    this.#cancelTime()
    this.#dueMs = this.#state.at === 'away' ? this.#ports.clock.nowMs() + ms : undefined
    this.#cancelTime = this.#ports.clock.after(ms, this.#time.bind(this))
  }

  #time(): void {
    this.#step({ kind: 'time' })
  }

  /** Not the stream alone: what carries it may be dead, and would carry the next one as badly. */
  #hangUp(why: string): void {
    this.#ports.host.disconnect(this.#options.project).catch(() => undefined)
    this.#attempt?.abort(new Error(why))
    this.drop(why)
  }

  #call(): void {
    const attempt = new AbortController()
    this.#attempt = attempt
    this.#dialling = this.#dial(attempt.signal)
      .then(
        (stream) => this.#opened(stream),
        (error: unknown) => this.#lost(error)
      )
      .finally(() => {
        this.#dialling = undefined
      })
  }

  async #dial(signal: AbortSignal): Promise<FrameStream> {
    await this.#reach(signal)
    return await this.#ports.host.open(this.#options.project, CONTROL_PROTOCOL, { frameBytesMax: FRAME_BYTES_MAX }, signal)
  }

  #opened(stream: FrameStream): void {
    this.#attempt = undefined
    if (this.#stopped) {
      stream.abort(new StreamError('closed', 'the node stops'))
      return
    }
    this.#stream = stream
    this.#sequence = new Sequence()
    this.#spare = this.#ports.random.bytes(16)
    this.#owner.apply({ kind: 'connected', spare: this.#spare })
    listen(stream, this)
  }

  /** None more comes while too much is not yet durable. */
  frame(bytes: Uint8Array): Promise<void> | undefined {
    this.#take(bytes)
    return this.#owner.room()
  }

  over(error: unknown): void {
    this.#lost(error ?? new Error('the coordinator closed the connection; trying again'))
  }

  /** The attempt failed, or the stream is over. */
  #lost(error: unknown): void {
    this.#attempt = undefined
    this.#ended()
    if (this.#stopped) return
    this.#trouble = messageOf(error)
    if (error instanceof NodeError && error.code === 'refused') {
      this.#stopped = true
      this.#cancelTime()
      this.#owner.refused(error)
      return
    }
    const [draw = 0] = this.#ports.random.bytes(1)
    this.#step({ kind: 'lost', draw: draw / 255 })
    this.#ports.logger.info({ why: this.#trouble }, 'not connected to the project; trying again')
  }

  #ended(): void {
    const stream = this.#stream
    if (stream === undefined) return
    this.#stream = undefined
    this.#sequence = undefined
    stream.abort(new StreamError('closed', 'the stream is over'))
    this.#owner.apply({ kind: 'disconnected' })
  }

  /** Connects to a pinned address, or to those in the project's record when none of them answers. */
  async #reach(signal: AbortSignal): Promise<void> {
    const { host, clock } = this.#ports
    const { project, relays = [], lookUp } = this.#options
    const places = [...this.#options.addresses, ...this.#known(), ...relays.map((relay) => throughRelay(relay, project))]
    const addresses = [...new Set(places.map((place) => withoutPeer(place, project)))]
    let missed: unknown
    if (addresses.length > 0) {
      try {
        await host.connect(project, addresses, signal)
        return
      } catch (error) {
        missed = error
      }
    }
    if (await this.#reachOnLan(signal)) return
    if (!lookUp) throw missed
    const bytes = await host.findRecord(project, signal)
    if (bytes === undefined)
      throw missed ?? new HostError('unreachable', `nobody in the DHT knows project ${project}; check its id, or give an address with the invite`)
    try {
      const record = verifyRecord(bytes, { project, nowMs: clock.nowMs() })
      await host.connect(project, projectAddresses(record), signal)
    } catch (error) {
      if (error instanceof RecordError) throw new HostError('unreachable', `the project's record in the DHT cannot be used: ${error.message}`, { cause: error })
      throw error
    }
  }

  /** A project whose address has changed is found where all are neighbours. */
  async #reachOnLan(signal: AbortSignal): Promise<boolean> {
    const { project, onLan } = this.#options
    // It takes a second, in which a project that was only restarted is not called.
    const { failures } = this.#state.at === 'calling' ? this.#state : { failures: 0 }
    const bytes = failures % LAN_EVERY === LAN_EVERY - 1 ? await onLan?.(signal) : undefined
    if (bytes === undefined) return false
    try {
      const { coordinators } = verifyRecord(bytes, { project, nowMs: this.#ports.clock.nowMs() })
      const addresses = coordinators.flatMap(({ addresses: all }) => all)
      await this.#ports.host.connect(project, addresses, signal)
      return true
    } catch {
      signal.throwIfAborted()
      return false
    }
  }

  /** Where the project was when it was last heard. */
  #known(): readonly string[] {
    const bytes = this.#options.known?.()
    if (bytes === undefined) return []
    const { project } = this.#options
    try {
      return projectAddresses(verifyRecord(bytes, { project, nowMs: this.#ports.clock.nowMs(), evenExpired: true }))
    } catch {
      return []
    }
  }

  /** undefined for a frame that may come before the welcome and says nothing. Throws NodeError when refused. */
  #welcomeIn({ welcome, refused }: Frame): Welcome | undefined {
    if (refused !== undefined) throw refusal(refused)
    if (welcome === undefined) return undefined
    if (welcome.version !== CONTROL_VERSION)
      throw new NodeError(
        'refused',
        `the project speaks version ${welcome.version} of the control protocol, this node version ${CONTROL_VERSION}; update talko`
      )
    return welcome
  }

  #take(bytes: Uint8Array): void {
    const frame = decodeFrame(bytes)
    if (frame === undefined) throw new StreamError('malformed', 'the coordinator sent something that is not a message of this protocol')
    const arrival = this.#sequence?.accept(frame)
    if (arrival === 'again') return
    if (arrival === 'gap') throw new StreamError('malformed', 'something that the coordinator said was lost on the way')
    if (this.#welcomed) {
      this.#step({ kind: 'heard' })
      this.#event(frame)
      return
    }
    const welcome = this.#welcomeIn(frame)
    if (welcome === undefined) return
    this.#spare = undefined
    this.#step({ kind: 'welcomed', heartbeatMs: welcome.heartbeatMs })
    this.#trouble = ''
    for (const wake of this.#wakeUp ?? []) wake()
    this.#wakeUp = undefined
    const { resumed, received, unknown } = welcome
    this.#owner.apply({ kind: 'welcome', resumed, received, unknown })
    this.#ports.logger.info({ project: this.#options.project, epoch: welcome.epoch, resumed }, 'connected to the project')
  }

  #event(frame: Frame): void {
    const owner = this.#owner
    const { seq, ack } = frame
    if (ack > 0) owner.apply({ kind: 'acked', seq: ack })
    if (frame.refused !== undefined) throw refusal(frame.refused)
    if (frame.next !== undefined) owner.apply({ kind: 'next', bundles: nextBundles(frame.next.manifests) })
    if (frame.taken !== undefined) owner.apply({ kind: 'taken', replicas: frame.taken.replicas })
    if (seq === 0) return
    if (frame.assign !== undefined) {
      const offered: OfferedLease[] = []
      for (const [index, checked] of checkLeases(this.#options.project, this.#options.capabilities, frame.assign).entries()) {
        if (checked !== undefined) offered.push(checked)
        if (checked?.ok !== true)
          this.#ports.logger.warn({ replica: frame.assign.leases[index]?.replica, why: checked?.fault.message ?? 'not a replica id' }, 'refused a lease')
      }
      owner.apply({ kind: 'assign', seq, leases: offered })
    } else if (frame.grant !== undefined) owner.apply({ kind: 'grant', seq, granted: frame.grant.granted, refused: frame.grant.refused })
    else if (frame.cancel !== undefined) owner.apply({ kind: 'cancel', seq, replicas: frame.cancel.replicas, reason: frame.cancel.reason })
    else if (frame.release !== undefined) owner.apply({ kind: 'release', seq, replicas: frame.release.replicas })
    else if (frame.reveal !== undefined) owner.apply({ kind: 'reveal', seq, replicas: frame.reveal.replicas })
    else owner.apply({ kind: 'skipped', seq })
  }
}

/** The same address with and without the peer at its end is dialled once. */
function withoutPeer(address: string, peer: PeerIdString): string {
  const end = `/p2p/${peer}`
  return address.endsWith(end) && !isRelayed(address) ? address.slice(0, -end.length) : address
}

function refusal({ code, message, retryMs }: Refused): NodeError {
  const why = `the project refuses this node: ${message} (${code})`
  return retryMs === 0 ? new NodeError('refused', why) : new NodeError('busy', why)
}
