import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_POLICY as POLICY } from '#protocol/bundle/policy'
import type { Source } from '#protocol/bundle/sources'
import { changedLabels, labelFault, labelsFault } from '#protocol/owner/labels'
import type { Manage } from '#protocol/owner/messages'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer, outputOf, plainBundle } from '#test/support/coordinator-parts'
import { storedManifest } from '../coordinator/batches.ts'
import { decodeBundleRecord } from '../coordinator/bundle-records.ts'
import { bundleKey } from '../coordinator/keys.ts'
import { DataNames } from './data.ts'
import { manage } from './manage.ts'
import { selectionOf } from './select.ts'
import { storeViews } from './store-views.ts'
import { Submissions } from './submit.ts'

const A = batchId(1)
const B = batchId(2)
const C = batchId(3)
const T = `${A}.0`
const ONE = { minQuorum: 1, targetResults: 1 }
const ALL: { labels: string[]; name: string; state: string } = { labels: [], name: '', state: '' }

/** A project whose client is answered as over the network. */
async function setUp() {
  const at = await new CoordinatorWorld().start()
  const views = storeViews(at.store, at.coordinator, { client: 'owner', all: false })
  const committer = {
    assertOpen() {},
    async flush() {},
    commit: async (event: Parameters<typeof at.apply>[0]) => at.apply(event),
    write: async (changes: Parameters<typeof at.store.write>[1]) => at.store.write(at.epoch, changes)
  }
  const content = {
    check: async () => true,
    has: () => true,
    locate: () => '/x',
    resolve: () => undefined,
    sizeOf: () => undefined,
    getBlock: async () => undefined
  }
  const random = { bytes: (count: number) => new Uint8Array(count) }
  const submissions = new Submissions({ content, random, committer, coordinator: at.coordinator, store: at.store })
  const ports = { views, data: new DataNames().of('owner'), committer, submissions, store: at.store }
  const open = { client: 'owner', signal: new AbortController().signal, part: async () => {} }
  const ask = (change: Partial<Manage>) =>
    manage({ verb: 'hold', of: '', reason: '', stop: false, dryRun: false, set: [], id: new Uint8Array(16), ...change }, open, ports)
  const select = (change: Partial<typeof ALL>) => ({ selection: { ...ALL, ...change } })
  /** Ids of those that a selection means. */
  const meant = async (change: Partial<typeof ALL>) => {
    const selection = selectionOf({ ...ALL, ...change })
    return selection === undefined ? undefined : (await views.select(selection)).map(({ id }) => id)
  }
  const submit = (id: string, name: string, labels: string[], texts = ['x']) =>
    submissions.add(
      {
        batch: id,
        name,
        by: 'owner',
        manifests: texts.map((text) => bundle(text).bytes),
        policy: { ...POLICY, ...ONE },
        more: false,
        labels,
        retryOf: null
      },
      0
    )
  return { at, views, ask, select, meant, submit, submissions }
}

