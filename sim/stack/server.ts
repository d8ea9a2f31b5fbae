/** The project server over a real libp2p host, with its record in the DHT. */
import type { Committer } from '#project-server/commit'
import type { ServerError } from '#project-server/errors'
import { SILENT } from '#project-server/logger'
import type { Submissions } from '#project-server/owner/submit'
import { publishRecord } from '#project-server/record'
import type { TaskId } from '#protocol/ids'
import { HostError } from '#protocol/peer/host'
import { contentStore } from '../protocol/content.ts'
import type { OwnersServer } from '../protocol/owner.ts'
import { type Served, serve } from '../protocol/serve.ts'
import type { ServerDisk } from '../protocol/server-disk.ts'
import type { Speaker, Witness } from '../protocol/witness.ts'
import { Computer, type ComputerPorts } from './computer.ts'
import { askOverStreams, serveRoots } from './content.ts'
import type { Station } from './internet.ts'
import { listenAt } from './keeper.ts'
import type { StackProcess } from './process.ts'
import { watched } from './watched.ts'

export interface StackServerPorts extends ComputerPorts {
  readonly disk: ServerDisk
  readonly roots: Set<string>
  readonly witness: Witness
  readonly bootstrap: readonly string[]
  /** Who leads now. */
  readonly network: { server: Speaker | undefined }
  readonly onPublished: () => void
  readonly onFaulty: (epoch: number, task: TaskId) => void
}

/** It ended by itself and is started again. */
const RESTART_MS = 500

export class StackServer extends Computer {
  readonly #own: StackServerPorts
  #served: Served | undefined
  #stopRecord = (): void => {}

  constructor(ports: StackServerPorts, station: Station) {
    super(ports, station)
    this.#own = ports
  }

  /** Nodes that it hears. */
  get connectedNodes(): number {
    return this.process === undefined ? 0 : (this.#served?.control.connected ?? 0)
  }

  /** For owners; undefined while nobody is answered. */
  get forOwners(): OwnersServer | undefined {
    const process = this.process
    const served = this.#served
    if (process === undefined || served === undefined) return undefined
    const { submissions, committer }: { submissions: Submissions; committer: Committer } = served
    return { process, submissions, committer }
  }

  protected override async live(process: StackProcess): Promise<void> {
    const { signer } = this
    const { disk, roots, witness, bootstrap, network, onPublished, onFaulty } = this.#own
    const dht = { bootstrap, serve: true, allowPrivate: false }
    const inner = await this.makeHost({ role: 'server', listen: [listenAt(this.station)], dht })
    const host = watched(inner, witness)
    const content = contentStore({ roots, ask: askOverStreams(host) })
    await serveRoots(host, (root) => roots.has(root))
    const onFatal = (error: ServerError): void => {
      witness.serverFailed(error.code, error.message)
      this.crash(true)
      this.start(RESTART_MS)
    }
    network.server = host
    this.#served = await serve({ process, host, content, store: disk.store(process), signer, random: process.dice.fork('serve'), witness, onFatal, onFaulty })
    const publisher = {
      addresses: () => host.addresses(),
      publishRecord: async (record: Uint8Array, signal?: AbortSignal) => {
        try {
          await host.publishRecord(record, signal)
          onPublished()
        } catch (error) {
          if (error instanceof HostError) witness.see(`the record was not published: ${error.code}`)
          throw error
        }
      }
    }
    this.#stopRecord = publishRecord({ host: publisher, signer, clock: process, logger: SILENT }, this.#served.epoch)
  }

  protected override async close(): Promise<void> {
    const served = this.#served
    this.#served = undefined
    this.#stopRecord()
    served?.control.stop()
    await served?.pulls.stop()
    await served?.committer.stop()
  }

  protected override died(process: StackProcess): void {
    const { disk, network } = this.#own
    this.#served = undefined
    this.#stopRecord = () => {}
    network.server = undefined
    disk.crash(process)
  }
}
