/** Tasks as they are on the server's disk, looked at after every commit. Numbers in brackets are those of the list of invariants. */
import { isDeepStrictEqual } from 'node:util'
import { decodeBatchRecord } from '#project-server/coordinator/batch-records'
import type { Coordinator } from '#project-server/coordinator/coordinator'
import type { NodeOffer } from '#project-server/coordinator/events'
import { nodeKey } from '#project-server/coordinator/keys'
import { decodeNodeRecord } from '#project-server/coordinator/node-records'
import { decodeReceiptPage, RECEIPTS_PREFIX, receiptPageKey } from '#project-server/coordinator/receipt-records'
import { decodeSourcesRecord, sourcesKey } from '#project-server/coordinator/sources-records'
import type { ReplicaRecord, TaskRecord } from '#project-server/coordinator/task-records'
import { decodeRevisedRecord } from '#project-server/coordinator/trust-records'
import type { Change } from '#project-server/ports'
import { decodeManifest, type RunManifest } from '#protocol/bundle/manifest'
import type { TaskPolicy } from '#protocol/bundle/policy'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import { type BatchId, type PeerIdString, parseTaskId, type TaskId } from '#protocol/ids'
import { areNear, idOf, MEMORY_BYTES, readCommand, snapshotOf, truths } from '../protocol/truth.ts'
import type { Sometimes } from '../sometimes.ts'
import type { MemoryStore } from '../store.ts'
import { changedTasks, peekBundle, peekTask } from '../stored-tasks.ts'
import type { Complaints } from './complaints.ts'
import { LIVE } from './live.ts'
import { allows, disagreement, handsIn, isNoAttempt, type Prediction, type ReplicaSeen, seenOf } from './quorum.ts'
import { receiptOf } from './receipts.ts'
import { type Runs, voteFor } from './runs.ts'

const TERMINAL: readonly string[] = ['ready', 'failed', 'killed']
/** Results of a batch before any of its runs can be said to take long. */
const RESULTS_TO_KNOW = 5
/** Of one task, on idle nodes. */
const COPIES_MAX = 3

/** Every state that may follow, over any number of moves. */
const TASK_AFTER: Readonly<Record<string, readonly string[]>> = {
  created: ['created', 'staged', 'running', 'validating', ...TERMINAL],
  staged: ['staged', 'running', 'validating', ...TERMINAL],
  running: ['staged', 'running', 'validating', ...TERMINAL],
  validating: ['staged', 'running', 'validating', ...TERMINAL],
  ready: ['ready'],
  failed: ['failed'],
  killed: ['killed']
}
const ENDS: readonly string[] = ['reported', 'returned', 'lost', 'cancelled']
const REPLICA_AFTER: Readonly<Record<string, readonly string[]>> = {
  leased: [...LIVE, ...ENDS],
  preparing: [...LIVE, ...ENDS],
  running: [...LIVE, ...ENDS],
  uploading: [...LIVE, ...ENDS],
  // Only a loss can turn out wrong.
  lost: [...LIVE, ...ENDS],
  reported: ['reported'],
  returned: ['returned'],
  cancelled: ['cancelled']
}

export interface TasksPorts {
  readonly records: MemoryStore
  readonly complaints: Complaints
  readonly sometimes: Sometimes
  readonly runs: Runs
  readonly tell: (text: string) => void
  /** Whether the project holds this content. */
  readonly holds: (root: string) => boolean
}

/** Faults that are not those of the node that gave a run back. */
const UNHARMED: ReadonlySet<string> = new Set(['owner', 'banned', 'lost_input', 'checkpoint'])

export class Tasks {
  /** As on disk. */
  readonly last = new Map<TaskId, TaskRecord>()
  readonly open = new Set<TaskId>()
  /** Roots that tasks took from others. */
  readonly inputs = new Set<string>()
  readonly #ports: TasksPorts
  /** Where each is stored. */
  readonly #receipts = new Map<TaskId, string>()
  /** How many replicas those had that are held. */
  readonly #holding = new Map<TaskId, number>()
  readonly #policies = new Map<BatchId, TaskPolicy>()
  readonly #banned = new Set<PeerIdString>()
  readonly #everBanned = new Set<PeerIdString>()

