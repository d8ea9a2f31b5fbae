import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { decodeSources, encodeSources, type Source, type Sources } from '#protocol/bundle/sources'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer, outputOf, plainBundle } from '#test/support/coordinator-parts'
import { completion } from '#test/support/coordinator-shell'
import { decodeBatchRecord } from './batch-records.ts'
import { storedManifest } from './batches.ts'
import { decodeBundleRecord } from './bundle-records.ts'
import type { Event } from './events.ts'
import { batchKey, bundleKey } from './keys.ts'
import { DEFAULT_COORDINATOR_POLICY, RANGES_MAX, SOURCE_DEPTH_MAX } from './policy.ts'
import { sourcesKey } from './sources-records.ts'

const ONE = batchId(1)
const TWO = batchId(2)
const SINGLE = { minQuorum: 1, targetResults: 1 }

function from(index: number, change: Partial<Source> = {}): Source {
  return { name: `in${index}`, of: '', from: index, count: 1, part: 'output', path: '', ...change }
}

function all(...list: readonly Source[]): Sources {
  return { allowFailed: false, list }
}

/** Tasks of one batch with these sources, each of a bundle of its own. */
async function world(sources: Record<number, Sources>, tasks: number, change: Partial<Extract<Event, { kind: 'submit' }>> = {}): Promise<CoordinatorWorld> {
  const one = await new CoordinatorWorld().start()
  one.submit(
    ONE,
    Array.from({ length: tasks }, (_, index) => plainBundle(String(index))),
    SINGLE,
    { sources: new Map(Object.entries(sources).map(([index, of]) => [Number(index), of])), ...change }
  )
  return one
}

function statesOf(one: CoordinatorWorld, tasks: number, batch = ONE): string {
  return Array.from({ length: tasks }, (_, index) => one.record(`${batch}.${index}`).state).join(' ')
}

