/**
 * A peer that follows no rules: it says a proper hello, takes leases, and then lies, forges, repeats, skips and floods. It
 * overhears what honest nodes say, though it could not in the real world.
 */
import { CID } from 'multiformats/cid'
import { manifestCid } from '#protocol/bundle/manifest'
import { EMPTY_FILE } from '#protocol/content/content'
import { CONTROL_PROTOCOL, CONTROL_VERSION, decodeFrame, FRAME_BYTES_MAX, Frame } from '#protocol/control/messages'
import type { ReplicaId } from '#protocol/ids'
import type { FrameStream } from '#protocol/peer/host'
import { commitmentOf } from '#protocol/result/commitment'
import { encodeResult, RESULT_DOMAIN, type Result, voteOf } from '#protocol/result/result'
import { leavesOf, rootOf } from '#protocol/signing/batch'
import type { Signer } from '#protocol/signing/keys'
import type { Engine } from '../engine/engine.ts'
import { Process } from '../engine/process.ts'
import { FLOOD_ACTS, type HOSTILE_ACTS } from '../faults/case.ts'
import type { Random } from '../random.ts'
import { type FloodAct, Floods } from './floods.ts'
import { type Network, SimHost } from './network.ts'
import { NodePath } from './path.ts'
import { idOf } from './truth.ts'
import type { Witness } from './witness.ts'

type Act = (typeof HOSTILE_ACTS)[number]
type Body = Omit<Frame, 'seq' | 'ack'>

const PATH = { delayMs: 5, jitterMs: 3, loss: 0, patienceMs: 10_000 }
const AGAIN_MS = 1_500
const HEARTBEAT_MS = 2_500
const SLOTS = 2
const FLOOD = 50
const COPY_AFTER_MS = 1_000
/** Frames kept for saying them again. */
const KEPT_MAX = 64

export interface HostilePorts {
  readonly engine: Engine
  readonly network: Network
  readonly random: Random
  readonly signer: Signer
  readonly project: string
  /** The network that it calls from. */
  readonly place: number
  readonly witness: Witness
  /** A frame that an honest node sent lately, and a replica that another has. */
  readonly overheard: () => Uint8Array | undefined
  /** What an honest node said lately that the same task left. */
  readonly reported: (replica: ReplicaId) => Pick<Result, 'output' | 'stdout'> | undefined
  readonly anothers: () => { readonly replica: ReplicaId; readonly bundle: CID } | undefined
}

function isFlood(act: Act | FloodAct): act is FloodAct {
  return FLOOD_ACTS.some((flood) => flood === act)
}

interface Lease {
  readonly epoch: number
  readonly bundle: CID
  readonly asked: boolean
  readonly granted: boolean
  readonly sealed: boolean
  /** It asked only under an epoch that is not the lease's. */
  readonly cheated: boolean
}

export class Hostile {
  readonly #ports: HostilePorts
  readonly #process: Process
  readonly #host: SimHost
  readonly #floods: Floods
  readonly #leases = new Map<ReplicaId, Lease>()
  readonly #said: Uint8Array[] = []
  #stream: FrameStream | undefined
  #link = new Uint8Array(16)
  #sent = 0
  #received = 0
  #welcomed = false
  #hoards = false
  #copies = false

  constructor(ports: HostilePorts) {
    this.#ports = ports
    this.#process = new Process(ports.engine)
    this.#host = new SimHost(ports.network, this.#process, ports.signer.peerId, new NodePath({ ...PATH, network: ports.place }, ports.random.fork('path')))
    this.#floods = new Floods({
      host: this.#host,
      project: ports.project,
      witness: ports.witness,
      hello: () => this.#open(),
      frame: (body, numbered) => Frame.encode({ ...body, seq: numbered ? ++this.#sent : 0, ack: this.#received }),
      stream: () => this.#stream
    })
  }

  get hoards(): boolean {
    return this.#hoards
  }

  start(): void {
    this.#again()
    this.#beat()
  }

  /** It is gone for good. */
  stop(): void {
    this.#process.kill()
    this.#host.end(true)
  }

  act(act: Act | FloodAct): void {
    if (isFlood(act)) this.#floods.begin(act)
    else this.#act(act)
  }

