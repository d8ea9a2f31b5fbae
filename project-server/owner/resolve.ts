/** What an owner means by an id, a unique prefix of one, or a name. */
import { type BatchId, isBatchId, parseTaskId, type TaskId, taskId } from '#protocol/ids'
import type { Resolved } from '#protocol/owner/messages'
import { clip } from '../control/inbound.ts'
import type { ClientData } from './data.ts'
import { OwnerError } from './request.ts'
import type { Views } from './views.ts'

/** What one client has. */
export interface Names {
  readonly views: Views
  readonly data: ClientData
}

const TASK_OF = /^(.+)\.(0|[1-9]\d{0,8})$/
const TEXT_CHARS_MAX = 256

/** Tries exact ids, then names, then unique prefixes. Throws OwnerError `not_found` or `ambiguous`. */
export async function resolve(text: string, names: Names): Promise<Resolved> {
  if (text === '' || text.length > TEXT_CHARS_MAX) throw new OwnerError('malformed', 'an id, a prefix of one, or a name is needed')
  const found = [...(await batchesOf(text, names)).map((id): Resolved => ({ kind: 'batch', id })), ...dataOf(text, names)]
  const part = TASK_OF.exec(text)
  if (found.length === 0 && part?.[1] !== undefined) {
    for (const batch of await batchesOf(part[1], names)) {
      const id = taskId(batch, Number(part[2]))
      if ((await names.views.task(id)) !== undefined) found.push({ kind: 'task', id })
    }
  }
  const [one, other] = found
  if (one === undefined) throw new OwnerError('not_found', `nothing here is called ${shown(text)}; see talko ps for what there is`)
  if (other !== undefined) throw new OwnerError('ambiguous', `${shown(text)} could be ${one.id} or ${other.id}: give more of the id`)
  return one
}

/** A task by its id, prefix or name; a batch of one task stands for it. */
export async function resolveTask(text: string, names: Names): Promise<TaskId> {
  const exact = parseTaskId(text)
  if (exact !== undefined) {
    if ((await names.views.task(text)) === undefined) throw new OwnerError('not_found', `there is no task ${text}`)
    return text
  }
  const { kind, id } = await resolve(text, names)
  if (kind === 'task') return id
  const batch = kind === 'batch' ? await names.views.batch(id) : undefined
  if (batch === undefined) throw new OwnerError('not_found', `${shown(text)} is data, not a task`)
  if (batch.tasks !== 1) throw new OwnerError('ambiguous', `batch ${id} has ${batch.tasks} tasks: say which one, as ${id.slice(0, 8)}.0`)
  return taskId(id, 0)
}

export async function resolveBatch(text: string, names: Names): Promise<BatchId> {
  const { kind, id } = await resolve(text, names)
  if (kind === 'batch') return id
  const batch = kind === 'task' ? parseTaskId(id)?.batch : undefined
  if (batch === undefined) throw new OwnerError('not_found', `${shown(text)} is data, not a batch`)
  return batch
}

async function batchesOf(text: string, { views }: Names): Promise<readonly BatchId[]> {
  if (isBatchId(text)) return (await views.batch(text)) === undefined ? [] : [text]
  const named = await views.batchesByName(text)
  return named.length > 0 ? named : /^[a-z2-7]{1,25}$/.test(text) ? views.batchesByPrefix(text) : []
}

function dataOf(text: string, { data }: Names): Resolved[] {
  const named = data.byName(text)
  const records = named === undefined ? data.byPrefix(text) : [named]
  return records.map(({ root, name }) => ({ kind: 'data', id: root, ...(name === '' ? {} : { name }) }))
}

function shown(text: string): string {
  return JSON.stringify(clip(text, TEXT_CHARS_MAX))
}
