/** A volunteer: a machine and the real node service on it, started again whenever it ends. */
import type { NodeError } from '#node/errors'
import type { NodeStore } from '#node/ports'
import type { NodeService } from '#node/service'
import type { PeerIdString } from '#protocol/ids'
import { Process } from '../engine/process.ts'
import type { Random } from '../random.ts'
import { askOver } from './content.ts'
import type { Machine } from './machine.ts'
import { type Network, SimHost } from './network.ts'
import { type NodeSetup, nodeService } from './service.ts'
import type { Witness } from './witness.ts'

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
    const random = this.#random.fork('life', ++this.#starts)
    const ask = askOver(host, () => !machine.faults.noInput)
    return nodeService({ machine, process, host, ask, store, setup, random, witness: this.#witness, ended }, { addresses: ['/sim/project'], lookUp: false })
  }

  #end(tell: boolean): void {
    const life = this.#life
    if (life === undefined) return
    this.#life = undefined
    life.process.kill()
    life.host.end(tell)
    this.machine.crash()
  }
}
