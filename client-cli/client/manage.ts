/** What is done to batches and tasks, one or all that are selected. */
import { changedLabels, labelChangeFault, labelsFault } from '#protocol/owner/labels'
import type { BatchState, Manage, Managed, ManageVerb } from '#protocol/owner/messages'
import { ClientError } from '../errors.ts'
import type { CallOptions } from './client.ts'
import type { OwnerLink } from './owner-link.ts'
import { managed, readBody } from './views.ts'

/** All batches of this client's that have these labels, this name, and tasks in this state; without labels and name only those that are not over. */
export interface Selection {
  readonly labels?: Readonly<Record<string, string>>
  readonly name?: string
  readonly state?: BatchState
}

export interface ManageOptions extends CallOptions {
  /** Answers with what it would be done to, and changes nothing. */
  readonly dryRun?: boolean
}

export interface Asked extends ManageOptions {
  readonly reason?: string
  readonly stop?: boolean
  readonly set?: readonly string[]
  /** 16 random bytes, for a retry. */
  readonly id?: Uint8Array
}

/** Durable when it resolves. Throws ClientError `not_found`, `ambiguous`, `refused` of what is over. */
export async function manage(link: Pick<OwnerLink, 'ask'>, verb: ManageVerb, of: string | Selection, asked: Asked = {}): Promise<Managed> {
  const { reason = '', stop = false, dryRun = false, set = [], id = new Uint8Array(0), signal } = asked
  const whom = typeof of === 'string' ? { of } : { of: '', selection: selectionOf(of) }
  const request: Manage = { verb, ...whom, reason, stop, dryRun, set: [...set], id: new Uint8Array(id) }
  return readBody(await link.ask({ manage: request }, signal === undefined ? {} : { signal }), managed)
}

/** As it travels. */
export function selectionOf({ labels = {}, name = '', state }: Selection): { labels: string[]; name: string; state: string } {
  return { labels: labelsOf(labels), name, state: state ?? '' }
}

/** `key=value`, in the order of their keys. Throws ClientError `usage`. */
export function labelsOf(labels: Readonly<Record<string, string>>): string[] {
  const list = Object.entries(labels).map(([key, value]) => `${key}=${value}`)
  const fault = labelsFault(list)
  if (fault !== undefined) throw new ClientError('usage', fault)
  return changedLabels([], list)
}

/** `key=value` sets, `key-` takes away. Throws ClientError `usage`. */
export function checkLabelChanges(changes: readonly string[]): void {
  for (const change of changes) {
    const fault = labelChangeFault(change)
    if (fault !== undefined) throw new ClientError('usage', fault)
  }
}
