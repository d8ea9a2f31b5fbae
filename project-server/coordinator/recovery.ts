/** From the records to the live state, after a restart. Only what is not terminal is read, and the nodes. */
import { Link, type Numbered } from '#protocol/control/link'
import { type BatchId, isBatchId, parseTaskId, type ReplicaId, type TaskId } from '#protocol/ids'
import { withOne } from '#protocol/lists'
import type { BanView } from '#protocol/owner/bans'
import { decodeResult, voteOf } from '#protocol/result/result'
import type { Store } from '../ports.ts'
import { BAN_PREFIX, decodeBanRecord } from './ban-records.ts'
import { addBatch } from './batch.ts'
import { decodeBatchRecord } from './batch-records.ts'
import { acceptedOf, bundleOf, storedManifest } from './batches.ts'
import { loadCheckpoint } from './checkpoints.ts'
import { CLIENT_PREFIX, decodeClientRecord } from './client-records.ts'
import { clientOf, runBegan } from './clients.ts'
import { decodeClosingRecord } from './closing-records.ts'
import { joinGroup } from './groups.ts'
import { firstOf, JOURNAL_PREFIX } from './journal.ts'
import { batchKey } from './keys.ts'
import { decodeLastWords, LAST_WORDS_PREFIX } from './last-words.ts'
import { CREDIT_PREFIX, decodeEarned, decodeSignedPage, EARNED_PREFIX } from './ledger.ts'
import { decodeLinkRecord, decodeOutgoing, type Waiting } from './link-records.ts'
import { memoryNeeds, needsAfter } from './memory.ts'
import { MEMORY_PREFIX } from './memory-history.ts'
import type { Batch, Node, Report, Task, Waits } from './model.ts'
import { newNode } from './node.ts'
import { decodeNodeRecord } from './node-records.ts'
import { overruns, watch } from './nodes.ts'
import { hasOutput, resumePull } from './pulls.ts'
import { decodeStoredResult, resultKey } from './receipt-records.ts'
import { askAgainForRechecks, loadRecheck } from './rechecks.ts'
import { resumeRemains } from './remains.ts'
import { decodeOwedRecord } from './remains-records.ts'
import { newReplica } from './replica.ts'
import { keepClosing, noteCopy, refile, take } from './replicas.ts'
import { link } from './sources.ts'
import { decodeSourcesRecord, type SourcesRecord, sourcesKey } from './sources-records.ts'
import type { State } from './state.ts'
import { isLive, isTerminal } from './states.ts'
import { storedTasks, templateOf } from './stored-tasks.ts'
import { decodeMadeRecord, decodeSweepRecord, earlyOf, type Maker, madeKey, makerOf, sweepKey, unmade } from './sweeps.ts'
import { addTask } from './task.ts'
import type { ReplicaRecord, TaskRecord } from './task-records.ts'
import { failureOf } from './tasks.ts'
import { decodeLateRecord } from './trust-records.ts'

type Records = Pick<Store, 'get' | 'range'>

/** Reads in one go; each is a round trip to the store's thread. */
const READS_AT_ONCE = 512
const TEXT = new TextDecoder()

export async function load(state: State, store: Records, nowMs: number): Promise<void> {
  for await (const [key, value] of under(store, 'recent/')) {
    state.known.add(TEXT.decode(value))
    state.nextOrder = Number(key.slice('recent/'.length)) + 1
  }
  for await (const [, value] of under(store, CLIENT_PREFIX)) {
    const record = decodeClientRecord(value)
    const client = clientOf(state, record.id)
    Object.assign(client, record, { share: record.settings.share })
  }
  const assigned = await loadNodes(state, store)
  const bans: BanView[] = []
  for await (const [, value] of under(store, BAN_PREFIX)) bans.push(decodeBanRecord(value))
  state.bans.load(bans)
  for (const node of state.nodes.values()) node.ban = state.bans.of(node) ?? null
  if (state.nodes.size > 0) state.graceUntilMs = nowMs + state.policy.restartGraceMs
  await loadLastWords(state, store)
  for await (const [key, value] of under(store, 'late/')) state.late.set(key.slice('late/'.length), decodeLateRecord(value))
  for await (const [key, value] of under(store, MEMORY_PREFIX)) state.memory.load(key, value)
  for await (const [, value] of under(store, 'owed/')) resumeRemains(state, decodeOwedRecord(value), nowMs)
  for await (const [key] of under(store, 'open/')) await loadBatch(state, store, { id: key.slice('open/'.length), assigned, nowMs })
  await loadJournal(state, store)
  await loadLedger(state, store)
  await loadRechecks(state, store)
  for (const node of state.nodes.values()) {
    // The coordinator was away; who else was, nobody knows.
    node.observedMs = nowMs
    refile(state, node)
    watch(state, node, nowMs)
    if (overruns(node)) state.out.overrun.add(node)
  }
  for (const batch of state.batches.values()) {
    if (batch.waits !== null) link(state, batch, batch.waits.sources, batch.waits.depth)
    for (const task of batch.tasks) {
      if (task.waits !== null) link(state, task, task.waits.sources, task.waits.depth)
      // What was asked for often enough is being computed again.
      if (task.decision !== null && !task.decision.held && task.replicas.some(hasOutput)) resumePull(state, task, nowMs)
      else state.touched.add(task)
    }
  }
}

