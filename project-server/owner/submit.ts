/** Submissions: every manifest decoded and checked, everything it refers to here and complete, each distinct bundle signed once. */
import * as dagCbor from '@ipld/dag-cbor'
import type { CID } from 'multiformats/cid'
import { ManifestError } from '#protocol/bundle/errors'
import { DEPENDENCIES_MAX, decodeManifest, encodeManifest, manifestCidText, type RunManifest } from '#protocol/bundle/manifest'
import { DEFAULT_POLICY, policyFault, type TaskPolicy } from '#protocol/bundle/policy'
import { decodeSources, type Sources } from '#protocol/bundle/sources'
import { decodeSweep, largestOf, type Sweep, sweepCount } from '#protocol/bundle/sweep'
import type { ContentStore } from '#protocol/content/content'
import { type BatchId, batchIdFrom, isBatchId, type PeerIdString, parseTaskId } from '#protocol/ids'
import { ImageError } from '#protocol/image/errors'
import { decodeImage } from '#protocol/image/image'
import { unended } from '#protocol/owner/counts'
import { labelsFault } from '#protocol/owner/labels'
import { SUBMIT_MANIFESTS_MAX, type Submit } from '#protocol/owner/messages'
import type { Committer } from '../commit.ts'
import type { Comparators } from '../comparators.ts'
import { clip } from '../control/inbound.ts'
import { decodeBatchRecord } from '../coordinator/batch-records.ts'
import type { Coordinator } from '../coordinator/coordinator.ts'
import type { AcceptedBundle, Event, Repeat } from '../coordinator/events.ts'
import { batchKey, taskKey } from '../coordinator/keys.ts'
import { isTerminal } from '../coordinator/states.ts'
import { decodeTaskRecord } from '../coordinator/task-records.ts'
import { type Looked, type Taken, takeLost } from '../lineage.ts'
import { DATA_NAME_CHARS_MAX } from '../policy.ts'
import type { Random, Store } from '../ports.ts'
import { type BatchNotes, noteChanges } from './notes.ts'
import { findRepeats, stillHere } from './repeats.ts'
import { OwnerError } from './request.ts'
import { dataOf, type Sizes } from './sizes.ts'

export interface SubmitPorts {
  readonly content: Pick<ContentStore, 'check' | 'has' | 'locate' | 'getBlock' | 'resolve' | 'sizeOf'>
  readonly random: Random
}

const NO_SOURCES: ReadonlyMap<number, Sources> = new Map()

type SubmitEvent = Extract<Event, { kind: 'submit' }>

export interface Submitted {
  readonly batch: BatchId
  /** Of the batch so far. */
  readonly tasks: number
}

export interface SubmitStores {
  /** What runs programs that compare; absent: none can be asked for. */
  readonly comparators?: Pick<Comparators, 'refusal'>
  readonly committer: Pick<Committer, 'commit' | 'write' | 'assertOpen' | 'flush'>
  readonly coordinator: Pick<Coordinator, 'refusal' | 'batch' | 'expects'>
  readonly store: Pick<Store, 'get' | 'getMany'>
}

/** Accepts Submits: the parts of one batch in the order they came, answered once they are durable. Repeating one, whole or in part, adds nothing twice. */
export class Submissions {
  readonly #ports: SubmitPorts & SubmitStores
  /** The last part of a batch that is being looked at. */
  readonly #last = new Map<BatchId, Promise<unknown>>()

  constructor(ports: SubmitPorts & SubmitStores) {
    this.#ports = ports
  }

  submit(request: Submit, by: PeerIdString): Promise<Submitted> {
    return this.add(submissionOf(request, by), request.first)
  }

