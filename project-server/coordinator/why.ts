/**
 * Why a task does not go on: what it waits for, for every node what keeps it from taking the task, its place in the queue, and
 * when it should come to an end. Reads the state and changes nothing; every rule of placing (scheduler.ts) has its reason here.
 */
import { type BatchId, parseTaskId, type TaskId, taskId } from '#protocol/ids'
import type { ClientTurn, FaultWhy, NearestMiss, NodesWhy, QueuePlace, RunWhy, WhyReason, WhyView } from '#protocol/owner/messages'
import { isInTime } from './availability.ts'
import { blockOf, type Client } from './clients.ts'
import { isStopped } from './comparisons.ts'
import { progressOf } from './figures.ts'
import { isOnOther } from './groups.ts'
import { isHere } from './holders.ts'
import { isDependent } from './independence.ts'
import { isHeldBack, isLocal } from './locality.ts'
import { awaitedInputs } from './lost-inputs.ts'
import { type Batch, isHeld, isSweep, type Needs, type Node, type Task, type Waiter, type Waits } from './model.ts'
import { kindLack, lackOf, roomLack, suits } from './needs.ts'
import {
  NODE_SLOTS_MAX,
  WHY_AHEAD_MAX,
  WHY_CLIENTS_NAMED_MAX,
  WHY_FAULTS_NAMED_MAX,
  WHY_NODES_NAMED_MAX,
  WHY_NODES_TRIED_MAX,
  WHY_SOURCES_NAMED_MAX
} from './policy.ts'
import { hadIt, roomOf } from './replicas.ts'
import { isOtherClass } from './same-class.ts'
import { fits, hasCopyFor } from './scheduler.ts'
import { expects } from './sources.ts'
import type { State } from './state.ts'
import { isLive, TOO_LITTLE_MEMORY } from './states.ts'
import { isUnmade, unmade } from './sweeps.ts'

/** What passes by itself: the node will be able to take it. */
const PASSING: ReadonlySet<WhyReason> = new Set<WhyReason>([
  'full',
  'newcomer',
  'cpu_taken',
  'memory_taken',
  'disk_taken',
  'gpus_taken',
  'data_elsewhere',
  'free'
])

export function why(state: State, task: Task, nowMs: number): WhyView {
  const { batch, group, needs } = task
  const { engine, cpuMillis, memoryBytes, diskBytes, platform, gpus } = needs
  const runs = task.replicas
    .filter((replica) => isLive(replica.state))
    .map((replica): RunWhy => {
      const { attempt, node, state, atMs, straggles, copy, from, checkpoint } = replica
      const progress = progressOf(replica, nowMs)
      return {
        straggles,
        ...(from === null ? {} : { from: from.attempt }),
        ...(checkpoint === null ? {} : { checkpoint: { agoMs: Math.max(0, nowMs - checkpoint.atMs), doneMs: checkpoint.doneMs, bytes: checkpoint.bytes } }),
        ...(copy ? { copy } : {}),
        attempt,
        node: node.id,
        nodeName: node.offer.name,
        state,
        forMs: Math.max(0, nowMs - atMs),
        ...(progress === undefined ? {} : { progress })
      }
    })
  const view = {
    task: task.id,
    name: batch.name,
    status: task.state,
    waitedMs: Math.max(0, nowMs - task.createdAtMs),
    quorum: batch.policy.minQuorum,
    wanted: task.wanted,
    needs: {
      engine,
      cpuMillis,
      memoryBytes,
      diskBytes,
      named: group.nodes?.size ?? 0,
      ...(platform === null ? {} : { platform }),
      ...(gpus === null ? {} : { gpus }),
      ...(group.tags.length === 0 ? {} : { tags: group.tags }),
      ...(group.trust === 'any' ? {} : { trust: group.trust }),
      ...(group.due === null ? {} : { deadlineMs: group.due.deadlineMs })
    },
    runs,
    ...faultsOf(task),
    ...heldOf(task),
    ...comparingOf(task)
  }
  if (batch.open) return { ...view, waitsFor: 'submission' }
  if (task.waits !== null) return { ...view, waitsFor: 'sources', ...sourcesOf(state, task, task.waits) }
  const inputs = awaitedInputs(state, task)
  if (inputs > 0) return { ...view, waitsFor: 'sources', sources: inputs }
  if (task.decision !== null && task.wanted === 0 && runs.length === 0) return { ...view, waitsFor: 'output', holders: holdersOf(task) }
  if (task.wanted === 0 && runs.length === 0 && task.comparison !== null) return { ...view, waitsFor: isStopped(task) ? 'release' : 'comparison' }
  if (task.wanted === 0) return { ...view, waitsFor: 'runs', ...estimateOfRuns(state, runs) }
  if (isHeld(task)) return { ...view, waitsFor: 'release' }
  const quota = blockOf(group.client, nowMs)
  if (quota !== undefined) return { ...view, waitsFor: 'quota', quota }
  const nodes = nodesWhy(state, task, nowMs)
  const prefers = batch.policy.independence === 'prefer'
  if (!nodes.some(({ reason }) => PASSING.has(reason) || (prefers && reason === 'not_independent'))) {
    const nearest = nearestMiss(state, task)
    return { ...view, waitsFor: 'node', nodes, ...(nearest === undefined ? {} : { nearest }) }
  }
  const able = [...state.nodes.values()].filter((node) => isThere(node) && suits(node, group))
  const ahead = placeOf(state, task, able)
  return { ...view, waitsFor: 'turn', nodes, ahead, ...nextOf(task), ...sharesOf(state, group.client), ...estimateOfTurn(state, task, able, ahead) }
}