  #act(act: Act): void {
    const { random, overheard, anothers } = this.#ports
    const own = [...this.#leases].find(([, { asked }]) => !asked)
    switch (act) {
      case 'garbage':
        for (let count = 0; count < FLOOD; count++) this.#raw(Uint8Array.from({ length: random.below(200) }, () => random.below(256)))
        return
      case 'replay': {
        for (const frame of this.#said) this.#raw(frame)
        const frame = overheard()
        if (frame !== undefined) this.#raw(frame)
        return
      }
      case 'gap':
        this.#sent += 3
        this.#say({ bye: {} })
        return
      case 'bad_ack':
        this.#raw(Frame.encode({ seq: 0, ack: 1_000_000 + random.below(1_000_000) }))
        return
      case 'forge': {
        const other = anothers()
        if (other !== undefined) this.#report(other.replica, other.bundle, { author: `12D3Koo${'x'.repeat(45)}`, claim: false })
        return
      }
      case 'steal': {
        const other = anothers()
        if (other === undefined) return
        this.#say({ start: { replicas: [{ replica: other.replica, epoch: 1 }] } })
        this.#report(other.replica, other.bundle, { claim: false })
        this.#say({ returned: { replicas: [{ replica: other.replica, class: 'node', code: 'mine', message: '' }] } })
        return
      }
      case 'old_epoch':
        if (own === undefined) return
        this.#leases.set(own[0], { ...own[1], asked: true, cheated: true })
        this.#say({ start: { replicas: [{ replica: own[0], epoch: own[1].epoch - 1 }] } })
        return
      case 'strange_field':
        // Fields 60 and 2047, which nobody knows, in a frame that says nothing else, and in a progress message.
        this.#raw(Uint8Array.of(0xe2, 0x03, 2, 1, 2))
        this.#raw(
          Buffer.concat([
            Frame.encode({ seq: ++this.#sent, ack: 0, progress: { replicas: [{ replica: own?.[0] ?? '', state: 'dancing' }] } }),
            Uint8Array.of(0xf8, 0x7f, 1)
          ])
        )
        return
      case 'ungranted':
        if (own !== undefined) this.#report(own[0], own[1].bundle, { claim: true })
        return
      case 'second_stream': {
        const old = this.#stream
        this.#open().catch(() => undefined)
        this.#process.after(300, () => {
          old?.write(Frame.encode({ seq: ++this.#sent, ack: 0, bye: {} })).catch(() => undefined)
        })
        return
      }
      case 'forget':
        if (this.#welcomed) this.#open(true).catch(() => undefined)
        return
      case 'hoard':
        this.#hoards = true
        return
      case 'copy':
        this.#copies = true
        return
    }
  }

  #again(): void {
    this.#process.after(AGAIN_MS, () => {
      this.#open().then(
        () => this.#again(),
        () => this.#again()
      )
    })
  }

