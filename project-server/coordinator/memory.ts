/**
 * How much memory the runs of a task get. What its bundle says, or, where its owner did not say, what earlier runs of the
 * program took (S05). When a run is ended for it the task is tried once more, with what the bundle says if that was guessed, and
 * then with what its owner's policy says (F09); what those say who had less is no vote. Leases tell their nodes.
 */
import { decodeManifest, type RunManifest } from '#protocol/bundle/manifest'
import { memoryKey, programOf } from './memory-history.ts'
import type { Batch, Bundle, Needs, Replica, Task } from './model.ts'
import { withMemory } from './needs.ts'
import { moveToNeeds } from './scheduler.ts'
import type { State } from './state.ts'
import { TOO_LITTLE_MEMORY } from './states.ts'
import type { ReplicaRecord } from './task-records.ts'

/** The vote of a run that was ended for its memory. */
export const OUT_OF_MEMORY = 'ended:memory'

/** What was asked for, with other memory; 0 for what was asked for. */
export function memoryNeeds(state: State, asked: Needs, memoryBytes: number): Needs {
  if (memoryBytes === 0 || memoryBytes === asked.memoryBytes) return asked
  const found = withMemory(asked, memoryBytes)
  const needs = state.needs.get(found.key) ?? found
  state.needs.set(needs.key, needs)
  return needs
}

/** Of a task that was not run yet: what its bundle says, or what earlier runs of the program took where its owner did not say. */
export function needsAtFirst(state: State, { client, policy, maker }: Batch, bundle: Bundle, manifest: RunManifest): Needs {
  if (policy.guessMemory) bundle.program ??= programOf(maker?.template ?? manifest)
  return guessed(state, { client, policy }, bundle)
}

/** What earlier runs of the program took where its owner did not say and that is known, else what the bundle says. */
function guessed(state: State, { client, policy }: Pick<Batch, 'client' | 'policy'>, { program, needs }: Bundle): Needs {
  const found = policy.guessMemory && program !== null ? state.memory.guess(memoryKey(client.id, program)) : undefined
  return memoryNeeds(state, needs, found ?? 0)
}

/** The same of one that was, after a restart. */
export function needsAfter(state: State, batch: Batch, bundle: Bundle, replicas: readonly Pick<ReplicaRecord, 'fault' | 'memoryBytes'>[]): Needs {
  if (batch.policy.guessMemory) bundle.program ??= programOf(batch.maker?.template ?? decodeManifest(bundle.bytes))
  let memoryBytes = 0
  for (const { fault, memoryBytes: had } of replicas)
    if (fault?.class === TOO_LITTLE_MEMORY) memoryBytes = Math.max(memoryBytes, nextTry(batch, bundle, had === 0 ? bundle.needs.memoryBytes : had) ?? 0)
  return memoryBytes > 0 ? memoryNeeds(state, bundle.needs, memoryBytes) : guessed(state, batch, bundle)
}

/** What a task gets when so much was too little: what its bundle says if that was guessed, then what its owner allows; undefined when there is no more. */
function nextTry({ policy: { guessMemory, retryMemoryBytes } }: Pick<Batch, 'policy'>, { needs }: Pick<Bundle, 'needs'>, had: number): number | undefined {
  if (guessMemory && had < needs.memoryBytes) return needs.memoryBytes
  return had < retryMemoryBytes ? retryMemoryBytes : undefined
}

/** Its run was ended for its memory, or failed in less than its bundle says, and there may be more for another try. What is decided is decided. */
export function hadTooLittle({ report, needs, task }: Replica): boolean {
  if (report === null || task.decision !== null || nextTry(task.batch, task.bundle, needs.memoryBytes) === undefined) return false
  // A program may fail by itself when it sees how little it has.
  const failed = report.vote.startsWith('exit:') && needs.memoryBytes < task.bundle.needs.memoryBytes
  return report.vote === OUT_OF_MEMORY || failed
}

/** From now on every run of the task gets more; this one said nothing but that. */
export function tryWithMore(state: State, replica: Replica): void {
  const { task, needs, report } = replica
  const memoryBytes = nextTry(task.batch, task.bundle, needs.memoryBytes) ?? needs.memoryBytes
  const ended = report?.vote === OUT_OF_MEMORY ? 'ended for its memory of' : 'failed in a memory of'
  replica.verdict = 'inconclusive'
  replica.fault = { class: TOO_LITTLE_MEMORY, message: `${ended} ${needs.memoryBytes} bytes; the next try has ${memoryBytes}` }
  if (task.needs.memoryBytes >= memoryBytes) return
  task.needs = memoryNeeds(state, task.bundle.needs, memoryBytes)
  moveToNeeds(state, task)
}

/** What those took who agreed, for the next tasks of the program. */
export function rememberMemory(state: State, { batch, bundle }: Task, agreeing: readonly Replica[]): void {
  const { client, policy } = batch
  if (!policy.guessMemory || bundle.program === null) return
  const key = memoryKey(client.id, bundle.program)
  for (const { report } of agreeing) state.memory.ran(key, report?.memoryPeakBytes ?? 0, state.out)
}
