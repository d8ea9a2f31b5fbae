/**
 * What nodes earn, once more: from the pages of the ledger, the records of tasks and what nodes signed, and not from what the
 * coordinator keeps of it. Looked at after every commit: who is paid agreed, is paid once, as much as the rule says of what the
 * others claimed, and what nodes and owners are said to have is what the pages come to.
 */
import { decodeBatchRecord } from '#project-server/coordinator/batch-records'
import { batchKey, nodeKey, taskKey } from '#project-server/coordinator/keys'
import { CREDIT_PREFIX, decodeEarned, decodeSignedPage, EARNED_PREFIX } from '#project-server/coordinator/ledger'
import { decodeNodeRecord } from '#project-server/coordinator/node-records'
import { decodeReceiptPage, decodeStoredResult, RECEIPTS_PREFIX } from '#project-server/coordinator/receipt-records'
import type { ReplicaRecord, TaskRecord } from '#project-server/coordinator/task-records'
import { decodeRevisedRecord } from '#project-server/coordinator/trust-records'
import type { Change } from '#project-server/ports'
import { decodeManifest, type RunManifest } from '#protocol/bundle/manifest'
import type { TaskPolicy } from '#protocol/bundle/policy'
import { type CreditEntry, decodePage, LedgerReplay } from '#protocol/credit/ledger'
import type { PeerIdString, TaskId } from '#protocol/ids'
import { decodeResult, type Result } from '#protocol/result/result'
import type { Sometimes } from '../sometimes.ts'
import type { MemoryStore } from '../store.ts'
import { changedTasks, peekBundle, peekTask } from '../stored-tasks.ts'
import type { Complaints } from './complaints.ts'
import { apart, seenOf } from './quorum.ts'
import { receiptOf } from './receipts.ts'

const MILLION = 1_000_000

export class Credit {
  readonly #records: MemoryStore
  readonly #complaints: Complaints
  readonly #sometimes: Sometimes
  readonly #replay = new LedgerReplay()
  /** What nodes signed of each task that is not over, by attempt. */
  readonly #said = new Map<TaskId, Map<number, Result>>()
  /** Bases of a task's entries, in their order. */
  readonly #bases = new Map<TaskId, number[]>()
  /** How the claims of each node compare with what it got, where others claimed too. */
  readonly #honest = new Map<PeerIdString, number>()

  constructor(records: MemoryStore, complaints: Complaints, sometimes: Sometimes) {
    this.#records = records
    this.#complaints = complaints
    this.#sometimes = sometimes
  }

  committed(changes: readonly Change[]): void {
    for (const { key, value } of changes) if (value !== null) this.#hear(key, value)
    const nodes = new Set<PeerIdString>()
    for (const { key, value } of changes) {
      if (value === null || !key.startsWith(CREDIT_PREFIX)) continue
      const fault = this.#replay.add(decodeSignedPage(value))
      this.#complaints.expect(fault === undefined, () => `the ledger is not to be believed: ${fault}`)
      const page = decodePage(decodeSignedPage(value).body)
      for (const entry of page?.entries ?? []) {
        nodes.add(entry.node)
        this.#sometimes.see(`credit ${entry.kind}`)
        this.#entry(entry, page?.number ?? 0)
      }
    }
    for (const task of changedTasks(changes)) this.#paid(task)
    this.#totals(nodes, changes)
  }

