/** What people are shown of the coordinator's records. Pure. */
import { DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
import { unended } from '#protocol/owner/counts'
import type { BatchView, NodeView, ReplicaView, TaskView, WhyView } from '#protocol/owner/messages'
import type { BatchRecord } from './batch-records.ts'
import type { Node } from './model.ts'
import type { LeftRecord } from './remains-records.ts'
import { hasVoice, isTerminal, isUnharmed } from './states.ts'
import type { ReplicaRecord, TaskRecord } from './task-records.ts'
import type { RevisedRecord } from './trust-records.ts'
import { mostFrequent } from './validator.ts'

export interface TaskFacts {
  readonly batch: BatchRecord
  /** The manifest's. */
  readonly command: readonly string[]
  /** What a killed task left. */
  readonly left: LeftRecord | undefined
  /** What came of looking at it again; where one task is asked for. */
  readonly revised?: RevisedRecord | undefined
}

/** `withReplicas` only where one task is asked for. A record `created` of a complete batch is staged, unless it has no bundle yet: then it waits for others. */
export function taskView(record: TaskRecord, { batch, command, left, revised }: TaskFacts, withReplicas: boolean): TaskView {
  const { id, bundle, createdAtMs, startedAtMs, endedAtMs, failure, decision, replicas, repeats } = record
  const held = record.held ?? batch.held
  const index = Number(id.slice(id.lastIndexOf('.') + 1))
  const votes = replicas.filter(hasVoice).flatMap(({ vote }) => (vote === null ? [] : [vote]))
  // The task that it repeats has the votes; its quorum was this one's at least.
  const valid = repeats === null ? replicas.filter(({ verdict }) => verdict === 'valid').length : batch.policy.minQuorum
  const agreeing = decision === null ? mostFrequent(votes).count : valid
  return {
    id,
    name: batch.name,
    batch: batch.id,
    index,
    status: record.state === 'created' && !batch.open && bundle !== '' ? 'staged' : record.state,
    bundle,
    command,
    createdAtMs,
    ...(startedAtMs === null ? {} : { startedAtMs }),
    ...(endedAtMs === null ? {} : { decidedAtMs: repeats === null ? (decision?.atMs ?? endedAtMs) : endedAtMs }),
    ...(failure === null ? {} : { failure }),
    ...(decision === null ? {} : { exitCode: decision.exitCode }),
    ...(decision === null || !decision.held ? {} : { output: decision.output, stdout: decision.stdout, stderr: decision.stderr, outputBytes: decision.bytes }),
    ...(left === undefined ? {} : { exitCode: left.exitCode, output: left.output, stdout: left.stdout, stderr: left.stderr, outputBytes: left.bytes }),
    ...(revised === undefined ? {} : { revised: { verdict: revised.verdict, by: revised.by } }),
    quorum: batch.policy.minQuorum,
    agreeing,
    replicasIssued: replicas.length,
    ...(held === null || isTerminal(record.state) ? {} : { held }),
    ...(repeats === null ? {} : { repeats }),
    numFailures: replicas.filter(({ state, fault }) => state === 'lost' || (state === 'returned' && !isUnharmed(fault))).length,
    ...(withReplicas ? { replicas: replicas.map((replica) => replicaView(replica, decision !== null || isTerminal(record.state))) } : {})
  }
}

/** Why a task that is over does not go on. One whose end is decided but not written yet waits for that. */
export function endedWhy({ id, name, status, createdAtMs, decidedAtMs = createdAtMs, quorum, failure }: TaskView): WhyView {
  return {
    task: id,
    name,
    status,
    waitsFor: isTerminal(status) ? 'nothing' : 'output',
    waitedMs: decidedAtMs - createdAtMs,
    quorum,
    wanted: 0,
    runs: [],
    ...(failure === undefined ? {} : { failure })
  }
}

/** Without what is kept for its client alone. */
export function batchView(record: BatchRecord): BatchView {
  const { id, name, by, createdAtMs, tasks, created, running, validating, ready, failed, killed, held, policy } = record
  return {
    id,
    name,
    by,
    createdAtMs,
    tasks,
    created,
    running,
    validating,
    ready,
    failed,
    killed,
    ...(held === null || unended(record) === 0 ? {} : { held }),
    policy: saidOf(policy)
  }
}

/** What is not as it is by default. */
function saidOf(policy: TaskPolicy): Partial<TaskPolicy> {
  const isDefault = (name: string, value: unknown): boolean => {
    const usual = DEFAULT_POLICY[name as keyof TaskPolicy]
    return value === usual || (Array.isArray(value) && value.length === 0)
  }
  return Object.fromEntries(Object.entries(policy).filter(([name, value]) => !isDefault(name, value)))
}

/** online | banned | set aside (it failed too often in a row) | silent (its stream ended, or it missed two heartbeats) | lost | left. */
export function nodeView(node: Node, silentBeforeMs: number): NodeView {
  const { id, offer, lastSeenMs, held, valid, invalid, errors, lost, row, errorPpm, sinceMs, credit } = node
  const { name, platform, engines, slots, tags, exclusive, gpus, owner, ownerOnly, groups } = offer
  return {
    id,
    name,
    state: presenceOf(node, silentBeforeMs),
    platform,
    engines,
    slots,
    busy: held.length,
    ...processorsOf(node),
    lastSeenMs,
    valid,
    invalid,
    errors,
    lost,
    row,
    errorRate: errorPpm / 1_000_000,
    sinceMs,
    credit,
    tags: tags.map((tag) => (exclusive.includes(tag) ? `${tag}!` : tag)),
    gpus: gpus.map((gpu) => ({ ...gpu, taken: node.gpusTaken?.has(gpu.uuid) === true })),
    ...(owner === null ? {} : { owner }),
    ownerOnly,
    ...(groups === undefined ? {} : { groups }),
    ...dataOf(node),
    ...(node.next === null || node.next.tasks.length === 0 ? {} : { next: node.next.tasks.length }),
    availability: Math.round(node.availability * 100),
    ...(node.ban === null ? {} : { ban: node.ban })
  }
}

/** Its cores; and of a node with more slots than that what its runs had of them. */
function processorsOf({ offer: { cores, slots }, computed }: Node): Pick<NodeView, 'cores' | 'processorsEach'> {
  if (cores === undefined) return {}
  return { cores, ...(computed === null || slots <= cores ? {} : { processorsEach: Math.round((100 * computed.cpuMs) / computed.ranMs) / 100 }) }
}

/** What it told of. */
function dataOf({ holds }: Node): Pick<NodeView, 'dataTrees' | 'dataBytes'> {
  const here = [...(holds?.values() ?? [])].filter((one) => one.here)
  return { dataTrees: here.length, dataBytes: here.reduce((sum, { bytes }) => sum + bytes, 0) }
}

function presenceOf({ state, connected, lastSeenMs, asideUntilMs, ban }: Node, silentBeforeMs: number): NodeView['state'] {
  if (ban !== null) return 'banned'
  if (state !== 'online') return state
  if (!connected || lastSeenMs < silentBeforeMs) return 'silent'
  return asideUntilMs > 0 ? 'set aside' : 'online'
}

/** `decided`: until then no answer is shown to anybody, who could pass it on to be copied (F23). */
function replicaView(
  { attempt, node, state, atMs, verdict, exitCode, reason, vote, fault, copy, standing, from, checkpoint }: ReplicaRecord,
  decided: boolean
): ReplicaView {
  return {
    attempt,
    node,
    state,
    atMs,
    ...(verdict === null ? {} : { verdict }),
    ...(exitCode === null ? {} : { exitCode }),
    ...(reason === null ? {} : { reason }),
    ...(vote === null || !decided ? {} : { vote }),
    ...(standing.alone ? { alone: standing.row } : {}),
    ...(fault === null ? {} : { message: fault.message }),
    ...(copy ? { copy } : {}),
    ...(from === null ? {} : { from: from.attempt }),
    ...(checkpoint === null ? {} : { checkpoint: { atMs: checkpoint.atMs, doneMs: checkpoint.doneMs, bytes: checkpoint.bytes } })
  }
}
