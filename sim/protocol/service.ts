/** The real node service on a simulated machine, over any host. */
import type { NodeError } from '#node/errors'
import type { NodeStore } from '#node/ports'
import { NodeService } from '#node/service'
import { SILENT } from '#project-server/logger'
import type { PeerIdString } from '#protocol/ids'
import type { Host } from '#protocol/peer/host'
import type { Signer } from '#protocol/signing/keys'
import type { Process } from '../engine/process.ts'
import type { Random } from '../random.ts'
import { type ContentWorld, contentStore } from './content.ts'
import { executor } from './executor.ts'
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
  readonly role: Role
  /** What others reported of a task, by the bundle's name: for those who copy. */
  readonly gossip: Map<string, Outcome>
}

export interface NodeServicePorts {
  readonly machine: Machine
  readonly process: Process
  readonly host: Host
  readonly ask: ContentWorld['ask']
  readonly store: NodeStore
  readonly setup: NodeSetup
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

export function nodeService({ machine, process, host, ask, store, setup, random, witness, ended }: NodeServicePorts, place: ProjectPlace): NodeService {
  const { signer, project, slots } = setup
  return new NodeService(
    {
      host,
      content: contentStore({ roots: machine.content, ask, full: () => machine.faults.contentFull, textAt: (folder) => textAt(machine, folder) }),
      store,
      workspace: machine.workspace(),
      executors: [
        executor({
          machine,
          process,
          outcome: ({ manifest, replica }) => outcomeOf(machine, setup, { command: manifest.command, replica }),
          onStart: (replica) => witness.started(signer.peerId, replica),
          onFound: () => witness.see('a node found its runs again'),
          onEnd: (replica, end, outcome) => witness.ended(signer.peerId, replica, end, outcome)
        })
      ],
      signer,
      clock: process,
      random: { bytes: (count) => Uint8Array.from({ length: count }, () => random.below(256)) },
      breath: () => process.later(0, () => undefined),
      logger: SILENT,
      ended
    },
    {
      ...place,
      project,
      name: machine.name,
      agent: 'talko/sim',
      slots,
      capabilities: { platform: 'linux/amd64', engines: ['process'], cpuMillis: 1_000_000, memoryBytes: 2 ** 40, diskBytes: 2 ** 40, slots, tags: [] }
    }
  )
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
