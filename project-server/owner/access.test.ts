import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import fc from 'fast-check'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { encodeSources, type Source } from '#protocol/bundle/sources'
import type { ContentStore } from '#protocol/content/content'
import { EMPTY_DIRECTORY } from '#protocol/content/content'
import type { ClientView } from '#protocol/owner/clients'
import type { QueryWhat, Request } from '#protocol/owner/messages'
import type { Host } from '#protocol/peer/host'
import { generateIdentity } from '#protocol/signing/keys'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer, outputOf, SIGNER } from '#test/support/coordinator-parts'
import type { Event } from '../coordinator/events.ts'
import { batchKey } from '../coordinator/keys.ts'
import type { Change } from '../ports.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { Changes } from './changes.ts'
import { DataNames } from './data.ts'
import { Members } from './grants.ts'
import { ownerHandler } from './handler.ts'
import { OwnerError } from './request.ts'
import { storeViews } from './store-views.ts'

type Kind = Exclude<keyof Request, 'id' | 'cancel' | 'query'>
type Question = Omit<Request, 'id' | 'cancel'>

/** Every request that there is, asked about something of a client's; null for one that names nothing which belongs to somebody. A new one has to be put here. */
const KINDS: Readonly<Record<Kind, ((of: string) => Question) | null>> = {
  // Names a batch only by its whole id: see the second test.
  submit: null,
  kill: (of) => ({ kill: { of } }),
  logs: (of) => ({ logs: { of, file: 'stdout', offset: 0, follow: false, path: '', attempt: 0, lines: 0, identity: '' } }),
  files: (of) => ({ files: { verb: 'write', of, path: 'x', attempt: 0, data: new Uint8Array(1) } }),
  manage: (of) => ({ manage: { verb: 'hold', of, reason: '', stop: false, dryRun: false, set: [], id: new Uint8Array(0) } }),
  events: (of) => ({ events: { of, node: '', after: 0, limit: 0, follow: false } }),
  watch: (of) => ({ watch: { of } }),
  // Content is named by its id alone, and whoever knows that may have it; the names are the client's own (third test).
  pull: null,
  make: null,
  // The administrator's: see below.
  grant: null,
  ban: null
}

const QUERIES: Readonly<Record<QueryWhat, boolean>> = {
  task: true,
  tasks: true,
  batches: true,
  receipt: true,
  resolve: true,
  why: true,
  difference: true,
  // Of oneself, or of the whole project.
  clients: false,
  bans: false,
  credit: false,
  // The administrator's: see below.
  ledger: false,
  nodes: false,
  project: false
}

const QUESTIONS: readonly ((of: string) => Question)[] = [
  ...Object.values(KINDS).filter((make) => make !== null),
  ...Object.entries(QUERIES)
    .filter(([, ofOne]) => ofOne)
    .map(([what]) => (of: string) => ({ query: { what, of, limit: 0, after: '' } }))
]

const ADMINISTRATOR = 'ann'
const CLIENTS = [ADMINISTRATOR, 'bob', 'cid']

async function setUp() {
  const world = await new CoordinatorWorld().start()
  const data = new DataNames()
  const committer = {
    apply(event: Event) {
      world.apply(event)
    },
    assertOpen() {},
    async commit(event: Event) {
      world.apply(event)
    },
    async flush() {},
    async write(changes: readonly Change[]) {
      world.store.write(world.epoch, changes)
    }
  }
  const handler = ownerHandler({
    host: {} as unknown as Host,
    nodes: { streamOf: () => undefined },
    content: {
      check: async () => true,
      has: () => true,
      sizeOf: () => 4,
      resolve: (root: unknown) => root,
      async pin() {},
      async putBlock() {},
      async *read() {}
    } as unknown as ContentStore,
    store: world.store,
    coordinator: world.coordinator,
    committer,
    views: (client) => storeViews(world.store, world.coordinator, { client, all: client === ADMINISTRATOR }),
    data,
    members: new Members({ owners: CLIENTS }, world.coordinator),
    changes: new Changes(),
    clock: new ManualClock(),
    random: { bytes: (count) => new Uint8Array(count) },
    signer: SIGNER,
    comparators: { refusal: async () => undefined, state: async () => ({ engines: [], platform: '', trouble: '' }), agreeInTurn: async () => false },
    project: () => ({ id: 'p', name: 'p', epoch: 1, addresses: [], nodes: 0, version: '0' })
  })
  const ask = (client: string, question: Question, signal = AbortSignal.timeout(60_000)): Promise<unknown> =>
    handler({ id: 1, cancel: false, ...question }, { client, signal, part: async () => undefined })
  const submit = (by: string, id: string, name: string): void =>
    world.apply({
      kind: 'submit',
      batch: id,
      name,
      by,
      bundles: [bundle(id)],
      policy: { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1 },
      more: false,
      seed: 1
    })
  return { world, data, ask, submit }
}

