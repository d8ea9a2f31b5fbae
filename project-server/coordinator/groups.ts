/**
 * Tasks alike in what they need and who may run them wait in one line. A task that names no platform needs that of the nodes
 * which have begun it: results of two kinds of processor are never in one quorum that must agree byte for byte (X17).
 */
import { Cursors } from './cursors.ts'
import type { Batch, Bundle, Group, Needs, Node, Task } from './model.ts'
import { Pace } from './pace.ts'
import { OrderedQueue } from './queue.ts'
import type { State } from './state.ts'
import { hasVoice } from './states.ts'

/** The group of a task that needs this, with one more in it. `platform`: of what has begun it. */
export function joinGroup(state: State, batch: Batch, { bundle, needs: asked }: Pick<Task, 'bundle' | 'needs'>, platform: string | null = null): Group {
  const needs = needsOn(state, asked, platform)
  const group = lastGroup(batch, bundle, needs) ?? groupOf(state, batch, bundle, needs)
  batch.group = group
  if (!group.byData && bundle.data !== null) {
    group.byData = true
    state.dataGroups++
  }
  group.users++
  return group
}

/** Where the batch's last task went, if this one needs the same. */
function lastGroup({ group }: Batch, { timeMs }: Bundle, needs: Needs): Group | undefined {
  if (group === null || group.users === 0 || group.needs !== needs) return undefined
  return group.due === null || group.due.timeMs === timeMs ? group : undefined
}

function groupOf(state: State, batch: Batch, bundle: Bundle, needs: Needs): Group {
  const { client } = batch
  const { priority, nodes, tags, sameClass, trust, deadlineMs, estimateMs } = batch.policy
  const due = deadlineMs === 0 ? null : { batch, deadlineMs, timeMs: bundle.timeMs }
  const key = `${trust === 'any' ? '' : trust} ${sameClass === 'no' ? '' : sameClass} ${needs.key} ${priority} ${client.id} ${estimateMs} ${tags.join(',')} ${nodes.length === 0 ? '' : [...nodes].sort().join(',')}${due === null ? '' : ` ${batch.order} ${due.timeMs}`}`
  let group = state.groups.get(key)
  if (group === undefined) {
    const place = state.heads.begin(priority)
    // What a decision looks at comes first, as in a node and a task.
    group = {
      client,
      needs,
      due,
      fresh: new OrderedQueue(state.heads, 2 * place),
      partial: new OrderedQueue(state.heads, 2 * place + 1),
      stuck: false,
      byData: false,
      nextFrom: 0,
      priority,
      nodes: nodes.length === 0 ? null : new Set(nodes),
      cursors: new Cursors(),
      key,
      place,
      tags,
      sameClass,
      trust,
      estimateMs,
      pace: new Pace(),
      kinds: { own: [], others: [] },
      users: 0
    }
    state.groups.set(key, group)
    state.free.add(group)
  }
  return group
}

export function leaveGroup(state: State, group: Group): void {
  if (--group.users > 0) return
  state.groups.delete(group.key)
  state.free.remove(group)
  state.heads.end(group.place)
  if (group.byData) state.dataGroups--
}

/** To the group that it belongs to now. It is in no queue. */
export function regroup(state: State, task: Task): void {
  const { group, batch } = task
  task.group = joinGroup(state, batch, task, neededPlatform(state, task))
  leaveGroup(state, group)
}

/** The task belongs to another group than where it is. */
export function belongsElsewhere(state: State, task: Task): boolean {
  const { group, needs } = task
  return neededPlatform(state, task) !== group.needs.platform || needs.memoryBytes !== group.needs.memoryBytes
}

/** While all nodes of a project are of one platform nothing has to be told apart. */
function neededPlatform(state: State, task: Task): string | null {
  return (state.free.platforms > 1 ? begunOn(task) : null) ?? task.bundle.needs.platform
}

/** Its result could not stand beside one that is here or comes. What was lost may still come, and is not counted then: see reports.ts. */
export function isOnOther(task: Task, node: Node): boolean {
  if (!mustNotMix(task)) return false
  const { platform } = node.offer
  return task.replicas.some((replica) => replica.node !== node && hasVoice(replica) && replica.node.offer.platform !== platform)
}

/** Where the task has been begun, if it must go on there. */
function begunOn(task: Task): string | null {
  return mustNotMix(task) ? (task.replicas.find(hasVoice)?.node.offer.platform ?? null) : null
}

/** What is compared by tolerance may come from anywhere. */
function mustNotMix({ bundle, batch }: Task): boolean {
  return bundle.needs.platform === null && batch.policy.compare === null
}

function needsOn(state: State, needs: Needs, platform: string | null): Needs {
  if (platform === null || platform === needs.platform) return needs
  const key = `${needs.key} on ${platform}`
  const known = state.needs.get(key) ?? { ...needs, key, platform }
  state.needs.set(key, known)
  return known
}
