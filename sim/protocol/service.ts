/** The real node service on a simulated machine, over any host. */

import type { NodeError } from '#node/errors'
import { Exchange } from '#node/exchange'
import { ParkingService } from '#node/parking/service'
import { UPLOAD_PER_SECOND } from '#node/policy'
import type { Ended, Execution, Executor, NodeStore, Workspace } from '#node/ports'
import { NodeService, type ServiceOptions, type ServicePorts } from '#node/service'
import { SILENT } from '#project-server/logger'
import type { ContentStore } from '#protocol/content/content'
import type { Capabilities } from '#protocol/control/messages'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import type { Host } from '#protocol/peer/host'
import type { Signer } from '#protocol/signing/keys'
import type { Process } from '../engine/process.ts'
import { type NodeCase, TAG } from '../faults/case.ts'
import type { Random } from '../random.ts'
import { type ContentWorld, contentStore } from './content.ts'
import { type ExecutorWorld, executor } from './executor.ts'
import type { Machine } from './machine.ts'
import { honest, lieAbout, type Outcome } from './truth.ts'
import type { Witness } from './witness.ts'
import { textAt } from './workspace.ts'

/** How a volunteer's runs come out. `wrong`: by chance, its own way. `colluding`: always, alike. `copying`: as the first that was reported. */
export const ROLES = ['honest', 'wrong', 'colluding', 'copying'] as const
export type Role = (typeof ROLES)[number]

export type NodeSetup = Pick<NodeCase, 'slots' | 'cpu' | 'role' | 'tag'>

export interface NodeServicePorts {
  readonly project: PeerIdString
  readonly place: ProjectPlace
  readonly machine: Machine
  readonly process: Process
  readonly host: Host
  readonly store: NodeStore
  readonly signer: Signer
  readonly setup: NodeSetup
  /** What others reported of a task, by the bundle's name: for those who copy. */
  readonly gossip: Map<string, Outcome>
  /** What tells over its host whether a peer is reached without a relay; without it nodes give each other nothing. */
  readonly isDirect?: ((peer: PeerIdString) => boolean) | undefined
  /** Whom it may leave results with. */
  readonly neighbours?: readonly PeerIdString[]
  /** Of this life. */
  readonly random: Random
  readonly witness: Witness
  ask(...question: Parameters<ContentWorld['ask']>): ReturnType<ContentWorld['ask']>
  ended(error?: NodeError): void
}

export interface ProjectPlace {
  readonly addresses: readonly string[]
  /** In the DHT, when none of the addresses answers. */
  readonly lookUp: boolean
}

export function nodeService(ports: NodeServicePorts): NodeService {
  const place = new Place(ports)
  return new NodeService(place, place)
}

/** Small, so that it is full now and then. */
const KEEP = { bytesMax: 2 ** 20, msMax: 7 * 86_400_000 }
const PARK_AFTER_MS = 10_000
/** As the real node's. */
const HANG_UP_MS = 30_000
/** Two and a half of the large inputs: what nobody uses is removed again and again. */
const STOCK_BYTES_MAX = 20 * 1024 ** 2
const known = new Map<string, Capabilities>()

/** One for all that have as many slots, the same processor and the same tag. */
export function capabilitiesOf(slots: number, cpu?: string, tag?: NodeCase['tag']): Capabilities {
  const key = `${slots} ${cpu} ${tag}`
  const made = known.get(key) ?? {
    platform: 'linux/amd64',
    engines: ['process'],
    cpuMillis: 1_000_000,
    memoryBytes: 2 ** 40,
    diskBytes: 2 ** 40,
    slots,
    tags: tag === undefined ? [] : [TAG],
    exclusive: tag === 'exclusive' ? [TAG] : [],
    gpus: [],
    ownerOnly: false,
    groups: [],
    ...(cpu === undefined ? {} : { cpu })
  }
  known.set(key, made)
  return made
}

/**
 * All that the node service is given and told, and what its content store and its executor see of the machine: one object for each
 * life of a node. Whatever has no state of its own is made when it is asked for, since most of ten thousand nodes ask for nothing.
 */
class Place implements ServicePorts, ServiceOptions, ContentWorld, ExecutorWorld {
  readonly parking?: ParkingService
  readonly peers?: Exchange
  readonly #ports: NodeServicePorts

  constructor(ports: NodeServicePorts) {
    this.#ports = ports
    const { neighbours = [], isDirect, host, process: clock, project } = ports
    if (neighbours.length > 0) this.parking = this.#parkingWith(neighbours)
    if (isDirect !== undefined) this.peers = new Exchange({ host, isDirect, clock, logger: SILENT }, { project, uploadPerSecond: UPLOAD_PER_SECOND })
  }

