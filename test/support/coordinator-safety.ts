/** What must hold at every commit of the coordinator, whatever happens: one list for all that generates events. Numbers in brackets are those of the invariants they stand for. */
import assert from 'node:assert/strict'
import { isOutput } from '#project-server/coordinator/agreement'
import { BAN_PREFIX, decodeBanRecord } from '#project-server/coordinator/ban-records'
import { decodeBatchRecord } from '#project-server/coordinator/batch-records'
import { clientKey, decodeClientRecord } from '#project-server/coordinator/client-records'
import type { Coordinator } from '#project-server/coordinator/coordinator'
import type { Effect, Unsigned } from '#project-server/coordinator/events'
import { decodeEntry, firstOf, JOURNAL_PREFIX } from '#project-server/coordinator/journal'

import { batchKey, nodeKey } from '#project-server/coordinator/keys'
import { decodeNodeRecord } from '#project-server/coordinator/node-records'
import { INPUT_FAULTS_MAX, TASK_COPIES_MAX } from '#project-server/coordinator/policy'
import { receiptPageKey } from '#project-server/coordinator/receipt-records'
import { decodeLeftRecord, leftKey } from '#project-server/coordinator/remains-records'
import { isLive, isTerminal, REPLICA_MOVES, TASK_MOVES } from '#project-server/coordinator/states'
import type { ReplicaRecord, TaskRecord } from '#project-server/coordinator/task-records'
import type { Change } from '#project-server/ports'
import type { TaskPolicy } from '#protocol/bundle/policy'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import type { Frame } from '#protocol/control/messages'
import { parseReplicaId, type ReplicaId, type TaskId } from '#protocol/ids'
import { decodeResult, type Result, voteOf } from '#protocol/result/result'
import { isNoAttempt } from '../../sim/checkers/quorum.ts'
import type { MemoryStore } from '../../sim/store.ts'
import { changedTasks, peekTask } from '../../sim/stored-tasks.ts'

/** Of the chaos's projects. */
const TRUSTED_AFTER = 1

/** Faults that are not those of the node that gave a run back. */
const UNHARMED: ReadonlySet<string> = new Set(['owner', 'banned', 'lost_input'])

export class Safety {
  /** Tasks that are not terminal in the store. */
  readonly open = new Set<TaskId>()
  readonly #store: MemoryStore
  readonly #last = new Map<TaskId, TaskRecord>()
  readonly #votes = new Map<ReplicaId, { readonly node: string; readonly votes: Set<string> }>()
  readonly #grants = new Map<ReplicaId, string>()
  readonly #killed = new Set<TaskId>()
  readonly #killedDurably = new Set<TaskId>()
  /** Number of the last event, and the last state that was told of each task and replica. */
  #events = 0
  readonly #told = new Map<string, string>()
  /** Who is banned, by the key of its record. */
  readonly #bans = new Map<string, string>()
  readonly #holding = new Set<TaskId>()
  /** Bundles that each node brings to itself ahead of their leases, as it was told last. */
  readonly #next = new Map<string, readonly string[]>()
  /** How many replicas those had that are held. */
  readonly #held = new Map<TaskId, number>()
  readonly #receipts = new Set<TaskId>()
  readonly #pages = new Set<string>()
  /** Ids of outputs that every replica reported, and that are pinned for a task. */
  readonly #outputs = new Map<ReplicaId, Set<string>>()
  readonly #left = new Set<TaskId>()
  readonly #sources = new Map<TaskId, { readonly allowFailed: boolean; readonly of: readonly TaskId[] }>()
  readonly #fetched = new Map<TaskId, Set<string>>()
  /** Run time of each client, from the records of its tasks. */
  readonly #ranMs = new Map<string, number>()
  readonly #clients = new Decoded(decodeClientRecord)
  readonly #batches = new Decoded(decodeBatchRecord)

  constructor(store: MemoryStore) {
    this.#store = store
  }