async function loadLastWords(state: State, store: Records): Promise<void> {
  const kept: { readonly key: string; readonly atMs: number }[] = []
  for await (const [key, value] of under(store, LAST_WORDS_PREFIX)) kept.push({ key, atMs: decodeLastWords(value).atMs })
  for (const { key } of kept.sort((a, b) => a.atMs - b.atMs)) state.lastWords.add(key)
}

/** How far what happened is numbered. */
async function loadJournal(state: State, store: Records): Promise<void> {
  const kept: number[] = []
  let last: Uint8Array | undefined
  for await (const [key, value] of under(store, JOURNAL_PREFIX)) {
    kept.push(firstOf(key))
    last = value
  }
  if (last !== undefined) state.out.journal.loaded(kept, last)
}

/** How far the ledger goes, and what owners have by it. */
async function loadLedger({ out: { ledger } }: State, store: Records): Promise<void> {
  for await (const [key, value] of store.range(CREDIT_PREFIX, `${CREDIT_PREFIX}~`, { reverse: true, limit: 1 }))
    ledger.loaded(Number(key.slice(CREDIT_PREFIX.length)), decodeSignedPage(value))
  for await (const [key, value] of under(store, EARNED_PREFIX)) ledger.owners.set(key.slice(EARNED_PREFIX.length), decodeEarned(value))
}

/** What is looked at again, or is to be. */
async function loadRechecks(state: State, store: Records): Promise<void> {
  for await (const [key, value] of under(store, 'recheck/')) {
    const running = loadRecheck(state, key.slice('recheck/'.length), value)
    if (running === undefined) continue
    const [by, recheck] = running
    const { batch: id, index } = parseTaskId(by) ?? { batch: '', index: 0 }
    const batch = state.batches.get(id)
    if (batch === undefined) continue
    if (batch.rechecks === null) batch.client.rechecking++
    batch.rechecks = new Map(batch.rechecks ?? []).set(index, recheck)
  }
  askAgainForRechecks(state)
}

/** Nodes with their links; answers under which number each lease waits that its node does not have yet. */
async function loadNodes(state: State, store: Records): Promise<Map<ReplicaId, number>> {
  for await (const [, value] of under(store, 'node/')) {
    const { id, offer, state: was, lastSeenMs, ...known } = decodeNodeRecord(value)
    const node = newNode(state.nodeLists, id, offer, lastSeenMs)
    Object.assign(node, known, { state: was })
    state.nodes.add(node)
  }
  for await (const [key, value] of under(store, 'closing/')) {
    const [, id = '', replica = ''] = key.split('/')
    const node = state.nodes.get(id)
    if (node !== undefined) keepClosing(node, replica, decodeClosingRecord(value))
  }
  for await (const [key] of under(store, 'alone/')) {
    const [, id = '', task = ''] = key.split('/')
    const node = state.nodes.get(id)
    if (node === undefined) throw new Error(`the record of node ${id} is missing`)
    node.unconfirmed ??= []
    node.unconfirmed.push(task)
  }
  const filed = new Map<string, Numbered<Waiting>[]>()
  for await (const [key, value] of under(store, 'out/')) {
    const [, id = '', number] = key.split('/')
    const waiting = { seq: Number(number), payload: { said: decodeOutgoing(value), filed: true } }
    const list = filed.get(id)
    if (list === undefined) filed.set(id, [waiting])
    else list.push(waiting)
  }
  const assigned = new Map<ReplicaId, number>()
  for await (const [key, value] of under(store, 'link/')) {
    const id = key.slice('link/'.length)
    const node = state.nodes.get(id)
    if (node === undefined) continue
    const numbers = decodeLinkRecord(value)
    const pending = [...numbers.waiting, ...(filed.get(id) ?? [])].sort((a, b) => a.seq - b.seq)
    for (const { seq, payload } of pending) if (payload.said.kind === 'assign') for (const replica of payload.said.replicas) assigned.set(replica, seq)
    node.link = new Link<Waiting>(numbers, pending)
  }
  return assigned
}

