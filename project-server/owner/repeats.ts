/**
 * What was decided already is not run again: for a bundle that a client submits, the newest task of that client's with the
 * same bundle which is ready, if its policy covers what is asked for now and its output is still here. Another client's
 * results are not looked at: they do not exist for this one. A look for each distinct bundle, not for each task.
 */
import { CID } from 'multiformats/cid'
import { covers, type TaskPolicy } from '#protocol/bundle/policy'
import { type ContentStore, EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import { type PeerIdString, parseTaskId, type TaskId } from '#protocol/ids'
import { decodeBatchRecord } from '../coordinator/batch-records.ts'
import { decodeDoneRecord } from '../coordinator/bundle-records.ts'
import type { AcceptedBundle, Repeat } from '../coordinator/events.ts'
import { batchKey, doneKey, recheckKey, revisedKey, taskKey } from '../coordinator/keys.ts'
import { decodeTaskRecord } from '../coordinator/task-records.ts'
import { decodeRevisedRecord } from '../coordinator/trust-records.ts'
import type { Store } from '../ports.ts'

interface Wanted {
  readonly by: PeerIdString
  readonly policy: TaskPolicy
  readonly bundles: readonly AcceptedBundle[]
}

export interface RepeatPorts {
  readonly store: Pick<Store, 'getMany'>
  readonly content: Pick<ContentStore, 'check'>
}

/** By bundle; what came of them was here when it was looked at: see stillHere. */
export async function findRepeats({ by, policy, bundles }: Wanted, { store, content }: RepeatPorts): Promise<ReadonlyMap<string, Repeat>> {
  const found = new Map<string, Repeat>()
  if (policy.force) return found
  const cids = [...new Set(bundles.map(({ cid }) => cid))]
  const done = await store.getMany(cids.map((cid) => doneKey(by, cid)))
  // Most were never decided before.
  for (const [index, record] of done.entries()) {
    if (record === undefined) continue
    const repeat = await findRepeat(decodeDoneRecord(record), policy, store)
    if (repeat !== undefined && (await isKept(repeat, content))) found.set(cids[index] ?? '', repeat)
  }
  return found
}

/** Those whose output and logs the project holds. */
export function stillHere(found: ReadonlyMap<string, Repeat>, content: Pick<ContentStore, 'has'>): ReadonlyMap<string, Repeat> {
  return new Map([...found].filter(([, { decision }]) => [decision.output, decision.stdout, decision.stderr].every((root) => isHere(root, content))))
}

async function isKept({ decision: { output, stdout, stderr } }: Repeat, content: Pick<ContentStore, 'check'>): Promise<boolean> {
  for (const root of [output, stdout, stderr]) if (!isEmpty(root) && !(await content.check(CID.parse(root)))) return false
  return true
}

async function findRepeat(task: TaskId, policy: TaskPolicy, store: Pick<Store, 'getMany'>): Promise<Repeat | undefined> {
  const batch = parseTaskId(task)?.batch
  if (batch === undefined) return undefined
  const [record, parent, doubted, revised] = await store.getMany([taskKey(task), batchKey(batch), recheckKey(task), revisedKey(task)])
  // What one node alone decided, and is looked at again or was not confirmed, is handed to nobody else.
  if (doubted !== undefined || (revised !== undefined && decodeRevisedRecord(revised).verdict !== 'confirmed')) return undefined
  if (record === undefined || parent === undefined || !covers(decodeBatchRecord(parent).policy, policy)) return undefined
  const { state, decision } = decodeTaskRecord(record)
  return state === 'ready' && decision?.held === true ? { task, decision } : undefined
}

function isHere(root: string, content: Pick<ContentStore, 'has'>): boolean {
  return isEmpty(root) || content.has(CID.parse(root))
}

function isEmpty(root: string): boolean {
  return root === EMPTY_DIRECTORY || root === EMPTY_FILE
}
