/** Batches on their way to the coordinator: cut into parts that fit a frame, repeated without harm. */
import * as dagCbor from '@ipld/dag-cbor'
import { DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
import { encodeSources, type Sources } from '#protocol/bundle/sources'
import { decodeSweep, encodeSweep, type Sweep, sweepCount } from '#protocol/bundle/sweep'
import { batchIdFrom, taskId } from '#protocol/ids'
import { REQUEST_BYTES_MAX, SUBMIT_MANIFESTS_MAX } from '#protocol/owner/messages'
import { ClientError } from '../errors.ts'
import type { OwnerLink } from './owner-link.ts'

/** Tasks of one batch. A larger sweep is several batches. */
export const BATCH_TASKS_MAX = 1_000_000
const NAME_CHARS_MAX = 256
/** Room in a frame for everything that is not a manifest. */
const OVERHEAD_BYTES = 256 * 1024
const PER_MANIFEST_BYTES = 8

const NO_SOURCES: ReadonlyMap<number, Sources> = new Map()

export interface Submission {
  readonly name: string
  /** Canonical manifests, one per task, in order. */
  readonly manifests: readonly Uint8Array[]
  readonly policy: TaskPolicy
  /** `key=value` */
  readonly labels?: readonly string[]
  /** What tasks take from others, by index: only from earlier ones of the batch. */
  readonly sources?: ReadonlyMap<number, Sources>
}

export interface SweepSubmission extends Omit<Submission, 'manifests' | 'sources'> {
  readonly template: Uint8Array
  readonly sweep: Sweep
  /** What each of its tasks takes from others; none is made before they are over. */
  readonly sources?: Sources
}

export interface SweepBatch {
  readonly id: string
  readonly name: string
  /** Tasks; the one of index 7 is `<id>.7`. */
  readonly count: number
}

export interface Batch {
  readonly id: string
  readonly name: string
  readonly tasks: readonly string[]
}

/** A sweep is one request, however many tasks it has: durable at the coordinator when it resolves. */
export async function submitSweep(
  link: Pick<OwnerLink, 'ask'>,
  id: Uint8Array,
  { name, template, sweep, policy, labels, sources }: SweepSubmission,
  signal?: AbortSignal
): Promise<SweepBatch> {
  const encoded = encodeSweep(sweep)
  const wrong = decodeSweep(encoded)
  if (typeof wrong === 'string') throw new ClientError('usage', wrong)
  const more = labels === undefined || labels.length === 0 ? {} : { labels: { labels } }
  const takes = sources === undefined ? {} : { sources: encodeSources(new Map([[0, sources]])) }
  const submit = { batch: id, name, manifests: [template], policy: encodePolicy(policy), more: false, first: 0, sweep: encoded, ...more, ...takes }
  await link.ask({ submit } as Parameters<OwnerLink['ask']>[0], signal === undefined ? {} : { signal })
  return { id: batchIdFrom(id), name, count: sweepCount(sweep) }
}

/** Settings that not every project knows. */
const LATER: ReadonlySet<string> = new Set<keyof TaskPolicy>(['trust', 'checkpointMs'])

/** A project that is older refuses what it does not know: what nobody asked for is not said. */
function encodePolicy(policy: TaskPolicy): Uint8Array {
  const defaults: Readonly<Record<string, unknown>> = { ...DEFAULT_POLICY }
  return dagCbor.encode(Object.fromEntries(Object.entries(policy).filter(([name, value]) => !LATER.has(name) || value !== defaults[name])))
}

/** Consecutive parts, each within the protocol's bounds: `[from, to)`. */
export function partsOf(
  manifests: readonly Uint8Array[],
  sources: ReadonlyMap<number, Sources> = NO_SOURCES
): { readonly from: number; readonly to: number }[] {
  const parts: { from: number; to: number }[] = []
  let from = 0
  let bytes = 0
  for (const [index, manifest] of manifests.entries()) {
    const takes = sources.get(index)
    const more = manifest.length + PER_MANIFEST_BYTES + (takes === undefined ? 0 : encodeSources(new Map([[index, takes]])).length)
    if (index > from && (index - from >= SUBMIT_MANIFESTS_MAX || bytes + more > REQUEST_BYTES_MAX - OVERHEAD_BYTES)) {
      parts.push({ from, to: index })
      from = index
      bytes = 0
    }
    bytes += more
  }
  if (manifests.length > from) parts.push({ from, to: manifests.length })
  return parts
}

/** Throws ClientError `usage` before anything is sent when the submission cannot be a batch. */
export function checkSubmission(submission: Submission): void {
  const { manifests, name } = submission
  if (manifests.length === 0) throw new ClientError('usage', 'a batch needs at least one task')
  if (manifests.length > BATCH_TASKS_MAX)
    throw new ClientError('usage', `a batch has at most ${BATCH_TASKS_MAX} tasks, not ${manifests.length}; submit several`)
  if (name.length > NAME_CHARS_MAX) throw new ClientError('usage', `a batch's name has at most ${NAME_CHARS_MAX} characters`)
}

/**
 * Submits a batch under an id drawn by the caller: durable at the coordinator when it resolves, and the same batch however
 * often a part had to be repeated. Parts go one after the other: the coordinator numbers tasks in the order they come.
 */
export async function submitBatch(link: Pick<OwnerLink, 'ask'>, id: Uint8Array, submission: Submission, signal?: AbortSignal): Promise<Batch> {
  checkSubmission(submission)
  const { name, manifests, labels = [], sources = NO_SOURCES } = submission
  const policy = encodePolicy(submission.policy)
  for (const { from, to } of partsOf(manifests, sources)) {
    const takes = new Map([...sources].filter(([index]) => index >= from && index < to))
    const submit = {
      batch: id,
      name,
      manifests: manifests.slice(from, to),
      policy,
      more: to < manifests.length,
      first: from,
      ...(labels.length === 0 ? {} : { labels: { labels } }),
      ...(takes.size === 0 ? {} : { sources: encodeSources(takes) })
    }
    await link.ask({ submit } as Parameters<OwnerLink['ask']>[0], signal === undefined ? {} : { signal })
  }
  const batch = batchIdFrom(id)
  return { id: batch, name, tasks: manifests.map((_, index) => taskId(batch, index)) }
}
