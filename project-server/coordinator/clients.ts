/**
 * The project's clients: what each is granted, what it has, and what it used. A limit on what is asked for refuses it before
 * anything is stored; a limit on what runs lets tasks wait. What is used is summed up where a run ends and where an output is
 * kept, in the commit of that: the sums can be replayed from the records of the tasks (`ranMs` of their replicas).
 */
import type { PeerIdString } from '#protocol/ids'
import { type ClientSettings, type ClientView, DEFAULT_CLIENT_SETTINGS } from '#protocol/owner/clients'
import type { QuotaWhy } from '#protocol/owner/messages'
import type { Event } from './events.ts'
import { type Claim, newClaim } from './fair-share.ts'
import type { Group, Replica } from './model.ts'
import { dropUnsuited } from './next.ts'
import { CLIENTS_MAX } from './policy.ts'
import type { State } from './state.ts'
import { unmade } from './sweeps.ts'

export interface Client extends Claim {
  readonly id: PeerIdString
  /** It was added to the project, or removed; null: as the project's file says. */
  member: boolean | null
  settings: ClientSettings
  /** Of its live tasks. */
  readonly groups: Set<Group>
  /** Live tasks, and batches that have some or may get some. */
  tasks: number
  batches: number
  /** Those of them that look at decisions again. */
  rechecking: number
  /** Runs that go on, and the sum of the times when they began: how long they have gone on follows without a look at them. */
  running: number
  beganMs: number
  /** Of runs that have ended: ever, and in the period that began at `periodMs`. */
  ranMs: number
  runs: number
  periodMs: number
  periodRanMs: number
  /** Kept for it. What it brought is counted by the shell. */
  outputBytes: number
  inputBytes: number
  /** Checkpoints of its tasks. Not written down: they are counted from those again. */
  checkpointBytes: number
  /** See marks.ts. */
  marks: number
}

/** Made when it is first heard of. */
export function clientOf(state: Pick<State, 'clients'>, id: PeerIdString): Client {
  let client = state.clients.get(id)
  if (client === undefined) {
    client = {
      ...newClaim(DEFAULT_CLIENT_SETTINGS.share),
      id,
      member: null,
      settings: DEFAULT_CLIENT_SETTINGS,
      groups: new Set(),
      tasks: 0,
      batches: 0,
      rechecking: 0,
      running: 0,
      beganMs: 0,
      ranMs: 0,
      runs: 0,
      periodMs: 0,
      periodRanMs: 0,
      outputBytes: 0,
      inputBytes: 0,
      checkpointBytes: 0,
      marks: 0
    }
    state.clients.set(id, client)
  }
  return client
}

/** The administrator grants something, or takes it away. What waits for it is looked at at once. */
export function setClient(state: State, { client: id, settings, member }: Extract<Event, { kind: 'client' }>): void {
  if (!state.clients.has(id) && state.clients.size >= CLIENTS_MAX) return
  const client = clientOf(state, id)
  client.settings = { ...client.settings, ...settings }
  if (settings.groups !== undefined) regroupClient(state, client)
  if (member !== undefined) client.member = member
  state.fair.share(client, client.settings.share)
  lookAgain(state, client)
  state.out.client(client)
}

/** Nodes that are for other groups than before may take its tasks, and those that may not any more are told of none. What runs goes on. */
function regroupClient(state: State, client: Client): void {
  state.free.rejoin(client)
  for (const node of state.nodes.values()) dropUnsuited(state, node)
}

/** What the shell counted of the data that it brought. */
export function brought(state: State, { client, bytes }: Extract<Event, { kind: 'brought' }>): void {
  clientOf(state, client).inputBytes = bytes
}

/** It holds a slot less: where that was its last, what waits for another may go to any node that is free. */
export function leftSlot(state: State, client: Client): void {
  const wasBlocked = client.settings.parallel !== null && client.slots >= client.settings.parallel
  state.fair.hold(client, -1)
  if (wasBlocked) lookAgain(state, client)
}

/** Nodes that gained room while its groups were passed by may fit them. */
export function lookAgain(state: State, client: Client): void {
  for (const group of client.groups) {
    group.stuck = false
    state.groupsChanged.add(group)
  }
}

/** A run began to take its slot for its client's work. */
export function runBegan({ task: { batch } }: Replica, nowMs: number): void {
  batch.client.running++
  batch.client.beganMs += nowMs
}

