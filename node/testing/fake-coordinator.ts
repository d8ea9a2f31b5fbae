/** A scripted coordinator over real libp2p: speaks the control protocol, grants what is asked, and remembers everything. */
import { encodeManifest, type RunManifest } from '#protocol/bundle/manifest'
import { signBundles } from '#protocol/bundle/sign'
import { Link } from '#protocol/control/link'
import { CONTROL_PROTOCOL, decodeFrame, FRAME_BYTES_MAX, Frame, type Hello, type Holding, type ReturnedOne } from '#protocol/control/messages'
import type { ReplicaId } from '#protocol/ids'
import type { FrameStream, Host } from '#protocol/peer/host'
import { createHost } from '#protocol/peer/live/host'
import { decodeResult, RESULT_DOMAIN, type Result } from '#protocol/result/result'
import { leavesOf, rootOf } from '#protocol/signing/batch'
import { generateIdentity, type Signer, verify } from '#protocol/signing/keys'
import { until } from './live/until.ts'

export class FakeCoordinator {
  readonly signer: Signer
  readonly hellos: Hello[] = []
  readonly results = new Map<ReplicaId, Result>()
  readonly returned = new Map<ReplicaId, ReturnedOne>()
  readonly asked: ReplicaId[] = []
  readonly demands: number[] = []
  /** Data that the node says it has, in the order in which it came. */
  holdings: Holding[] = []
  heartbeats = 0
  byes = 0
  /** It answers no heartbeat. */
  silent = false
  reportFrames = 0
  /** What to do with a question to start. */
  grants: (replica: ReplicaId) => boolean = () => true
  /** Refuses every hello with this. */
  refusal: { readonly code: string; readonly message: string; readonly retryMs: number } | undefined
  /** Named as no longer wanted in the next welcome. */
  unknown: ReplicaId[] = []
  #host: Host | undefined
  #stream: FrameStream | undefined
  #link = new Link<Uint8Array>({ id: '', sent: 0, received: 0 })
  #addresses: string[] = []

  static async start(): Promise<FakeCoordinator> {
    const coordinator = new FakeCoordinator(await generateIdentity())
    await coordinator.listen('/ip4/127.0.0.1/tcp/0')
    return coordinator
  }

  private constructor(signer: Signer) {
    this.signer = signer
  }

