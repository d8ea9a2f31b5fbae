/** A volunteer: a machine and the real node service on it, started again whenever it ends. */
import type { NodeError } from '#node/errors'
import type { NodeStore } from '#node/ports'
import { NodeService } from '#node/service'
import { SILENT } from '#project-server/logger'
import type { PeerIdString } from '#protocol/ids'
import type { Signer } from '#protocol/signing/keys'
import { Process } from '../engine/process.ts'
import type { Random } from '../random.ts'
import { askOver, contentStore, textAt } from './content.ts'
import { executor } from './executor.ts'
import type { Machine } from './machine.ts'
import { type Network, SimHost } from './network.ts'
import { honest, type Outcome } from './truth.ts'
import type { Witness } from './witness.ts'

/** How a volunteer's runs come out. `wrong`: by chance, its own way. `colluding`: always, alike. `copying`: as the first that was reported. */
export type Role = 'honest' | 'wrong' | 'colluding' | 'copying'

export interface NodeSetup {
  readonly signer: Signer
  readonly project: PeerIdString
  readonly slots: number
  readonly role: Role
  /** What others reported of a task, by the bundle's name: for those who copy. */
  readonly gossip: Map<string, Outcome>
}

interface Life {
  readonly process: Process
  readonly host: SimHost
  service: NodeService | undefined
}

/** A supervisor starts a node that ended again. */
const RESTART_MS = 1_000

export class SimNode {
  readonly machine: Machine
  readonly setup: NodeSetup
  readonly #network: Network
  readonly #witness: Witness
  readonly #random: Random
  #life: Life | undefined
  #starts = 0
  #asked = false
  #cancelStart = (): void => {}

  constructor(machine: Machine, setup: NodeSetup, ports: { readonly network: Network; readonly witness: Witness; readonly random: Random }) {
    this.machine = machine
    this.setup = setup
    this.#network = ports.network
    this.#witness = ports.witness
    this.#random = ports.random
  }

  get id(): PeerIdString {
    return this.setup.signer.peerId
  }

  get up(): boolean {
    return this.#life !== undefined
  }

  get service(): NodeService | undefined {
    return this.#life?.service
  }

  get host(): SimHost | undefined {
    return this.#life?.host
  }

  /** How often it was started. */
  get lives(): number {
    return this.#starts
  }

  /** It was never there. */
  get absent(): boolean {
    return !this.#asked
  }

  start(afterMs = 0): void {
    this.#asked = true
    this.#cancelStart()
    this.#cancelStart = this.machine.engine.after(afterMs, () => {
      if (this.#life === undefined) this.#begin()
    })
  }

  /** kill -9. `tell`: its kernel lives and closes its connections. `wipe`: it comes back with a new disk. */
  crash({ tell, wipe }: { readonly tell: boolean; readonly wipe: boolean }): void {
    this.#cancelStart()
    this.#end(tell)
    if (!wipe) return
    this.machine.wipe()
    this.#witness.wiped(this.id)
  }

  stop(): void {
    this.#life?.process.stop()
  }

  continue(): void {
    this.#life?.process.continue()
  }

  #begin(): void {
    const { machine } = this
    const process = new Process(machine.engine, machine.skew)
    const life: Life = { process, host: new SimHost(this.#network, process, this.id, machine.path), service: undefined }
    this.#life = life
    const over = (error?: NodeError): void => {
      if (this.#life !== life) return
      if (error !== undefined) this.#witness.nodeFailed(this.id, error.code, error.message)
      this.#end(true)
      this.start(RESTART_MS)
    }
    const begin = async (): Promise<void> => {
      const store = await machine.store(
        process,
        (changes) => this.#witness.wrote(this.id, changes),
        (what) => this.#witness.wrong(what)
      )
      const service = this.#service(life, store, over)
      life.service = service
      await service.start()
    }
    begin().catch(over)
  }

  #service({ process, host }: Life, store: NodeStore, ended: (error?: NodeError) => void): NodeService {
    const { machine, setup } = this
    const dice = this.#random.fork('life', ++this.#starts)
    return new NodeService(
      {
        host,
        content: contentStore({
          roots: machine.content,
          ask: askOver(host, () => !machine.faults.noInput),
          full: () => machine.faults.contentFull,
          textAt: (folder) => textAt(machine, folder)
        }),
        store,
        workspace: machine.workspace(),
        executors: [
          executor({
            machine,
            process,
            outcome: ({ manifest, replica }) => this.#outcome(manifest.command, replica),
            onStart: (replica) => this.#witness.started(this.id, replica),
            onFound: () => this.#witness.see('a node found its runs again'),
            onEnd: (replica, ended, outcome) => this.#witness.ended(this.id, replica, ended, outcome)
          })
        ],
        signer: setup.signer,
        clock: process,
        random: { bytes: (count) => Uint8Array.from({ length: count }, () => dice.below(256)) },
        breath: () => process.later(0, () => undefined),
        logger: SILENT,
        ended
      },
      {
        project: setup.project,
        addresses: ['/sim/project'],
        lookUp: false,
        name: machine.name,
        agent: 'talko/sim',
        slots: setup.slots,
        capabilities: {
          platform: 'linux/amd64',
          engines: ['process'],
          cpuMillis: 1_000_000,
          memoryBytes: 2 ** 40,
          diskBytes: 2 ** 40,
          slots: setup.slots,
          tags: []
        }
      }
    )
  }

  #end(tell: boolean): void {
    const life = this.#life
    if (life === undefined) return
    this.#life = undefined
    life.process.kill()
    life.host.end(tell)
    this.machine.crash()
  }

  #outcome(command: readonly string[], replica: string): Outcome {
    const truth = honest(command, replica)
    const name = command[2] ?? ''
    const { role, gossip } = this.setup
    const lie = (out: string): Outcome => ({ out, stdout: '', stderr: '', exitCode: 0 })
    const outcome =
      role === 'colluding'
        ? lie(`a lie about ${name}`)
        : role === 'wrong' && this.machine.random.chance(0.5)
          ? lie(`an error of ${this.machine.name} about ${replica}`)
          : role === 'copying'
            ? (gossip.get(name) ?? lie(`a guess about ${replica}`))
            : truth
    if (!gossip.has(name)) gossip.set(name, outcome)
    return outcome
  }
}
