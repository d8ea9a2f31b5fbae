/** A volunteer: the real node service over a real libp2p host. */
import type { NodeError } from '#node/errors'
import type { NodeService } from '#node/service'
import type { PeerIdString } from '#protocol/ids'
import { Machine } from '../protocol/machine.ts'
import { type NodeServicePorts, type NodeSetup, nodeService } from '../protocol/service.ts'
import type { Witness } from '../protocol/witness.ts'
import { Computer, type ComputerPorts } from './computer.ts'
import { askOverStreams, serveRoots } from './content.ts'
import type { Station } from './internet.ts'
import type { StackProcess } from './process.ts'
import { watched } from './watched.ts'

export interface StackNodePorts extends ComputerPorts {
  readonly project: PeerIdString
  readonly setup: NodeSetup
  readonly gossip: NodeServicePorts['gossip']
  readonly witness: Witness
  readonly bootstrap: readonly string[]
  /** Of the project; none for a node that finds it in the DHT. */
  readonly pinned: readonly string[]
}

export class StackNode extends Computer {
  readonly machine: Machine
  readonly #own: StackNodePorts
  #service: NodeService | undefined
  /** Resolves when the service is done. */
  #done = Promise.withResolvers<void>()

  constructor(ports: StackNodePorts, station: Station) {
    super(ports, station)
    this.#own = ports
    const { engine, random, name, skew } = ports
    this.machine = new Machine(name, { engine, random: random.fork('machine'), path: station.access })
    this.machine.skew = skew
  }

  get id(): PeerIdString {
    return this.signer.peerId
  }

  get service(): NodeService | undefined {
    return this.process === undefined ? undefined : this.#service
  }

  /** A new disk; only while nothing runs. */
  wipe(): void {
    this.machine.wipe()
    this.#own.witness.wiped(this.id)
  }

  protected override async live(process: StackProcess): Promise<void> {
    const { machine, signer } = this
    const { project, setup, gossip, witness, bootstrap, pinned } = this.#own
    const done = Promise.withResolvers<void>()
    const ended = (error?: NodeError): void => {
      if (error !== undefined) witness.nodeFailed(this.id, error.code, error.message)
      done.resolve()
    }
    this.#done = done
    const host = watched(await this.makeHost({ role: 'volunteer', listen: [], dht: { bootstrap, serve: false, allowPrivate: false } }), witness, pinned)
    await serveRoots(host, (root) => machine.content.has(root))
    const store = await machine.store(
      process,
      (changes) => witness.wrote(this.id, changes),
      (what) => witness.wrong(what)
    )
    const random = process.dice.fork('service')
    const ask = askOverStreams(host)
    const place = { addresses: pinned, lookUp: true }
    this.#service = nodeService({ project, place, machine, process, host, store, signer, setup, gossip, random, witness, ask, ended })
    await this.#service.start()
  }

  protected override async close(): Promise<void> {
    const service = this.#service
    service?.quit()
    if (service !== undefined) await this.#done.promise
    await service?.close()
  }

  protected override died(): void {
    this.#service = undefined
    this.machine.crash()
  }
}
