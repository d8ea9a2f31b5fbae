/**
 * Owners are answered from the durable records alone: what they are told can not be taken back by a restart. Only the
 * presence of nodes and how far a replica is come from memory.
 */
import { manifestAt } from '#protocol/bundle/sweep'
import { type BatchId, isBatchId, type PeerIdString, parseTaskId, replicaId, type TaskId } from '#protocol/ids'
import { type BatchView, type NodeView, type ReplicaView, type RunProgress, SELECTED_BATCHES_MAX, type TaskView } from '#protocol/owner/messages'
import { encodeSignedReceipt } from '#protocol/result/receipt'
import { type BatchRecord, decodeBatchRecord } from '../coordinator/batch-records.ts'
import { storedManifest } from '../coordinator/batches.ts'
import type { Coordinator } from '../coordinator/coordinator.ts'
import { batchKey, namePrefix, openKey, ownPrefix, revisedKey } from '../coordinator/keys.ts'
import { decodeLastWords, lastWordsKey } from '../coordinator/last-words.ts'
import { signedReceipt, storedReceipt } from '../coordinator/receipt-records.ts'
import { decodeLeftRecord, type LeftRecord, leftKey } from '../coordinator/remains-records.ts'
import { decodeSourcesRecord, type SourcesRecord, sourcesKey } from '../coordinator/sources-records.ts'
import { isTerminal } from '../coordinator/states.ts'
import { storedBundle, storedTask, storedTasks, templateOf } from '../coordinator/stored-tasks.ts'
import { decodeMadeRecord, decodeSweepRecord, type Maker, madeKey, sweepKey, type UnmadeEnd, unmadeRecord } from '../coordinator/sweeps.ts'
import type { TaskRecord } from '../coordinator/task-records.ts'
import { decodeRevisedRecord, type RevisedRecord } from '../coordinator/trust-records.ts'
import { batchView, endedWhy, taskView } from '../coordinator/views.ts'
import type { Store } from '../ports.ts'
import { labelPrefix, readNotes } from './notes.ts'
import { OwnerError } from './request.ts'
import { isIn } from './select.ts'
import type { Page, Selection, Views } from './views.ts'

const ORDER_DIGITS = 12

/** Batches of one prefix that are looked at for those of one client; ids are drawn, so that a few characters more single one out. */
const PREFIX_BATCHES_MAX = 1000

type SweepMaker = Pick<Maker, 'sweep' | 'template' | 'facts'> & {
  /** How those ended that were not made. */
  readonly end: UnmadeEnd | null
}

export interface Reader {
  readonly client: PeerIdString
  /** It administers the project: everybody's batches are shown to it. Names stay its own. */
  readonly all: boolean
}