  constructor(ports: TasksPorts) {
    this.#ports = ports
  }

  committed(changes: readonly Change[]): void {
    const { complaints, sometimes } = this.#ports
    const left: string[] = []
    for (const { key, value } of changes) {
      // [10] What was accepted, decided or proven is never taken away.
      if (value === null)
        complaints.expect(!/^(task|submitted|batch|bundle|seal|receipts|revised|left|recent|name|node)\//.test(key), () => `${key} was deleted`)
      else if (key.startsWith(RECEIPTS_PREFIX))
        for (const [index, stored] of decodeReceiptPage(value).entries()) this.#receipt(receiptOf(stored).task, `${key} ${index}`)
      else if (key.startsWith('left/')) left.push(key)
      else if (key.startsWith('revised/')) sometimes.see(`a decision of one was ${decodeRevisedRecord(value).verdict}`)
    }
    for (const { key, value } of changes) {
      const [, node] = /^ban\/node\/(.*)$/.exec(key) ?? []
      if (node === undefined) continue
      this.#everBanned.add(node)
      if (value === null) this.#banned.delete(node)
      else this.#banned.add(node)
    }
    const changed = changedTasks(changes)
    for (const task of changed) this.#task(task)
    for (const task of changed) this.#copies(task)
    for (const task of changed) this.#bans(task)
    for (const task of changed) this.#sources(task)
    for (const key of left) {
      const state = this.last.get(taskOfKey(key))?.state
      complaints.expect(state === 'killed', () => `${key}: something was left by a task that is ${state}`)
      sometimes.see('left by a killed run')
    }
  }

  /** [10] Every task that an owner was told is accepted is on disk. */
  accepted(batch: BatchId, tasks: number): void {
    for (let index = 0; index < tasks; index++) {
      const id = `${batch}.${index}`
      this.#ports.complaints.expect(peekTask(this.#ports.records, id) !== undefined, () => `${id} was accepted and is not on disk`)
    }
  }

  /** From now on these get no new replica: their owner was told so. */
  held(tasks: readonly TaskId[]): void {
    for (const id of tasks) this.#holding.set(id, this.last.get(id)?.replicas.length ?? 0)
  }

  released(tasks: readonly TaskId[]): void {
    for (const id of tasks) this.#holding.delete(id)
  }

  /** [16] What an owner was told is killed has ended, on disk. */
  killed(tasks: readonly TaskId[]): void {
    for (const id of tasks) {
      const state = this.last.get(id)?.state
      this.#ports.complaints.expect(state === undefined || TERMINAL.includes(state), () => `${id} was killed, its owner was told so, and it is ${state}`)
    }
  }

  /** [10, 11] Memory after a start says what the disk says. */
  led(coordinator: Coordinator): void {
    const { complaints } = this.#ports
    for (const [id, stored] of this.last) {
      const loaded = coordinator.task(id)
      if (TERMINAL.includes(stored.state)) {
        complaints.expect(loaded === undefined, () => `${id} is ${stored.state} and came back to life`)
        continue
      }
      if (loaded === undefined) {
        complaints.expect(false, () => `${id} is lost: on disk it is ${stored.state}, after a start it is not there`)
        continue
      }
      const kept = loaded.replicas.slice(0, stored.replicas.length)
      const same = isDeepStrictEqual(kept, stored.replicas) && loaded.decision?.vote === stored.decision?.vote && loaded.bundle === stored.bundle
      complaints.expect(same, () => `${id} is not after a start what it was: ${JSON.stringify(stored)} became ${JSON.stringify(loaded)}`)
    }
  }

  /** A task begins when all that it takes something from is over, and ready unless it may fail; it fails for one that failed, and for nothing else. */
  #sources({ id, bundle, state, failure, replicas }: TaskRecord): void {
    const { complaints, sometimes, records } = this.#ports
    const bytes = records.peek(sourcesKey(id))
    if (bytes === undefined) {
      complaints.expect(bundle !== '' && failure?.code !== 'source', () => `${id} takes nothing from others and waits for them`)
      return
    }
    const { sources } = decodeSourcesRecord(bytes)
    const batch = parseTaskId(id)?.batch ?? ''
    const ends = sources.list.map(({ of, from }) => this.last.get(of === '' ? `${batch}.${from}` : of)?.state ?? 'created')
    const bad = ends.filter((end) => end === 'failed' || end === 'killed').length
    if (failure?.code === 'source') {
      sometimes.see('a task failed for one that it takes something from')
      complaints.expect(bad > 0 && !sources.allowFailed, () => `${id} failed for a source, and its sources are ${ends.join(', ')}: ${failure.message}`)
    } else if (bundle === '') {
      complaints.expect(replicas.length === 0, () => `${id} has replicas and no bundle`)
      complaints.expect(bad === 0 || sources.allowFailed || TERMINAL.includes(state), () => `${id} waits although its sources are ${ends.join(', ')}`)
    } else {
      const may = ends.every((end) => end === 'ready' || (sources.allowFailed && TERMINAL.includes(end)))
      complaints.expect(may, () => `${id} went on although its sources are ${ends.join(', ')}`)
      for (const { root } of this.#manifestOf(id, bundle).dependencies) this.inputs.add(root.toString())
      sometimes.see(bad > 0 ? 'a task ran without what others failed to leave' : 'a task ran on what others left')
    }
  }

  #receipt(task: TaskId, place: string): void {
    // [1] One receipt a task.
    this.#ports.complaints.expect(!this.#receipts.has(task), () => `${task} has a second receipt`)
    this.#receipts.set(task, place)
  }

