/** Carries out the core's wish to know which tasks of a sweep were decided before, before they are made. */
import type { ContentStore } from '#protocol/content/content'
import type { Committer } from './commit.ts'
import { decodeBatchRecord } from './coordinator/batch-records.ts'
import { storedManifest } from './coordinator/batches.ts'
import type { Effect, Repeat } from './coordinator/events.ts'
import { batchKey } from './coordinator/keys.ts'
import { templateOf } from './coordinator/stored-tasks.ts'
import { bundleAt, decodeSweepRecord, sweepKey } from './coordinator/sweeps.ts'
import type { Logger } from './logger.ts'
import { findRepeats, stillHere } from './owner/repeats.ts'
import type { Store } from './ports.ts'

type Look = Extract<Effect, { kind: 'look' }>

export interface SweepLooksPorts {
  readonly store: Pick<Store, 'get' | 'getMany'>
  readonly content: Pick<ContentStore, 'check' | 'has'>
  readonly committer: Pick<Committer, 'apply'>
  readonly logger: Logger
}

export class SweepLooks {
  readonly #ports: SweepLooksPorts
  /** One for each sweep at the most. */
  readonly #running = new Set<Promise<void>>()

  constructor(ports: SweepLooksPorts) {
    this.#ports = ports
  }

  /** What cannot be looked up is run. */
  look(look: Look): void {
    const { batch, to } = look
    const { committer, logger } = this.#ports
    const run = this.#find(look)
      .catch((error: unknown): ReadonlyMap<number, Repeat> => {
        logger.warn({ batch, err: error }, 'what was decided before of a sweep could not be looked up')
        return new Map()
      })
      .then((repeats) => committer.apply({ kind: 'looked', batch, to, repeats }))
      .finally(() => this.#running.delete(run))
    this.#running.add(run)
  }

  /** When nothing is being looked up. */
  async stop(): Promise<void> {
    await Promise.all(this.#running)
  }

  async #find({ batch, from, to }: Look): Promise<ReadonlyMap<number, Repeat>> {
    const { store, content } = this.#ports
    const [of, record] = await store.getMany([batchKey(batch), sweepKey(batch)])
    if (of === undefined || record === undefined) throw new Error(`the records of sweep ${batch} are missing`)
    const { by, policy } = decodeBatchRecord(of)
    const { template, sweep } = decodeSweepRecord(record)
    const { bytes } = await templateOf(store, batch, template)
    const maker = { sweep, template: storedManifest(bytes), facts: {} }
    const bundles = Array.from({ length: to - from }, (_, at) => bundleAt(maker, from + at))
    const found = stillHere(await findRepeats({ by, policy, bundles }, { store, content }), content)
    const repeats = new Map<number, Repeat>()
    for (const [at, { cid }] of bundles.entries()) {
      const repeat = found.get(cid)
      if (repeat !== undefined) repeats.set(from + at, repeat)
    }
    return repeats
  }
}
