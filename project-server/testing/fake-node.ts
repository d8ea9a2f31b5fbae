/** A node that speaks the control protocol and nothing else, for tests: what it says and when is the test's to choose. */
import { CID } from 'multiformats/cid'
import { decodeManifest, manifestCid } from '#protocol/bundle/manifest'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import { CONTROL_PROTOCOL, CONTROL_VERSION, decodeFrame, FRAME_BYTES_MAX, Frame, type Hello, type Lease } from '#protocol/control/messages'
import type { PeerIdString } from '#protocol/ids'
import type { FrameStream, Host } from '#protocol/peer/host'
import { createHost } from '#protocol/peer/live/host'
import { encodeResult, RESULT_DOMAIN, type Result } from '#protocol/result/result'
import { leavesOf, rootOf } from '#protocol/signing/batch'
import { generateIdentity, type Signer } from '#protocol/signing/keys'

export interface FakeNodeOptions {
  readonly project: PeerIdString
  readonly addresses: readonly string[]
  readonly slots?: number
  /** Runs whatever it is leased at once and reports it; else the test sends each message. */
  readonly automatic?: boolean
  /** What its results say, over the truth of an empty output. */
  readonly result?: (lease: Lease) => Partial<Result>
}

type Message = Partial<Omit<Frame, 'seq' | 'ack'>>

export class FakeNode {
  readonly host: Host
  readonly signer: Signer
  /** Everything received, over all streams. */
  readonly frames: Frame[] = []
  readonly leases = new Map<string, Lease>()
  readonly granted = new Set<string>()
  readonly refused = new Set<string>()
  readonly cancelled = new Set<string>()
  readonly #options: FakeNodeOptions
  readonly #link: Uint8Array
  /** Numbered frames that the coordinator has not acknowledged. */
  #outbox: Frame[] = []
  #sent = 0
  #received = 0
  #stream: FrameStream | undefined

  private constructor(host: Host, signer: Signer, options: FakeNodeOptions) {
    this.host = host
    this.signer = signer
    this.#options = options
    this.#link = Buffer.from(signer.peerId.slice(-16))
  }

  static async start(options: FakeNodeOptions): Promise<FakeNode> {
    const signer = await generateIdentity()
    const node = new FakeNode(await createHost({ signer, listen: [], role: 'volunteer' }), signer, options)
    await node.connect()
    return node
  }

  get peerId(): PeerIdString {
    return this.signer.peerId
  }

  get unacknowledged(): number {
    return this.#outbox.length
  }

  /** Aborted when the present control stream is gone. */
  get gone(): AbortSignal | undefined {
    return this.#stream?.gone
  }

  last<K extends keyof Message>(kind: K): Frame[K] | undefined {
    return this.frames.findLast((frame) => frame[kind] !== undefined)?.[kind]
  }