  /** Results as their nodes signed them: of open tasks, and in receipts. */
  #hear(key: string, value: Uint8Array): void {
    const bodies = key.startsWith('result/')
      ? [decodeStoredResult(value).body]
      : key.startsWith(RECEIPTS_PREFIX)
        ? decodeReceiptPage(value).flatMap((stored) => receiptOf(stored).results)
        : []
    for (const body of bodies) {
      const result = decodeResult(body)
      if (result === undefined) continue
      const dot = result.replica.lastIndexOf('.')
      const task = result.replica.slice(0, dot)
      const known = this.#said.get(task) ?? new Map<number, Result>()
      this.#said.set(task, known.set(Number(result.replica.slice(dot + 1)), result))
    }
  }

  #entry(entry: CreditEntry, page: number): void {
    const { kind, task: id, node, attempt, base, bonus } = entry
    const task = peekTask(this.#records, id)
    if (kind === 'taken_back') {
      const revised = this.#records.peek(`revised/${taskKey(id).slice('task/'.length)}`)
      this.#complaints.expect(
        revised !== undefined && decodeRevisedRecord(revised).verdict === 'revoked',
        () => `credit for ${id} is taken back from ${node}, and nobody found it wrong`
      )
      return
    }
    const replica = task?.replicas[attempt - 1]
    if (task === undefined || replica?.node !== node || task.decision === null) {
      this.#complaints.expect(false, () => `${node} is paid for ${id}.${attempt}, which is not its own or not decided`)
      return
    }
    const known = this.#bases.get(id) ?? []
    this.#bases.set(id, known)
    if (kind === 'late') {
      this.#complaints.expect(base <= Math.max(...known, 0) && bonus === 0, () => `${node} is paid ${base} and ${bonus} for coming late with ${id}.${attempt}`)
      return
    }
    this.#complaints.expect(replica.verdict === 'valid', () => `${node} is paid for ${id}.${attempt}, which is ${replica.verdict}`)
    this.#complaints.expect(replica.creditPage === page, () => `${id}.${attempt} says that page ${replica.creditPage} pays it, and page ${page} does`)
    this.#amount(entry, task, known)
    known.push(base)
  }

  /** Alike for all who agreed by then: the middle of their claims, the lower one of two. One that was believed alone gets its own, less what it was found to claim too much. */
  #amount({ task: id, node, attempt, base, bonus }: CreditEntry, task: TaskRecord, before: readonly number[]): void {
    const { policy } = decodeBatchRecord(this.#records.peek(batchKey(id.slice(0, id.indexOf('.')))) ?? new Uint8Array(0))
    const agreeing = task.replicas.filter(({ verdict }) => verdict === 'valid')
    const whole = agreeing.filter(({ from }) => from === null)
    const claimsOf = (some: readonly ReplicaRecord[]): (number | undefined)[] => some.map((other) => this.#claim(task, other.attempt))
    const claims = claimsOf(agreeing)
    const own = this.#claim(task, attempt)
    // A task that was killed as soon as it was decided leaves nothing to look at.
    if (own === undefined || !claims.every((claim) => claim !== undefined)) return
    const honest = this.#honest.get(node) ?? MILLION
    const believed = policy.adaptive && task.replicas[attempt - 1]?.standing.alone === true && this.#voices(task, policy) < policy.minQuorum
    const wentOn = task.replicas[attempt - 1]?.from !== null
    // Several may have been judged between two commits; who came first, the records do not say.
    // Where votes are weighed, those of well known nodes are enough although they are few.
    const quorum = policy.doubtPpm > 0 ? 1 : policy.minQuorum
    const measured = claimsOf(whole.length > 0 ? whole : agreeing).flatMap((claim) => claim ?? [])
    // Who went on from a checkpoint did a part of it: its claim is no measure for others, and the most that it gets.
    const shared =
      whole.length === agreeing.length
        ? middles(measured, Math.max(before.length + 1, quorum))
        : [...middles(measured, 1), ...middles(claims, 1)].map((middle) => (wentOn ? Math.min(own, middle) : middle))
    const possible = believed ? [Math.max(1, Math.floor((own / MILLION) * honest))] : shared
    this.#complaints.expect(possible.includes(base), () => `${node} earns ${base} for ${id}.${attempt}, and should earn one of ${possible.join(', ')}`)
    if (new Set(claims).size > 1) this.#sometimes.see('credit of claims that differ')
    if (believed) this.#sometimes.see('credit of one that was believed')
    else if (!wentOn) this.#honest.set(node, Math.round(honest + (Math.round(Math.min(1, base / own) * MILLION) - honest) / 10))
    const { tookMs } = task.replicas[attempt - 1] as TaskRecord['replicas'][number]
    const early = policy.deadlineMs > 0 && tookMs > 0 && tookMs < policy.deadlineMs
    const factor = early && !wentOn ? Math.min(2, Math.sqrt(policy.deadlineMs / tookMs)) : 1
    this.#complaints.expect(bonus === Math.floor(base * (factor - 1)), () => `${node} gets a bonus of ${bonus} for ${id}.${attempt}, which took ${tookMs} ms`)
    if (bonus > 0) this.#sometimes.see('credit for an early return')
  }

  /** How many of those that agree share nothing with one before. */
  #voices({ replicas }: TaskRecord, policy: TaskPolicy): number {
    const networkOf = (node: string): string => decodeNodeRecord(this.#records.peek(nodeKey(node)) ?? new Uint8Array(0)).offer.network
    const agreeing = seenOf(replicas, networkOf).filter((_, index) => replicas[index]?.verdict === 'valid')
    return apart(agreeing, policy).length
  }

  /** What its node signed, and no more than the run could have used while it ran. */
  #claim(task: TaskRecord, attempt: number): number | undefined {
    const replica = task.replicas[attempt - 1]
    const said = this.#said.get(task.id)?.get(attempt)
    if (replica === undefined || said === undefined) return undefined
    const { cpuMillis } = this.#manifestOf(task).resources
    return Math.max(1, Math.floor(Math.min(Math.max(0, said.cpuMs), (replica.ranMs / 1000) * cpuMillis) + replica.ranMs * replica.gpus.length))
  }

  /** Whoever agrees is paid, once a task. */
  #paid({ id, replicas, state }: TaskRecord): void {
    const paid = new Set<PeerIdString>()
    for (const { node, creditPage } of replicas) {
      if (creditPage === 0) continue
      this.#complaints.expect(!paid.has(node), () => `${node} is paid twice for ${id}`)
      paid.add(node)
    }
    for (const { node, attempt, verdict } of replicas)
      this.#complaints.expect(verdict !== 'valid' || paid.has(node), () => `${id}.${attempt} of ${node} agrees and earns nothing`)
    if (state === 'ready' || state === 'failed' || state === 'killed') this.#said.delete(id)
  }

  #totals(nodes: ReadonlySet<PeerIdString>, changes: readonly Change[]): void {
    const { nodes: sums, owners } = this.#replay.sums
    for (const node of nodes) {
      const stored = this.#records.peek(nodeKey(node))
      const has = stored === undefined ? 0 : decodeNodeRecord(stored).credit
      const should = sums.get(node)?.credit ?? 0
      this.#complaints.expect(has === should, () => `${node} is said to have ${has} credit, and the ledger says ${should}`)
    }
    for (const { key, value } of changes) {
      if (value === null || !key.startsWith(EARNED_PREFIX)) continue
      const should = owners.get(key.slice(EARNED_PREFIX.length))?.credit ?? 0
      this.#complaints.expect(decodeEarned(value) === should, () => `${key} is ${decodeEarned(value)}, and the ledger says ${should}`)
    }
  }

  #manifestOf({ id, bundle }: TaskRecord): RunManifest {
    return decodeManifest(peekBundle(this.#records, id, bundle).bytes)
  }
}

/** The lower middle of every set of these that has at least so many: a quorum, and all that were paid by then. */
function middles(claims: readonly number[], atLeast: number): number[] {
  let sets: number[][] = [[]]
  for (const claim of claims) sets = [...sets, ...sets.map((set) => [...set, claim])]
  return sets.filter(({ length }) => length >= atLeast).map((set) => set.sort((a, b) => a - b)[Math.ceil(set.length / 2) - 1] ?? 0)
}
