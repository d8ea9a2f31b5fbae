/**
 * The node's end of the control stream: finds the coordinator, opens the stream, says hello, reads frames into events and
 * writes what the agent sends; and does it again, with growing and scattered pauses, for as long as the node lives.
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
import type { PeerIdString } from '#protocol/ids'
import { type FrameStream, type Host, HostError, StreamError } from '#protocol/peer/host'
import { RecordError, verifyRecord } from '#protocol/record/record'
import type { AgentEvent, Effect, OfferedLease } from './agent/events.ts'
import { NodeError } from './errors.ts'
import type { LeaseCheck } from './leases.ts'
import { pause } from './pause.ts'
import { CONNECT_MS_MAX, HEARTBEAT_MS, HEARTBEAT_MS_MAX, HEARTBEAT_MS_MIN, RECONNECT_FIRST_MS, RECONNECT_MS_MAX } from './policy.ts'
import type { Clock, Logger, Random } from './ports.ts'

export interface ConnectionOptions {
  readonly project: PeerIdString
  readonly addresses: readonly string[]
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
  readonly leases: LeaseCheck
  readonly onEvent: (event: AgentEvent) => void
  /** Waits while too much is not yet durable. */
  readonly room: () => Promise<void>
  /** The project does not want this node: it stays away until its owner has read why. */
  readonly onRefused: (error: NodeError) => void
}

type Hello = Extract<Effect, { kind: 'hello' }>

export class Connection {
  readonly #ports: ConnectionPorts
  readonly #options: ConnectionOptions
  readonly #stopping = new AbortController()
  #stream: FrameStream | undefined
  #welcomed = false
  #over: Promise<void> | undefined
  #trouble = 'not connected yet'
  #wakeUp: (() => void)[] = []

  constructor(ports: ConnectionPorts, options: ConnectionOptions) {
    this.#ports = ports
    this.#options = options
  }

  /** Why there is no connection; empty when there is one. */
  get trouble(): string {
    return this.#trouble
  }

  start(): void {
    this.#over = this.#live()
  }

  /** Resolves when the coordinator has welcomed the node; rejects with the signal's reason. */
  async online(signal: AbortSignal): Promise<void> {
    while (!this.#welcomed) {
      signal.throwIfAborted()
      await new Promise<void>((resolve) => {
        this.#wakeUp.push(resolve)
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    }
    signal.throwIfAborted()
  }

  /** The first frame of a stream. */
  hello({ link, received, replicas, slots }: Hello): void {
    const { project, agent, name, capabilities } = this.#options
    const hello = {
      versions: [CONTROL_VERSION],
      link: new Uint8Array(link),
      received,
      project,
      capabilities,
      replicas: [...replicas],
      agent,
      name,
      demand: { slots }
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

  /** Drops the stream; the next one begins after a pause. */
  drop(message: string): void {
    this.#stream?.abort(new StreamError('malformed', message))
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the node stops'))
    await this.#stream?.close().catch(() => undefined)
    this.#stream?.abort(new StreamError('closed', 'the node stops'))
    await this.#over
  }

  #write(frame: Uint8Array): void {
    // The reader of `gone` learns of a broken stream; what could not be sent is replayed on the next.
    this.#stream?.write(frame).catch(() => undefined)
  }

  async #live(): Promise<void> {
    const { signal } = this.#stopping
    let failures = 0
    while (!signal.aborted) {
      try {
        await this.#once(signal, () => {
          failures = 0
        })
        this.#trouble = 'the coordinator closed the connection; trying again'
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof NodeError) {
          this.#trouble = error.message
          if (error.code === 'refused') {
            this.#ports.onRefused(error)
            return
          }
        }
        this.#trouble = error instanceof Error ? error.message : String(error)
      }
      if (signal.aborted) return
      const waitMs = this.#pauseMs(failures++)
      this.#ports.logger.info({ why: this.#trouble, waitMs }, 'not connected to the project; trying again')
      await pause(this.#ports.clock, waitMs, signal).catch(() => undefined)
    }
  }

