/** Carries out the core's wish to look at decisions again: reads what was run and how it was decided, and submits it once more. */
import { decodePage } from '#protocol/credit/ledger'
import { type BatchId, batchIdFrom, type PeerIdString, type TaskId } from '#protocol/ids'
import type { Committer } from './commit.ts'
import { type BatchRecord, decodeBatchRecord } from './coordinator/batch-records.ts'
import { acceptedOf } from './coordinator/batches.ts'
import type { Earned } from './coordinator/credit.ts'
import type { AcceptedBundle, Effect, Event } from './coordinator/events.ts'
import { batchKey, revisedKey } from './coordinator/keys.ts'
import { creditKey, decodeSignedPage } from './coordinator/ledger.ts'
import type { Recheck } from './coordinator/rechecks.ts'
import { storedBundle, storedTask } from './coordinator/stored-tasks.ts'
import type { TaskRecord } from './coordinator/task-records.ts'
import { decodeRevisedRecord } from './coordinator/trust-records.ts'
import type { Logger } from './logger.ts'
import type { Random, Store } from './ports.ts'

type Wish = Extract<Effect, { kind: 'recheck' }>

export interface RechecksPorts {
  readonly store: Pick<Store, 'get' | 'range'>
  readonly committer: Pick<Committer, 'apply'>
  readonly random: Random
  readonly logger: Logger
}

export class Rechecks {
  readonly #ports: RechecksPorts
  readonly #running = new Set<Promise<void>>()

  constructor(ports: RechecksPorts) {
    this.#ports = ports
  }

  /** What could not be read now is wished for again when the coordinator starts. */
  recheck(wish: Wish): void {
    const run = this.#run(wish)
      .catch((error: unknown) => this.#ports.logger.warn({ batch: wish.batch, reason: String(error) }, 'decisions could not be looked at again'))
      .finally(() => this.#running.delete(run))
    this.#running.add(run)
  }

  /** When nothing is being read. */
  async stop(): Promise<void> {
    await Promise.all(this.#running)
  }

  async #run(wish: Wish): Promise<void> {
    const { store, committer, random } = this.#ports
    const bytes = await store.get(batchKey(wish.batch))
    if (bytes === undefined) throw new Error(`the record of batch ${wish.batch} is missing`)
    const tasks = new Map<string, TaskRecord>()
    const bundles = new Map<string, AcceptedBundle>()
    const earned = new Map<string, Earned>()
    for (const { task, node } of wish.tasks) {
      const of = await storedTask(store, task)
      if (of === undefined || isSettled(await store.get(revisedKey(task)))) continue
      const { bundle } = of
      tasks.set(task, of)
      const page = await store.get(creditKey(pageOf(of, node)))
      const got = page === undefined ? undefined : earnedIn(page, task, node)
      if (got !== undefined) earned.set(task, got)
      if (!bundles.has(bundle)) bundles.set(bundle, acceptedOf(bundle, await storedBundle(store, task, bundle)))
    }
    const drawn = { batch: batchIdFrom(random.bytes(16)), seed: Buffer.from(random.bytes(4)).readUInt32BE() }
    committer.apply(recheckOf(wish, { batch: decodeBatchRecord(bytes), tasks, bundles, earned }, drawn))
  }
}

/** By what is written of an earlier look (`revised/`, if there is any): it was confirmed or revoked, and what a node is told of it was counted. */
export function isSettled(revised: Uint8Array | undefined): boolean {
  return revised !== undefined && decodeRevisedRecord(revised).verdict !== 'open'
}

/** The page of the ledger that says what the node earned by the task; 0 for none. */
export function pageOf({ replicas }: TaskRecord, node: PeerIdString): number {
  return replicas.find((replica) => replica.node === node && replica.creditPage > 0)?.creditPage ?? 0
}

/** What a stored page says of it. */
export function earnedIn(page: Uint8Array, task: TaskId, node: PeerIdString): Earned | undefined {
  return decodePage(decodeSignedPage(page).body)?.entries.find((entry) => entry.kind === 'earned' && entry.task === task && entry.node === node)
}

/** What the wish comes to, by what was read for it: a batch of its client in which no node decides alone. */
export function recheckOf(
  { batch: of, tasks: wished }: Wish,
  read: {
    readonly batch: BatchRecord
    readonly tasks: ReadonlyMap<string, TaskRecord>
    readonly bundles: ReadonlyMap<string, AcceptedBundle>
    readonly earned: ReadonlyMap<string, Earned>
  },
  { batch, seed }: { readonly batch: BatchId; readonly seed: number }
): Extract<Event, { kind: 'recheck' }> {
  const rechecks: Recheck[] = []
  const bundles: AcceptedBundle[] = []
  const dropped: string[] = []
  for (const { task, node } of wished) {
    const record = read.tasks.get(task)
    const bundle = read.bundles.get(record?.bundle ?? '')
    const vote = record?.decision?.vote
    if (bundle === undefined || vote === undefined) dropped.push(task)
    else {
      rechecks.push({ task, node, vote, earned: read.earned.get(task) ?? null })
      bundles.push(bundle)
    }
  }
  const { name, by, policy: asked } = read.batch
  const minQuorum = Math.max(2, asked.minQuorum)
  const policy = {
    ...asked,
    adaptive: false,
    // What it decided before is what is doubted.
    force: true,
    // Besides the one that is doubted there must be a quorum of those who are named, and nobody gives up on it.
    nodes: asked.nodes.length > minQuorum ? asked.nodes : [],
    queueLimitMs: 0,
    minQuorum,
    targetResults: Math.max(minQuorum, asked.targetResults),
    maxTotalResults: Math.max(8, asked.maxTotalResults),
    maxSuccessResults: Math.max(6, asked.maxSuccessResults)
  }
  return { kind: 'recheck', batch, submit: { name: `recheck of ${name === '' ? of : name}`, by, bundles, policy, seed }, of: rechecks, dropped }
}
