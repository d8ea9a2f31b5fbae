/** The real node service on a simulated machine, over any host. */

import type { NodeError } from '#node/errors'
import { ParkingService } from '#node/parking/service'
import type { Ended, Execution, Executor, NodeStore, Workspace } from '#node/ports'
import { NodeService, type ServicePorts } from '#node/service'
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
import { honest, type Outcome } from './truth.ts'
import type { Witness } from './witness.ts'
import { textAt } from './workspace.ts'

/** How a volunteer's runs come out. `wrong`: by chance, its own way. `colluding`: always, alike. `copying`: as the first that was reported. */
export type Role = 'honest' | 'wrong' | 'colluding' | 'copying'

export interface NodeSetup {
  readonly signer: Signer
  readonly project: PeerIdString
  readonly slots: number
  readonly cpu?: string | undefined
  readonly role: Role
  /** What others reported of a task, by the bundle's name: for those who copy. */
  readonly gossip: Map<string, Outcome>
  readonly tag?: NodeCase['tag']
}

export interface NodeServicePorts {
  readonly machine: Machine
  readonly process: Process
  readonly host: Host
  readonly ask: ContentWorld['ask']
  readonly store: NodeStore
  readonly setup: NodeSetup
  /** Whom it may leave results with. */
  readonly neighbours?: readonly PeerIdString[]
  /** Of this life. */
  readonly random: Random
  readonly witness: Witness
  readonly ended: (error?: NodeError) => void
}

export interface ProjectPlace {
  readonly addresses: readonly string[]
  /** In the DHT, when none of the addresses answers. */
  readonly lookUp: boolean
}

export function nodeService(ports: NodeServicePorts, { addresses, lookUp }: ProjectPlace): NodeService {
  const { setup, machine } = ports
  const { project, slots, cpu, tag } = setup
  const capabilities = capabilitiesOf(slots, cpu, tag)
  return new NodeService(new Place(ports), {
    project,
    addresses,
    lookUp,
    name: machine.name,
    agent: 'talko/sim',
    slots,
    stockBytesMax: STOCK_BYTES_MAX,
    ...KEEP,
    capabilities
  })
}

/** Small, so that it is full now and then. */
const KEEP = { keep: { bytesMax: 2 ** 20, msMax: 7 * 86_400_000 }, parkAfterMs: 10_000 }
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
    ...(cpu === undefined ? {} : { cpu })
  }
  known.set(key, made)
  return made
}

/** All that the node service is given, and its content store and its executor: one object for each life of a node. */
class Place implements ServicePorts, ContentWorld, ExecutorWorld {
  readonly machine: Machine
  readonly process: Process
  readonly host: Host
  readonly store: NodeStore
  readonly random: Random
  readonly ask: ContentWorld['ask']
  readonly ended: ServicePorts['ended']
  readonly content: ContentStore
  readonly executors: readonly Executor[]
  readonly workspace: Workspace
  readonly parking?: ParkingService
  readonly #setup: NodeSetup
  readonly #witness: Witness

  constructor({ machine, process, host, ask, store, setup, neighbours = [], random, witness, ended }: NodeServicePorts) {
    this.machine = machine
    this.process = process
    this.host = host
    this.store = store
    this.random = random
    this.ask = ask
    this.ended = ended
    this.#setup = setup
    this.#witness = witness
    this.content = contentStore(this)
    this.executors = [executor(this)]
    this.workspace = machine.workspace()
    if (neighbours.length > 0) this.parking = this.#parkingWith(neighbours)
  }

  #parkingWith(neighbours: readonly PeerIdString[]): ParkingService {
    const { machine, process, host, ask, signer } = this
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
    const content = contentStore({ roots: machine.kept, ask })
    const store = {
      begin: async (needed: boolean) => {
        if (!needed) machine.kept.clear()
      },
      open: async () => content
    }
    const parking = new ParkingService({ host, hold, store, signer, clock: process, logger: SILENT }, this.#setup.project)
    parking.meet(neighbours.map((peer) => ({ peer, addresses: [`/sim/${peer}`] })))
    return parking
  }

  get signer(): Signer {
    return this.#setup.signer
  }

  get clock(): Process {
    return this.process
  }

  get logger(): typeof SILENT {
    return SILENT
  }

  get roots(): ContentWorld['roots'] {
    return this.machine.content
  }

  breath(): Promise<void> {
    return this.process.later(0, () => undefined)
  }

  textAt(path: string): string {
    return textAt(this.machine, path)
  }

  full(): boolean {
    return this.machine.faults.contentFull
  }

  added(): void {
    const { crashAtPublish } = this.machine.faults
    if (crashAtPublish === undefined) return
    this.machine.trouble.crashAtPublish = undefined
    // Before anything can be written about it, which takes a breath.
    this.machine.engine.after(0, crashAtPublish)
  }

  outcome({ manifest, replica }: Execution): Outcome {
    return outcomeOf(this.machine, this.#setup, { command: manifest.command, replica })
  }

  onStart(replica: ReplicaId): void {
    this.#witness.started(this.signer.peerId, replica)
  }

  onFound(): void {
    this.#witness.see('a node found its runs again')
  }

  onEnd(replica: ReplicaId, ended: Ended, outcome: Outcome): void {
    this.#witness.ended(this.signer.peerId, replica, ended, outcome)
  }
}

interface Run {
  readonly command: readonly string[]
  readonly replica: string
}

function outcomeOf(machine: Machine, { role, gossip }: NodeSetup, { command, replica }: Run): Outcome {
  const truth = honest(command, replica)
  const name = command[2] ?? ''
  const lie = (out: string): Outcome => ({ out, stdout: '', stderr: '', exitCode: 0 })
  const outcome =
    role === 'colluding'
      ? lie(`a lie about ${name}`)
      : role === 'wrong' && machine.random.chance(0.5)
        ? lie(`an error of ${machine.name} about ${replica}`)
        : role === 'copying'
          ? (gossip.get(name) ?? lie(`a guess about ${replica}`))
          : truth
  if (!gossip.has(name)) gossip.set(name, outcome)
  return outcome
}