  /** Doubling up to a bound, scattered over its upper half: after a coordinator's restart not all its nodes come at once. */
  #pauseMs(failures: number): number {
    const most = Math.min(RECONNECT_MS_MAX, RECONNECT_FIRST_MS * 2 ** Math.min(failures, 16))
    const [draw = 0] = this.#ports.random.bytes(1)
    return Math.round((most / 2) * (1 + draw / 255))
  }

  async #once(signal: AbortSignal, onWelcome: () => void): Promise<void> {
    const { host, clock, onEvent, logger } = this.#ports
    const { project } = this.#options
    const late = new AbortController()
    const cancelLate = clock.after(CONNECT_MS_MAX, () => {
      late.abort(new Error('the coordinator did not answer in time'))
      this.drop('no welcome in time')
    })
    let stopHeart = (): void => {}
    try {
      const both = AbortSignal.any([signal, late.signal])
      await this.#reach(both)
      const stream = await host.open(project, CONTROL_PROTOCOL, { frameBytesMax: FRAME_BYTES_MAX }, both)
      this.#stream = stream
      onEvent({ kind: 'connected' })
      for await (const bytes of stream.frames()) {
        const frame = decodeFrame(bytes)
        if (frame === undefined) throw new StreamError('malformed', 'the coordinator sent something that is not a message of this protocol')
        if (!this.#welcomed) {
          const welcome = this.#welcomeIn(frame)
          if (welcome === undefined) continue
          cancelLate()
          onWelcome()
          this.#welcomed = true
          this.#trouble = ''
          for (const wake of this.#wakeUp.splice(0)) wake()
          onEvent({ kind: 'welcome', resumed: welcome.resumed, received: welcome.received, unknown: welcome.unknown, spare: this.#ports.random.bytes(16) })
          stopHeart = this.#beat(welcome.heartbeatMs)
          logger.info({ project, epoch: welcome.epoch, resumed: welcome.resumed }, 'connected to the project')
          continue
        }
        this.#take(frame)
        await this.#ports.room()
      }
    } finally {
      cancelLate()
      stopHeart()
      const wasOpen = this.#stream !== undefined
      this.#stream?.abort(new StreamError('closed', 'the stream is over'))
      this.#stream = undefined
      this.#welcomed = false
      if (wasOpen) onEvent({ kind: 'disconnected' })
    }
  }

  /** Connects to a pinned address, or to those in the project's record when none of them answers. */
  async #reach(signal: AbortSignal): Promise<void> {
    const { host, clock } = this.#ports
    const { project, addresses, lookUp } = this.#options
    let missed: unknown
    if (addresses.length > 0) {
      try {
        await host.connect(project, addresses, signal)
        return
      } catch (error) {
        if (!lookUp) throw error
        missed = error
      }
    }
    const bytes = await host.findRecord(project, signal)
    if (bytes === undefined)
      throw missed ?? new HostError('unreachable', `nobody in the DHT knows project ${project}; check its id, or give an address with the invite`)
    try {
      const record = verifyRecord(bytes, { project, nowMs: clock.nowMs() })
      await host.connect(
        project,
        record.coordinators.flatMap((coordinator) => (coordinator.peer === project ? coordinator.addresses : [])),
        signal
      )
    } catch (error) {
      if (error instanceof RecordError) throw new HostError('unreachable', `the project's record in the DHT cannot be used: ${error.message}`, { cause: error })
      throw error
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

  #take(frame: Frame): void {
    const { onEvent, leases, logger } = this.#ports
    const { seq, ack } = frame
    if (ack > 0) onEvent({ kind: 'acked', seq: ack })
    if (frame.refused !== undefined) throw refusal(frame.refused)
    if (seq === 0) return
    if (frame.assign !== undefined) {
      const offered: OfferedLease[] = []
      for (const [index, checked] of leases.check(frame.assign).entries()) {
        if (checked !== undefined) offered.push(checked)
        if (checked?.ok !== true)
          logger.warn({ replica: frame.assign.leases[index]?.replica, why: checked?.fault.message ?? 'not a replica id' }, 'refused a lease')
      }
      onEvent({ kind: 'assign', seq, leases: offered })
    } else if (frame.grant !== undefined) onEvent({ kind: 'grant', seq, granted: frame.grant.granted, refused: frame.grant.refused })
    else if (frame.cancel !== undefined) onEvent({ kind: 'cancel', seq, replicas: frame.cancel.replicas, reason: frame.cancel.reason })
    else if (frame.release !== undefined) onEvent({ kind: 'release', seq, replicas: frame.release.replicas })
    else onEvent({ kind: 'skipped', seq })
  }

  /** A heartbeat every so often; the answer stops it. */
  #beat(everyMs: number): () => void {
    const ms = everyMs === 0 ? HEARTBEAT_MS : Math.min(Math.max(everyMs, HEARTBEAT_MS_MIN), HEARTBEAT_MS_MAX)
    const beat = Frame.encode({ heartbeat: {} })
    let cancel = (): void => {}
    const next = (): void => {
      cancel = this.#ports.clock.after(ms, () => {
        this.#write(beat)
        next()
      })
    }
    next()
    return () => cancel()
  }
}

function refusal({ code, message, retryMs }: Refused): NodeError {
  const why = `the project refuses this node: ${message} (${code})`
  return retryMs === 0 ? new NodeError('refused', why) : new NodeError('busy', why)
}