/** What came of earlier runs, where that was nothing. */
function faultsOf({ replicas }: Task): Pick<WhyView, 'faults'> {
  const faults = replicas.flatMap(({ attempt, node, state, fault }): FaultWhy[] =>
    fault !== null && (state === 'returned' || state === 'lost' || fault.class === TOO_LITTLE_MEMORY)
      ? [{ attempt, node: node.id, nodeName: node.offer.name, state, message: fault.message }]
      : []
  )
  return faults.length === 0 ? {} : { faults: faults.slice(-WHY_FAULTS_NAMED_MAX) }
}

/** How its results are compared, when they differ. */
function comparingOf({ comparison, batch }: Task): Pick<WhyView, 'comparing'> {
  const { compare } = batch.policy
  if (comparison === null || compare === null) return {}
  const trouble = comparison.trouble === '' ? {} : { trouble: comparison.trouble }
  return { comparing: { kind: compare.kind, ...(compare.kind === 'program' ? { bundle: compare.bundle } : {}), ...trouble } }
}

/** Where it is next. */
function nextOf({ nextAt, bundle }: Task): Pick<WhyView, 'next'> {
  return nextAt === null
    ? {}
    : { next: nextAt.map((node) => ({ id: node.id, name: node.offer.name, here: bundle.data === null || isHere(node, bundle.data) })) }
}

/** Its own hold, or else its batch's. */
function heldOf({ held, batch }: Task): Pick<WhyView, 'held'> {
  const by = held ?? batch.held
  return by === null ? {} : { held: by }
}

/** The task of a batch to ask about: the first that waits for a node, else the first that would if it were not held, else the first that is not over. */
export function firstWaiting({ tasks }: Batch): Task | undefined {
  return tasks.find((task) => task.queue !== null) ?? tasks.find((task) => task.wanted > 0) ?? tasks.find(() => true)
}

/** What is not over yet of all that it takes something from. */
function sourcesOf(state: State, waiter: Waiter, { sources, missing }: Waits): Pick<WhyView, 'sources' | 'awaits'> {
  const own = isSweep(waiter) ? waiter : waiter.batch
  const awaits = new Set<string>()
  for (const { of, from, count } of sources.list) {
    if (of !== '' && expects(state, of)) awaits.add(of)
    if (of === '')
      for (let at = from; at < from + count && awaits.size < WHY_SOURCES_NAMED_MAX; at++) if (own.tasks.get(at) !== undefined) awaits.add(taskId(own.id, at))
    if (awaits.size >= WHY_SOURCES_NAMED_MAX) break
  }
  return { sources: missing, ...(awaits.size === 0 ? {} : { awaits: [...awaits] }) }
}