async function loadBatch(
  state: State,
  store: Records,
  { id, assigned, nowMs }: { id: string; assigned: ReadonlyMap<ReplicaId, number>; nowMs: number }
): Promise<void> {
  const bytes = await store.get(batchKey(id))
  if (bytes === undefined || !isBatchId(id)) throw new Error(`the record of batch ${id} is missing`)
  const record = decodeBatchRecord(bytes)
  const { name, by, createdAtMs, order, seed, policy, open, tasks, created, running, validating, ready, failed, killed } = record
  const { held, queuedAtMs, releasedAtMs, ranFailed } = record
  const counts = { created, running, validating, ready, failed, killed }
  const made = await loadMaker(store, id)
  const batch = addBatch(state, {
    id,
    name,
    client: clientOf(state, by),
    createdAtMs,
    order,
    seed,
    policy,
    open,
    held,
    queuedAtMs,
    releasedAtMs,
    ranFailed,
    succeeded: ready > 0,
    counts,
    length: tasks,
    maker: made?.maker ?? null,
    // Linked to its sources with the tasks.
    waits: made?.waits === undefined ? null : toBeLinked(made.waits)
  })
  const { maker } = batch
  if (unmade(batch) > 0) state.sweeps.add(batch)
  const records: TaskRecord[] = []
  const waiting = new Map<TaskId, SourcesRecord>()
  for await (const { index, record, bundle } of storedTasks(store, id)) {
    // One that was made before its turn has a record, and is perhaps over.
    if (maker !== null && index >= maker.next) earlyOf(maker).add(index)
    if (isTerminal(record.state)) continue
    if (record.bundle !== '') {
      records.push(record)
      if (bundle !== undefined && !state.bundles.has(record.bundle)) bundleOf(state, acceptedOf(record.bundle, bundle))
    } else {
      const sources = await store.get(sourcesKey(record.id))
      if (sources === undefined) throw new Error(`the record of what task ${record.id} takes from others is missing`)
      const waits = decodeSourcesRecord(sources)
      waiting.set(record.id, waits)
      records.push({ ...record, bundle: waits.template })
    }
  }
  const results = new Map<string, Uint8Array>()
  for await (const [key, value] of under(store, `result/${id}.`)) results.set(key, value)
  for (let at = 0; at < records.length; at += READS_AT_ONCE) {
    const part = records.slice(at, at + READS_AT_ONCE)
    await loadBundles(state, store, id, part)
    for (const record of part) loadTask(state, batch, record, { results, assigned, waits: waiting.get(record.id), nowMs })
  }
  batch.runs.sort()
}

async function loadMaker(store: Records, batch: BatchId): Promise<{ readonly maker: Maker; readonly waits?: SourcesRecord } | undefined> {
  const bytes = await store.get(sweepKey(batch))
  if (bytes === undefined) return undefined
  const { template, sweep, waits } = decodeSweepRecord(bytes)
  const { bytes: manifest, ...facts } = await templateOf(store, batch, template)
  const maker = makerOf(sweep, storedManifest(manifest), facts)
  const made = await store.get(madeKey(batch))
  const { next, end } = made === undefined ? { next: 0, end: null } : decodeMadeRecord(made)
  maker.next = end !== null ? maker.count : next
  if (!waits || end !== null) return { maker }
  const sources = await store.get(sourcesKey(batch))
  if (sources === undefined) throw new Error(`the record of what sweep ${batch} takes from others is missing`)
  return { maker, waits: decodeSourcesRecord(sources) }
}