export function storeViews(
  store: Pick<Store, 'get' | 'range'>,
  coordinator: Pick<Coordinator, 'nodes' | 'progress' | 'task' | 'why'>,
  { client, all }: Reader
): Views {
  /** Undefined for another client's, as for what does not exist. */
  const batchRecord = async (id: BatchId): Promise<BatchRecord | undefined> => {
    const bytes = await store.get(batchKey(id))
    const record = bytes === undefined ? undefined : decodeBatchRecord(bytes)
    return all || record?.by === client ? record : undefined
  }
  const isOwn = async (id: TaskId | BatchId): Promise<boolean> => (await batchRecord(parseTaskId(id)?.batch ?? id)) !== undefined
  const leftOf = async ({ id, state }: TaskRecord): Promise<LeftRecord | undefined> => {
    const bytes = state === 'killed' ? await store.get(leftKey(id)) : undefined
    return bytes === undefined ? undefined : decodeLeftRecord(bytes)
  }
  const revisedOf = async ({ id, replicas }: TaskRecord): Promise<RevisedRecord | undefined> => {
    const bytes = replicas.some(({ standing }) => standing.alone) ? await store.get(revisedKey(id)) : undefined
    return bytes === undefined ? undefined : decodeRevisedRecord(bytes)
  }
  /** Of tasks of one batch, from this one on, by key. */
  const leftFrom = async (first: TaskId, limit: number): Promise<Map<string, LeftRecord>> => {
    const found = new Map<string, LeftRecord>()
    const from = leftKey(first)
    for await (const [key, value] of store.range(from, `${from.slice(0, from.indexOf('.'))}.~`, { limit })) found.set(key, decodeLeftRecord(value))
    return found
  }
  const manifestOf = async (task: TaskId, bundle: string): Promise<Uint8Array> => (await storedBundle(store, task, bundle)).bytes
  const makerOf = async (batch: BatchId): Promise<SweepMaker | undefined> => {
    const bytes = await store.get(sweepKey(batch))
    if (bytes === undefined) return undefined
    const { template, sweep } = decodeSweepRecord(bytes)
    const [{ bytes: manifest, ...facts }, made] = await Promise.all([templateOf(store, batch, template), store.get(madeKey(batch))])
    const end = made === undefined ? null : decodeMadeRecord(made).end
    return { sweep, template: storedManifest(manifest), facts, end }
  }
  /** A task of a sweep that has no record yet; undefined when there is no such task. */
  const unmadeOf = (batch: BatchRecord, maker: SweepMaker, index: number): TaskView | undefined => {
    if (index >= batch.tasks) return undefined
    const command = manifestAt(maker.template, maker.sweep, index).command
    return taskView(unmadeRecord(batch, maker, index, maker.end), { batch, command, left: undefined }, false)
  }
  const sourcesOf = async (id: TaskId | BatchId): Promise<SourcesRecord | undefined> => {
    const bytes = await store.get(sourcesKey(id))
    return bytes === undefined ? undefined : decodeSourcesRecord(bytes)
  }
  /** Its own, or those of its sweep. */
  const takenBy = async (id: TaskId): Promise<SourcesRecord | undefined> => (await sourcesOf(id)) ?? sourcesOf(parseTaskId(id)?.batch ?? id)
  const commandOf = async ({ id, bundle }: TaskRecord): Promise<readonly string[]> =>
    storedManifest(await manifestOf(id, bundle === '' ? ((await sourcesOf(id))?.template ?? '') : bundle)).command

  const withNotes = async (record: BatchRecord): Promise<BatchView> => {
    const { labels, retryOf } = await readNotes(store, record.id)
    return { ...batchView(record), ...(labels.length === 0 ? {} : { labels }), ...(retryOf === null ? {} : { retryOf }) }
  }
  /** Ids of batches that may be meant, and all that are. Labels and names are each client's own. */
  async function* candidates({ labels: [label], name }: Selection): AsyncGenerator<BatchId, void, undefined> {
    const prefix = label !== undefined ? labelPrefix(client, label) : name !== '' ? namePrefix(client, name) : openKey('')
    for await (const [key, value] of store.range(prefix, `${prefix}~`))
      yield prefix.startsWith('name/') ? Buffer.from(value).toString() : key.slice(prefix.length)
  }

  return {
    async batch(id) {
      const record = await batchRecord(id)
      return record === undefined ? undefined : withNotes(record)
    },

    async select(selection) {
      const { labels, name, state } = selection
      const found: { readonly order: number; readonly view: BatchView }[] = []
      for await (const id of candidates(selection)) {
        const record = await batchRecord(id)
        // What stands for many batches means one's own, an administrator's too: another's it ends by their ids.
        if (record?.by !== client || (name !== '' && record.name !== name)) continue
        const view = await withNotes(record)
        if (!isIn(view, state) || !labels.every((label) => view.labels?.includes(label) === true)) continue
        found.push({ order: record.order, view })
        if (found.length > SELECTED_BATCHES_MAX) throw new OwnerError('too_large', `more than ${SELECTED_BATCHES_MAX} batches are meant: say more of them`)
      }
      return found.sort((a, b) => b.order - a.order).map(({ view }) => view)
    },

    async batches({ limit, after }) {
      const last = after === '' ? undefined : await batchRecord(after)
      const prefix = all ? 'recent/' : ownPrefix(client)
      const to = last === undefined ? `${prefix}~` : `${prefix}${String(last.order).padStart(ORDER_DIGITS, '0')}`
      const views: BatchView[] = []
      for await (const [, value] of store.range(prefix, to, { reverse: true, limit })) {
        const record = await batchRecord(Buffer.from(value).toString())
        if (record !== undefined) views.push(await withNotes(record))
      }
      return views
    },

    async batchesByPrefix(prefix) {
      const found: BatchId[] = []
      for await (const [key, value] of store.range(batchKey(prefix), batchKey(`${prefix}~`), { limit: PREFIX_BATCHES_MAX })) {
        if (all || decodeBatchRecord(value).by === client) found.push(key.slice(batchKey('').length))
        if (found.length === 2) break
      }
      return found
    },

    async batchesByName(name) {
      if (name === '') return []
      const prefix = namePrefix(client, name)
      for await (const [, value] of store.range(prefix, `${prefix}~`, { reverse: true, limit: 1 })) return [Buffer.from(value).toString()]
      return []
    },

    async task(id) {
      const batch = parseTaskId(id)?.batch
      const [record, parent] = batch === undefined ? [] : await Promise.all([storedTask(store, id), batchRecord(batch)])
      if (parent === undefined) return undefined
      if (record === undefined) {
        const [maker, waits] = await Promise.all([makerOf(parent.id), sourcesOf(parent.id)])
        const view = maker === undefined ? undefined : unmadeOf(parent, maker, parseTaskId(id)?.index ?? 0)
        return view === undefined ? undefined : { ...view, replicas: [], ...(waits === undefined ? {} : { sources: waits.sources }) }
      }
      const [command, left, waits, revised] = await Promise.all([commandOf(record), leftOf(record), takenBy(id), revisedOf(record)])
      const view = withProgress(taskView(record, { batch: parent, command, left, revised }, true), coordinator.task(id), coordinator.progress(id))
      const logged = await withLastWords(view, store)
      return waits === undefined ? logged : { ...logged, sources: waits.sources }
    },

    async tasks(batch, { limit, after }) {
      const parent = await batchRecord(batch)
      if (parent === undefined) return []
      const last = parseTaskId(after)
      const commands = new Map<string, readonly string[]>()
      const views: TaskView[] = []
      let left: Map<string, LeftRecord> | undefined
      const maker = await makerOf(batch)
      const first = last === undefined || last.batch !== batch ? 0 : last.index + 1
      const fillTo = (end: number): void => {
        for (let index = first + views.length; maker !== undefined && index < end && views.length < limit; index++) {
          const view = unmadeOf(parent, maker, index)
          if (view === undefined) return
          views.push(view)
        }
      }
      for await (const { index, record, bundle } of storedTasks(store, batch, { from: first, limit })) {
        fillTo(index)
        if (views.length >= limit) break
        if (record.state === 'killed') left ??= await leftFrom(record.id, limit)
        const command = commands.get(record.bundle) ?? (bundle === undefined ? await commandOf(record) : storedManifest(bundle.bytes).command)
        if (record.bundle !== '') commands.set(record.bundle, command)
        const view = taskView(record, { batch: parent, command, left: left?.get(leftKey(record.id)) }, false)
        views.push(isTerminal(record.state) ? view : withFurthest(view, coordinator.progress(record.id)))
      }
      fillTo(parent.tasks)
      return views
    },

    async nodes({ limit, after }: Page): Promise<readonly NodeView[]> {
      const all = coordinator.nodes()
      // The present ones come first, which is no order to turn pages in.
      const nodes = all.length <= limit && after === '' ? all : all.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      const from = after === '' ? 0 : nodes.findIndex(({ id }) => id === after) + 1
      return nodes.slice(from, from + limit)
    },

    async why(id: TaskId | BatchId) {
      if (!(await isOwn(id))) return undefined
      const live = coordinator.why(id)
      if (live !== undefined || isBatchId(id)) return live
      const view = await this.task(id)
      return view === undefined ? undefined : endedWhy(view)
    },

    async receipt(task: TaskId) {
      if (!(await isOwn(task))) return undefined
      // What was answered at once has the receipt of the task that it repeats, which is the same client's.
      const record = await storedTask(store, task)
      if (record === undefined) return undefined
      const { repeats, decision } = record
      const decided = repeats ?? task
      const stored = await storedReceipt(decided, decision?.receipt ?? null, (key) => store.get(key))
      if (stored === undefined) return undefined
      return encodeSignedReceipt(await signedReceipt(stored, { get: (key) => store.get(key), manifest: (bundle) => manifestOf(decided, bundle) }))
    }
  }
}