/** A task of a sweep that was not made yet waits as the first one does that was, behind all that come before it; of the sweep, its next one. */
export function whyUnmade(state: State, id: TaskId | BatchId, nowMs: number): WhyView | undefined {
  const batch = state.batches.get(parseTaskId(id)?.batch ?? id)
  if (batch === undefined || batch.maker === null) return undefined
  const { maker, policy, name, createdAtMs } = batch
  const index = parseTaskId(id)?.index ?? maker.next
  if (!isUnmade(batch, index)) return undefined
  const first = firstWaiting(batch)
  const waiting = {
    task: taskId(batch.id, index),
    name,
    waitedMs: Math.max(0, nowMs - createdAtMs),
    quorum: policy.minQuorum,
    wanted: policy.targetResults,
    runs: []
  } as const
  if (batch.waits !== null) return { ...waiting, status: 'created', waitsFor: 'sources', ...sourcesOf(state, batch, batch.waits) }
  const before = index - maker.next + (batch.counts.created - unmade(batch))
  const ahead = { tasks: before, replicas: before * policy.targetResults }
  const own = { ...waiting, status: 'staged' } as const
  if (first === undefined) return { ...own, waitsFor: batch.held === null ? 'turn' : 'release', ahead, ...(batch.held === null ? {} : { held: batch.held }) }
  const { startMs: _startMs, endMs: _endMs, runMs: _runMs, ...view } = why(state, first, nowMs)
  return { ...view, ...own, ...(view.waitsFor === 'node' || view.waitsFor === 'release' ? {} : { waitsFor: 'turn', ahead }) }
}

/** The first thing, from what lasts to what passes, that keeps the node from taking the task. */
function reasonOf(state: State, node: Node, task: Task, nowMs: number): WhyReason {
  const { group } = task
  if (group.nodes !== null && !group.nodes.has(node.id)) return 'not_named'
  if (node.ban !== null) return 'banned'
  if (!isThere(node)) return 'away'
  const lacks = lackOf(node, group)
  if (lacks !== undefined) return lacks
  if (!isInTime(node, group)) return 'deadline'
  if (isOnOther(task, node)) return 'platform'
  if (hadIt(task, node)) return 'had_it'
  if (isOtherClass(task, node)) return 'other_class'
  if (isDependent(task, node)) return 'not_independent'
  if (node.asideUntilMs > 0) return 'set_aside'
  if (node.slots === 0) return 'takes_none'
  if (state.copies.size > 0 && !isHeldBack(task, nowMs) && hasCopyFor(state, task, node, nowMs)) return 'free'
  if (node.free === 0) return roomOf(node) > 0 ? 'newcomer' : 'full'
  const taken = roomLack(node, group.needs)
  if (taken !== undefined) return taken
  if (!fits(node, group)) throw new Error(`placing has a rule that "why" does not know: ${node.id} and ${task.id}`)
  return task.heldBackMs !== null && !isLocal(node, task) ? 'data_elsewhere' : 'free'
}

function isThere(node: Node): boolean {
  return node.state === 'online' && node.connected
}

/** Every node once, under its reason; the most frequent reason first. Nodes that were named and never came are away. */
function nodesWhy(state: State, task: Task, nowMs: number): NodesWhy[] {
  const found = new Map<WhyReason, { count: number; nodes: { id: string; name: string }[] }>()
  const add = (reason: WhyReason, id: string, name: string): void => {
    const entry = found.get(reason) ?? { count: 0, nodes: [] }
    found.set(reason, entry)
    entry.count++
    if (entry.nodes.length < WHY_NODES_NAMED_MAX) entry.nodes.push({ id, name })
  }
  for (const node of state.nodes.values()) add(reasonOf(state, node, task, nowMs), node.id, node.offer.name)
  for (const id of task.group.nodes ?? []) if (!state.nodes.has(id)) add('away', id, '')
  return [...found].map(([reason, entry]) => ({ reason, ...entry })).sort((a, b) => b.count - a.count)
}

/** Of the nodes that are there and lack CPU, memory, disk or confirmed results: the one that lacks the smallest share. */
function nearestMiss(state: State, { group }: Task): NearestMiss | undefined {
  let nearest: NearestMiss | undefined
  let best = 0
  for (const node of state.nodes.values()) {
    if (!isThere(node) || (group.nodes !== null && !group.nodes.has(node.id))) continue
    const lack = kindLack(node, group)
    if (lack !== undefined && lack !== 'not_trusted') continue
    const misses = [
      { requirement: 'trust' as const, needs: lack === undefined ? 0 : state.policy.trustedAfter, offers: node.row },
      { requirement: 'cpu' as const, needs: group.needs.cpuMillis, offers: node.offer.cpuMillis },
      { requirement: 'memory' as const, needs: group.needs.memoryBytes, offers: node.offer.memoryBytes },
      { requirement: 'disk' as const, needs: group.needs.diskBytes, offers: node.offer.diskBytes }
    ].filter(({ needs, offers }) => needs > offers)
    const worst = misses.sort((a, b) => a.offers / a.needs - b.offers / b.needs)[0]
    if (worst === undefined || (nearest !== undefined && worst.offers / worst.needs <= best)) continue
    best = worst.offers / worst.needs
    nearest = { ...worst, node: node.id, nodeName: node.offer.name }
  }
  return nearest
}

