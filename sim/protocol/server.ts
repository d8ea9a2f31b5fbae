/** The project server's process: production's core, committer, control service, pulls and submissions, wired as its `main` does. */
import { Committer } from '#project-server/commit'
import { ControlService } from '#project-server/control-service'
import { Coordinator } from '#project-server/coordinator/coordinator'
import type { Effect } from '#project-server/coordinator/events'
import { type CoordinatorPolicy, DEFAULT_COORDINATOR_POLICY } from '#project-server/coordinator/policy'
import type { ServerError } from '#project-server/errors'
import { SILENT } from '#project-server/logger'
import { Submissions } from '#project-server/owner/submit'
import { TICK_MS } from '#project-server/policy'
import { Pulls } from '#project-server/pulls'
import type { PeerIdString } from '#protocol/ids'
import type { Signer } from '#protocol/signing/keys'
import { Process, type Skew } from '../engine/process.ts'
import type { Random } from '../random.ts'
import { contentStore } from './content.ts'
import { type Network, SimHost } from './network.ts'
import type { ServerDisk } from './server-disk.ts'
import type { Witness } from './witness.ts'

export interface ServerPorts {
  readonly disk: ServerDisk
  readonly network: Network
  readonly signer: Signer
  readonly random: Random
  readonly skew: Skew
  readonly witness: Witness
  /** Roots that the project holds: they outlive the process. */
  readonly roots: Set<string>
  /** Whether a node would hand this root over. */
  readonly has: (node: PeerIdString, root: string) => boolean
  /** It ended by itself. */
  readonly onEnd: (server: ServerProcess) => void
}

export class ServerProcess {
  readonly process: Process
  readonly host: SimHost
  epoch = 0
  committer: Committer | undefined
  coordinator: Coordinator | undefined
  control: ControlService | undefined
  submissions: Submissions | undefined
  readonly #ports: ServerPorts
  #pulls: Pulls | undefined

  constructor(ports: ServerPorts) {
    this.#ports = ports
    this.process = new Process(ports.disk.engine, ports.skew)
    this.host = new SimHost(ports.network, this.process, ports.signer.peerId)
  }

  /** Nodes and owners are answered. */
  get serves(): boolean {
    return this.process.alive && this.submissions !== undefined
  }

  async start(policy: CoordinatorPolicy = DEFAULT_COORDINATOR_POLICY): Promise<void> {
    const { disk, network, signer, random, witness, roots, has } = this.#ports
    const { process, host } = this
    const store = disk.store(process)
    const epoch = await store.beginEpoch()
    this.epoch = epoch
    const coordinator = new Coordinator({ project: signer.peerId, epoch, policy, signer })
    await coordinator.load(store, process.nowMs())
    witness.led(coordinator, epoch)
    const content = contentStore({ process, host, roots, has })
    const carryOut = (effects: readonly Effect[]): void => {
      witness.effects(epoch, effects)
      for (const effect of effects) {
        if (effect.kind === 'pull') pulls.pull(effect)
        else if (effect.kind !== 'changed') control.carry(effect)
      }
      control.flush()
    }
    const onFatal = (error: ServerError): void => {
      if (!process.alive) return
      witness.serverFailed(error.code, error.message)
      this.kill(true)
      this.#ports.onEnd(this)
    }
    const committer: Committer = new Committer({ core: coordinator, store, clock: process, signer, logger: SILENT, carryOut, onFatal }, { epoch })
    const control = new ControlService({ host, committer, clock: process, logger: SILENT }, { project: signer.peerId, epoch, heartbeatMs: policy.heartbeatMs })
    const pulls = new Pulls({ content, host, clock: process, logger: SILENT, done: (event) => committer.apply(event) })
    const dice = random.fork('epoch', epoch)
    await control.start()
    this.committer = committer
    this.coordinator = coordinator
    this.control = control
    this.#pulls = pulls
    this.submissions = new Submissions({
      committer,
      coordinator,
      store,
      content,
      random: { bytes: (count) => Uint8Array.from({ length: count }, () => dice.below(256)) }
    })
    network.server = host
    committer.apply({ kind: 'tick' })
    const tick = (): void => {
      process.after(TICK_MS, () => {
        committer.apply({ kind: 'tick' })
        tick()
      })
    }
    tick()
  }

  /** SIGTERM: commits what was accepted, then ends. */
  async end(): Promise<void> {
    this.submissions = undefined
    this.control?.stop()
    await this.#pulls?.stop()
    await this.committer?.stop()
    if (!this.process.alive) return
    this.kill(true)
    this.#ports.onEnd(this)
  }

  /** kill -9. `tell`: its kernel lives and closes its connections. */
  kill(tell: boolean): void {
    if (!this.process.alive) return
    for (const code of this.control?.closed.keys() ?? []) this.#ports.witness.see(`stream closed: ${code}`)
    this.submissions = undefined
    this.process.kill()
    this.host.end(tell)
  }
}
