import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import { CID } from 'multiformats/cid'
import { DEFAULT_RESOURCES, encodeManifest, manifestCid, type RunManifest } from '#protocol/bundle/manifest'
import { DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
import { encodeSources } from '#protocol/bundle/sources'
import { encodeSweep } from '#protocol/bundle/sweep'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import { batchIdFrom } from '#protocol/ids'
import type { Submit } from '#protocol/owner/messages'
import type { BatchRecord } from '../coordinator/batch-records.ts'
import type { Event } from '../coordinator/events.ts'
import { Submissions, submissionOf, submitEvent } from './submit.ts'

const DATA = CID.parse(EMPTY_DIRECTORY)
const PART = CID.parse(EMPTY_FILE)

function manifest(change: Partial<RunManifest> = {}): Uint8Array {
  return encodeManifest({
    kind: 'run',
    v: 1,
    engine: 'process',
    image: null,
    command: ['true'],
    dependencies: [],
    environment: {},
    resources: DEFAULT_RESOURCES,
    network: 'none',
    compareStdout: false,
    ...change
  })
}

function request(manifests: readonly Uint8Array[], change: Partial<Submit> = {}): Submit {
  return { batch: new Uint8Array(16), name: 'n', manifests: manifests as Uint8Array<ArrayBuffer>[], policy: new Uint8Array(), more: false, first: 0, ...change }
}

const ports = {
  content: {
    getBlock: async () => undefined,
    check: async (root: CID) => root.equals(DATA),
    has: (root: CID) => root.equals(DATA),
    locate: (_root: CID, path?: string) => (path === 'here' ? '/x' : undefined),
    resolve: (_root: CID, path?: string) => (path === 'here' ? PART : DATA),
    sizeOf: (root: CID) => (root.equals(PART) ? 3 : 10)
  },
  random: { bytes: (count: number) => new Uint8Array(count) }
}

function policyBytes(change: Partial<Record<keyof TaskPolicy | 'other', unknown>>): Uint8Array<ArrayBuffer> {
  return new Uint8Array(dagCbor.encode({ ...DEFAULT_POLICY, ...change }))
}

describe('a submission', () => {
  it('names each of its distinct bundles once', () => {
    const twice = manifest()
    const event = submitEvent(submissionOf(request([twice, manifest({ command: ['false'] }), twice]), 'owner'), ports)
    assert.equal(event.bundles.length, 3)
    assert.equal(event.bundles[0], event.bundles[2])
    for (const { bytes, cid } of event.bundles) assert.equal(manifestCid(bytes).toString(), cid)
    assert.deepEqual(event.policy, DEFAULT_POLICY)
  })

  it('says how large everything is that its tasks need, a part of a tree by itself', () => {
    const whole = { name: 'whole', root: DATA, path: '', executables: [] }
    const part = { name: 'part', root: DATA, path: 'here', executables: [] }
    const [first] = submitEvent(submissionOf(request([manifest({ dependencies: [whole, part, { ...part, name: 'again' }] })]), 'owner'), ports).bundles
    assert.deepEqual(first?.data, [
      { root: DATA.toString(), within: null, bytes: 10 },
      { root: PART.toString(), within: DATA.toString(), bytes: 3 }
    ])
  })

  it('refuses what is malformed, saying which task and why', () => {
    const bad = manifest().slice(1)
    assert.throws(() => submitEvent(submissionOf(request([manifest(), bad]), 'owner'), ports), { code: 'malformed', message: /^task 1: / })
    assert.throws(() => submitEvent(submissionOf(request([new Uint8Array(70_000)]), 'owner'), ports), { code: 'too_large' })
    assert.throws(() => submitEvent(submissionOf(request([manifest()], { batch: new Uint8Array(3) }), 'owner'), ports), { code: 'malformed' })
    const policies: readonly Uint8Array<ArrayBuffer>[] = [
      Uint8Array.of(1, 2),
      new Uint8Array(dagCbor.encode(null)),
      policyBytes({ minQuorum: 'x' }),
      policyBytes({ minQuorum: 9 }),
      policyBytes({ nodes: [1] }),
      policyBytes({ other: 1 })
    ]
    for (const policy of policies)
      assert.throws(() => submitEvent(submissionOf(request([manifest()], { policy }), 'owner'), ports), { name: 'OwnerError', code: 'malformed' })
  })
})

describe('the generator of a sweep', () => {
  const sweepOf = (value: string): Uint8Array<ArrayBuffer> =>
    new Uint8Array(encodeSweep({ mode: 'zip', parameters: [{ name: 'x', values: ['short', value] }] }))
  const template = manifest({ command: ['echo', '{x}{x}'.repeat(20)] })

  it('is one manifest and what its names stand for', () => {
    const { bundles, sweep } = submitEvent(submissionOf(request([template], { sweep: sweepOf('long') }), 'owner'), ports)
    assert.equal(bundles.length, 0)
    assert.equal(sweep?.template.cid, manifestCid(template).toString())
  })

  it('is refused when a task of it would be no manifest, or other tasks come with it', () => {
    const refused = (change: Partial<Submit>, manifests = [template]): void => {
      assert.throws(() => submitEvent(submissionOf(request(manifests, change), 'owner'), ports), { name: 'OwnerError', code: 'malformed' })
    }
    refused({ sweep: sweepOf('x'.repeat(1000)) })
    const list = [{ name: 'in', of: batchIdFrom(new Uint8Array(16)), from: 0, count: 0, part: 'all' as const, path: '' }]
    const takes = new Map([[0, { allowFailed: false, list }]])
    const sources = new Uint8Array(encodeSources(takes))
    assert.deepEqual(submitEvent(submissionOf(request([template], { sweep: sweepOf('x'), sources }), 'owner'), ports).sources, takes)
    refused({ sweep: sweepOf('x'), more: true })
    refused({ sweep: sweepOf('x') }, [template, template])
    refused({ sweep: sweepOf('x') }, [])
    refused({ sweep: Uint8Array.of(1) })
  })
})

describe('the parts of a batch', () => {
  /** A core that only counts the tasks of one batch. */
  function setUp(finished?: Uint8Array) {
    let tasks: number | undefined
    const applied: Extract<Event, { kind: 'submit' }>[] = []
    const submissions = new Submissions({
      ...ports,
      committer: {
        assertOpen() {},
        async write() {},
        async flush() {},
        async commit(event) {
          if (event.kind !== 'submit') return
          applied.push(event)
          tasks = (tasks ?? 0) + event.bundles.length
        }
      },
      coordinator: { refusal: () => undefined, expects: () => false, batch: () => (tasks === undefined ? undefined : ({ tasks } as BatchRecord)) },
      store: { get: async () => finished, getMany: async (keys) => keys.map(() => undefined) }
    })
    return { submissions, applied }
  }

  it('are taken in the order they came, also when they came at once', async () => {
    const { submissions, applied } = setUp()
    const answers = await Promise.all([
      submissions.submit(request([manifest(), manifest()], { more: true }), 'owner'),
      submissions.submit(request([manifest()], { more: true, first: 2 }), 'owner'),
      submissions.submit(request([manifest()], { first: 3 }), 'owner')
    ])
    assert.deepEqual(
      answers.map(({ tasks }) => tasks),
      [2, 3, 4]
    )
    assert.deepEqual(
      applied.map(({ more }) => more),
      [true, true, false]
    )
  })

  it('add nothing twice when repeated, and leave no gap', async () => {
    const { submissions, applied } = setUp()
    await submissions.submit(request([manifest(), manifest()], { more: true }), 'owner')
    await submissions.submit(request([manifest(), manifest()], { more: true }), 'owner')
    await submissions.submit(request([manifest(), manifest()], { first: 1 }), 'owner')
    assert.deepEqual(
      applied.map(({ bundles }) => bundles.length),
      [2, 0, 1]
    )
    await assert.rejects(submissions.submit(request([manifest()], { first: 9 }), 'owner'), { code: 'malformed' })
  })

  it('are refused when there is nothing in them', async () => {
    await assert.rejects(setUp().submissions.submit(request([]), 'owner'), { code: 'malformed', message: /no task/ })
  })
})