/** When others wait too: whose turn it is before this client's. */
function sharesOf({ fair: { line } }: State, client: Client): Pick<WhyView, 'shares'> {
  if (line.length < 2) return {}
  const before = line.slice(0, line.indexOf(client))
  return { shares: { own: turnOf(client), before: before.slice(0, WHY_CLIENTS_NAMED_MAX).map(turnOf), others: before.length } }
}

function turnOf({ id, share, slots, waiting }: Client): ClientTurn {
  return { client: id, share, slots, waiting }
}

/** What stands before it in the queue and wants nodes that could run it: of its own client by priority and order, of others what their shares give them meanwhile. */
function placeOf(state: State, task: Task, able: readonly Node[]): QueuePlace {
  const place = { tasks: 0, replicas: 0 }
  const tried = able.slice(0, WHY_NODES_TRIED_MAX)
  const { client } = task.group
  for (const group of client.groups) {
    if (group.priority < task.group.priority) continue
    if (group !== task.group && !tried.some((node) => suits(node, group))) continue
    for (const queue of [group.fresh, group.partial])
      for (const other of queue.from(0, WHY_AHEAD_MAX)) {
        if (group.priority === task.group.priority && other.order >= task.order) break
        place.tasks++
        place.replicas += other.wanted
      }
  }
  const own = place.replicas + task.wanted
  for (const other of state.fair.line) {
    if (other === client) continue
    let waiting = 0
    for (const group of other.groups) if (tried.some((node) => suits(node, group))) waiting += group.fresh.size + group.partial.size
    const before = Math.min(waiting, Math.ceil((own * other.share) / client.share))
    place.tasks += before
    place.replicas += before
  }
  return place
}

/** As many runs as its nodes hold at once end in the mean time of a run: so long for each that stands before it, and for its own. */
function estimateOfTurn(state: State, task: Task, able: readonly Node[], { replicas }: QueuePlace): Pick<WhyView, 'startMs' | 'endMs' | 'runMs'> {
  const meanMs = meanMsOf(state)
  let atOnce = 0
  for (const node of able) atOnce += runsAtOnce(node, task.needs)
  if (meanMs === undefined || atOnce === 0) return {}
  const startMs = ((replicas + 1) * meanMs) / atOnce
  const endMs = startMs + meanMs + ((task.wanted - 1) * meanMs) / atOnce
  return { runMs: Math.round(meanMs), startMs: Math.round(startMs), endMs: Math.round(endMs) }
}

function meanMsOf(state: State): number | undefined {
  let running = 0
  for (const { held } of state.nodes.values()) running += held.length
  return state.pace.meanMs(running)
}

function runsAtOnce({ slots, offer, newcomer }: Node, { cpuMillis, memoryBytes, diskBytes, gpus }: Needs): number {
  const times = (have: number, need: number): number => (need === 0 ? Number.POSITIVE_INFINITY : Math.floor(have / need))
  return Math.min(
    slots,
    NODE_SLOTS_MAX,
    newcomer?.slots ?? Number.POSITIVE_INFINITY,
    times(offer.cpuMillis, cpuMillis),
    times(offer.memoryBytes, memoryBytes),
    times(offer.diskBytes, diskBytes),
    times(offer.gpus.length, gpus?.count ?? 0)
  )
}

/** Undefined once a run takes longer than others do: nobody knows then. */
function estimateOfRuns(state: State, runs: readonly RunWhy[]): Pick<WhyView, 'endMs' | 'runMs'> {
  const meanMs = meanMsOf(state)
  if (meanMs === undefined) return {}
  const leftMs = Math.max(...runs.map(({ forMs }) => meanMs - forMs))
  return { runMs: Math.round(meanMs), ...(leftMs > 0 ? { endMs: Math.round(leftMs) } : {}) }
}

/** Who has the output that was agreed on, and whether it can be asked now. */
function holdersOf({ replicas, pull }: Task): NonNullable<WhyView['holders']> {
  return replicas
    .filter(({ verdict, spent }) => verdict === 'valid' && !spent)
    .map((replica) => ({ id: replica.node.id, name: replica.node.offer.name, here: replica.node.connected, asked: pull?.asked.includes(replica) === true }))
}