  get host(): Host {
    if (this.#host === undefined) throw new Error('the coordinator is down')
    return this.#host
  }

  get addresses(): string[] {
    return this.#addresses
  }

  get connected(): boolean {
    return this.#stream !== undefined
  }

  /** Comes (back) up; what it knew it still knows. */
  async listen(address = this.#addresses[0]?.split('/p2p/')[0] ?? '', bootstrap: readonly string[] = []): Promise<void> {
    this.#host = await createHost({
      signer: this.signer,
      listen: [address],
      role: 'server',
      ...(bootstrap.length === 0 ? {} : { dht: { bootstrap, serve: true, allowPrivate: true } })
    })
    this.#addresses = this.#host.addresses()
    await this.#host.handle(CONTROL_PROTOCOL, { frameBytesMax: FRAME_BYTES_MAX }, (stream) => this.#serve(stream))
  }

  /** Goes down without a word. */
  async down(): Promise<void> {
    const host = this.#host
    this.#host = undefined
    this.#stream?.abort(new Error('down'))
    await host?.stop()
  }

  /** Loses its memory of the node's link. */
  forget(): void {
    this.#link = new Link<Uint8Array>({ id: '', sent: 0, received: 0 })
  }

  assign(replica: ReplicaId, manifest: RunManifest, signer: Signer = this.signer): void {
    const bytes = encodeManifest(manifest)
    const lease = { replica, epoch: 1, manifest: new Uint8Array(bytes), gpus: [] }
    this.#send({ assign: { leases: [lease], signature: new Uint8Array(signBundles(signer, [bytes])) } })
  }

  cancel(...replicas: ReplicaId[]): void {
    this.#send({ cancel: { replicas, reason: 'killed' } })
  }

  release(...replicas: ReplicaId[]): void {
    this.#send({ release: { replicas } })
  }

  /** Bytes that are no frame. */
  garbage(bytes: Uint8Array): void {
    void this.#stream?.write(bytes).catch(() => undefined)
  }

  /** A frame whose number leaves some out. */
  skipNumbers(): void {
    void this.#stream?.write(Frame.encode({ seq: this.#link.sent + 6, release: { replicas: [] } })).catch(() => undefined)
  }

  async resultOf(replica: ReplicaId): Promise<Result> {
    return await until(`the result of ${replica}`, () => {
      const returned = this.returned.get(replica)
      if (returned !== undefined) throw new Error(`${replica} was given back: ${returned.class} ${returned.code}, ${returned.message}`)
      return this.results.get(replica)
    })
  }

  async returnOf(replica: ReplicaId): Promise<ReturnedOne> {
    return await until(`the return of ${replica}`, () => this.returned.get(replica))
  }

  async node(): Promise<void> {
    await until('the node to connect', () => this.connected)
  }

  #send(body: Omit<Frame, 'seq' | 'ack'>): void {
    const bytes = Frame.encode({ ...body, seq: this.#link.sent + 1, ack: 0 })
    this.#link.push(bytes)
    void this.#stream?.write(bytes).catch(() => undefined)
  }

  async #serve(stream: FrameStream): Promise<void> {
    try {
      for await (const bytes of stream.frames()) {
        const frame = decodeFrame(bytes)
        if (frame === undefined) throw new Error('the node sent garbage')
        if (frame.hello !== undefined) await this.#greet(stream, frame.hello)
        else this.#take(stream, frame)
      }
    } catch {
      // The stream broke, as they do.
    } finally {
      if (this.#stream === stream) this.#stream = undefined
    }
  }

  async #greet(stream: FrameStream, hello: Hello): Promise<void> {
    this.hellos.push(hello)
    this.demands.push(hello.demand?.slots ?? -1)
    this.holdings = hello.holdings
    if (this.refusal !== undefined) {
      await stream.write(Frame.encode({ refused: this.refusal }))
      await stream.close()
      return
    }
    const id = Buffer.from(hello.link).toString('hex')
    const resumed = id === this.#link.id && this.#link.resumable(hello.received)
    if (!resumed) this.#link = new Link<Uint8Array>({ id: Buffer.from(hello.spare).toString('hex'), sent: 0, received: 0 })
    this.#link.acknowledge(hello.received)
    await stream.write(Frame.encode({ welcome: { version: 1, epoch: 1, resumed, received: this.#link.received, heartbeatMs: 100, unknown: this.unknown } }))
    for (const { payload } of this.#link.pending()) await stream.write(payload)
    this.#stream = stream
  }

  #take(stream: FrameStream, frame: Frame): void {
    if (frame.ack > 0) this.#link.acknowledge(frame.ack)
    if (frame.heartbeat !== undefined) this.#beat(stream)
    if (frame.demand !== undefined) this.demands.push(frame.demand.slots)
    if (frame.holdings !== undefined) {
      const { got, dropped } = frame.holdings
      this.holdings = [...this.holdings.filter(({ root }) => !dropped.includes(root)), ...got]
    }
    if (frame.seq === 0) return
    const place = this.#link.accept(frame.seq)
    if (place === 'gap') throw new Error(`the node skipped to ${frame.seq}`)
    void stream.write(Frame.encode({ ack: this.#link.received })).catch(() => undefined)
    if (place === 'duplicate') return
    if (frame.bye !== undefined) this.byes++
    for (const one of frame.returned?.replicas ?? []) this.returned.set(one.replica, one)
    if (frame.reports !== undefined) this.#report(frame.reports)
    const asked = (frame.start?.replicas ?? []).map(({ replica }) => replica)
    this.asked.push(...asked)
    if (asked.length > 0) this.#send({ grant: { granted: asked.filter(this.grants), refused: asked.filter((replica) => !this.grants(replica)) } })
  }

  #beat(stream: FrameStream): void {
    this.heartbeats++
    if (!this.silent) void stream.write(Frame.encode({ ack: this.#link.received })).catch(() => undefined)
  }

  #report({ results, signature }: NonNullable<Frame['reports']>): void {
    this.reportFrames++
    const root = rootOf(leavesOf(results))
    for (const body of results) {
      const result = decodeResult(body)
      if (result === undefined || !verify(result.node, RESULT_DOMAIN, root, signature)) throw new Error('a result is not signed')
      if (this.results.has(result.replica)) throw new Error(`${result.replica} was reported twice`)
      this.results.set(result.replica, result)
    }
  }
}