  /** [10] Every task that was accepted is in the store. */
  accepted(batch: string, tasks: number): void {
    for (let index = 0; index < tasks; index++)
      assert.ok(peekTask(this.#store, `${batch}.${index}`) !== undefined, `task ${batch}.${index} was accepted and is not there`)
  }

  /** A node tells the truth about itself: only what it was granted counts. */
  reported(node: string, result: Result): void {
    const known = this.#votes.get(result.replica) ?? { node, votes: new Set<string>() }
    assert.equal(known.node, node)
    known.votes.add(voteOf(result, false))
    this.#votes.set(result.replica, known)
    addTo(this.#outputs, result.replica, result.output.toString())
  }

  /** An output is here and pinned. */
  fetched({ task, output }: Extract<Effect, { kind: 'pull' }>): void {
    addTo(this.#fetched, task, output)
  }

  /** What it takes from others. */
  takes(task: TaskId, allowFailed: boolean, of: readonly TaskId[]): void {
    this.#sources.set(task, { allowFailed, of })
  }

  /** Its complete bundle is asked for when all that it takes something from is durably over. */
  completed(task: TaskId): void {
    this.#checkSources(task)
  }

  /** [7, 14] One attempt belongs to one node. */
  granted(node: string, replica: ReplicaId): void {
    const before = this.#grants.get(replica) ?? node
    assert.equal(before, node, `${replica} was granted to ${before} and to ${node}`)
    this.#grants.set(replica, node)
  }

  /** Takes effect with the next commit. */
  killed(tasks: readonly TaskId[]): void {
    for (const task of tasks) this.#killed.add(task)
  }

  /** Takes effect with the next commit: until they are released, these get no new replica. */
  held(tasks: readonly TaskId[]): void {
    for (const task of tasks) this.#holding.add(task)
  }

  released(tasks: readonly TaskId[]): void {
    for (const task of tasks) {
      this.#holding.delete(task)
      this.#held.delete(task)
    }
  }

  /** [16] No new attempt starts after a kill. F23: a node is told of its own replicas and of no other's (but for what it named itself, which it is refused or may drop). */
  sent(node: string, frame: Frame): void {
    const named = [...(frame.assign?.leases ?? []).map(({ replica }) => replica), ...(frame.grant?.granted ?? [])]
    for (const replica of [...named, ...(frame.cancel?.replicas ?? [])]) {
      const { task = '', attempt = 0 } = parseReplicaId(replica) ?? {}
      assert.equal(this.#last.get(task)?.replicas[attempt - 1]?.node, node, `${node} was told of ${replica}`)
    }
    if (frame.assign === undefined && frame.grant === undefined) return
    for (const replica of [...(frame.assign?.leases ?? []).map((lease) => lease.replica), ...(frame.grant?.granted ?? [])]) {
      const task = parseReplicaId(replica)?.task ?? ''
      assert.ok(!this.#killedDurably.has(task), `${replica} was leased or granted after its task was killed`)
    }
  }

  /** S20: bundles whose content the node is to bring to itself ahead; a stream that begins knows of none. */
  next(node: string, bundles: readonly string[]): void {
    this.#next.set(node, bundles)
  }

  /** S20, when the effects of a commit are carried out: what is brought ahead is of tasks that wait, to nodes that run others. */
  checkNext(): void {
    for (const [node, bundles] of this.#next) {
      if (bundles.length === 0) continue
      const tasks = [...this.open].flatMap((id) => this.#last.get(id) ?? [])
      const waiting = tasks.filter(
        ({ id, held, replicas }) => held === null && this.#batchOf(id).held === null && !replicas.some((one) => one.node === node && isLive(one.state))
      )
      for (const bundle of bundles)
        assert.ok(
          waiting.some((task) => task.bundle === bundle),
          `${node} brings ${bundle} to itself, for which nothing waits`
        )
      const runs = tasks.flatMap(({ replicas }) => replicas).filter((one) => one.node === node && one.granted && isLive(one.state)).length
      assert.ok(bundles.length <= runs, `${node} brings ${bundles.length} bundles to itself and runs ${runs}`)
    }
  }

  /** [11] What a node was told is durable is durable: a restart never asks for it again. */
  heardWelcome(node: string, received: number, forgotten: number): void {
    assert.ok(received >= forgotten, `${node} forgot ${forgotten} messages, the coordinator has ${received}`)
  }

  /** [10, 11] Memory after a restart says what the store says. */
  restarted(coordinator: Coordinator): void {
    this.#killed.clear()
    this.#holding.clear()
    for (const [id, stored] of this.#last) {
      const loaded = coordinator.task(id)
      if (isTerminal(stored.state)) assert.equal(loaded, undefined, `${id} is terminal and came back to life`)
      else {
        assert.ok(loaded !== undefined, `${id} is lost`)
        const state = stored.state === 'created' && loaded.state === 'staged' ? 'staged' : stored.state
        assert.deepEqual({ ...loaded, replicas: loaded.replicas.slice(0, stored.replicas.length) }, { ...stored, state, decision: loaded.decision })
      }
    }
  }

  /** The tasks whose records it wrote. */
  committed(changes: readonly Change[], unsigned: readonly Unsigned[]): readonly TaskRecord[] {
    const tasks = changedTasks(changes)
    for (const { receipt } of unsigned) this.#checkReceipt(receipt)
    this.#checkPages(tasks, unsigned)
    for (const task of tasks) this.#checkTask(task)
    for (const { key, value } of changes) if (key.startsWith('left/')) this.#checkLeft(key, value)
    this.#checkUsage()
    this.#checkEvents(changes, tasks)
    this.#checkBans(changes, tasks)
    for (const task of this.#killed) if (this.#last.get(task)?.state === 'killed') this.#killedDurably.add(task)
    for (const task of this.#holding) if (!this.#held.has(task)) this.#held.set(task, this.#last.get(task)?.replicas.length ?? 0)
    this.#holding.clear()
    return tasks
  }

  #checkSources(task: TaskId): void {
    const { allowFailed, of } = this.#sources.get(task) ?? { allowFailed: true, of: [] }
    for (const source of of) {
      const state = this.#last.get(source)?.state ?? 'created'
      assert.ok(state === 'ready' || (allowFailed && isTerminal(state)), `${task} goes on although ${source} is ${state}`)
    }
  }

  #checkTask(task: TaskRecord): void {
    const before = this.#last.get(task.id)
    const { policy, by } = this.#batchOf(task.id)
    this.#ranMs.set(by, (this.#ranMs.get(by) ?? 0) + ranMsOf(task) - (before === undefined ? 0 : ranMsOf(before)))
    if (before !== undefined) this.#checkMoves(before, task)
    this.#last.set(task.id, task)
    if (isTerminal(task.state)) this.open.delete(task.id)
    else this.open.add(task.id)
    // Nobody runs it before it has what it takes from others.
    if (task.bundle === '') assert.equal(task.replicas.length, 0, `${task.id} has replicas and no bundle`)
    else this.#checkSources(task.id)
    // [4] One node, one replica; only what was given back unharmed may be tried there again, and where nodes were named what failed or was lost, and what was decided and is computed again.
    const named = policy.nodes.length > 0
    const again = ({ state, fault, copy }: ReplicaRecord): boolean =>
      fault?.class === 'memory' ||
      (state === 'returned' && (UNHARMED.has(fault?.class ?? '') || (named && (fault?.class === 'node' || fault?.class === 'task')))) ||
      (named && (state === 'lost' || (task.decision !== null && (state === 'reported' || state === 'cancelled')))) ||
      (copy && state === 'cancelled')
    const nodes = task.replicas.filter((replica) => !again(replica)).map(({ node }) => node)
    assert.equal(new Set(nodes).size, nodes.length, `${task.id} is twice on one node: ${nodes.join(', ')}`)
    assert.ok(task.replicas.length <= (this.#held.get(task.id) ?? task.replicas.length), `${task.id} is held and got a new replica`)
    this.#checkClass(before, task, policy)
    this.#checkMemory(before, task, policy)
    // [8] Bounds of what is issued, and of errors.
    const issued = task.replicas.filter(({ copy, fault }) => !copy && !isNoAttempt(fault?.class))
    assert.ok(issued.length <= policy.maxTotalResults, `${task.id} has ${issued.length} replicas`)
    const made = task.replicas.filter(({ copy }) => copy).length
    assert.ok(made <= (policy.copies === 'never' ? 0 : TASK_COPIES_MAX), `${task.id} was copied ${made} times`)
    const live = issued.filter(({ state }) => isLive(state)).length
    // Beyond the target only copies of runs that straggle, fewer than may fail, and those on idle nodes.
    const running = task.replicas.filter(({ state, granted }) => granted && isLive(state)).length
    const copies = Math.min(running, policy.maxErrorResults - 1)
    // Votes that are weighed need as many as their nodes are little known.
    assert.ok(policy.doubtPpm > 0 || live <= policy.targetResults + copies, `${task.id} has ${live} live replicas`)
    const errors = issued.filter(
      ({ state, fault }) => state === 'lost' || (state === 'returned' && (fault?.class === 'node' || fault?.class === 'task'))
    ).length
    // Results that may agree within a tolerance are compared before it is given up.
    const differing = new Set(task.replicas.flatMap(({ state, vote }) => (state === 'reported' && vote !== null ? [vote] : [])))
    const compared = policy.compare !== null && differing.size > 1
    const over = isTerminal(task.state) || task.decision !== null
    // So is what is known of its input looked at, where that would fail it: from then on nothing more is issued.
    const looked = isLooked(task, policy)
    assert.ok(errors < policy.maxErrorResults || over || compared || looked, `${task.id} has ${errors} errors and goes on`)
    if (looked && !over && before !== undefined && isLooked(before, policy))
      assert.equal(task.replicas.length, before.replicas.length, `the input of ${task.id} is looked at, and it has a new replica`)
    if (isTerminal(task.state)) assert.ok(!task.replicas.some(({ state }) => isLive(state)), `${task.id} is over and has live replicas`)
    // [1] Ready, or failed by agreement, exactly with a receipt.
    if (task.repeats !== null) this.#checkRepeat(task)
    const agreed =
      (task.state === 'ready' && task.repeats === null) || (task.state === 'failed' && (task.failure?.code === 'exit' || task.failure?.code === 'memory'))
    assert.equal(this.#receipts.has(task.id), agreed, `${task.id} is ${task.state}, its receipt says otherwise`)
    for (const { attempt, node, granted, vote } of task.replicas) {
      if (vote === null) continue
      // [7] Every vote traces to a granted lease of that node, and is what that node said.
      assert.ok(granted, `${task.id}.${attempt} voted and was never granted`)
      const said = this.#votes.get(`${task.id}.${attempt}`)
      assert.ok(said?.node === node && said.votes.has(vote), `${task.id}.${attempt} has a vote that ${node} never gave`)
    }
  }

  /** What a client is said to have used is what its runs took, at every commit. */
  #checkUsage(): void {
    for (const [client, ms] of this.#ranMs) {
      const bytes = this.#store.peek(clientKey(client))
      const { ranMs, periodRanMs } = bytes === undefined ? { ranMs: 0, periodRanMs: 0 } : this.#clients.of(bytes)
      assert.equal(ranMs, ms, `${client} is said to have used ${ranMs} ms, and its runs took ${ms} ms`)
      assert.ok(periodRanMs <= ranMs)
    }
  }

  /** Who is banned holds nothing, and what it said of what was not decided then decides nothing. */
  #checkBans(changes: readonly Change[], tasks: readonly TaskRecord[]): void {
    for (const { key, value } of changes) {
      if (!key.startsWith(BAN_PREFIX)) continue
      if (value === null) this.#bans.delete(key)
      else this.#bans.set(key, decodeBanRecord(value).value)
    }
    if (this.#bans.size === 0) return
    const bans = new Set(this.#bans.values())
    const isBanned = (node: string): boolean => bans.has(node) || bans.has(this.#networkOf(node))
    for (const { id, decision, replicas, state } of tasks) {
      for (const { attempt, node, state: is, vote, verdict, fault } of replicas) {
        assert.ok(!isLive(is) || !isBanned(node), `${id}.${attempt} is ${is} on ${node}, which is banned`)
        assert.ok(fault?.class !== 'banned' || is === 'returned' || verdict === 'inconclusive', `${id}.${attempt} was dropped and is ${verdict}`)
        if (vote !== null && fault?.class !== 'memory' && decision === null && !isTerminal(state) && isBanned(node))
          assert.equal(fault?.class, 'banned', `${id}.${attempt} counts, and ${node} is banned`)
      }
    }
  }

  /** O09: what happened is told in the commit in which it did, numbered without a gap, and ends where the records are. */
  #checkEvents(changes: readonly Change[], tasks: readonly TaskRecord[]): void {
    for (const { key, value } of changes) {
      if (!key.startsWith(JOURNAL_PREFIX) || value === null) continue
      for (const { number, id, state, kind } of decodeEntry(firstOf(key), value)) {
        assert.equal(number, ++this.#events, 'the numbers of events have a gap')
        if (kind === 'replica' || (kind === 'task' && state !== 'held' && state !== 'released' && state !== 'compared')) this.#told.set(id, state)
      }
    }
    for (const { id, state, replicas } of tasks) {
      assert.equal(waitingOr(this.#told.get(id) ?? 'staged'), waitingOr(state), `${id} is ${state}, and ${this.#told.get(id)} was told`)
      for (const { attempt, state: is } of replicas) {
        const told = this.#told.get(`${id}.${attempt}`) ?? ''
        // A restart forgets these two: until the node says again that it is there, the record says what was before.
        const kept = (told === 'preparing' && is === 'leased') || (told === 'uploading' && is === 'running')
        assert.ok(told === is || kept, `${id}.${attempt} is ${is}, and ${told} was told`)
      }
    }
  }

  /** [1] What is answered at once is what another task of the same bundle decided, with a receipt. */
  #checkRepeat({ id, bundle, decision, replicas, repeats }: TaskRecord): void {
    const other = this.#last.get(repeats ?? '')
    assert.ok(other?.state === 'ready' && other.repeats === null && this.#receipts.has(other.id), `${id} repeats ${repeats}, which is not decided`)
    assert.deepEqual([bundle, decision, replicas.length], [other.bundle, other.decision, 0])
  }

  /** F17: a new run goes to a host of the class of those that run it or have reported it, where that was asked for. */
  #checkClass(before: TaskRecord | undefined, task: TaskRecord, { sameClass }: TaskPolicy): void {
    if (sameClass !== 'cpu') return
    const cpuOf = (node: string): string => decodeNodeRecord(this.#store.peek(nodeKey(node)) ?? new Uint8Array(0)).offer.cpu
    const holds = ({ state, fault }: Pick<ReplicaRecord, 'state' | 'fault'> = { state: 'lost', fault: null }): boolean =>
      isLive(state) || (state === 'reported' && fault?.class !== 'banned' && fault?.class !== 'memory')
    for (const later of task.replicas.slice(before?.replicas.length ?? 0)) {
      assert.notEqual(cpuOf(later.node), '', `${task.id}.${later.attempt} went to a node whose class is not known`)
      // Several may come, end and come back between two commits: of what no node was told of nothing is asked, and what was leased after it fixed nothing for it.
      if (!isLive(later.state)) continue
      const first = task.replicas.slice(0, later.attempt - 1).find((other, index) => holds(other) && holds(before?.replicas[index] ?? other))
      if (first !== undefined) assert.equal(cpuOf(later.node), cpuOf(first.node), `${task.id}.${later.attempt} went to another class than ${first.attempt}`)
    }
  }

  /** F09: who is ended for its memory while there may be more is no vote, and whoever is leased the task from then on has that. */
  #checkMemory(before: TaskRecord | undefined, { id, replicas, decision }: TaskRecord, { retryMemoryBytes, guessMemory }: TaskPolicy): void {
    for (const { attempt, fault, verdict } of replicas)
      assert.ok(fault?.class !== 'memory' || verdict === 'inconclusive', `${id}.${attempt} had too little memory and is ${verdict}`)
    if (guessMemory) return
    const hadTooLittle = ({ fault }: ReplicaRecord): boolean => fault?.class === 'memory'
    const raised = before?.replicas.some(hadTooLittle) === true
    for (const [index, { attempt, memoryBytes, vote, fault, verdict }] of replicas.entries()) {
      if (raised && index >= (before?.replicas.length ?? 0)) assert.equal(memoryBytes, retryMemoryBytes, `${id}.${attempt} has not the memory for another try`)
      if (fault?.class === 'memory') assert.ok(verdict === 'inconclusive' && memoryBytes < retryMemoryBytes, `${id}.${attempt} had more, and does not count`)
      else if (vote === 'ended:memory' && decision === null) assert.ok(memoryBytes >= retryMemoryBytes, `${id}.${attempt} counts, and had too little`)
      if (memoryBytes > 0) assert.ok(replicas.some(hadTooLittle), `${id}.${attempt} has more memory than anybody asked for`)
    }
  }

  /** [16] Only a killed task leaves something, once: what a granted run of it reported, and what is here. */
  #checkLeft(key: string, value: Uint8Array | null): void {
    assert.ok(value !== null, `${key} is gone`)
    const { replica, node, output, stdout } = decodeLeftRecord(value)
    const task = parseReplicaId(replica)?.task ?? ''
    assert.equal(key, leftKey(task))
    assert.equal(this.#last.get(task)?.state, 'killed')
    assert.ok(!this.#left.has(task), `${task} left something twice`)
    this.#left.add(task)
    assert.equal(this.#grants.get(replica), node, `${replica} left something and was never granted to ${node}`)
    assert.ok(this.#outputs.get(replica)?.has(output), `${replica} never reported what it is said to have left`)
    const empty = output === EMPTY_DIRECTORY && stdout === EMPTY_FILE
    assert.ok(empty || this.#fetched.get(task)?.has(output), `what ${replica} left is shown and is not here`)
  }

  /** [5, 9] Legal moves only; terminal states absorb; what was agreed never changes. */
  #checkMoves(before: TaskRecord, after: TaskRecord): void {
    if (isTerminal(before.state)) assert.deepEqual(after, before, `${after.id} changed after its end`)
    assert.ok(reaches(TASK_MOVES, before.state, after.state), `${after.id}: ${before.state} -> ${after.state}`)
    if (before.decision !== null) assert.equal(after.decision?.vote, before.decision.vote, `${after.id} was decided twice`)
    for (const [index, replica] of before.replicas.entries()) {
      const now = after.replicas[index]
      assert.ok(now !== undefined && now.node === replica.node && now.epoch === replica.epoch, `${after.id}.${replica.attempt} changed hands`)
      assert.ok(reaches(REPLICA_MOVES, replica.state, now.state), `${after.id}.${replica.attempt}: ${replica.state} -> ${now.state}`)
      if (replica.vote !== null) assert.equal(now.vote, replica.vote)
      if (replica.verdict !== null) assert.equal(now.verdict, replica.verdict)
    }
  }

  /** [1] A task's record says where on its page its receipt is, and no page is written twice. */
  #checkPages(tasks: readonly TaskRecord[], unsigned: readonly Unsigned[]): void {
    const pages = new Map<string, string[]>()
    for (const { page, receipt } of unsigned) pages.set(page, [...(pages.get(page) ?? []), receipt.task])
    for (const page of pages.keys()) {
      assert.ok(!this.#pages.has(page), `${page} is written twice`)
      this.#pages.add(page)
    }
    for (const { id, repeats, decision } of tasks)
      if (repeats === null && decision !== null && decision.receipt !== null)
        assert.equal(pages.get(receiptPageKey(decision.receipt))?.[decision.receipt.index], id)
  }

  /** [1, 3] One receipt a task, with a quorum of different nodes that said so. */
  #checkReceipt(receipt: Unsigned['receipt']): void {
    assert.ok(!this.#receipts.has(receipt.task), `a second receipt for ${receipt.task}`)
    this.#receipts.add(receipt.task)
    const { policy } = this.#batchOf(receipt.task)
    const counted = receipt.results.map((body) => decodeResult(body)?.node)
    assert.equal(new Set(counted).size, counted.length, `${receipt.task} has a receipt that counts a node twice: ${counted.join(', ')}`)
    if (policy.compare !== null) {
      this.#checkCompared(receipt, policy.minQuorum)
      return
    }
    const voters = [...this.#votes]
      .filter(([replica, { votes }]) => parseReplicaId(replica)?.task === receipt.task && votes.has(receipt.vote))
      .map(([, { node }]) => node)
    if (receipt.trusted !== undefined) {
      this.#checkTrusted(receipt, policy.adaptive)
      return
    }
    assert.ok(receipt.results.length >= policy.minQuorum, `${receipt.task} was decided by ${receipt.results.length}`)
    // [4] Nodes of one network are one voice where that was asked for.
    const voices = policy.independence === 'require' ? voters.map((node) => this.#networkOf(node)) : voters
    assert.ok(new Set(voices).size >= policy.minQuorum, `${receipt.task}: only ${voters.join(', ')} said ${receipt.vote}`)
  }

  /** Every two of a quorum agree, the canonical result among them, and all that are counted agree with it. */
  #checkCompared({ task, vote, results }: Unsigned['receipt'], quorum: number): void {
    const votes = results.map((body) => voteOf(decodeResult(body) as Result, false))
    const agree = (a: string, b: string): boolean => a === b || (isOutput(a) && isOutput(b) && close(a, b))
    assert.ok(
      votes.every((other) => agree(vote, other)),
      `${task} has a receipt with ${votes.join(', ')}, which do not agree with ${vote}`
    )
    let sets: string[][] = [[]]
    for (const next of votes) sets = [...sets, ...sets.filter((set) => set.every((other) => agree(other, next))).map((set) => [...set, next])]
    assert.ok(
      sets.some((set) => set.length >= quorum && set.includes(vote)),
      `${task}: no ${quorum} of ${votes.join(', ')} agree with each other`
    )
  }

  /** [3] Or of one node, which was believed when it was leased the task, and which nobody contradicted. */
  #checkTrusted({ task, dissent, trusted }: Unsigned['receipt'], adaptive: boolean): void {
    const before = this.#last.get(task)?.replicas ?? []
    assert.ok(adaptive && (trusted ?? 0) >= TRUSTED_AFTER, `${task} was decided by one node with ${trusted} results in a row`)
    assert.deepEqual(dissent, [], `${task} was decided by one node against others`)
    const leased = before.filter(({ standing }) => standing.alone).map(({ standing }) => standing.row)
    assert.ok(before.length === 0 || leased.includes(trusted ?? 0), `${task}: no replica was leased to a node with ${trusted} results in a row`)
  }

  /** The node itself, of one whose network is not known. */
  #networkOf(node: string): string {
    const bytes = this.#store.peek(nodeKey(node))
    const network = bytes === undefined ? '' : decodeNodeRecord(bytes).offer.network
    return network === '' ? node : network
  }

  #batchOf(task: TaskId): ReturnType<typeof decodeBatchRecord> {
    const bytes = this.#store.peek(batchKey(task.slice(0, task.indexOf('.'))))
    assert.ok(bytes !== undefined, `task ${task} has no batch`)
    return this.#batches.of(bytes)
  }
}

/** Records that are looked at with every commit and hardly ever written: each is decoded once. What is written is never changed, it is written anew. */
class Decoded<T> {
  readonly #decode: (bytes: Uint8Array) => T
  readonly #known = new WeakMap<Uint8Array, T>()

  constructor(decode: (bytes: Uint8Array) => T) {
    this.#decode = decode
  }

  of(bytes: Uint8Array): T {
    const known = this.#known.get(bytes) ?? this.#decode(bytes)
    this.#known.set(bytes, known)
    return known
  }
}

/** Which outputs agree when they are compared: any that these dice say, so that hardly three agree with each other. */
export function close(a: string, b: string): boolean {
  let sum = 0
  for (const char of a < b ? a + b : b + a) sum = (sum * 31 + char.charCodeAt(0)) % 1009
  return sum % 3 !== 0
}

/** So many nodes found its input at fault that it would fail for it: the disk is looked at first. */
function isLooked({ replicas }: TaskRecord, { nodes }: TaskPolicy): boolean {
  const faults = replicas.filter(({ copy, state, fault }) => !copy && state === 'returned' && fault?.class === 'input')
  return faults.length >= (nodes.length === 1 ? 1 : INPUT_FAULTS_MAX)
}

function ranMsOf({ replicas }: TaskRecord): number {
  return replicas.reduce((sum, { ranMs }) => sum + ranMs, 0)
}

function addTo<K>(sets: Map<K, Set<string>>, key: K, value: string): void {
  sets.set(key, (sets.get(key) ?? new Set()).add(value))
}

function waitingOr(state: string): string {
  return state === 'created' ? 'staged' : state
}

/** Several moves may lie between two commits. */
function reaches<S extends string>(moves: Readonly<Record<S, readonly S[]>>, from: S, to: S): boolean {
  const seen = new Set<S>([from])
  for (const state of seen) for (const next of moves[state]) seen.add(next)
  return seen.has(to)
}