describe('a task with sources', () => {
  it('waits for all of them, and is staged with their outputs in the commit after the last is ready', async () => {
    const one = await world({ 2: all(from(0), from(1, { path: 'a/b' })) }, 3)
    const node = one.join('n', offer(8))
    assert.equal(statesOf(one, 3), 'running running created')
    assert.equal(one.record(`${ONE}.2`).bundle, '')
    assert.equal(one.coordinator.why(`${ONE}.2`)?.waitsFor, 'sources')
    one.report(node, `${ONE}.0.1`, { output: 'left' })
    assert.equal(one.coordinator.why(`${ONE}.2`)?.sources, 1)
    one.report(node, `${ONE}.1.1`, { output: 'right' })
    const { state, bundle: cid } = one.record(`${ONE}.2`)
    assert.equal(state, 'running')
    const stored = one.store.peek(bundleKey(ONE, cid))
    assert.ok(stored !== undefined)
    assert.deepEqual(
      storedManifest(decodeBundleRecord(stored).bytes).dependencies.map(({ name, root, path }) => [name, String(root), path]),
      [
        ['in0', String(outputOf('left')), ''],
        ['in1', String(outputOf('right')), 'a/b']
      ]
    )
    one.work(node, { output: 'end' })
    assert.equal(statesOf(one, 3), 'ready ready ready')
    assert.equal(one.coordinator.batch(ONE), undefined)
  })

  it('fails at once when one fails, naming it, and so does who waits for it', async () => {
    const one = await world({ 2: all(from(0), from(1)), 3: all(from(2)) }, 4)
    const node = one.join('n', offer(8))
    one.report(node, `${ONE}.1.1`, { exitCode: 3 })
    assert.equal(statesOf(one, 4), 'running failed failed failed')
    assert.deepEqual(one.record(`${ONE}.2`).failure, { code: 'source', message: `task ${ONE}.1 failed: the command ended with exit status 3` })
    assert.match(one.record(`${ONE}.3`).failure?.message ?? '', new RegExp(`^task ${ONE}.2 failed: task ${ONE}.1 failed`))
  })

  it('with failed ones allowed runs with what there is', async () => {
    const one = await world({ 2: { allowFailed: true, list: [from(0), from(1)] } }, 3)
    const node = one.join('n', offer(8))
    one.apply({ kind: 'kill', batch: ONE, task: `${ONE}.0`, by: 'owner' })
    assert.equal(statesOf(one, 3), 'killed running created')
    one.report(node, `${ONE}.1.1`, { exitCode: 1, output: 'a part' })
    const { state, bundle: cid } = one.record(`${ONE}.2`)
    assert.equal(state, 'running')
    const { dependencies } = storedManifest(decodeBundleRecord(one.store.peek(bundleKey(ONE, cid)) ?? new Uint8Array()).bytes)
    assert.deepEqual(
      dependencies.map(({ name }) => name),
      ['in1']
    )
  })

  it('fails when a source is killed, and is killed with its batch', async () => {
    const one = await world({ 1: all(from(0)) }, 2)
    one.apply({ kind: 'kill', batch: ONE, task: `${ONE}.0`, by: 'owner' })
    assert.equal(one.record(`${ONE}.1`).failure?.message, `task ${ONE}.0 was killed`)
    const other = await world({ 1: all(from(0)) }, 2)
    other.apply({ kind: 'kill', batch: ONE, by: 'owner' })
    assert.equal(statesOf(other, 2), 'killed killed')
    assert.equal(other.coordinator.batch(ONE), undefined)
  })

  it('waits for tasks of other batches, over or not, and for whole batches', async () => {
    const one = await world({}, 2)
    const node = one.join('n', offer(8))
    one.report(node, `${ONE}.0.1`, { output: 'done' })
    assert.equal(one.coordinator.expects(`${ONE}.0`), false)
    assert.equal(one.coordinator.expects(`${ONE}.1`), true)
    const sources = new Map([
      [0, all(from(0, { of: `${ONE}.0`, count: 0 }), from(0, { name: 'b', of: `${ONE}.1`, count: 0 }), from(0, { name: '', part: 'after', of: ONE, count: 0 }))]
    ])
    one.submit(TWO, [plainBundle('x')], SINGLE, { sources, ended: new Map([[`${ONE}.0`, null]]) })
    assert.equal(one.coordinator.why(`${TWO}.0`)?.sources, 2)
    one.report(node, `${ONE}.1.1`, { output: 'too' })
    assert.equal(one.record(`${TWO}.0`).state, 'running')
  })

  it('fails at once when a source had failed already, or a whole batch has a failed task', async () => {
    const one = await world({}, 2)
    const node = one.join('n', offer(8))
    one.report(node, `${ONE}.0.1`, { exitCode: 1 })
    one.submit(TWO, [plainBundle('x'), plainBundle('y')], SINGLE, {
      sources: new Map([
        [0, all(from(0, { of: `${ONE}.0`, count: 0 }))],
        [1, all(from(0, { name: '', part: 'after', of: ONE, count: 0 }))]
      ]),
      ended: new Map([[`${ONE}.0`, 'failed: so it was']])
    })
    assert.equal(one.record(`${TWO}.0`).failure?.message, `task ${ONE}.0 failed: so it was`)
    assert.equal(one.record(`${TWO}.1`).failure?.message, `batch ${ONE} has 1 failed and 0 killed tasks`)
  })

  it('waits for many of its batch as for one, and an input that cannot be had fails it', async () => {
    const one = await world({ 5: all(from(0, { name: 'maps', count: 5, part: 'all' })) }, 6)
    one.completes = false
    const node = one.join('n', offer(8))
    one.work(node, { output: 'x' })
    assert.equal(one.record(`${ONE}.5`).state, 'created')
    assert.ok(one.effects.some((effect) => effect.kind === 'complete' && effect.task === `${ONE}.5`))
    one.apply({ kind: 'completed', task: `${ONE}.5`, bundle: null, message: 'it is gone' })
    assert.deepEqual(one.record(`${ONE}.5`).failure, { code: 'source', message: 'it is gone' })
    assert.equal(one.coordinator.batch(ONE), undefined)
  })

  it('that is submitted in parts is completed meanwhile and runs with the rest', async () => {
    const one = await world({}, 1)
    const node = one.join('n', offer(8))
    one.report(node, `${ONE}.0.1`, { output: 'done' })
    const sources = new Map([[0, all(from(0, { of: `${ONE}.0`, count: 0 }))]])
    one.submit(TWO, [plainBundle('x')], SINGLE, { sources, ended: new Map([[`${ONE}.0`, null]]), more: true })
    assert.equal(one.record(`${TWO}.0`).state, 'created')
    assert.notEqual(one.record(`${TWO}.0`).bundle, '')
    await one.start()
    one.join('n', offer(8))
    one.submit(TWO, [plainBundle('y')], SINGLE, { sources: new Map([[1, all(from(0))]]), from: 1 })
    assert.equal(statesOf(one, 2, TWO), 'running created')
    const { dependencies } = storedManifest(decodeBundleRecord(one.store.peek(bundleKey(TWO, one.record(`${TWO}.0`).bundle)) ?? new Uint8Array()).bytes)
    assert.equal(dependencies.length, 1)
  })
})

