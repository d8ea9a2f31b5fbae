import type { BatchId, TaskId } from '#protocol/ids'
import type { BatchState, BatchView, NodeView, TaskView, WhyView } from '#protocol/owner/messages'

export interface Page {
  readonly limit: number
  /** Id of the last row seen; '' for the first page. */
  readonly after: string
}

/** The client's batches that have all these labels, this name (any for ''), and tasks in this state (any for ''); without labels and name only those that are not over. */
export interface Selection {
  readonly labels: readonly string[]
  readonly name: string
  readonly state: BatchState | ''
}

/** What one client may ask about the project's state: its own batches (the administrator: all), and the nodes. Live tasks from memory, decided ones one read away. */
export interface Views {
  batch(id: BatchId): Promise<BatchView | undefined>
  /** Newest first. */
  batches(page: Page): Promise<readonly BatchView[]>
  /** All that are meant, newest first. Throws OwnerError `too_large` when they are more than SELECTED_BATCHES_MAX. */
  select(selection: Selection): Promise<readonly BatchView[]>
  /** At most two batches whose id starts so. */
  batchesByPrefix(prefix: string): Promise<readonly BatchId[]>
  /** The newest batch that this very client gave the name. */
  batchesByName(name: string): Promise<readonly BatchId[]>
  /** With its replicas. */
  task(id: TaskId): Promise<TaskView | undefined>
  /** In order of their index, without replicas. */
  tasks(batch: BatchId, page: Page): Promise<readonly TaskView[]>
  nodes(page: Page): Promise<readonly NodeView[]>
  /** Of a task, or of a batch that is not over. */
  why(id: TaskId | BatchId): Promise<WhyView | undefined>
  /** The file form of a decided task's receipt. */
  receipt(task: TaskId): Promise<Uint8Array | undefined>
}