  #parkingWith(neighbours: readonly PeerIdString[]): ParkingService {
    const { machine, process, host, signer } = this
    const users = new Map<PeerIdString, number>()
    const hold = (peer: PeerIdString): (() => void) => {
      users.set(peer, (users.get(peer) ?? 0) + 1)
      return () => {
        process.after(HANG_UP_MS, () => {
          users.set(peer, (users.get(peer) ?? 1) - 1)
          if (users.get(peer) === 0) void host.disconnect(peer)
        })
      }
    }
    const content = contentStore({ roots: machine.kept, ask: (...question) => this.ask(...question) })
    const store = {
      begin: async (needed: boolean) => {
        if (!needed) machine.kept.clear()
      },
      open: async () => content
    }
    const parking = new ParkingService({ host, hold, store, signer, clock: process, logger: SILENT }, this.project)
    parking.meet(neighbours.map((peer) => ({ peer, addresses: [`/sim/${peer}`] })))
    return parking
  }

  // The options.

  get project(): PeerIdString {
    return this.#ports.project
  }

  get addresses(): readonly string[] {
    return this.#ports.place.addresses
  }

  get lookUp(): boolean {
    return this.#ports.place.lookUp
  }

  get name(): string {
    return this.machine.name
  }

  get agent(): string {
    return 'talko/sim'
  }

  get slots(): number {
    return this.#ports.setup.slots
  }

  get stockBytesMax(): number {
    return STOCK_BYTES_MAX
  }

  get keep(): typeof KEEP {
    return KEEP
  }

  get parkAfterMs(): number {
    return PARK_AFTER_MS
  }

  get boot(): string {
    return String(this.machine.boots)
  }

  get capabilities(): Capabilities {
    const { slots, cpu, tag } = this.#ports.setup
    return capabilitiesOf(slots, cpu, tag)
  }

  // The ports.

  get machine(): Machine {
    return this.#ports.machine
  }

  get process(): Process {
    return this.#ports.process
  }

  get clock(): Process {
    return this.process
  }

  get host(): Host {
    return this.#ports.host
  }

  get store(): NodeStore {
    return this.#ports.store
  }

  get signer(): Signer {
    return this.#ports.signer
  }

  get random(): Random {
    return this.#ports.random
  }

  get logger(): typeof SILENT {
    return SILENT
  }

  get content(): ContentStore {
    return contentStore(this)
  }

  get executors(): readonly Executor[] {
    return [executor(this)]
  }

  get workspace(): Workspace {
    return this.machine.workspace()
  }

  ended(error?: NodeError): void {
    this.#ports.ended(error)
  }

  breath(): Promise<void> {
    return this.process.later(0, () => undefined)
  }

  // What its content store and its executor see.

  get roots(): ContentWorld['roots'] {
    return this.machine.content
  }

  ask(...question: Parameters<ContentWorld['ask']>): ReturnType<ContentWorld['ask']> {
    return this.#ports.ask(...question)
  }

  textAt(path: string): string {
    return textAt(this.machine, path)
  }

  full(): boolean {
    return this.machine.faults.contentFull
  }

  came(peer: PeerIdString, failed: number): void {
    const { witness } = this.#ports
    if (peer !== this.project) witness.see('an input came from another node')
    else if (failed > 0) witness.see('what other nodes did not give came from the project')
  }

  added(): void {
    const { crashAtPublish } = this.machine.faults
    if (crashAtPublish === undefined) return
    this.machine.trouble.crashAtPublish = undefined
    // Before anything can be written about it, which takes a breath.
    this.machine.engine.after(0, crashAtPublish)
  }

  outcome({ manifest, replica }: Execution): Outcome {
    return outcomeOf(this.#ports, { command: manifest.command, replica })
  }

  onStrange(what: string): void {
    this.#ports.witness.wrong(what)
  }

  onStart(replica: ReplicaId): void {
    this.#ports.witness.started(this.signer.peerId, replica)
  }

  onTornInput(what: string): void {
    this.#ports.witness.wrong(what)
  }

  onFound(): void {
    this.#ports.witness.see('a node found its runs again')
  }

  onEnd(replica: ReplicaId, ended: Ended, outcome: Outcome): void {
    this.#ports.witness.ended(this.signer.peerId, replica, ended, outcome)
  }
}

interface Run {
  readonly command: readonly string[]
  readonly replica: string
}

function outcomeOf({ machine, setup: { role }, gossip }: NodeServicePorts, { command, replica }: Run): Outcome {
  const truth = honest(command, replica)
  const name = command[2] ?? ''
  const lie = (out: string): Outcome => ({ out, stdout: '', stderr: '', exitCode: 0 })
  const outcome =
    role === 'colluding'
      ? lieAbout(command)
      : role === 'wrong' && machine.random.chance(0.5)
        ? lie(`an error of ${machine.name} about ${replica}`)
        : role === 'copying'
          ? (gossip.get(name) ?? lie(`a guess about ${replica}`))
          : truth
  if (!gossip.has(name)) gossip.set(name, outcome)
  return outcome
}
