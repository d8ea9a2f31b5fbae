/** A volunteer: a machine and the real node service on it, started again whenever it ends. */
import type { Change } from '#node/agent/events'
import type { NodeError } from '#node/errors'
import type { NodeStore } from '#node/ports'
import type { NodeService } from '#node/service'
import type { PeerIdString } from '#protocol/ids'
import type { Signer } from '#protocol/signing/keys'
import { Call } from '../engine/engine.ts'
import { Process } from '../engine/process.ts'
import type { Random } from '../random.ts'
import { askOver, type ContentWorld, type Given } from './content.ts'
import { type DiskOwner, openDisk } from './disk.ts'
import type { Machine } from './machine.ts'
import { type Network, SimHost } from './network.ts'
import { type NodeServicePorts, type NodeSetup, nodeService, type ProjectPlace } from './service.ts'
import type { Outcome } from './truth.ts'
import type { Witness } from './witness.ts'

/** From a start to the end of its process: what its service is given, too. */
class Life implements DiskOwner, NodeServicePorts {
  readonly node: SimNode
  readonly host: SimHost
  service: NodeService | undefined
  #store: NodeStore | undefined

  constructor(node: SimNode, host: SimHost) {
    this.node = node
    this.host = host
  }

  async start(): Promise<void> {
    this.#store = await openDisk(this)
    this.service = nodeService(this)
    await this.service.start()
  }

  get project(): PeerIdString {
    return this.node.ports.project
  }

  get place(): ProjectPlace {
    return PLACE
  }

  get machine(): Machine {
    return this.node.machine
  }

  get process(): Process {
    return this.host.process
  }

  get store(): NodeStore {
    if (this.#store === undefined) throw new Error('the store is not open yet')
    return this.#store
  }

  get signer(): Signer {
    return this.node.signer
  }

  get setup(): NodeSetup {
    return this.node.setup
  }

  get gossip(): NodePorts['gossip'] {
    return this.node.ports.gossip
  }

  get neighbours(): readonly PeerIdString[] {
    return this.node.ports.neighboursOf(this.node)
  }

  get isDirect(): ((peer: PeerIdString) => boolean) | undefined {
    const { host } = this
    return host.network.homes === undefined ? undefined : (peer) => host.isDirect(peer)
  }

  get random(): Random {
    return this.machine.random
  }

  get witness(): Witness {
    return this.node.ports.witness
  }

  ask(...question: Parameters<ContentWorld['ask']>): Promise<Given> {
    return askOver(this.host, this.node.ports.gives)(...question)
  }

  ended(error?: NodeError): void {
    this.node.over(this, error)
  }

  onWritten(changes: readonly Change[]): void {
    this.witness.wrote(this.node.id, changes)
  }

  onDamage(what: string): void {
    this.witness.wrong(what)
  }
}

/** A supervisor starts a node that ended again. */
const RESTART_MS = 1_000
const PLACE: ProjectPlace = { addresses: ['/sim/project'], lookUp: false }

export interface NodePorts {
  readonly project: PeerIdString
  /** What was reported of a task, by the bundle's name. */
  readonly gossip: Map<string, Outcome>
  readonly network: Network
  readonly witness: Witness
  /** What the server, or another node, would hand over to a node now. */
  readonly gives: (to: SimHost, peer: PeerIdString, root: string) => Given
  /** Whom it may leave results with. */
  readonly neighboursOf: (node: SimNode) => readonly PeerIdString[]
}

export class SimNode {
  readonly machine: Machine
  readonly signer: Signer
  readonly setup: NodeSetup
  readonly ports: NodePorts
  #life: Life | undefined
  #starts = 0
  #asked = false
  /** It does not come back by itself. */
  #left = false
  /** Planned. */
  #start: Call | undefined

  /** `ports` are the same for all nodes. */
  constructor({ machine, signer, setup }: Pick<SimNode, 'machine' | 'signer' | 'setup'>, ports: NodePorts) {
    this.machine = machine
    this.signer = signer
    this.setup = setup
    this.ports = ports
  }

  get id(): PeerIdString {
    return this.signer.peerId
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
    this.ports.witness.wiped(this.id)
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

  #begin(): void {
    const { machine } = this
    const process = new Process(machine.engine, machine)
    const life = new Life(this, new SimHost(this.ports.network, process, this.id, machine.path))
    this.#life = life
    this.#starts++
    life.start().catch((error: NodeError) => this.over(life, error))
  }

  /** A life has ended by itself. */
  over(life: Life, error: NodeError | undefined): void {
    if (this.#life !== life) return
    if (error !== undefined) this.ports.witness.nodeFailed(this.id, error.code ?? 'storage', error.message)
    this.#end(true)
    if (error !== undefined && this.machine.damaged) {
      // Its owner does as the message says, and starts afresh.
      this.ports.witness.see('a node found its records damaged')
      this.machine.wipe()
      this.ports.witness.wiped(this.id)
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
