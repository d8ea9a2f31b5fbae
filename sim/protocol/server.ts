/** The project server's process on the simulated network. */
import type { Committer } from '#project-server/commit'
import type { CoordinatorPolicy } from '#project-server/coordinator/policy'
import type { ServerError } from '#project-server/errors'
import { SILENT } from '#project-server/logger'
import type { Submissions } from '#project-server/owner/submit'
import { OwnerService } from '#project-server/owner-service'
import { Sources } from '#project-server/sources'
import type { PeerIdString, TaskId } from '#protocol/ids'
import type { Signer } from '#protocol/signing/keys'
import { Process, type Skewed } from '../engine/process.ts'
import type { Random } from '../random.ts'
import { askOver, contentStore, type Given } from './content.ts'
import { type Network, SimHost } from './network.ts'
import { type Served, serve } from './serve.ts'
import type { ServerDisk } from './server-disk.ts'
import type { Witness } from './witness.ts'

export interface ServerPorts {
  readonly disk: ServerDisk
  readonly network: Network
  readonly signer: Signer
  readonly random: Random
  readonly clock: Skewed
  readonly witness: Witness
  /** Roots that the project holds: they outlive the process. */
  readonly roots: Set<string>
  /** Whether a node would hand this root over. */
  readonly has: (node: PeerIdString, root: string) => Given
  readonly onFaulty: (epoch: number, task: TaskId) => void
  /** It ended by itself. */
  readonly onEnd: (server: ServerProcess) => void
}

export class ServerProcess {
  readonly process: Process
  readonly host: SimHost
  readonly #ports: ServerPorts
  #served: Served | undefined
  #ending = false

  constructor(ports: ServerPorts) {
    this.#ports = ports
    this.process = new Process(ports.disk.engine, ports.clock)
    this.host = new SimHost(ports.network, this.process, ports.signer.peerId)
  }

  /** Nodes and owners are answered. */
  get serves(): boolean {
    return this.process.alive && this.submissions !== undefined
  }

  isConnected(node: PeerIdString): boolean {
    return this.serves && this.#served?.control.isConnected(node) === true
  }

  get committer(): Committer | undefined {
    return this.#served?.committer
  }

  /** Owners are answered until it is told to end. */
  get submissions(): Submissions | undefined {
    return this.#ending ? undefined : this.#served?.submissions
  }

  async start(policy?: CoordinatorPolicy): Promise<void> {
    const { disk, network, signer, random, witness, roots, has, onFaulty } = this.#ports
    const { process, host } = this
    const onFatal = (error: ServerError): void => {
      if (!process.alive) return
      witness.serverFailed(error.code, error.message)
      this.kill(true)
      this.#ports.onEnd(this)
    }
    const content = contentStore({ roots, ask: askOver(host, (_to, peer, root) => has(peer, root)) })
    const store = disk.store(process)
    this.#served = await serve({ process, host, content, store, signer, random, witness, onFatal, onFaulty, ...(policy === undefined ? {} : { policy }) })
    // Clients come by another way here (owner.ts): whoever asks over the network is a stranger.
    const handler = async (): Promise<void> => witness.wrong('a request of a stranger was answered')
    await new OwnerService({ host, clock: process, logger: SILENT }, { owners: new Set(), handler }).start()
    if (network.homes !== undefined) await this.#serveSources(this.#served)
    network.server = host
  }

  /** Nodes are told who has what they fetch. */
  async #serveSources({ coordinator }: Served): Promise<void> {
    const { host, process: clock } = this
    const dice = this.#ports.random.fork('sources')
    const random = { bytes: (count: number) => Uint8Array.from({ length: count }, () => dice.below(256)) }
    await new Sources({ host, coordinator, clock, random, record: () => new Uint8Array(0), secret: new Uint8Array(32) }).start()
  }

  /** SIGTERM: commits what was accepted, then ends. */
  async end(): Promise<void> {
    this.#ending = true
    this.#served?.control.stop()
    await this.#served?.pulls.stop()
    await this.committer?.stop()
    if (!this.process.alive) return
    this.kill(true)
    this.#ports.onEnd(this)
  }

  /** kill -9. `tell`: its kernel lives and closes its connections. */
  kill(tell: boolean): void {
    if (!this.process.alive) return
    for (const code of this.#served?.control.closed.keys() ?? []) this.#ports.witness.see(`stream closed: ${code}`)
    this.#ending = true
    this.process.kill()
    this.host.end(tell)
  }
}