/** It ended, however it did. A result says how long it ran, which is less than the coordinator saw of it by what its report took; more is not believed. */
export function runEnded(state: State, replica: Replica, nowMs: number): void {
  const { client } = replica.task.batch
  const seenMs = Math.max(0, nowMs - replica.atMs)
  const ms = Math.min(seenMs, replica.report?.ranMs ?? seenMs)
  client.running--
  client.beganMs -= replica.atMs
  replica.ranMs += ms
  client.ranMs += ms
  client.runs++
  const periodMs = periodOf(client, nowMs)
  client.periodRanMs = ms + (periodMs === client.periodMs ? client.periodRanMs : 0)
  client.periodMs = periodMs
  state.out.client(client)
}

export function keptOutput(state: State, client: Client, bytes: number): void {
  if (bytes === 0) return
  client.outputBytes += bytes
  state.out.client(client)
}

/** What keeps all of its tasks from running, if anything does. */
export function blockOf(client: Client, nowMs: number): QuotaWhy | undefined {
  const { parallel, diskBytes, timeMs } = client.settings
  if (parallel !== null && client.slots >= parallel) return { limit: 'parallel', used: client.slots, max: parallel }
  const room = roomOf(client)
  // What runs already may still go beyond it, and what the project itself wants to know does not wait for it.
  if (diskBytes !== null && room !== null && room <= 0 && client.rechecking === 0) return { limit: 'disk', used: storedBytes(client), max: diskBytes }
  if (timeMs === null) return undefined
  const used = usedMs(client, nowMs)
  return used < timeMs ? undefined : { limit: 'time', used, max: timeMs, untilMs: periodOf(client, nowMs) + client.settings.periodMs - nowMs }
}

/** Why so many tasks more of it are refused, with the numbers. */
export function quotaFault(
  state: State,
  { by, tasks, isNew }: { readonly by: PeerIdString; readonly tasks: number; readonly isNew: boolean }
): string | undefined {
  const client = state.clients.get(by)
  if (client === undefined) return undefined
  const { settings } = client
  const { diskBytes } = settings
  const room = roomOf(client)
  const has = settings.tasks === null ? 0 : tasksOf(state, client)
  if (settings.tasks !== null && has + tasks > settings.tasks)
    return `you have ${has} tasks that are not over, these are ${tasks} more, and your limit is ${settings.tasks}: wait for some or end some (talko kill)`
  if (isNew && settings.batches !== null && client.batches >= settings.batches)
    return `you have ${client.batches} batches that are not over, and your limit is ${settings.batches}: wait for one or end one (talko kill)`
  if (room !== null && room <= 0)
    return `the project keeps ${storedBytes(client)} bytes for you, and your limit is ${diskBytes}: there is no room for what tasks would leave`
  return undefined
}

/** Those of its sweeps that are not made yet, too. */
function tasksOf({ sweeps }: State, client: Client): number {
  let count = client.tasks
  for (const batch of sweeps) if (batch.client === client) count += unmade(batch)
  return count
}

/** Bytes that may still be kept for it; null without a limit. */
export function roomOf(client: Client): number | null {
  return client.settings.diskBytes === null ? null : client.settings.diskBytes - storedBytes(client)
}

export function clientView(client: Client, nowMs: number): Omit<ClientView, 'administrator' | 'member'> {
  const { id, settings, inputBytes, ranMs, runs, slots, tasks, batches } = client
  const outputBytes = client.outputBytes + client.checkpointBytes
  return {
    client: id,
    settings,
    used: { inputBytes, outputBytes, timeMs: usedMs(client, nowMs), totalMs: ranMs, runs, parallel: slots, tasks, batches },
    periodEndsAtMs: periodOf(client, nowMs) + settings.periodMs
  }
}

function storedBytes({ inputBytes, outputBytes, checkpointBytes }: Client): number {
  return inputBytes + outputBytes + checkpointBytes
}

/** In this period; a run that goes on counts as a whole in the present one. */
function usedMs(client: Client, nowMs: number): number {
  const { running, beganMs, periodMs, periodRanMs } = client
  return (periodMs === periodOf(client, nowMs) ? periodRanMs : 0) + Math.max(0, running * nowMs - beganMs)
}

/** Periods follow one another from the beginning of 1970 on. */
function periodOf({ settings }: Client, nowMs: number): number {
  return nowMs - (nowMs % settings.periodMs)
}