  #beat(): void {
    this.#process.after(HEARTBEAT_MS, () => {
      if (this.#welcomed) this.#raw(Frame.encode({ seq: 0, ack: this.#received, heartbeat: {} }))
      this.#beat()
    })
  }

  /** A stream from its hello to its end; `goesOn`: over the link of the last one, but with nothing in hand. */
  async #open(goesOn = false): Promise<void> {
    const { project, random } = this.#ports
    await this.#host.connect(project, [])
    const stream = await this.#host.open(project, CONTROL_PROTOCOL, { frameBytesMax: FRAME_BYTES_MAX })
    this.#stream = stream
    this.#welcomed = false
    if (!goesOn) {
      this.#link = Uint8Array.from({ length: 16 }, () => random.below(256))
      this.#sent = 0
      this.#received = 0
    }
    this.#leases.clear()
    const capabilities = {
      platform: 'linux/amd64',
      engines: ['process'],
      cpuMillis: 1_000_000,
      memoryBytes: 2 ** 40,
      diskBytes: 2 ** 40,
      slots: SLOTS,
      tags: [],
      exclusive: [],
      gpus: [],
      ownerOnly: false,
      groups: []
    }
    const hello = {
      versions: [CONTROL_VERSION],
      link: this.#link,
      received: this.#received,
      project,
      capabilities,
      replicas: [],
      agent: 'x',
      name: 'x',
      demand: { slots: SLOTS },
      holdings: [],
      spare: this.#link
    }
    this.#raw(Frame.encode({ seq: 0, ack: 0, hello }))
    try {
      for await (const bytes of stream.frames()) {
        const frame = decodeFrame(bytes)
        if (frame !== undefined && this.#stream === stream) this.#hear(frame)
      }
    } catch {
      // It was sent away.
    }
    if (this.#stream === stream) this.#welcomed = false
  }

  #hear(frame: Frame): void {
    if (frame.welcome !== undefined) this.#welcomed = true
    if (frame.seq > 0) this.#received = frame.seq
    for (const { replica, epoch, manifest, granted = false, sealed = false } of frame.assign?.leases ?? []) {
      this.#leases.set(replica, { epoch, bundle: manifestCid(manifest), asked: false, granted, sealed, cheated: false })
      if (!this.#hoards) this.#process.after(500 + this.#ports.random.below(4_000), () => this.#ask(replica))
    }
    for (const replica of frame.grant?.granted ?? []) {
      const lease = this.#leases.get(replica)
      if (lease === undefined) continue
      if (lease.cheated) this.#ports.witness.wrong(`${replica} was granted under an epoch that is not its lease's`)
      this.#leases.set(replica, { ...lease, granted: true })
      this.#process.after(200, () => (lease.sealed ? this.#commit(replica, lease.bundle) : this.#report(replica, lease.bundle, { claim: true })))
    }
    for (const replica of frame.reveal?.replicas ?? []) {
      const lease = this.#leases.get(replica)
      // Who copies waits for another to speak first.
      if (lease !== undefined) this.#process.after(this.#copies ? COPY_AFTER_MS : 0, () => this.#reveal(replica, lease.bundle))
    }
    for (const replica of [...(frame.cancel?.replicas ?? []), ...(frame.grant?.refused ?? []), ...(frame.release?.replicas ?? [])]) this.#leases.delete(replica)
  }

  #ask(replica: ReplicaId): void {
    const lease = this.#leases.get(replica)
    if (lease === undefined || lease.asked || !this.#welcomed) return
    this.#leases.set(replica, { ...lease, asked: true })
    this.#say({ start: { replicas: [{ replica, epoch: lease.epoch }] } })
  }

  /** To what it will say; one that copies, to nothing. */
  #commit(replica: ReplicaId, bundle: CID): void {
    const body = this.#copies ? new Uint8Array(1) : encodeResult(this.#madeUp(replica, bundle))
    this.#say({ commits: { replicas: [{ replica, digest: new Uint8Array(commitmentOf(body)) }] } })
  }

  /** What it is bound to; one that copies says what it overheard of another's. */
  #reveal(replica: ReplicaId, bundle: CID): void {
    const { witness } = this.#ports
    const heard = this.#copies ? this.#ports.reported(replica) : undefined
    // Where it overheard nothing it may be bound to its own from before it began to copy.
    if (heard === undefined) {
      this.#report(replica, bundle, { claim: true })
      return
    }
    witness.see('a hostile node copied an answer')
    this.#send({ ...this.#madeUp(replica, bundle), ...heard })
  }

  /** A result that is all made up; `claim`: it is this peer's to make, and may count when it was granted. */
  #report(replica: ReplicaId, bundle: CID, { author, claim }: { readonly author?: string; readonly claim: boolean }): void {
    const { signer, witness } = this.#ports
    const result = { ...this.#madeUp(replica, bundle), node: author ?? signer.peerId }
    if (claim) for (const compareStdout of [true, false]) witness.claimed(signer.peerId, replica, voteOf(result, compareStdout))
    this.#send(result)
  }

  #send(result: Result): void {
    const body = new Uint8Array(encodeResult(result))
    this.#say({ reports: { results: [body], signature: new Uint8Array(this.#ports.signer.sign(RESULT_DOMAIN, rootOf(leavesOf([body])))) } })
  }

  #madeUp(replica: ReplicaId, bundle: CID): Result {
    const { signer, project } = this.#ports
    const none = CID.parse(EMPTY_FILE)
    return {
      v: 1,
      project,
      replica,
      bundle,
      node: signer.peerId,
      reason: 'exit',
      exitCode: 0,
      output: idOf(`made up by ${signer.peerId}`),
      stdout: none,
      stderr: none,
      bytes: 10,
      startedAtMs: 0,
      endedAtMs: 1,
      cpuMs: 1,
      memoryPeakBytes: 1
    }
  }

  #say(body: Body): void {
    this.#raw(Frame.encode({ ...body, seq: ++this.#sent, ack: this.#received }))
  }

  #raw(frame: Uint8Array): void {
    this.#said.push(frame)
    if (this.#said.length > KEPT_MAX) this.#said.shift()
    this.#stream?.write(frame).catch(() => undefined)
  }
}