describe('what cannot be waited for', () => {
  const refusal = async (sources: Record<number, Sources>, tasks: number): Promise<string> => {
    const one = await new CoordinatorWorld().start()
    const bundles = Array.from({ length: tasks }, () => bundle('x'))
    const event = { kind: 'submit' as const, batch: ONE, name: '', by: 'o', bundles, policy: DEFAULT_POLICY, more: false, seed: 1 }
    const refused = one.coordinator.refusal({ ...event, sources: new Map(Object.entries(sources).map(([index, of]) => [Number(index), of])) })
    return refused === undefined ? '' : `${refused.code}: ${refused.message}`
  }

  it('is refused: circles, tasks that are not known, chains and lists that are too long', async () => {
    assert.equal(await refusal({ 1: all(from(0)) }, 2), '')
    assert.match(await refusal({ 0: all(from(0)) }, 1), /^malformed: task 0 waits for task 0 .*circle/)
    assert.match(await refusal({ 0: all(from(1)), 1: all(from(0)) }, 2), /^malformed: task 0 waits for task 1/)
    assert.match(await refusal({ 0: all(from(0, { of: `${TWO}.0`, count: 0 })) }, 1), /^not_found: task 0 waits for .* not known/)
    assert.match(await refusal({ 7: all(from(0)) }, 2), /^malformed: .* without the task/)
    const chain = Object.fromEntries(Array.from({ length: SOURCE_DEPTH_MAX + 1 }, (_, index) => [index + 1, all(from(index))]))
    assert.match(await refusal(chain, SOURCE_DEPTH_MAX + 2), /^too_large: task 10001 comes after 10000 others/)
    const ranges = Object.fromEntries(Array.from({ length: RANGES_MAX + 1 }, (_, index) => [index + 2, all(from(0, { count: 2, part: 'all' }))]))
    assert.match(await refusal(ranges, RANGES_MAX + 3), /^too_large: at most 64 sources/)
  })
})

it('a chain of ten thousand tasks fails as one of two does', async () => {
  const length = SOURCE_DEPTH_MAX
  const one = await world(Object.fromEntries(Array.from({ length: length - 1 }, (_, index) => [index + 1, all(from(index))])), length)
  one.apply({ kind: 'kill', batch: ONE, task: `${ONE}.0`, by: 'owner' })
  assert.equal(one.record(`${ONE}.${length - 1}`).state, 'failed')
  assert.equal(one.coordinator.batch(ONE), undefined)
})

const graph = fc
  .array(fc.record({ parents: fc.array(fc.nat({ max: 30 }), { maxLength: 3 }), range: fc.boolean(), allowFailed: fc.boolean(), fails: fc.nat({ max: 5 }) }), {
    minLength: 2,
    maxLength: 12
  })
  .map((tasks) =>
    tasks.map(({ parents, range, ...rest }, index) => ({
      ...rest,
      parents: index === 0 ? [] : [...new Set(parents.map((parent) => parent % index))],
      range: range && index > 1 ? [0, index] : undefined
    }))
  )

