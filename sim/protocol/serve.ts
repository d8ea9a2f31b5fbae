/** Production's coordinator, committer, control service, pulls and submissions, wired as the project server's `main` does. */
import { Checkpoints } from '#project-server/checkpoints'
import { Committer } from '#project-server/commit'
import { Comparisons } from '#project-server/comparisons'
import { Completions } from '#project-server/completions'
import { ControlService } from '#project-server/control-service'
import { storedManifest } from '#project-server/coordinator/batches'
import { Coordinator } from '#project-server/coordinator/coordinator'
import type { Candidate, Effect, Event } from '#project-server/coordinator/events'
import { type CoordinatorPolicy, DEFAULT_COORDINATOR_POLICY } from '#project-server/coordinator/policy'
import type { ServerError } from '#project-server/errors'
import { KnownPairs } from '#project-server/known-pairs'
import { SILENT } from '#project-server/logger'
import { Submissions } from '#project-server/owner/submit'
import { TICK_MS } from '#project-server/policy'
import type { Store } from '#project-server/ports'
import { Pulls } from '#project-server/pulls'
import { Rechecks } from '#project-server/rechecks'
import { SweepLooks } from '#project-server/sweep-looks'
import type { Comparing } from '#protocol/bundle/policy'
import type { ContentStore } from '#protocol/content/content'
import type { TaskId } from '#protocol/ids'
import type { Host } from '#protocol/peer/host'
import type { Signer } from '#protocol/signing/keys'
import type { Process } from '../engine/process.ts'
import type { Random } from '../random.ts'
import { SimComparators } from './comparators.ts'
import { areNear, readCommand } from './truth.ts'
import type { Witness } from './witness.ts'

export interface ServePorts {
  readonly process: Process
  readonly host: Host
  readonly content: ContentStore
  readonly store: Store
  readonly signer: Signer
  readonly random: Random
  readonly witness: Pick<Witness, 'led' | 'effects' | 'see' | 'wrong'>
  /** The program that compares a task's results is at fault itself. */
  readonly onFaulty: (epoch: number, task: TaskId) => void
  readonly onFatal: (error: ServerError) => void
  readonly policy?: CoordinatorPolicy
}

export interface Served {
  readonly epoch: number
  readonly committer: Committer
  readonly coordinator: Coordinator
  readonly control: ControlService
  readonly submissions: Submissions
  readonly pulls: Pulls
}

/** Begins an epoch on what the store holds, and serves from then on. */
export async function serve(ports: ServePorts): Promise<Served> {
  const { process, host, content, store, signer, random, witness, onFatal, onFaulty, policy = DEFAULT_COORDINATOR_POLICY } = ports
  const epoch = await store.beginEpoch()
  const coordinator = new Coordinator({ project: signer.peerId, epoch, policy, signer })
  await coordinator.load(store, process.nowMs())
  witness.led(coordinator, epoch)
  const carryOut = (effects: readonly Effect[]): void => {
    witness.effects(epoch, effects)
    for (const effect of effects) {
      if (effect.kind === 'pull') pulls.pull(effect)
      else if (effect.kind === 'save') checkpoints.save(effect)
      else if (effect.kind === 'unsave') checkpoints.unsave(effect.root)
      else if (effect.kind === 'compare') comparisons.compare(effect)
      else if (effect.kind === 'compared_enough') comparisons.enough(effect.task)
      else if (effect.kind === 'recheck') rechecks.recheck(effect)
      else if (effect.kind === 'complete' || effect.kind === 'inputs') completions.ask(effect)
      else if (effect.kind === 'look') sweepLooks.look(effect)
      else if (effect.kind !== 'changed' && effect.kind !== 'hint') control.carry(effect)
    }
    control.flush()
  }
  const committer: Committer = new Committer({ core: coordinator, store, clock: process, signer, logger: SILENT, carryOut, onFatal }, { epoch })
  const control = new ControlService({ host, committer, clock: process, logger: SILENT }, { project: signer.peerId, epoch, heartbeatMs: policy.heartbeatMs })
  const pulls = new Pulls({ content, host, clock: process, logger: SILENT, done: (event) => committer.apply(event) })
  const checkpoints = new Checkpoints({
    content,
    host,
    clock: process,
    logger: SILENT,
    committer,
    keeps: (root) => coordinator.keepsCheckpoint(root),
    done: (event) => committer.apply(event)
  })
  const comparators = new SimComparators({ process, random: random.fork('comparators', epoch), witness })
  const agree = async ({ output: a }: Candidate, { output: b }: Candidate, by: Comparing, { task }: { task: TaskId }): Promise<boolean> => {
    const { name } = readCommand(storedManifest(coordinator.bundle(coordinator.task(task)?.bundle ?? '') ?? new Uint8Array(0)).command)
    return by.kind === 'program' ? comparators.agree(name, a, b) : areNear(name, a, b)
  }
  const compared = (event: Extract<Event, { kind: 'compared' }>): void => {
    if (event.fault?.of === 'program') onFaulty(epoch, event.task)
    committer.apply(event)
  }
  const comparisons = new Comparisons({
    content,
    host,
    clock: process,
    logger: SILENT,
    committer,
    done: compared,
    agree,
    known: await KnownPairs.load(store)
  })
  const dice = random.fork('epoch', epoch)
  const bytes = (count: number): Uint8Array => Uint8Array.from({ length: count }, () => dice.below(256))
  const rechecks = new Rechecks({ store, committer, random: { bytes }, logger: SILENT })
  const done = (...events: readonly Event[]): void => {
    for (const event of events) committer.apply(event)
  }
  const completions = new Completions({ store, content, clock: process, logger: SILENT, random: { bytes }, done })
  const sweepLooks = new SweepLooks({ store, content, committer, logger: SILENT })
  // A commit carries out what loading wished for: everything that does must be there.
  await checkpoints.begin(store)
  await control.start()
  const submissions = new Submissions({
    committer,
    coordinator,
    store,
    content,
    comparators: { refusal: async () => undefined },
    random: { bytes }
  })
  committer.apply({ kind: 'tick' })
  const tick = (): void => {
    process.after(TICK_MS, () => {
      committer.apply({ kind: 'tick' })
      tick()
    })
  }
  tick()
  return { epoch, committer, coordinator, control, submissions, pulls }
}