function toBeLinked({ sources, depth }: SourcesRecord): Waits {
  return { sources, missing: 0, asked: false, depth }
}

/** Those that lie by themselves. */
async function loadBundles(state: State, store: Records, batch: BatchId, records: readonly TaskRecord[]): Promise<void> {
  const cids = new Set(records.map(({ bundle }) => bundle).filter((cid) => !state.bundles.has(cid)))
  await Promise.all(
    [...cids].map(async (cid) => {
      bundleOf(state, acceptedOf(cid, await templateOf(store, batch, cid)))
    })
  )
}

interface Beside {
  readonly results: ReadonlyMap<string, Uint8Array>
  readonly assigned: ReadonlyMap<ReplicaId, number>
  readonly waits: SourcesRecord | undefined
  readonly nowMs: number
}

function loadTask(state: State, batch: Batch, record: TaskRecord, { results, assigned, waits, nowMs }: Beside): void {
  const bundle = state.bundles.get(record.bundle)
  if (bundle === undefined) throw new Error(`the record of bundle ${record.bundle} is missing`)
  const index = Number(record.id.slice(record.id.lastIndexOf('.') + 1))
  const needs = needsAfter(state, batch, bundle, record.replicas)
  const group = joinGroup(state, batch, { bundle, needs })
  const { createdAtMs, startedAtMs, endedAtMs, failure, decision, repeats, outputLosses, held } = record
  const task = addTask(state, {
    batch,
    index,
    bundle,
    group,
    needs,
    // Staging a batch is not written for each of its tasks.
    state: record.state === 'created' && !batch.open && waits === undefined ? 'staged' : record.state,
    createdAtMs,
    startedAtMs,
    endedAtMs,
    failure,
    decision,
    repeats,
    outputLosses,
    held,
    // Linked to its sources once all of them are here.
    waits: waits === undefined ? null : toBeLinked(waits)
  })
  if (decision !== null && failureOf(decision.vote) === null) batch.succeeded = true
  for (const replica of record.replicas) loadReplica(state, task, replica, { signed: results.get(resultKey(task, replica.attempt)), assigned, nowMs })
}

function loadReplica(
  state: State,
  task: Task,
  record: ReplicaRecord,
  { signed, assigned, nowMs }: { signed: Uint8Array | undefined; assigned: ReadonlyMap<ReplicaId, number>; nowMs: number }
): void {
  const node: Node | undefined = state.nodes.get(record.node)
  if (node === undefined) throw new Error(`the record of node ${record.node} is missing`)
  const { node: _, memoryBytes, ...known } = record
  const id = `${task.id}.${record.attempt}`
  const replica = newReplica({
    ...known,
    id,
    task,
    node,
    // While the coordinator was away nobody could say anything.
    signMs: nowMs,
    needs: memoryNeeds(state, task.bundle.needs, memoryBytes),
    report: signed === undefined ? null : loadReport(task, signed),
    assignSeq: assigned.get(id) ?? 0
  })
  task.replicas = withOne(task.replicas, replica)
  loadCheckpoint(state, replica)
  if (!isLive(replica.state)) return
  take(state, replica)
  noteCopy(state, replica)
  if (replica.state !== 'running') return
  task.batch.runs.began(replica)
  runBegan(replica, replica.atMs)
}

function loadReport(task: Task, stored: Uint8Array): Report {
  const signed = decodeStoredResult(stored)
  const result = decodeResult(signed.body)
  if (result === undefined) throw new Error(`a stored result of task ${task.id} does not decode`)
  return {
    bundle: result.bundle,
    vote: voteOf(result, task.bundle.compareStdout),
    exitCode: result.exitCode,
    reason: result.reason,
    output: result.output.toString(),
    stdout: result.stdout.toString(),
    stderr: result.stderr.toString(),
    bytes: result.bytes,
    ranMs: Math.max(0, result.endedAtMs - result.startedAtMs),
    cpuMs: Math.max(0, result.cpuMs),
    memoryPeakBytes: Math.max(0, result.memoryPeakBytes),
    signed,
    stored: true
  }
}

/** Everything below a key that ends in a separator. */
function under(store: Records, prefix: string): AsyncIterable<readonly [key: string, value: Uint8Array]> {
  return store.range(prefix, prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1))
}