/** Attempts whose node's last words are shown with a task, the latest: 64 KiB. */
const LAST_WORDS_SHOWN_MAX = 16

/** Whose replica it was is what the task's record says, whatever a node spoke of. */
async function withLastWords(view: TaskView, store: Pick<Store, 'get'>): Promise<TaskView> {
  const { id, replicas = [] } = view
  const failed = replicas.filter(({ state }) => state === 'lost' || state === 'returned').slice(-LAST_WORDS_SHOWN_MAX)
  const logs = new Map<number, string>()
  for (const { attempt, node } of failed) {
    const bytes = await store.get(lastWordsKey(node, replicaId(id, attempt)))
    if (bytes !== undefined) logs.set(attempt, decodeLastWords(bytes).log)
  }
  if (logs.size === 0) return view
  const shown = (replica: ReplicaView): ReplicaView => {
    const log = logs.get(replica.attempt)
    return log === undefined ? replica : { ...replica, log }
  }
  return { ...view, replicas: replicas.map(shown) }
}

/** Of runs of one task the one that is furthest tells when it may be over. */
function withFurthest(view: TaskView, figures: ReadonlyMap<number, RunProgress>): TaskView {
  let progress: RunProgress | undefined
  for (const figure of figures.values()) if (progress === undefined || figure.done > progress.done) progress = figure
  return progress === undefined ? view : { ...view, progress }
}

/** A node's word that it prepares or uploads, and how far it is, is not written down; here it is shown where it goes on from what is. */
function withProgress(view: TaskView, live: TaskRecord | undefined, figures: ReadonlyMap<number, RunProgress>): TaskView {
  if (view.replicas === undefined || live === undefined) return view
  const replicas = view.replicas.map((replica) => {
    const now = live.replicas.find(({ attempt }) => attempt === replica.attempt)?.state
    const further = (replica.state === 'leased' && now === 'preparing') || (replica.state === 'running' && now === 'uploading')
    const progress = figures.get(replica.attempt)
    return { ...replica, ...(further && now !== undefined ? { state: now } : {}), ...(progress === undefined ? {} : { progress }) }
  })
  return withFurthest({ ...view, replicas }, figures)
}
