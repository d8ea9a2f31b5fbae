/**
 * Floods: a peer that says what is allowed, without end. It calls again and again, opens streams, says hello, beats, tells
 * of what it does not hold, asks as a client that nobody knows, and announces more than fits. What stops it is what
 * production has: the conduct of peer/conduct.ts, the rates of the control and of the owner service, the bounds of a frame.
 */
import { CONTROL_PROTOCOL, FRAME_BYTES_MAX, FRAME_ITEMS_MAX, type Frame } from '#protocol/control/messages'
import { decodeAnswer, OWNER_PROTOCOL, REQUEST_BYTES_MAX, Request } from '#protocol/owner/messages'
import type { FrameStream } from '#protocol/peer/host'
import type { FLOOD_ACTS } from '../faults/case.ts'
import type { SimHost } from './network.ts'
import type { Witness } from './witness.ts'

export type FloodAct = (typeof FLOOD_ACTS)[number]

const CALLS = 200
const STREAMS = 300
/** Streams are asked for by so many at once: more than a protocol may have. */
const STREAMS_AT_ONCE = 20
const HELLOS = 60
/** Each counts for sixteen frames: more than may come at once. */
const BEATS = 1_000
const BETWEEN_MS = 1
const REQUESTS = 300
const OWNER_STREAMS = 12
const STRANGE_REPLICA = `${'a'.repeat(26)}.0.1`

export interface FloodPorts {
  readonly host: SimHost
  readonly project: string
  readonly witness: Pick<Witness, 'see' | 'wrong'>
  /** Opens a control stream and says a proper hello; resolves when it is over. */
  hello(): Promise<void>
  /** The next frame of the control stream that is open, with what it carries. */
  frame(body: Omit<Frame, 'seq' | 'ack'>, numbered: boolean): Uint8Array
  /** The control stream that is open. */
  stream(): FrameStream | undefined
}

export class Floods {
  readonly #ports: FloodPorts

  constructor(ports: FloodPorts) {
    this.#ports = ports
  }

  begin(act: FloodAct): void {
    this.#flood(act).catch(() => undefined)
  }

  #flood(act: FloodAct): Promise<void> {
    switch (act) {
      case 'flood_calls':
        return this.#calls()
      case 'flood_streams':
        return this.#streams()
      case 'flood_hellos':
        return this.#hellos()
      case 'flood_frames':
        return this.#frames()
      case 'flood_requests':
        return this.#requests()
      case 'flood_large':
        return this.#large()
    }
  }

  /** Hangs up, and calls again at once. */
  async #calls(): Promise<void> {
    const { host, project } = this.#ports
    for (let call = 0; call < CALLS; call++) {
      await host.disconnect(project)
      await host.connect(project, []).catch(() => this.#wait(100))
    }
  }

  async #streams(): Promise<void> {
    const { host, project } = this.#ports
    for (let opened = 0; opened < STREAMS; opened += STREAMS_AT_ONCE) {
      const open = Array.from({ length: STREAMS_AT_ONCE }, () => host.open(project, CONTROL_PROTOCOL, { frameBytesMax: FRAME_BYTES_MAX }))
      await Promise.allSettled(open)
    }
  }

  async #hellos(): Promise<void> {
    for (let said = 0; said < HELLOS; said++) {
      void this.#ports.hello().catch(() => undefined)
      await this.#wait(50)
    }
  }

  /** Heartbeats and progress of what it does not run, without waiting for anything. */
  async #frames(): Promise<void> {
    const { frame } = this.#ports
    const strange = { replica: STRANGE_REPLICA, state: 'running' }
    for (let said = 0; said < BEATS; said++) {
      const stream = this.#ports.stream()
      const bytes = said % 4 > 0 ? frame({ heartbeat: {} }, false) : frame({ progress: { replicas: [strange] } }, true)
      stream?.write(bytes).catch(() => undefined)
      await this.#wait(BETWEEN_MS)
    }
    this.#ports.witness.see('a flood of frames was said to its end')
  }

  async #requests(): Promise<void> {
    const { host, project, witness } = this.#ports
    const options = { frameBytesMax: REQUEST_BYTES_MAX }
    const opened = await Promise.allSettled(Array.from({ length: OWNER_STREAMS }, () => host.open(project, OWNER_PROTOCOL, options)))
    for (const one of opened) {
      if (one.status === 'rejected') continue
      const stream = one.value
      this.#hear(stream).catch(() => undefined)
      for (let id = 1; id <= REQUESTS / OWNER_STREAMS; id++)
        stream.write(Request.encode({ id, cancel: false, query: { what: 'nodes', of: '', limit: 1, after: '' } })).catch(() => undefined)
    }
    if (opened.some(({ status }) => status === 'rejected')) witness.see('a flood was refused a stream')
  }

  async #hear(stream: FrameStream): Promise<void> {
    const { witness } = this.#ports
    for await (const bytes of stream.frames()) {
      const code = decodeAnswer(bytes)?.code
      if (code === 'not_owner' || code === 'unavailable') witness.see(`a stranger's request was refused: ${code}`)
      else witness.wrong(`a stranger was answered: ${code}`)
    }
  }

  /** A frame that is longer than any, and one that names more than may be named. */
  async #large(): Promise<void> {
    const { host, project, frame } = this.#ports
    const replicas = Array.from({ length: FRAME_ITEMS_MAX + 1 }, () => ({ replica: STRANGE_REPLICA, state: 'running' }))
    await this.#ports
      .stream()
      ?.write(frame({ progress: { replicas } }, true))
      .catch(() => undefined)
    const stream = await host.open(project, CONTROL_PROTOCOL, { frameBytesMax: 2 * FRAME_BYTES_MAX })
    await stream.write(new Uint8Array(FRAME_BYTES_MAX + 1))
  }

  #wait(ms: number): Promise<void> {
    return this.#ports.host.process.later(ms, () => undefined)
  }
}
