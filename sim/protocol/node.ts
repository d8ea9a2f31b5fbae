/** A volunteer: a machine and the real node service on it, started again whenever it ends. */
import type { Change } from '#node/agent/events'
import type { NodeError } from '#node/errors'
import type { NodeService } from '#node/service'
import type { PeerIdString } from '#protocol/ids'
import { Call } from '../engine/engine.ts'
import { Process } from '../engine/process.ts'
import { askOver, type Given } from './content.ts'
import { type DiskWatcher, openDisk } from './disk.ts'
import type { Machine } from './machine.ts'
import { type Network, SimHost } from './network.ts'
import { type NodeSetup, nodeService, type ProjectPlace } from './service.ts'
import type { Witness } from './witness.ts'

/** From a start to the end of its process. */
class Life {
  readonly process: Process
  readonly host: SimHost
  service: NodeService | undefined

  constructor(process: Process, host: SimHost) {
    this.process = process
    this.host = host
  }
}

/** A supervisor starts a node that ended again. */
const RESTART_MS = 1_000
const PLACE: ProjectPlace = { addresses: ['/sim/project'], lookUp: false }

export interface NodePorts {
  readonly network: Network
  readonly witness: Witness
  /** What the server, or another node, would hand over to a node now. */
  readonly gives: (to: SimHost, peer: PeerIdString, root: string) => Given
  /** Whom it may leave results with. */
  readonly neighboursOf: (node: SimNode) => readonly PeerIdString[]
}

export class SimNode implements DiskWatcher {
  readonly machine: Machine
  readonly setup: NodeSetup
  readonly #ports: NodePorts
  #life: Life | undefined
  #starts = 0
  #asked = false
  /** It does not come back by itself. */
  #left = false
  /** Planned. */
  #start: Call | undefined

  /** `ports` are the same for all nodes. */
  constructor(machine: Machine, setup: NodeSetup, ports: NodePorts) {
    this.machine = machine
    this.setup = setup
    this.#ports = ports
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
    this.#left = false
    this.#start?.cancel()
    this.#start = new Call(() => {
      this.#start = undefined
      if (this.#life === undefined) this.#begin()
    })
    this.machine.engine.plan(afterMs, this.#start)
  }

  /** kill -9. `tell`: its kernel lives and closes its connections. `wipe`: it comes back with a new disk. */
  crash({ tell, wipe }: { readonly tell: boolean; readonly wipe: boolean }): void {
    this.#start?.cancel()
    this.#end(tell)
    if (!wipe) return
    this.machine.wipe()
    this.#ports.witness.wiped(this.id)
  }

  /** Its owner wants it to leave, when what runs has ended or (without `graceMs`) now; until it is started again. */
  leave(graceMs: number | undefined): void {
    const { service } = this
    if (service === undefined) return
    this.#left = true
    if (graceMs === undefined) service.quit()
    else service.drain(graceMs)
  }

  stop(): void {
    this.#life?.process.stop()
  }

  continue(): void {
    this.#life?.process.continue()
  }

  onWritten(changes: readonly Change[]): void {
    this.#ports.witness.wrote(this.id, changes)
  }

  onDamage(what: string): void {
    this.#ports.witness.wrong(what)
  }

  #begin(): void {
    const { machine } = this
    const process = new Process(machine.engine, machine.skew)
    const life = new Life(process, new SimHost(this.#ports.network, process, this.id, machine.path))
    this.#life = life
    this.#starts++
    this.#run(life).catch((error: NodeError) => this.#over(life, error))
  }

  async #run(life: Life): Promise<void> {
    const { machine, setup } = this
    const { process, host } = life
    const { witness } = this.#ports
    const store = await openDisk(machine, process, this)
    const ask = askOver(host, this.#ports.gives)
    const ended = (error?: NodeError): void => this.#over(life, error)
    const neighbours = this.#ports.neighboursOf(this)
    life.service = nodeService({ machine, process, host, ask, store, setup, neighbours, random: machine.random, witness, ended }, PLACE)
    await life.service.start()
  }

  #over(life: Life, error: NodeError | undefined): void {
    if (this.#life !== life) return
    if (error !== undefined) this.#ports.witness.nodeFailed(this.id, error.code ?? 'storage', error.message)
    this.#end(true)
    if (error !== undefined && this.machine.damaged) {
      // Its owner does as the message says, and starts afresh.
      this.#ports.witness.see('a node found its records damaged')
      this.machine.wipe()
      this.#ports.witness.wiped(this.id)
    }
    if (!this.#left) this.start(RESTART_MS)
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
