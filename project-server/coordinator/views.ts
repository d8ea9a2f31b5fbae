/** What people are shown of the coordinator's records. Pure. */
import type { BatchView, TaskView } from '#protocol/owner/messages'
import type { BatchRecord, TaskRecord } from './records.ts'

/** `command` is the manifest's; `replicas` only where one task is asked for. */
export function taskView(record: TaskRecord, batch: BatchRecord, command: readonly string[], withReplicas: boolean): TaskView {
  throw new Error(`not built yet: ${record.id}${batch.id}${command.length}${withReplicas}`)
}

export function batchView(record: BatchRecord): BatchView {
  const { id, name, createdAtMs, tasks, created, running, validating, ready, failed, killed } = record
  return { id, name, createdAtMs, tasks, created, running, validating, ready, failed, killed }
}