  /** Opens a new control stream, says hello and replays what was not acknowledged. */
  async connect(change: Partial<Hello> = {}, addresses = this.#options.addresses): Promise<void> {
    await this.host.connect(this.#options.project, addresses)
    const stream = await this.host.open(this.#options.project, CONTROL_PROTOCOL, { frameBytesMax: FRAME_BYTES_MAX })
    this.#stream = stream
    await stream.write(Frame.encode({ seq: 0, ack: 0, hello: { ...this.#hello(), ...change } }))
    void this.#read(stream).catch(() => undefined)
    for (const frame of this.#outbox) await stream.write(Frame.encode(frame))
  }

  /** A stream on which nothing was said yet. */
  async raw(): Promise<FrameStream> {
    await this.host.connect(this.#options.project, this.#options.addresses)
    return this.host.open(this.#options.project, CONTROL_PROTOCOL, { frameBytesMax: FRAME_BYTES_MAX })
  }

  /** Sends a numbered message, which is kept until it is acknowledged. */
  async say(message: Message): Promise<Frame> {
    const frame = { seq: ++this.#sent, ack: this.#received, ...message } as Frame
    this.#outbox.push(frame)
    await this.write(Frame.encode(frame))
    return frame
  }

  /** Sends an unnumbered message. */
  async tell(message: Message): Promise<void> {
    await this.write(Frame.encode({ seq: 0, ack: this.#received, ...message }))
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#stream?.write(bytes).catch(() => undefined)
  }

  async startReplicas(leases: readonly Lease[]): Promise<void> {
    await this.say({ start: { replicas: leases.map(({ replica, epoch }) => ({ replica, epoch })) } })
  }

  /** Reports these replicas in one signed batch. */
  async report(leases: readonly Lease[]): Promise<void> {
    const results = leases.map((lease) => new Uint8Array(encodeResult(this.resultOf(lease))))
    await this.say({ reports: { results, signature: new Uint8Array(this.signer.sign(RESULT_DOMAIN, rootOf(leavesOf(results)))) } })
  }

  resultOf(lease: Lease): Result {
    return {
      v: 1,
      project: this.#options.project,
      replica: lease.replica,
      bundle: manifestCid(lease.manifest),
      node: this.peerId,
      reason: 'exit',
      exitCode: 0,
      output: CID.parse(EMPTY_DIRECTORY),
      stdout: CID.parse(EMPTY_FILE),
      stderr: CID.parse(EMPTY_FILE),
      bytes: 0,
      startedAtMs: 1,
      endedAtMs: 2,
      cpuMs: 1,
      memoryPeakBytes: 1,
      ...this.#options.result?.(lease)
    }
  }

  /** Cuts the control stream; the connection stays. */
  cut(): void {
    this.#stream?.abort(new Error('cut by the test'))
  }

  async stop(): Promise<void> {
    await this.host.stop()
  }

  #hello(): Hello {
    const slots = this.#options.slots ?? 2
    return {
      versions: [CONTROL_VERSION],
      link: this.#link as Uint8Array<ArrayBuffer>,
      spare: this.#link as Uint8Array<ArrayBuffer>,
      received: this.#received,
      project: this.#options.project,
      capabilities: {
        platform: 'linux/amd64',
        engines: ['process', 'docker'],
        cpuMillis: 1000 * slots,
        memoryBytes: 2 ** 40,
        diskBytes: 2 ** 40,
        slots,
        tags: [],
        exclusive: [],
        gpus: [],
        ownerOnly: false,
        groups: []
      },
      replicas: [...this.leases.keys()],
      agent: 'fake',
      name: 'fake',
      demand: { slots },
      holdings: []
    }
  }

  async #read(stream: FrameStream): Promise<void> {
    for await (const bytes of stream.frames()) {
      const frame = decodeFrame(bytes)
      if (frame === undefined) throw new Error('the coordinator sent what is not a frame')
      this.frames.push(frame)
      this.#outbox = this.#outbox.filter(({ seq }) => seq > frame.ack)
      const { welcome, refused } = frame
      if (refused !== undefined) {
        await stream.close()
        return
      }
      if (welcome !== undefined && !welcome.resumed) this.#received = 0
      if (frame.seq > 0) {
        if (frame.seq <= this.#received) continue
        this.#received = frame.seq
        await this.tell({})
      }
      await this.#take(frame)
    }
  }

  async #take({ assign, grant, cancel }: Frame): Promise<void> {
    const automatic = this.#options.automatic === true
    if (assign !== undefined) {
      for (const lease of assign.leases) {
        decodeManifest(lease.manifest)
        this.leases.set(lease.replica, lease)
      }
      if (automatic) await this.startReplicas(assign.leases)
    }
    if (grant !== undefined) {
      for (const replica of grant.granted) this.granted.add(replica)
      for (const replica of grant.refused) this.refused.add(replica)
      const leases = grant.granted.flatMap((replica) => this.leases.get(replica) ?? [])
      if (automatic && leases.length > 0) {
        await this.report(leases)
        for (const { replica } of leases) this.leases.delete(replica)
      }
    }
    if (cancel !== undefined) for (const replica of cancel.replicas) this.cancelled.add(replica)
  }
}