  /** A part of a batch, whose first task has this index in it. */
  async add(submission: Submission, first: number): Promise<Submitted> {
    this.#ports.committer.assertOpen()
    const event = submitEvent(submission, this.#ports, first)
    const before = this.#last.get(event.batch) ?? Promise.resolve()
    const applied = before.then(() => this.#apply(event, first, submission))
    const settled = applied.catch(() => undefined)
    this.#last.set(event.batch, settled)
    try {
      const { durable, tasks } = await applied
      await durable
      return { batch: event.batch, tasks }
    } finally {
      if (this.#last.get(event.batch) === settled) this.#last.delete(event.batch)
    }
  }

  async #apply(event: SubmitEvent, first: number, notes: BatchNotes): Promise<{ readonly durable: Promise<void>; readonly tasks: number }> {
    const { coordinator, store, committer } = this.#ports
    const { batch } = event
    if (coordinator.batch(batch) === undefined) {
      const finished = await store.get(batchKey(batch))
      if (finished !== undefined) {
        const { by, tasks } = decodeBatchRecord(finished)
        if (by !== event.by) throw new OwnerError('not_owner', `batch ${batch} belongs to another client`)
        return { durable: Promise.resolve(), tasks }
      }
    }
    const have = coordinator.batch(batch)?.tasks ?? 0
    if (first > have) throw new OwnerError('malformed', `the batch has ${have} tasks so far, these are said to begin at ${first}`)
    if (have === 0) await this.#checkComparing(event.policy)
    const asked = event.bundles.slice(have - first)
    const found = await findRepeats({ ...event, bundles: asked }, this.#ports)
    const taken = await this.#present({ ...event, bundles: asked }, have, found)
    const bundles = await withPlatforms(taken.bundles, this.#ports.content)
    const sweep = taken.sweep === undefined ? undefined : await sweepWithPlatform(taken.sweep, this.#ports.content)
    const ended = await this.#endedSources({ ...event, ...taken })
    // Nothing is waited for from here on: what is here now is here when it is applied.
    const repeats = stillHere(found, this.#ports.content)
    const more = { ...(ended.size === 0 ? {} : { ended }), ...(repeats.size === 0 ? {} : { repeats }), ...(sweep === undefined ? {} : { sweep }) }
    const fresh = { ...event, ...taken, ...more, bundles }
    const added = sweep === undefined ? fresh.bundles.length : sweepCount(sweep.sweep)
    if (have + added === 0) throw new OwnerError('malformed', 'the batch has no task')
    const refusal = coordinator.refusal(fresh)
    if (refusal !== undefined) throw new OwnerError(refusal.code, refusal.message)
    const changes = have === 0 ? noteChanges({ id: batch, by: event.by }, notes) : []
    // Both are asked for before either is waited for: they go with the same commit.
    const durable = Promise.all([committer.commit(fresh), changes.length === 0 ? undefined : committer.write(changes)])
    return { durable: durable.then(() => undefined), tasks: have + added }
  }

  /** Everything that is named must be complete here, or be had again from who left it: a node is never sent to fetch what does not exist. What was decided before needs nothing. */
  async #present(
    { bundles, sources = NO_SOURCES, sweep, by }: SubmitEvent,
    from: number,
    repeats: ReadonlyMap<string, Repeat>
  ): Promise<Pick<SubmitEvent, 'bundles' | 'sources' | 'sweep'>> {
    const looked: Looked = new Map()
    const done = new Map<string, Taken>()
    const takes = new Map(sources)
    const add = (index: number, { bundle, list }: Taken): AcceptedBundle => {
      const own = sources.get(index)
      if (list.length > 0) takes.set(index, { allowFailed: own?.allowFailed ?? false, list: [...(own?.list ?? []), ...list] })
      return bundle
    }
    const present: AcceptedBundle[] = []
    for (const [at, asked] of bundles.entries()) {
      const isRepeated = !sources.has(from + at) && repeats.has(asked.cid)
      if (isRepeated || namesNothing(asked)) {
        present.push(asked)
        continue
      }
      const taken = done.get(asked.cid) ?? (await takeLost(asked, by, this.#ports, looked))
      done.set(asked.cid, taken)
      present.push(add(from + at, taken))
    }
    const made = sweep === undefined ? {} : { sweep: { ...sweep, template: add(0, await takeLost(sweep.template, by, this.#ports, looked)) } }
    return { bundles: present, ...(takes.size === 0 ? {} : { sources: takes }), ...made }
  }

  /** A program that compares is one that can be run here: nothing is computed whose results nobody could tell apart. */
  async #checkComparing({ compare }: TaskPolicy): Promise<void> {
    if (compare?.kind !== 'program') return
    const { comparators } = this.#ports
    if (comparators === undefined) throw new OwnerError('malformed', 'this project runs no programs that compare results')
    const refusal = await comparators.refusal(compare.bundle)
    if (refusal !== undefined) throw new OwnerError(refusal.code, refusal.message)
  }

  /** How the sources that are over ended. While one is read another may end: those that are left are still expected when this resolves. */
  async #endedSources({ sources, by }: SubmitEvent): Promise<ReadonlyMap<string, string | null>> {
    const ended = new Map<string, string | null>()
    if (sources === undefined) return ended
    const others = new Set([...sources.values()].flatMap(({ list }) => list.map(({ of }) => of)).filter((of) => of !== ''))
    for (const batch of new Set([...others].map((of) => parseTaskId(of)?.batch ?? of)))
      if ((await this.#clientOf(batch)) !== by) throw new OwnerError('not_found', `there is no batch ${batch} of yours to take something from`)
    const over = (): string[] => [...others].filter((of) => !ended.has(of) && !this.#ports.coordinator.expects(of))
    for (let left = over(); left.length > 0; left = over()) for (const of of left) ended.set(of, await this.#endOf(of))
    return ended
  }

  async #clientOf(batch: BatchId): Promise<PeerIdString | undefined> {
    const bytes = await this.#ports.store.get(batchKey(batch))
    return bytes === undefined ? undefined : decodeBatchRecord(bytes).by
  }

  /** Of a task or batch that is not in memory: null for ready, else how it failed. Its end may be on its way to the disk. */
  async #endOf(of: string): Promise<string | null> {
    const { store, committer } = this.#ports
    for (const flush of [true, false]) {
      // A task that is over has a record of its own.
      const bytes = await store.get(isBatchId(of) ? batchKey(of) : taskKey(of))
      const end = bytes === undefined ? undefined : isBatchId(of) ? endOfBatch(bytes) : endOfTask(bytes)
      if (end !== undefined) return end
      if (flush) await committer.flush()
    }
    throw new OwnerError('not_found', `there is no ${isBatchId(of) ? 'batch' : 'task'} ${of} to take something from`)
  }
}

function endOfTask(bytes: Uint8Array): string | null | undefined {
  const { state, failure } = decodeTaskRecord(bytes)
  if (!isTerminal(state)) return undefined
  return state === 'ready' ? null : state === 'killed' ? 'was killed' : `failed: ${failure?.message ?? ''}`
}

function endOfBatch(bytes: Uint8Array): string | null | undefined {
  const record = decodeBatchRecord(bytes)
  const { open, failed, killed } = record
  if (open || unended(record) > 0) return undefined
  return failed + killed === 0 ? null : `has ${failed} failed and ${killed} killed tasks`
}

/** A part of a batch as it was asked for; manifests are not looked at yet. */
export interface Submission extends BatchNotes {
  readonly batch: BatchId
  readonly name: string
  readonly by: PeerIdString
  readonly manifests: readonly Uint8Array[]
  readonly policy: TaskPolicy
  readonly more: boolean
  /** What tasks of this part take from others, by index in the batch; of a sweep at 0 what each of its tasks takes. */
  readonly sources?: ReadonlyMap<number, Sources>
  /** Tasks to be made of the one manifest. */
  readonly sweep?: Sweep
}

/** Throws OwnerError `malformed`. */
export function submissionOf(
  { batch, name, manifests, policy, more, labels: { labels } = { labels: [] }, sources, sweep }: Submit,
  by: PeerIdString
): Submission {
  if (batch.length !== 16) throw new OwnerError('malformed', 'a batch id is 16 random bytes')
  const fault = labelsFault(labels)
  if (fault !== undefined) throw new OwnerError('malformed', fault)
  return {
    batch: batchIdFrom(batch),
    name: clip(name, DATA_NAME_CHARS_MAX),
    by,
    manifests,
    policy: decodePolicy(policy),
    more,
    labels: [...labels].sort(),
    retryOf: null,
    sources: sourcesOf(sources),
    ...(sweep === undefined ? {} : { sweep: sweepOf(sweep, manifests.length === 1 && !more) })
  }
}

/** The `submit` event of a hostile submission; throws OwnerError. Does not wait for anything, so that the parts of a batch stay in order. */
export function submitEvent({ batch, name, by, manifests, policy, more, sources = NO_SOURCES, sweep }: Submission, ports: SubmitPorts, first = 0): SubmitEvent {
  const accepted = new Map<string, AcceptedBundle>()
  const sizes: Sizes = new Map()
  const bundles = manifests.map((bytes, index) => {
    const cid = manifestCidText(bytes)
    const known = accepted.get(cid)
    if (known !== undefined) return known
    const manifest = decode(bytes, index)
    const bundle = { cid, bytes, manifest, data: dataOf(manifest, ports.content, sizes) }
    accepted.set(cid, bundle)
    return bundle
  })
  checkSources(sources, bundles, first)
  if (sweep !== undefined) checkSweep(bundles[0], sweep)
  const seed = Buffer.from(ports.random.bytes(4)).readUInt32BE()
  const [template] = bundles
  const takes = sources.size === 0 ? {} : { sources }
  if (sweep !== undefined && template !== undefined)
    return { kind: 'submit', batch, name, by, bundles: [], policy, more, seed, sweep: { template, sweep }, ...takes }
  return { kind: 'submit', batch, name, by, bundles, policy, more, seed, ...takes }
}

function namesNothing({ manifest: { image, dependencies } }: AcceptedBundle): boolean {
  return image === null && dependencies.length === 0
}

/** What tasks take from others are inputs that their manifests do not have, and no more of them than a manifest holds. */
function checkSources(sources: ReadonlyMap<number, Sources>, bundles: readonly AcceptedBundle[], first: number): void {
  for (const [index, { list }] of sources) {
    const names = new Set(bundles[index - first]?.manifest.dependencies.map(({ name }) => name))
    const twice = list.find(({ name }) => names.has(name))
    if (twice !== undefined) throw new OwnerError('malformed', `task ${index}: two inputs are named ${twice.name}`)
    if (names.size + list.length > DEPENDENCIES_MAX) throw new OwnerError('malformed', `task ${index}: more than ${DEPENDENCIES_MAX} inputs`)
  }
}

/** What a sweep makes are manifests, whatever its parameters stand for. */
function checkSweep(template: AcceptedBundle | undefined, sweep: Sweep): void {
  if (template === undefined) throw new OwnerError('malformed', 'a sweep has one manifest')
  try {
    for (const manifest of largestOf(template.manifest, sweep)) encodeManifest(manifest)
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error
    throw new OwnerError(error.code === 'manifest_too_large' ? 'too_large' : 'malformed', `with the longest values: ${error.message}`, { cause: error })
  }
}

function sweepOf(bytes: Uint8Array, alone: boolean): Sweep {
  const sweep = decodeSweep(bytes)
  if (typeof sweep === 'string') throw new OwnerError('malformed', sweep)
  if (!alone) throw new OwnerError('malformed', 'a sweep is submitted whole, with one manifest')
  return sweep
}

async function sweepWithPlatform(
  sweep: NonNullable<SubmitEvent['sweep']>,
  content: Pick<ContentStore, 'getBlock'>
): Promise<NonNullable<SubmitEvent['sweep']>> {
  const [template = sweep.template] = await withPlatforms([sweep.template], content)
  return { ...sweep, template }
}

/** Absent or empty: none. */
function sourcesOf(bytes: Uint8Array | undefined): ReadonlyMap<number, Sources> {
  if (bytes === undefined || bytes.length === 0) return NO_SOURCES
  const sources = decodeSources(bytes, SUBMIT_MANIFESTS_MAX)
  if (typeof sources === 'string') throw new OwnerError('malformed', sources)
  return sources
}

function decode(bytes: Uint8Array, index: number): RunManifest {
  try {
    return decodeManifest(bytes)
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error
    throw new OwnerError(error.code === 'manifest_too_large' ? 'too_large' : 'malformed', `task ${index}: ${error.message}`, { cause: error })
  }
}

/** What is run in an image needs a node of the image's own platform: nobody has to say so. */
async function withPlatforms(bundles: readonly AcceptedBundle[], content: Pick<ContentStore, 'getBlock'>): Promise<readonly AcceptedBundle[]> {
  const platforms = new Map<string, string>()
  const done = new Map<string, AcceptedBundle>()
  for (const bundle of bundles) {
    const { image, platform: asked } = bundle.manifest
    if (image === null || done.has(bundle.cid)) continue
    const key = image.toString()
    const platform = platforms.get(key) ?? (await platformOf(image, content))
    platforms.set(key, platform)
    if (asked !== undefined && asked !== platform)
      throw new OwnerError('malformed', `image ${key} is for ${platform}, and ${asked} is asked for: import one for that`)
    done.set(bundle.cid, { ...bundle, platform })
  }
  return done.size === 0 ? bundles : bundles.map((bundle) => done.get(bundle.cid) ?? bundle)
}

/** Without the variant: a node says none. */
async function platformOf(image: CID, content: Pick<ContentStore, 'getBlock'>): Promise<string> {
  const block = await content.getBlock(image)
  if (block === undefined) throw new OwnerError('missing_content', `the project does not hold image ${image}: import it first (talko image import)`)
  try {
    return decodeImage(block).platform.split('/').slice(0, 2).join('/')
  } catch (cause) {
    if (!(cause instanceof ImageError)) throw cause
    throw new OwnerError('malformed', `${image} is no image: ${cause.message}`, { cause })
  }
}

const NUMBERS = ['minQuorum', 'targetResults', 'maxErrorResults', 'maxTotalResults', 'maxSuccessResults', 'priority'] as const

/** Empty bytes are the defaults. */
function decodePolicy(bytes: Uint8Array): TaskPolicy {
  if (bytes.length === 0) return DEFAULT_POLICY
  let value: Partial<Record<keyof TaskPolicy, unknown>> | null
  try {
    value = dagCbor.decode(bytes)
  } catch (cause) {
    throw new OwnerError('malformed', 'the policy is not dag-cbor', { cause })
  }
  if (typeof value !== 'object' || value === null) throw new OwnerError('malformed', 'the policy is not a map')
  const { nodes, tags = [] } = value
  const wrong = NUMBERS.find((name) => typeof value[name] !== 'number')
  if (wrong !== undefined) throw new OwnerError('malformed', `the policy lacks ${wrong}`)
  if (!Array.isArray(nodes) || !nodes.every((node) => typeof node === 'string' && node.length <= 128))
    throw new OwnerError('malformed', 'the policy names its nodes by peer id')
  if (value.force !== undefined && typeof value.force !== 'boolean') throw new OwnerError('malformed', "the policy's force is true or false")
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string')) throw new OwnerError('malformed', "the policy's tags are a list of words")
  const unknown = Object.keys(value).find((name) => !(name in DEFAULT_POLICY))
  if (unknown !== undefined) throw new OwnerError('malformed', `the policy has an unknown field ${JSON.stringify(clip(unknown, 64))}`)
  // What an older client does not know yet is as if it had not asked for it.
  const policy = { ...DEFAULT_POLICY, ...value } as TaskPolicy
  const fault = policyFault(policy)
  if (fault !== undefined) throw new OwnerError('malformed', fault)
  return policy
}