/** Code of the refusal; undefined when it was answered, or came to grief further on (the world's receipts are no receipts). */
async function refusalOf(asked: Promise<unknown>): Promise<string | undefined> {
  try {
    await asked
    return undefined
  } catch (error) {
    return error instanceof OwnerError ? error.code : undefined
  }
}

const dump = (world: CoordinatorWorld): string =>
  JSON.stringify(world.store.keys('').map((key) => [key, Buffer.from(world.store.peek(key) ?? []).toString('base64')]))

describe('what one client has', () => {
  it('no other can take anything from, whether it is over or not', async () => {
    const { world, ask, submit } = await setUp()
    submit('bob', batchId(1), 'mine')
    const source: Source = { name: 'x', of: `${batchId(1)}.0`, from: 0, count: 0, part: 'output', path: '' }
    const { bytes } = bundle('taker')
    const sources = encodeSources(new Map([[0, { allowFailed: false, list: [source] }]])) as Uint8Array<ArrayBuffer>
    const take = (number: number) => ({
      submit: {
        batch: new Uint8Array(16).fill(number),
        name: '',
        manifests: [bytes as Uint8Array<ArrayBuffer>],
        policy: new Uint8Array(),
        more: false,
        first: 0,
        sources
      }
    })
    assert.equal(await refusalOf(ask('cid', take(1))), 'not_found')
    await ask('bob', take(2))
    world.work(world.join('n', offer(4)), { output: 'secret' })
    assert.equal(world.record(`${batchId(1)}.0`).state, 'ready')
    assert.equal(await refusalOf(ask('cid', take(3))), 'not_found')
    await ask('bob', take(4))
  })

  it('no other can see or end, however it names it and whatever it asks (Q05)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...QUESTIONS),
        fc.constantFrom('bob', 'cid'),
        fc.constantFrom('waiting', 'running', 'ready', 'killed'),
        fc.constantFrom('id', 'prefix', 'name', 'task', 'task by prefix'),
        async (question, owner, state, how) => {
          const { world, ask, submit } = await setUp()
          const other = owner === 'bob' ? 'cid' : 'bob'
          const id = batchId(0x1234)
          submit(owner, id, 'mine')
          submit(other, batchId(7), 'another')
          if (state !== 'waiting') {
            const node = world.join('n', offer(4))
            if (state === 'ready') world.work(node, { stdout: 'text' })
            if (state === 'killed') await ask(owner, { kill: { of: id } })
          }
          const prefix = id.slice(0, -2)
          const of = { id, prefix, name: 'mine', task: `${id}.0`, 'task by prefix': `${prefix}.0` }[how]
          // What is asked of a task is asked of this one.
          const before = dump(world)
          const gaveUp = AbortSignal.abort()
          const refused = await refusalOf(ask(other, question(of), gaveUp))
          assert.ok(refused === 'not_found' || refused === 'not_owner', `${other} asked ${JSON.stringify(question(of))} and got ${refused ?? 'an answer'}`)
          assert.equal(dump(world), before, 'the refused request changed something')
          // The test could fail: its owner is not told that it does not exist, nor is the administrator by its id.
          const askers = how === 'name' ? [owner] : [owner, ADMINISTRATOR]
          for (const asker of askers) {
            const answered = await refusalOf(ask(asker, question(of), gaveUp))
            if (question(of).query?.what !== 'receipt' || state === 'ready')
              assert.notEqual(answered, 'not_found', `${asker} asked ${JSON.stringify(question(of))}`)
          }
        }
      ),
      { numRuns: 400 }
    )
  })

  it('is not added to, nor repeated, by another', async () => {
    const { world, ask, submit } = await setUp()
    const id = new Uint8Array(16)
    const request = { batch: id, name: '', manifests: [bundle('x').bytes as Uint8Array<ArrayBuffer>], policy: new Uint8Array(0), more: true, first: 0 }
    await ask('bob', { submit: request })
    await assert.rejects(ask('cid', { submit: { ...request, first: 1 } }), { code: 'not_owner' })
    await ask('bob', { submit: { ...request, more: false } })
    const [batch = ''] = world.store.keys(batchKey('')).map((key) => key.slice(batchKey('').length))
    await ask('bob', { kill: { of: batch } })
    // Over, and read from the store.
    await assert.rejects(ask('cid', { submit: { ...request, more: false } }), { code: 'not_owner' })
    assert.deepEqual(await ask('bob', { submit: { ...request, more: false } }), { batch, tasks: 1 })
    submit('cid', batchId(5), '')
    const own = (await ask('cid', { query: { what: 'batches', of: '', limit: 0, after: '' } })) as readonly { id: string }[]
    assert.deepEqual(
      own.map((view) => view.id),
      [batchId(5)]
    )
    const all = (await ask(ADMINISTRATOR, { query: { what: 'batches', of: '', limit: 0, after: '' } })) as readonly unknown[]
    assert.equal(all.length, 2)
  })

  it('keeps its names: data and batches of another may be called the same', async () => {
    const { ask, submit } = await setUp()
    const root = outputOf('data').bytes as Uint8Array<ArrayBuffer>
    for (const client of CLIENTS) await ask(client, { pull: { root, name: client === 'bob' ? 'rain' : 'snow' } })
    assert.equal(await refusalOf(ask('cid', { query: { what: 'resolve', of: 'rain', limit: 0, after: '' } })), 'not_found')
    const found = (await ask('bob', { query: { what: 'resolve', of: 'rain', limit: 0, after: '' } })) as { id: string }
    assert.equal(found.id, outputOf('data').toString())
    await ask('cid', { make: { entries: [], name: 'rain' } })
    assert.deepEqual(await ask('bob', { query: { what: 'resolve', of: 'rain', limit: 0, after: '' } }), found)
    assert.equal(((await ask('cid', { query: { what: 'resolve', of: 'rain', limit: 0, after: '' } })) as { id: string }).id, EMPTY_DIRECTORY)
    for (const [index, client] of CLIENTS.entries()) submit(client, batchId(20 + index), 'sweep')
    const selection = { labels: [], name: 'sweep', state: '' }
    const manage = { verb: 'hold', of: '', reason: '', stop: false, dryRun: false, set: [], id: new Uint8Array(0), selection }
    const held = (await ask('cid', { manage })) as { readonly targets: readonly { id: string }[] }
    assert.deepEqual(
      held.targets.map(({ id }) => id),
      [batchId(22)]
    )
    // By a state, too: the administrator's `talko kill --state waiting` ends nothing of others.
    const waiting = { ...manage, selection: { labels: [], name: '', state: 'waiting' } }
    const own = (await ask(ADMINISTRATOR, { manage: waiting })) as { readonly targets: readonly { id: string }[] }
    const ids = own.targets.map(({ id }) => id)
    assert.deepEqual(
      [20, 21, 22].map((n) => ids.includes(batchId(n))),
      [true, false, false]
    )
    for (const [index, client] of CLIENTS.entries())
      assert.deepEqual(((await ask(client, { query: { what: 'resolve', of: 'sweep', limit: 0, after: '' } })) as { id: string }).id, batchId(20 + index))
  })

  it('is granted by the administrator alone, and shown to itself and to the administrator', async () => {
    const { world, ask } = await setUp()
    const peer = (await generateIdentity()).peerId
    const grant = { client: peer, settings: new Uint8Array(dagCbor.encode({ share: 2, parallel: 3 })), member: true }
    const before = dump(world)
    for (const client of ['bob', 'cid', peer]) await assert.rejects(ask(client, { grant }), { code: 'not_owner' })
    assert.equal(dump(world), before)
    await assert.rejects(ask(ADMINISTRATOR, { grant: { client: peer, settings: grant.settings } }), { code: 'not_found' })
    const ledger = { query: { what: 'ledger', of: '', limit: 0, after: '' } }
    for (const client of ['bob', 'cid']) await assert.rejects(ask(client, ledger), { code: 'not_owner' })
    assert.deepEqual(await ask(ADMINISTRATOR, ledger), [])
    const view = (await ask(ADMINISTRATOR, { grant })) as ClientView
    assert.deepEqual([view.client, view.member, view.settings.share, view.settings.parallel, view.settings.tasks], [peer, true, 2, 3, null])
    for (const settings of [{ share: 0 }, { parallel: -1 }, { periodMs: 5 }, { other: 1 }, { tasks: 'many' }])
      await assert.rejects(ask(ADMINISTRATOR, { grant: { ...grant, settings: new Uint8Array(dagCbor.encode(settings)) } }), { code: 'malformed' })
    const clients = { query: { what: 'clients', of: '', limit: 0, after: '' } }
    assert.deepEqual(
      ((await ask('bob', clients)) as ClientView[]).map(({ client }) => client),
      ['bob']
    )
    assert.deepEqual(
      ((await ask(ADMINISTRATOR, clients)) as ClientView[]).map(({ client }) => client),
      [...CLIENTS, peer]
    )
    const gone = (await ask(ADMINISTRATOR, { grant: { client: peer, settings: new Uint8Array(0), member: false } })) as ClientView
    assert.deepEqual([gone.member, gone.settings.share], [false, 2])
  })
})
