/** A node of its own that asks a project server for answers to heartbeats: what the round trip of control takes. */
import { randomBytes } from 'node:crypto'
import { setTimeout as passing } from 'node:timers/promises'
import { CONTROL_PROTOCOL, CONTROL_VERSION, FRAME_BYTES_MAX, Frame } from '#protocol/control/messages'
import type { FrameStream, Host } from '#protocol/peer/host'
import { createHost } from '#protocol/peer/live/host'
import { generateIdentity } from '#protocol/signing/keys'

const ANSWER_MS_MAX = 30_000

export class Probe {
  readonly #host: Host
  readonly #stream: FrameStream
  readonly #answers: AsyncGenerator<Uint8Array, void, undefined>

  private constructor(host: Host, stream: FrameStream) {
    this.#host = host
    this.#stream = stream
    this.#answers = stream.frames()
  }

  static async start(project: string, address: string): Promise<Probe> {
    const host = await createHost({ signer: await generateIdentity(), listen: [], role: 'volunteer' })
    await host.connect(project, [address])
    const probe = new Probe(host, await host.open(project, CONTROL_PROTOCOL, { frameBytesMax: FRAME_BYTES_MAX }))
    const capabilities = { platform: 'linux/amd64', engines: ['process'], cpuMillis: 1_000, memoryBytes: 2 ** 30, diskBytes: 2 ** 30, slots: 1 }
    const rest = { tags: [], gpus: [], exclusive: [], ownerOnly: false, groups: [] }
    const link = randomBytes(16)
    const hello = { versions: [CONTROL_VERSION], link, spare: link, received: 0, project, replicas: [], agent: 'bench', name: 'probe', holdings: [] }
    await probe.#ask(Frame.encode({ hello: { ...hello, capabilities: { ...capabilities, ...rest }, demand: { slots: 0 } } }))
    return probe
  }

  /** Milliseconds of each of so many, so far apart. */
  async roundTrips(count: number, everyMs: number): Promise<number[]> {
    const times: number[] = []
    while (times.length < count) {
      const from = performance.now()
      await this.#ask(Frame.encode({ heartbeat: {} }))
      times.push(performance.now() - from)
      await passing(everyMs)
    }
    return times
  }

  async stop(): Promise<void> {
    await this.#host.stop()
  }

  async #ask(frame: Uint8Array): Promise<void> {
    await this.#stream.write(frame)
    const late = new AbortController()
    const time = passing(ANSWER_MS_MAX, undefined, { signal: late.signal }).then(() => {
      throw new Error(`the server did not answer for ${ANSWER_MS_MAX / 1000} s`)
    })
    time.catch(() => undefined)
    const answer = await Promise.race([this.#answers.next(), time])
    late.abort()
    if (answer.done === true) throw new Error('the server ended the stream')
  }
}