/** Against a second opinion of which tasks run, with a crash of the coordinator after any event. */
it('S15, S16: in any graph a task runs after all its sources, and fails exactly when one it needs did, over crashes too', async () => {
  await fc.assert(
    fc.asyncProperty(graph, fc.infiniteStream(fc.nat({ max: 3 })), async (tasks, dice) => {
      const sources = new Map<number, Sources>()
      for (const [index, { parents, range, allowFailed }] of tasks.entries()) {
        const list = parents.map((parent) => from(parent))
        if (range !== undefined) list.push(from(0, { name: '', part: 'after', count: index }))
        if (list.length > 0) sources.set(index, { allowFailed, list })
      }
      const one = await new CoordinatorWorld({ ...DEFAULT_COORDINATOR_POLICY, failingMin: Number.POSITIVE_INFINITY }).start()
      one.submit(
        ONE,
        tasks.map((_, index) => plainBundle(String(index))),
        SINGLE,
        { sources }
      )
      one.join('n', offer(3))
      const order: number[] = []
      for (let turn = 0; turn < 200 && one.coordinator.batch(ONE) !== undefined; turn++) {
        const node = one.nodes.get('n')
        const [replica] = [...(node?.leases.keys() ?? [])]
        assert.ok(node !== undefined && replica !== undefined, 'nothing runs and nothing ends')
        const index = Number(replica.split('.')[1])
        order.push(index)
        if (!node.granted.has(replica)) one.begin(node, replica)
        one.report(node, replica, tasks[index]?.fails === 0 ? { exitCode: 1 } : { output: `of ${index}` })
        if (dice.next().value === 0) {
          await one.start()
          one.join('n', offer(3))
        }
      }
      const ends: boolean[] = []
      for (const [index, { parents, range, allowFailed, fails }] of tasks.entries()) {
        const before = range === undefined ? parents : Array.from({ length: index }, (_, at) => at)
        const runs = allowFailed || before.every((parent) => ends[parent] === true)
        ends.push(runs && fails !== 0)
        const { state, failure } = one.record(`${ONE}.${index}`)
        assert.equal(state, ends[index] === true ? 'ready' : 'failed', `task ${index}`)
        assert.equal(failure?.code, ends[index] === true ? undefined : runs ? 'exit' : 'source')
        assert.equal(order.includes(index), runs)
        // What it needs was over before it ran.
        if (runs) for (const parent of before) assert.ok(!order.includes(parent) || order.indexOf(parent) < order.indexOf(index))
      }
      const counts = decodeBatchRecord(one.store.peek(batchKey(ONE)) ?? new Uint8Array())
      assert.equal(counts.created + counts.running + counts.validating, 0)
      assert.equal(counts.ready, ends.filter(Boolean).length)
    }),
    { numRuns: 60 }
  )
})

it('what was asked for and not answered before a crash is asked for again', async () => {
  const one = await world({ 1: all(from(0)) }, 2)
  one.completes = false
  const node = one.join('n', offer(8))
  one.report(node, `${ONE}.0.1`, { output: 'x' })
  const before = one.effects.length
  await one.start()
  assert.ok(one.effects.slice(before).some((effect) => effect.kind === 'complete'))
  assert.ok(one.store.peek(sourcesKey(`${ONE}.1`)) !== undefined)
  one.apply(completion(one.store, `${ONE}.1`))
  assert.equal(one.record(`${ONE}.1`).state, 'staged')
  // Said twice, it changes nothing.
  one.apply(completion(one.store, `${ONE}.1`))
  assert.equal(one.record(`${ONE}.1`).state, 'staged')
})

describe('the form of sources', () => {
  const source: fc.Arbitrary<Source> = fc.oneof(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      of: fc.constant(''),
      from: fc.nat(),
      count: fc.constant(1),
      part: fc.constantFrom('output' as const),
      path: fc.constantFrom('', 'x/y')
    }),
    fc.record({
      name: fc.constant(''),
      of: fc.constantFrom(ONE, `${TWO}.3`),
      from: fc.constant(0),
      count: fc.constant(0),
      part: fc.constant('after' as const),
      path: fc.constant('')
    })
  )
  it('is read back as it was written', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat({ max: 100 }), { minLength: 1 }),
        fc.array(source, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        (indexes, list, allowFailed) => {
          const named = list.map((one, at) => (one.part === 'after' ? { ...one } : { ...one, name: `n${at}`, from: one.from % 1000 }))
          const sources = new Map(indexes.map((index) => [index, { allowFailed, list: named }]))
          assert.deepEqual(decodeSources(encodeSources(sources), 1000), sources)
        }
      )
    )
  })
  it('is refused when it is hostile', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => assert.doesNotThrow(() => decodeSources(bytes, 10))))
    const wrong: readonly Partial<Source>[] = [
      { name: '../x' },
      { of: 'elsewhere' },
      { of: ONE },
      { of: `${ONE}.1`, count: 3 },
      { count: 2 },
      { count: 0 },
      { from: -1 },
      { path: '../x' },
      { part: 'stdout', path: 'x' },
      { part: 'after' },
      { part: 'all', count: 70_000 },
      { part: 'none' as 'all' }
    ]
    for (const change of wrong) assert.equal(typeof decodeSources(encodeSources(new Map([[0, all(from(0, change))]])), 10), 'string', JSON.stringify(change))
    assert.equal(typeof decodeSources(encodeSources(new Map([[0, all(from(0), from(0))]])), 10), 'string')
    assert.equal(typeof decodeSources(encodeSources(new Map([[0, all()]])), 10), 'string')
  })
})