  #task(task: TaskRecord): void {
    const before = this.last.get(task.id)
    this.last.set(task.id, task)
    if (before !== undefined) this.#moves(before, task)
    const terminal = TERMINAL.includes(task.state)
    if (terminal) this.open.delete(task.id)
    else this.open.add(task.id)
    if (before?.state !== task.state) this.#count(task)
    const most = this.#holding.get(task.id) ?? task.replicas.length
    this.#ports.complaints.expect(task.replicas.length <= most, () => `${task.id} is held, its owner was told so, and it got a new replica`)
    this.#bounds(task, before)
    // What is decided stays, whoever computes a lost output again and says what.
    if (task.failure?.code === 'source') this.#ports.complaints.expect(task.replicas.length === 0, () => `${task.id} ran and failed for a source`)
    else if (task.repeats !== null) this.#repeat(task)
    else if (before === undefined || before.decision === null) this.#quorum(task)
    for (const replica of task.replicas) this.#vote(task, replica)
    // [1] Ready, or failed by agreement: with a receipt; anything else: without.
    if (task.state === 'ready') this.#held(task)
    const agreed =
      (task.state === 'ready' && task.repeats === null) || (task.state === 'failed' && task.decision !== null && task.failure?.code !== 'output_lost')
    this.#ports.complaints.expect(this.#receipts.has(task.id) === agreed, () => `${task.id} is ${task.state} ${agreed ? 'without' : 'with'} a receipt`)
    const place = task.decision?.receipt ?? null
    if (agreed)
      this.#ports.complaints.expect(
        place !== null && this.#receipts.get(task.id) === `${receiptPageKey(place)} ${place.index}`,
        () => `${task.id} says that its receipt is elsewhere`
      )
  }

  /** [5, 9] Legal moves only; the end absorbs; what was agreed, voted or judged never changes. */
  #moves(before: TaskRecord, after: TaskRecord): void {
    const { complaints } = this.#ports
    const { id } = after
    if (TERMINAL.includes(before.state)) complaints.expect(isDeepStrictEqual(before, after), () => `${id} changed after its end`)
    complaints.expect(TASK_AFTER[before.state]?.includes(after.state) === true, () => `${id} went from ${before.state} to ${after.state}`)
    if (before.decision !== null) complaints.expect(before.decision.vote === after.decision?.vote, () => `${id} was decided twice`)
    for (const [index, was] of before.replicas.entries()) {
      const now = after.replicas[index]
      if (now === undefined || now.node !== was.node || now.epoch !== was.epoch || now.attempt !== was.attempt) {
        complaints.expect(false, () => `${id}.${was.attempt} changed hands`)
        continue
      }
      complaints.expect(REPLICA_AFTER[was.state]?.includes(now.state) === true, () => `${id}.${was.attempt} went from ${was.state} to ${now.state}`)
      complaints.expect(was.vote === null || was.vote === now.vote, () => `${id}.${was.attempt} changed its vote`)
      complaints.expect(was.verdict === null || was.verdict === now.verdict, () => `${id}.${was.attempt} was judged twice`)
      complaints.expect(!was.granted || now.granted, () => `${id}.${was.attempt} was granted and then not`)
      if (was.state === 'lost' && LIVE.includes(now.state)) this.#ports.sometimes.see('a lost replica was found again')
      if (was.state === 'lost' && now.state === 'reported') this.#ports.sometimes.see('a lost replica reported')
    }
  }

  /** Who is banned runs nothing, and what it said counts for nothing of which it is not decided yet; for others nothing is left out. */
  #bans({ id, state, decision, replicas }: TaskRecord): void {
    const { complaints, sometimes } = this.#ports
    for (const replica of replicas) {
      const { node, attempt, state: is, vote, verdict, fault } = replica
      const banned = this.#banned.has(node)
      const dropped = fault?.class === 'banned'
      if (dropped) sometimes.see('a vote of a banned node was left out')
      complaints.expect(!banned || !LIVE.includes(is), () => `${id}.${attempt} is ${is} on ${node}, which is banned`)
      // What rests on what a banned node did goes with it.
      const ever = handsIn(replicas, replica).some((hand) => this.#everBanned.has(hand))
      complaints.expect(!dropped || ever, () => `${id}.${attempt} does not count, and ${node} was never banned`)
      // Whose output could not be had is an error already, and no vote.
      const counts = vote !== null && verdict !== 'inconclusive' && !isDropped({ fault }) && decision === null && !TERMINAL.includes(state)
      complaints.expect(!banned || !counts, () => `${id}.${attempt} counts, and ${node} is banned`)
    }
  }

  /** [4, 8] One node, one replica of a task; not more of them than the policy allows. */
  #bounds(task: TaskRecord, before: TaskRecord | undefined): void {
    const { complaints } = this.#ports
    const policy = this.#policyOf(task.id)
    const yielded = task.replicas.filter(({ state, copy, atMs }) => copy && state === 'cancelled' && atMs !== task.decision?.atMs)
    // Where nodes were named, what failed or was lost is tried again there, and so is what was decided and has to be computed again.
    const named = policy.nodes.length > 0
    const again = ({ state, fault }: ReplicaRecord): boolean =>
      fault?.class === 'memory' ||
      (state === 'returned' && (UNHARMED.has(fault?.class ?? '') || (named && (fault?.class === 'node' || fault?.class === 'task')))) ||
      (named && (state === 'lost' || (task.decision !== null && (state === 'reported' || state === 'cancelled'))))
    const nodes = task.replicas.filter((replica) => !yielded.includes(replica) && !again(replica)).map(({ node }) => node)
    const copies = task.replicas.filter(({ copy }) => copy).length
    const issued = task.replicas.filter((replica) => !replica.copy && !isNoAttempt(replica.fault?.class) && !wentOn(replica)).length
    if (copies > 0) this.#ports.sometimes.see('an idle node ran a copy')
    if (yielded.length > 0 && !TERMINAL.includes(task.state) && task.decision === null) this.#ports.sometimes.see('a copy yielded')
    complaints.expect(copies <= (policy.copies === 'never' ? 0 : COPIES_MAX), () => `${task.id} was copied ${copies} times for idle nodes`)
    const live = task.replicas.filter(({ state }) => LIVE.includes(state)).length
    complaints.expect(new Set(nodes).size === nodes.length, () => `${task.id} is twice on one node`)
    complaints.expect(issued <= policy.maxTotalResults, () => `${task.id} has ${issued} replicas of ${policy.maxTotalResults}`)
    complaints.expect(live === 0 || !TERMINAL.includes(task.state), () => `${task.id} is ${task.state} and has live replicas`)
    // A node may keep what it went on from like any other input.
    for (const { from } of task.replicas) if (from !== null) this.inputs.add(from.root)
    this.#larger(task, before)
    this.#apart(task, before)
    this.#alike(task, before)
    this.#tagged(task, before)
    this.#goesOn(task, before)
  }

  /** [F24] Who goes on from a checkpoint does so from one of an earlier run of its task, which has no voice, and shares no hands with any that has; and what is kept of a run is never older than what was. */
  #goesOn({ id, bundle, replicas }: TaskRecord, before: TaskRecord | undefined): void {
    const { complaints, sometimes } = this.#ports
    const voiced = ({ state, fault }: ReplicaRecord): boolean => LIVE.includes(state) || (state === 'reported' && !isDropped({ fault }))
    for (const later of replicas.slice(before?.replicas.length ?? 0)) {
      const { attempt, from } = later
      if (from === null) continue
      const maker = replicas[from.attempt - 1]
      const roots = [maker?.checkpoint?.root, before?.replicas[from.attempt - 1]?.checkpoint?.root]
      sometimes.see(maker?.from === null ? 'a run went on from a checkpoint' : 'a run went on from a checkpoint of one that had gone on')
      complaints.expect(
        from.attempt < attempt && roots.includes(from.root),
        () => `${id}.${attempt} goes on from ${from.root}, which attempt ${from.attempt} did not leave`
      )
      const hands = new Set(handsIn(replicas, later))
      for (const other of replicas) {
        const was = before?.replicas[other.attempt - 1]
        if (other === later || !voiced(other) || was === undefined || !voiced(was)) continue
        complaints.expect(
          !handsIn(replicas, other).some((hand) => hands.has(hand)),
          () => `${id}.${attempt} went through hands of attempt ${other.attempt}, which has a voice`
        )
      }
    }
    for (const [index, { checkpoint: was }] of (before?.replicas ?? []).entries()) {
      const now = replicas[index]?.checkpoint ?? null
      if (was === null || now === null || was.root === now.root) continue
      const { command } = this.#manifestOf(id, bundle)
      const [older, newer] = [snapshotOf(command, was.root), snapshotOf(command, now.root)]
      complaints.expect((newer?.step ?? 0) > (older?.step ?? 0), () => `${id}.${index + 1} left step ${older?.step}, and later step ${newer?.step}`)
    }
  }

  /** Once a run was ended for its memory, every one more has as much as its owner said; before that none has. */
  #larger({ id, replicas }: TaskRecord, before: TaskRecord | undefined): void {
    const { retryMemoryBytes, guessMemory } = this.#policyOf(id)
    if (guessMemory) {
      for (const { memoryBytes } of replicas) if (memoryBytes > 0 && memoryBytes < MEMORY_BYTES) this.#ports.sometimes.see('memory was guessed')
      return
    }
    const tried = ({ fault }: ReplicaRecord): boolean => fault?.class === 'memory'
    for (const { attempt, memoryBytes } of replicas.slice(before?.replicas.length ?? 0)) {
      const should = before?.replicas.some(tried) === true ? [retryMemoryBytes] : replicas.some(tried) ? [0, retryMemoryBytes] : [0]
      this.#ports.complaints.expect(should.includes(memoryBytes), () => `${id}.${attempt} was leased ${memoryBytes} bytes instead of ${should.join(' or ')}`)
      if (memoryBytes > 0) this.#ports.sometimes.see('a task was tried with more memory')
    }
  }

  /** [4] A run more is on a processor like that of the first which has a run or a result, where that was asked for. */
  #alike({ id, replicas }: TaskRecord, before: TaskRecord | undefined): void {
    if (this.#policyOf(id).sameClass !== 'cpu') return
    const { complaints, sometimes } = this.#ports
    const holds = ({ state, fault }: ReplicaRecord): boolean => LIVE.includes(state) || (state === 'reported' && !isDropped({ fault }))
    for (const later of replicas.slice(before?.replicas.length ?? 0)) {
      // Several may come and end between two commits: what was leased after it fixed nothing for it.
      const first = replicas.slice(0, later.attempt - 1).find((other, index) => holds(other) && holds(before?.replicas[index] ?? other))
      const cpu = this.#offerOf(later.node).cpu
      if (first !== undefined) sometimes.see('a run went to a processor like the first')
      const like = cpu !== '' && (first === undefined || this.#offerOf(first.node).cpu === cpu)
      complaints.expect(like, () => `${id}.${later.attempt} went to a processor unlike that of the first`)
    }
  }

  /** A run goes to a node that has the tags of its task, and not to one that is kept for tasks with other tags. */
  #tagged({ id, replicas }: TaskRecord, before: TaskRecord | undefined): void {
    const { complaints, sometimes, records } = this.#ports
    const asked = this.#policyOf(id).tags
    for (const { node, attempt } of replicas.slice(before?.replicas.length ?? 0)) {
      const { tags, exclusive } = decodeNodeRecord(records.peek(nodeKey(node)) ?? new Uint8Array(0)).offer
      if (asked.length > 0) sometimes.see('a task for a tag was leased')
      if (exclusive.length > 0) sometimes.see('an exclusive node was given a task')
      complaints.expect(
        asked.every((tag) => tags.includes(tag)),
        () => `${id}.${attempt} needs ${asked.join(', ')} and went to a node with ${tags.join(', ')}`
      )
      complaints.expect(
        exclusive.every((tag) => asked.includes(tag)),
        () => `${id}.${attempt} went to a node that is kept for ${exclusive.join(', ')}`
      )
    }
  }

  /** [4] A run more is on no network that another has a run on, where that was asked for. */
  #apart({ id, replicas }: TaskRecord, before: TaskRecord | undefined): void {
    const { complaints, sometimes } = this.#ports
    const holds = (replica: ReplicaRecord | undefined): boolean =>
      replica !== undefined && (LIVE.includes(replica.state) || (replica.state === 'reported' && !isDropped(replica)))
    const required = this.#policyOf(id).independence === 'require'
    for (const later of replicas.slice(before?.replicas.length ?? 0)) {
      const network = this.#networkOf(later.node)
      if (network === '') continue
      if (required) sometimes.see('independent nodes were asked for')
      const shared = replicas.some(
        (other, index) => other !== later && holds(other) && (before === undefined || holds(before.replicas[index])) && this.#networkOf(other.node) === network
      )
      if (shared) sometimes.see('two runs of a task on one network')
      complaints.expect(!shared || !required, () => `${id}.${later.attempt} went to a network that has a run of it`)
    }
  }

  /** [8] More than its target only as copies of runs that straggle: fewer than may fail, beside runs that go on, and when others of the batch told what is long. */
  #copies(task: TaskRecord): void {
    const { complaints, sometimes } = this.#ports
    const policy = this.#policyOf(task.id)
    const live = task.replicas.filter(({ state, copy }) => LIVE.includes(state) && !copy)
    const copies = live.length - policy.targetResults
    // Votes that are weighed need as many as their nodes are little known.
    if (copies <= 0 || policy.doubtPpm > 0) return
    sometimes.see('a straggler was copied')
    const running = live.filter(({ state, granted }) => granted && (state === 'running' || state === 'uploading')).length
    complaints.expect(
      copies <= Math.min(running, policy.maxErrorResults - 1),
      () => `${task.id} has ${live.length} live replicas, its target is ${policy.targetResults}`
    )
    const batch = parseTaskId(task.id)?.batch ?? ''
    let results = 0
    // Who is bound to a result has ended its run, and tells how long it took; a bond that was broken has, too.
    for (const [id, { replicas }] of this.last) if (id.startsWith(batch)) results += replicas.filter(({ state }) => state === 'reported').length
    complaints.expect(results >= RESULTS_TO_KNOW, () => `${task.id} was copied after ${results} results of its batch`)
  }

  /** [3, 8] The second model says the same. */
  #quorum(task: TaskRecord): void {
    if (task.state === 'created' || task.state === 'killed') return
    const policy = this.#policyOf(task.id)
    const networkOf = (node: PeerIdString): string => this.#networkOf(node)
    if (policy.compare !== null) this.#compared(task, seenOf(task.replicas, networkOf), policy)
    else {
      const asks = policy.guessMemory || policy.retryMemoryBytes > 0
      const bundleBytes = asks ? this.#manifestOf(task.id, task.bundle).resources.memoryBytes : 0
      const wrong = disagreement(task, policy, networkOf, bundleBytes)
      this.#ports.complaints.expect(wrong === undefined, () => wrong ?? '')
    }
  }

  /** [3, 8] The same where outputs are compared. */
  #compared({ id, bundle, decision, failure, state, replicas }: TaskRecord, seen: readonly ReplicaSeen[], policy: TaskPolicy): void {
    const { complaints, sometimes } = this.#ports
    const { command, compareStdout } = this.#manifestOf(id, bundle)
    const outputs = new Map(truths(command).map((outcome) => [voteFor(outcome, 'exit', compareStdout), idOf(outcome.out).toString()]))
    const near = (a: string, b: string): boolean => areNear(readCommand(command).name, outputs.get(a) ?? a, outputs.get(b) ?? b)
    const is: Prediction =
      decision !== null ? { kind: 'decided', vote: decision.vote } : state === 'failed' ? { kind: 'failed', code: failure?.code ?? '' } : { kind: 'open' }
    complaints.expect(allows(seen, policy, near, is), () => `${id} is ${JSON.stringify(is)}, which its results do not allow: ${JSON.stringify(replicas)}`)
    if (decision !== null && replicas.some(({ vote, verdict }) => verdict === 'valid' && vote !== decision.vote)) sometimes.see('outputs that differ agreed')
  }

  /** [1] What is answered at once is what another task of the same bundle decided, with a receipt and under a policy that was as strict. */
  #repeat({ id, bundle, decision, replicas, repeats }: TaskRecord): void {
    const { complaints, sometimes } = this.#ports
    const other = this.last.get(repeats ?? '')
    const same =
      other !== undefined && other.state === 'ready' && other.repeats === null && other.bundle === bundle && isDeepStrictEqual(other.decision, decision)
    complaints.expect(same && replicas.length === 0, () => `${id} repeats ${repeats}, which did not decide the same: ${JSON.stringify(other)}`)
    complaints.expect(this.#receipts.has(repeats ?? ''), () => `${id} repeats ${repeats}, which has no receipt`)
    const [had, asked] = [this.#policyOf(repeats ?? ''), this.#policyOf(id)]
    complaints.expect(had.minQuorum >= asked.minQuorum && !asked.force, () => `${id} asks for a quorum of ${asked.minQuorum}, ${repeats} had ${had.minQuorum}`)
    sometimes.see('a task was answered at once')
  }

  /** [7] Every vote is what the node said of a run that it was granted. */
  #vote(task: TaskRecord, { attempt, node, granted, vote }: ReplicaRecord): void {
    if (vote === null) return
    const id = `${task.id}.${attempt}`
    this.#ports.complaints.expect(granted, () => `${id} voted and was never granted`)
    this.#ports.complaints.expect(this.#ports.runs.said(node, id, vote), () => `${id} has a vote that ${node} never gave: ${vote}`)
  }

  /** [2] What was agreed on is here. */
  #held({ id, decision }: TaskRecord): void {
    for (const root of decision === null ? [] : [decision.output, decision.stdout, decision.stderr])
      this.#ports.complaints.expect(
        root === EMPTY_DIRECTORY || root === EMPTY_FILE || this.#ports.holds(root),
        () => `${id} is ready and the project lacks ${root}`
      )
  }

  #count(task: TaskRecord): void {
    const { sometimes, tell } = this.#ports
    const end = task.failure === null ? task.state : `${task.state} (${task.failure.code})`
    sometimes.see(`task ${end}`)
    tell(`${task.id} is ${end}`)
    for (const { state, verdict, fault } of task.replicas) {
      if (!TERMINAL.includes(task.state)) continue
      sometimes.see(`replica ${state}`)
      if (verdict !== null) sometimes.see(`result ${verdict}`)
      if (state === 'returned' && fault?.message.startsWith('checkpoint:') === true) sometimes.see('a run ended to go on elsewhere')
      if (fault !== null) sometimes.see(`fault of ${fault.class}`)
      if (fault?.message.includes('changed or copied') === true) sometimes.see('a copied answer was caught')
    }
    if (task.decision !== null && task.replicas.some(({ vote, standing }) => vote !== null && standing.alone)) sometimes.see('one node was believed')
    if (task.decision !== null && this.#policyOf(task.id).doubtPpm > 0) sometimes.see('votes were weighed')
    if (task.state === 'ready' && this.#isWrong(task)) sometimes.see('a wrong result was agreed on')
    if (task.outputLosses > 0) sometimes.see('an agreed output was lost')
  }

  #isWrong({ id, bundle, decision }: TaskRecord): boolean {
    const { command, compareStdout } = this.#manifestOf(id, bundle)
    return readCommand(command).kind !== 'dice' && !truths(command).some((outcome) => decision?.vote === voteFor(outcome, 'exit', compareStdout))
  }

  #manifestOf(id: TaskId, bundle: string): RunManifest {
    return decodeManifest(peekBundle(this.#ports.records, id, bundle).bytes)
  }

  #networkOf(node: PeerIdString): string {
    return this.#offerOf(node).network
  }

  #offerOf(node: PeerIdString): NodeOffer {
    return decodeNodeRecord(this.#ports.records.peek(nodeKey(node)) ?? new Uint8Array(0)).offer
  }

  #policyOf(task: TaskId): TaskPolicy {
    const batch = task.slice(0, task.indexOf('.'))
    const known = this.#policies.get(batch)
    if (known !== undefined) return known
    const { policy } = decodeBatchRecord(this.#ports.records.peek(`batch/${batch}`) ?? new Uint8Array(0))
    this.#policies.set(batch, policy)
    return policy
  }
}

/** It was given back with something from which another goes on. */
function wentOn({ state, fault, checkpoint }: ReplicaRecord): boolean {
  return state === 'returned' && fault?.class === 'owner' && checkpoint !== null
}

/** What it reported counts for nothing. */
function isDropped({ fault }: Pick<ReplicaRecord, 'fault'>): boolean {
  return fault?.class === 'banned' || fault?.class === 'memory'
}

/** The id of the task to which a record of `left/<batch>.<index, padded>` belongs. */
function taskOfKey(key: string): TaskId {
  const [, batch = '', index = ''] = /^left\/(.*)\.(\d+)$/.exec(key) ?? []
  return `${batch}.${Number(index)}`
}