describe('a client', () => {
  it('holds and releases what it names, and sees by whom and why it is held', async () => {
    const { at, views, ask } = await setUp()
    at.submit(A, [bundle('x'), bundle('y')], ONE)
    assert.deepEqual(await ask({ of: A, reason: 'r'.repeat(300) }), { targets: [{ kind: 'batch', id: A }] })
    const held = { by: 'owner', reason: 'r'.repeat(200), atMs: at.nowMs }
    assert.deepEqual([(await views.batch(A))?.held, (await views.task(T))?.held, (await views.why(T))?.held], [held, held, held])
    await ask({ verb: 'release', of: 'a batch' })
    assert.deepEqual([(await views.batch(A))?.held, (await views.task(T))?.held], [undefined, undefined])
    await ask({ of: T })
    assert.deepEqual(
      (await views.tasks(A, { limit: 9, after: '' })).map((task) => task.held?.by),
      ['owner', undefined]
    )
  })

  it('is told what it would do, and nothing is done', async () => {
    const { at, views, ask, select } = await setUp()
    at.submit(A, [bundle('x')], ONE)
    assert.deepEqual(await ask({ of: T, dryRun: true }), { targets: [{ kind: 'task', id: T }] })
    for (const verb of ['hold', 'kill', 'release', 'label'])
      assert.equal((await ask({ verb, ...select({ state: 'waiting' }), dryRun: true, set: ['a=b'] })).targets.length, 1, verb)
    const task = await views.task(T)
    assert.deepEqual([task?.held, task?.status, (await views.batch(A))?.labels], [undefined, 'staged', undefined])
  })

  it('is refused what makes no sense, with what does', async () => {
    const { at, ask, select } = await setUp()
    at.submit(A, [bundle('x'), bundle('y')], ONE)
    await ask({ of: A })
    await assert.rejects(ask({ verb: 'release', of: T }), { code: 'not_running', message: /with its batch/ })
    await assert.rejects(ask({ verb: 'sing', of: A }), { code: 'malformed' })
    await assert.rejects(ask({ of: 'nobody' }), { code: 'not_found' })
    await assert.rejects(ask({}), { code: 'malformed', message: /either an id/ })
    await assert.rejects(ask({ of: A, ...select({ state: 'held' }) }), { code: 'malformed', message: /either an id/ })
    await assert.rejects(ask(select({ state: 'failed' })), { code: 'malformed', message: /by a label or a name/ })
    await assert.rejects(ask(select({ labels: ['nonsense'] })), { code: 'malformed', message: /not a label/ })
    await assert.rejects(ask({ verb: 'label', of: A, set: ['a b=c'] }), { code: 'malformed', message: /not a label/ })
    await assert.rejects(ask({ verb: 'label', of: T, set: ['a=c'] }), { code: 'malformed', message: /a batch has labels/ })
    await assert.rejects(ask({ verb: 'retry', of: A }), { code: 'not_found', message: /nothing to be tried again/ })
    at.apply({ kind: 'kill', batch: A, task: T, by: 'owner' })
    await assert.rejects(ask({ of: T }), { code: 'not_running' })
    at.apply({ kind: 'kill', batch: A, by: 'owner' })
    await assert.rejects(ask({ verb: 'release', of: A }), { code: 'not_running', message: /is over/ })
  })

  it('submits, lists, kills and tries again by label, name or state in one call (S22)', async () => {
    const { at, ask, select, meant, submit } = await setUp()
    await submit(A, 'sweep', ['experiment=7', 'stage=draft'], ['x', 'y'])
    await submit(B, 'sweep', ['experiment=7'])
    await submit(C, 'other', ['experiment=8'])
    assert.deepEqual(await meant({ labels: ['experiment=7'] }), [B, A])
    assert.deepEqual(await meant({ labels: ['experiment=7', 'stage=draft'] }), [A])
    assert.deepEqual(await meant({ name: 'sweep' }), [B, A])
    assert.deepEqual(await meant({ state: 'waiting' }), [C, B, A])
    assert.deepEqual(await meant({ name: 'other', labels: ['experiment=7'] }), [])
    await ask(select({ name: 'other' }))
    assert.deepEqual(await meant({ state: 'held' }), [C])

    const node = at.join('ann', offer(1))
    const killed = await ask({ verb: 'kill', ...select({ labels: ['experiment=7'], state: 'waiting' }) })
    assert.deepEqual(killed.targets.map(({ id }) => id).sort(), [A, B])
    assert.deepEqual([at.record(T).state, at.record(`${A}.1`).state, at.record(`${B}.0`).state], ['running', 'killed', 'killed'])
    at.work(node)
    assert.equal(at.record(T).state, 'ready')

    const again = await ask({ verb: 'retry', ...select({ labels: ['experiment=7'] }) })
    assert.deepEqual(
      again.targets.map(({ retryOf, tasks, name }) => [retryOf, tasks, name]),
      [
        [B, 1, 'sweep'],
        [A, 1, 'sweep']
      ]
    )
    // Asked once more, because the answer was lost: no second one.
    assert.deepEqual(await ask({ verb: 'retry', ...select({ labels: ['experiment=7'] }) }), again)
    assert.deepEqual((await meant({ labels: ['experiment=7'] }))?.length, 4)
    const made = again.targets.find(({ retryOf }) => retryOf === A)?.id ?? ''
    assert.deepEqual(at.record(`${made}.0`).bundle, bundle('y').cid)
  })

  it('keeps the name, the labels and the policy of what it tries again, and sees of what it is a retry', async () => {
    const { at, views, ask, submit } = await setUp()
    await submit(A, 'sweep', ['experiment=7'], ['x', 'y'])
    at.apply({ kind: 'kill', batch: A, task: `${A}.1`, by: 'owner' })
    const { targets } = await ask({ verb: 'retry', of: A })
    const view = await views.batch(targets[0]?.id ?? '')
    assert.deepEqual([view?.name, view?.labels, view?.retryOf, view?.tasks], ['sweep', ['experiment=7'], A, 1])
    assert.deepEqual(at.coordinator.batch(view?.id ?? '')?.policy, at.coordinator.batch(A)?.policy)
    await assert.rejects(ask({ verb: 'retry', of: T }), { code: 'not_found' })
  })

  describe('tries a graph again of which a step failed', () => {
    const source = (from: number, change: Partial<Source> = {}): Source => ({ name: `in${from}`, of: '', from, count: 1, part: 'output', path: '', ...change })

    /** left, right -> sum -> report; right fails, so that the last two never begin. */
    async function graph(last: readonly Source[]) {
      const world = await setUp()
      const sources = new Map([
        [2, { allowFailed: false, list: [source(0), source(1)] }],
        [3, { allowFailed: false, list: [...last] }]
      ])
      const manifests = ['left', 'right', 'sum', 'report'].map((text) => plainBundle(text).bytes)
      await world.submissions.add(
        { batch: A, name: 'graph', by: 'owner', manifests, policy: { ...POLICY, ...ONE, copies: 'never' }, more: false, labels: [], retryOf: null, sources },
        0
      )
      const node = world.at.join('ann', offer(2))
      world.at.report(node, `${A}.0.1`, { output: 'left' })
      world.at.report(node, `${A}.1.1`, { exitCode: 1 })
      assert.deepEqual(
        [0, 1, 2, 3].map((index) => world.at.record(`${A}.${index}`).state),
        ['ready', 'failed', 'failed', 'failed']
      )
      return { ...world, node }
    }

    it('with what the others left, and in its order', async () => {
      const { at, ask, node } = await graph([source(2), source(0, { name: '', count: 3, part: 'after' })])
      const { targets } = await ask({ verb: 'retry', of: A })
      const made = targets[0]?.id ?? ''
      assert.equal(targets[0]?.tasks, 3)
      for (const [index, output] of ['right', 'sum', 'report'].entries()) {
        assert.deepEqual([...node.leases.keys()], [`${made}.${index}.1`])
        at.work(node, { output })
        assert.equal(at.record(`${made}.${index}`).state, 'ready')
      }
      const complete = at.store.peek(bundleKey(made, at.record(`${made}.1`).bundle))
      assert.deepEqual(
        storedManifest(decodeBundleRecord(complete ?? new Uint8Array()).bytes).dependencies.map(({ name, root }) => [name, String(root)]),
        [
          ['in0', String(outputOf('left'))],
          ['in1', String(outputOf('right'))]
        ]
      )
    })
  })

  describe('tries a map again of which a part failed, and its reduce', () => {
    /** Four parts and what gathers them; the third part fails. */
    async function mapped() {
      const world = await setUp()
      const gathers = { allowFailed: false, list: [{ name: 'maps', of: '', from: 0, count: 4, part: 'all' as const, path: '' }] }
      const manifests = ['0', '1', '2', '3', 'reduce'].map((text) => plainBundle(text).bytes)
      const policy = { ...POLICY, ...ONE, copies: 'never' as const }
      const sources = new Map([[4, gathers]])
      await world.submissions.add({ batch: A, name: 'map', by: 'owner', manifests, policy, more: false, labels: [], retryOf: null, sources }, 0)
      const node = world.at.join('ann', offer(4))
      world.at.report(node, `${A}.2.1`, { exitCode: 1 })
      return { ...world, node }
    }
    const rest = ({ at, node }: Pick<Awaited<ReturnType<typeof mapped>>, 'at' | 'node'>): void => {
      for (const index of [0, 1, 3]) at.report(node, `${A}.${index}.1`, { output: `part ${index}` })
    }

    for (const asked of [A, `${A}.4`])
      it(`by the id of ${asked === A ? 'the batch' : 'the reduce'}: only that part runs again, and then the reduce`, async () => {
        const world = await mapped()
        const { at, ask, node } = world
        rest(world)
        assert.equal(at.record(`${A}.4`).state, 'failed')
        const { targets } = await ask({ verb: 'retry', of: asked })
        assert.equal(targets[0]?.tasks, 2)
        const made = targets[0]?.id ?? ''
        assert.deepEqual([...node.leases.keys()], [`${made}.2.1`])
        assert.deepEqual(
          [0, 1, 3].map((index) => [at.record(`${made}.${index}`).state, at.record(`${made}.${index}`).replicas.length]),
          [
            ['ready', 0],
            ['ready', 0],
            ['ready', 0]
          ]
        )
        at.work(node, { output: 'part 2' })
        assert.deepEqual([...node.leases.keys()], [`${made}.4.1`])
        at.work(node, { output: 'sum' })
        assert.equal(at.record(`${made}.4`).state, 'ready')
        // And of the retry nothing is left to be tried again.
        await assert.rejects(ask({ verb: 'retry', of: made }), { code: 'not_found' })
      })

    it('not before the other parts are over', async () => {
      const world = await mapped()
      await assert.rejects(world.ask({ verb: 'retry', of: A }), { code: 'unavailable', message: /\.0 is not over, and what it leaves is gathered/ })
      rest(world)
      assert.equal((await world.ask({ verb: 'retry', of: A })).targets.length, 1)
    })
  })

  it('S14, S15: tries a sweep again whole that never had what it takes from others', async () => {
    const { at, ask, submissions, submit } = await setUp()
    await submit(A, 'parent', [], ['x'])
    const sweep = { mode: 'product' as const, parameters: [{ name: 'n', values: { from: 1, to: 1000, step: 1 } }] }
    const sources = new Map([[0, { allowFailed: false, list: [{ name: '', of: A, from: 0, count: 0, part: 'after' as const, path: '' }] }]])
    const head = { batch: B, name: 'sweep', by: 'owner', policy: { ...POLICY, ...ONE }, more: false, labels: [], retryOf: null }
    await submissions.add({ ...head, manifests: [plainBundle('{n}').bytes], sweep, sources }, 0)
    at.apply({ kind: 'kill', batch: B, by: 'owner' })
    const { targets } = await ask({ verb: 'retry', of: B })
    assert.deepEqual([targets[0]?.retryOf, targets[0]?.tasks], [B, 1000])
    const made = targets[0]?.id ?? ''
    assert.deepEqual([at.coordinator.batch(made)?.created, at.coordinator.why(made)?.waitsFor], [1000, 'sources'])
    at.work(at.join('ann', offer(2)))
    assert.equal(at.coordinator.batch(made)?.running, 2)
  })

  it('is told which batch would be tried again, and not the id of one that is never made', async () => {
    const { at, ask, submit } = await setUp()
    await submit(A, 'sweep', [], ['x', 'y'])
    at.apply({ kind: 'kill', batch: A, task: `${A}.1`, by: 'owner' })
    assert.deepEqual(await ask({ verb: 'retry', of: A, dryRun: true }), { targets: [{ kind: 'batch', id: A, tasks: 1, name: 'sweep' }] })
  })

  it('changes the labels of what is over, too, and finds it by the new ones alone', async () => {
    const { at, views, ask, meant, submit } = await setUp()
    await submit(A, 'sweep', ['experiment=7', 'stage=draft'])
    at.apply({ kind: 'kill', batch: A, by: 'owner' })
    await ask({ verb: 'label', of: A, set: ['stage=final', 'experiment-', 'by=ann'] })
    assert.deepEqual((await views.batch(A))?.labels, ['by=ann', 'stage=final'])
    assert.deepEqual([await meant({ labels: ['stage=draft'] }), await meant({ labels: ['experiment=7'] }), await meant({ labels: ['by=ann'] })], [[], [], [A]])
    const many = Array.from({ length: 15 }, (_, index) => `k${index}=`)
    await assert.rejects(ask({ verb: 'label', of: A, set: many }), { code: 'malformed', message: /at most 16 labels/ })
  })
})

it('labels are what they were set to last, whatever is set and taken away', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd')
  const change = fc.oneof(
    fc.tuple(key, fc.constantFrom('1', '2', '')).map(([name, value]) => `${name}=${value}`),
    key.map((name) => `${name}-`)
  )
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const should = new Map<string, string>()
      for (const one of changes) {
        if (one.endsWith('-')) should.delete(one.slice(0, -1))
        else should.set(one[0] ?? '', one)
      }
      let labels: string[] = []
      for (const one of changes) labels = changedLabels(labels, [one])
      assert.deepEqual(labels, [...should.values()].sort())
      assert.deepEqual(changedLabels([], changes), labels)
      assert.equal(labelsFault(labels), undefined)
    })
  )
  for (const wrong of ['', 'a', '=b', 'a b=c', 'a=\n', `${'k'.repeat(64)}=v`, `k=${'v'.repeat(64)}`, '-a=b'])
    assert.notEqual(labelFault(wrong), undefined, wrong)
})
