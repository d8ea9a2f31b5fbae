import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CID } from 'multiformats/cid'
import { encodeManifest, manifestCidText, type RunManifest } from '#protocol/bundle/manifest'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import type { Source, Sources } from '#protocol/bundle/sources'
import { cidOfBytes, RAW } from '#protocol/content/cid'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer, outputOf, plainBundle } from '#test/support/coordinator-parts'
import { MemoryStore } from '../sim/store.ts'
import { peekBundle } from '../sim/stored-tasks.ts'
import { Completions } from './completions.ts'
import { type BatchRecord, encodeBatchRecord } from './coordinator/batch-records.ts'
import { storedManifest } from './coordinator/batches.ts'
import { encodeBundleRecord } from './coordinator/bundle-records.ts'
import type { Event } from './coordinator/events.ts'
import { batchKey, bundleKey, taskKey } from './coordinator/keys.ts'
import { encodeSourcesRecord, sourcesKey } from './coordinator/sources-records.ts'
import { decodeMadeRecord, madeKey } from './coordinator/sweeps.ts'
import { encodeTaskRecord, type TaskRecord } from './coordinator/task-records.ts'
import { SILENT } from './logger.ts'
import { ManualClock } from './testing/manual-clock.ts'

const BATCH = batchId(1)

const COUNTS = { tasks: 10, created: 10, running: 0, validating: 0, ready: 0, failed: 0, killed: 0, ranFailed: 0 }
const RECORD: BatchRecord = {
  ...COUNTS,
  id: BATCH,
  name: '',
  by: 'owner',
  createdAtMs: 0,
  order: 0,
  seed: 0,
  policy: DEFAULT_POLICY,
  open: false,
  held: null,
  queuedAtMs: 0,
  releasedAtMs: 0
}

/** A project that holds blocks, with tasks of one batch that are over. */
function setUp() {
  const store = new MemoryStore()
  const blocks = new Map<string, Uint8Array>()
  const put = (bytes: Uint8Array): string => {
    const cid = cidOfBytes(RAW, bytes)
    blocks.set(cid.toString(), bytes)
    return cid.toString()
  }
  let full = false
  const content = {
    check: async (root: CID) => content.has(root),
    has: (root: CID): boolean => blocks.has(root.toString()) || [EMPTY_DIRECTORY, EMPTY_FILE].includes(root.toString()),
    locate: (root: CID, path?: string) => (blocks.has(root.toString()) && path !== 'no/such' ? '/x' : undefined),
    resolve: (root: CID) => root,
    sizeOf: (root: CID) => blocks.get(root.toString())?.length,
    getBlock: async (cid: CID) => blocks.get(cid.toString()) ?? (cid.toString() === EMPTY_FILE ? new Uint8Array() : undefined),
    putBlock: async (codec: number, bytes: Uint8Array) => {
      if (full) throw new Error('no space left')
      const cid = cidOfBytes(codec, bytes)
      blocks.set(cid.toString(), bytes)
      return cid
    },
    pin: async () => {}
  }
  const clock = new ManualClock()
  const answers: Event[] = []
  let wake = (): void => {}
  const completions = new Completions({
    store,
    content,
    clock,
    logger: SILENT,
    random: { bytes: (count) => new Uint8Array(count).fill(7) },
    done: (...events) => {
      answers.push(...events)
      wake()
    }
  })
  const over = (index: number, output: string | null, state: TaskRecord['state'] = 'ready'): void => {
    const decision =
      output === null
        ? null
        : {
            vote: 'v',
            atMs: 1,
            exitCode: 0,
            output: put(Buffer.from(output)),
            stdout: put(Buffer.from(`${output} printed`)),
            stderr: EMPTY_FILE,
            bytes: 1,
            held: true,
            receipt: null
          }
    const id = `${BATCH}.${index}`
    const record = {
      id,
      bundle: 'x',
      createdAtMs: 0,
      startedAtMs: 0,
      endedAtMs: 1,
      state,
      failure: null,
      decision,
      outputLosses: 0,
      replicas: [],
      held: null,
      repeats: null
    }
    store.write(0, [{ key: taskKey(id), value: encodeTaskRecord(record) }])
  }
  const complete = async (list: readonly Source[], allowFailed = false): Promise<RunManifest | string> => {
    store.write(0, [{ key: batchKey(BATCH), value: encodeBatchRecord(RECORD) }])
    const { cid, bytes } = plainBundle('child')
    const id = `${BATCH}.9`
    const sources: Sources = { allowFailed, list }
    store.write(0, [
      { key: bundleKey(BATCH, cid), value: encodeBundleRecord({ bytes }) },
      { key: sourcesKey(id), value: encodeSourcesRecord({ template: cid, depth: 1, sources }) }
    ])
    const before = answers.length
    const answered = new Promise<void>((resolve) => {
      wake = resolve
    })
    completions.ask({ kind: 'complete', task: id })
    await answered
    const answer = answers[before]
    if (answer?.kind !== 'completed') return answer?.kind ?? ''
    const { bundle, message } = answer
    if (bundle === null) return message
    assert.equal(manifestCidText(bundle.bytes), bundle.cid)
    assert.deepEqual(encodeManifest(bundle.manifest), bundle.bytes)
    return bundle.manifest
  }
  return {
    over,
    complete,
    blocks,
    clock,
    completions,
    fill: (now: boolean) => {
      full = now
    }
  }
}

function source(from: number, change: Partial<Source> = {}): Source {
  return { name: `in${from}`, of: '', from, count: 1, part: 'output', path: '', ...change }
}

describe('the complete bundle of a task', () => {
  it('has what its sources left as inputs: outputs, paths below them, what was printed', async () => {
    const { over, complete } = setUp()
    over(0, 'zero')
    over(1, 'one')
    const list = [
      source(0, { path: 'a/b' }),
      source(1, { part: 'stdout' }),
      source(0, { name: '', part: 'after' }),
      source(0, { name: 'far', of: `${BATCH}.1`, count: 0 })
    ]
    const manifest = await complete(list)
    assert.ok(typeof manifest !== 'string')
    const rawOf = (text: string): string => cidOfBytes(RAW, Buffer.from(text)).toString()
    assert.deepEqual(
      manifest.dependencies.map(({ name, root, path }) => [name, root.toString(), path]),
      [
        ['in0', rawOf('zero'), 'a/b'],
        ['in1', rawOf('one printed'), ''],
        ['far', rawOf('one'), '']
      ]
    )
  })

  it('gathers many into one folder, in their order', async () => {
    const { over, complete, blocks } = setUp()
    for (let index = 0; index < 3; index++) over(index, `output ${index}`)
    const manifest = await complete([source(0, { name: 'maps', part: 'all', count: 3 })])
    assert.ok(typeof manifest !== 'string')
    const text = Buffer.from(blocks.get(String(manifest.dependencies[0]?.root)) ?? new Uint8Array()).toString('latin1')
    for (const name of ['0000', '0001', '0002']) assert.ok(text.includes(name))
  })

  it('cannot be made of what is not here, and says what that is', async () => {
    const { over, complete } = setUp()
    over(0, 'zero')
    over(1, null, 'failed')
    assert.match(String(await complete([source(0, { path: 'no/such' })])), /input in0: the output of task .*\.0 has no no\/such/)
    assert.match(String(await complete([source(1)])), /input in1: task .*\.1 left no output/)
    assert.match(String(await complete([source(7)])), /7 left no output/)
    // A task of a sweep that was killed before it was made has no record: who goes on without it does.
    const without = await complete([source(7)], true)
    assert.ok(typeof without !== 'string', String(without))
    assert.equal(without.dependencies.length, 0)
  })

  it('goes without what failed tasks did not leave, when they are allowed to fail', async () => {
    const { over, complete } = setUp()
    over(0, null, 'failed')
    over(1, 'a part', 'failed')
    const manifest = await complete([source(0), source(1), source(1, { name: 'gone', path: 'no/such' })], true)
    assert.ok(typeof manifest !== 'string')
    assert.deepEqual(
      manifest.dependencies.map(({ name }) => name),
      ['in1']
    )
  })

  it('is tried again when the disk was full', async () => {
    const { over, complete, clock, completions, fill } = setUp()
    over(0, 'zero')
    fill(true)
    const made = complete([source(0, { name: 'maps', part: 'all' })])
    while (clock.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
    fill(false)
    clock.forward(5_000)
    assert.ok(typeof (await made) !== 'string')
    await completions.stop()
  })
})

/** D19: the coordinator, its shell and one honest node, whose project loses what it held. */
describe('an output that nobody holds any more', () => {
  async function network() {
    const one = await new CoordinatorWorld().start()
    one.completes = false
    one.inputs = () => []
    const held = new Set<string>()
    let drawn = 0
    const events: (readonly Event[])[] = []
    const completions = new Completions({
      store: one.store,
      content: {
        check: async (root) => held.has(root.toString()),
        has: (root) => held.has(root.toString()),
        locate: () => '/x',
        resolve: () => undefined,
        sizeOf: () => undefined,
        getBlock: async () => undefined,
        putBlock: async (codec, bytes) => cidOfBytes(codec, bytes),
        pin: async () => {}
      },
      clock: new ManualClock(),
      logger: SILENT,
      random: { bytes: (count) => new Uint8Array(count).fill(++drawn) },
      done: (...all) => events.push(all)
    })
    const nodes = [one.join('n', offer(8)), one.join('m', offer(8))]
    const seen = { effects: 0 }
    const ran: string[] = []
    /** Called before anything is run; true when nothing is run after all. */
    const hook: { before: (name: string) => boolean | Promise<boolean> } = { before: () => false }
    /** Until nothing happens any more: what is run leaves what its bundle says, and is held from then on; without its inputs it is given back. */
    const settle = async (): Promise<void> => {
      for (;;) {
        for (const effect of one.effects.slice(seen.effects)) {
          if (effect.kind === 'complete' || effect.kind === 'inputs') completions.ask(effect)
        }
        seen.effects = one.effects.length
        await new Promise((resolve) => setImmediate(resolve))
        for (const all of events.splice(0)) one.apply(...all)
        const node = nodes.find(({ leases }) => leases.size > 0)
        const [replica] = node?.leases.keys() ?? []
        if (replica === undefined && one.effects.length === seen.effects && events.length === 0) return
        if (node === undefined || replica === undefined) continue
        const { command, dependencies } = storedManifest(one.coordinator.bundle(one.record(replica.slice(0, -2)).bundle) ?? new Uint8Array())
        if (await hook.before(command[1] ?? '')) continue
        if (!dependencies.every(({ root }) => held.has(root.toString()))) {
          one.giveBack(node, replica, 'input', 'nobody has it')
          continue
        }
        ran.push(command[1] ?? '')
        held.add(outputOf(command[1] ?? '').toString())
        if (!node.granted.has(replica)) one.begin(node, replica)
        one.report(node, replica, { output: command[1] ?? '' })
      }
    }
    const SINGLE = { minQuorum: 1, targetResults: 1 }
    const take = (of: string, more: Partial<Source> = {}): Source => ({ name: 'in', of, from: 0, count: of === '' ? 1 : 0, part: 'output', path: '', ...more })
    const submit = (id: number, names: readonly string[], sources: ReadonlyMap<number, Sources>, ended: readonly string[] = [], force = false): void =>
      one.submit(
        batchId(id),
        names.map((name) => plainBundle(name)),
        { ...SINGLE, force },
        { sources, ended: new Map(ended.map((of) => [of, null])) }
      )
    /** kill -9: what was to be done is forgotten with who was to do it. */
    const crash = async (): Promise<void> => {
      seen.effects = one.effects.length
      await one.start()
      for (const [index, { id }] of nodes.entries()) nodes[index] = one.join(id, offer(8))
    }
    return { one, held, ran, settle, submit, take, crash, hook }
  }

  it('is computed again from its lineage when a task needs it, down to what that took itself', async () => {
    const { one, held, ran, settle, submit, take } = await network()
    submit(1, ['grandparent', 'parent'], new Map([[1, { allowFailed: false, list: [take('')] }]]))
    await settle()
    assert.deepEqual(ran, ['grandparent', 'parent'])
    held.clear()
    const parent = `${batchId(1)}.1`
    submit(2, ['child'], new Map([[0, { allowFailed: false, list: [take(parent)] }]]), [parent])
    await settle()
    assert.deepEqual(ran, ['grandparent', 'parent', 'grandparent', 'parent', 'child'])
    const child = one.record(`${batchId(2)}.0`)
    assert.equal(child.state, 'ready', child.failure?.message)
    const manifest = storedManifest(peekBundle(one.store, child.id, child.bundle).bytes)
    assert.deepEqual(
      manifest.dependencies.map(({ name, root }) => [name, root.toString()]),
      [['in', outputOf('parent').toString()]]
    )
  })

  it('S14, S15: is computed again once for a sweep that takes it, over a crash too, and all of its tasks have it', async () => {
    const { one, held, ran, settle, submit, take, crash } = await network()
    submit(1, ['parent'], new Map())
    await settle()
    held.clear()
    const parent = `${batchId(1)}.0`
    const sweep = { template: plainBundle('child {x}'), sweep: { mode: 'product' as const, parameters: [{ name: 'x', values: ['a', 'b', 'c'] }] } }
    const sources = new Map([[0, { allowFailed: false, list: [take(parent)] }]])
    one.submit(batchId(2), [], { minQuorum: 1, targetResults: 1 }, { sweep, sources, ended: new Map([[parent, null]]) })
    await crash()
    await settle()
    assert.deepEqual(ran.slice(0, 2), ['parent', 'parent'])
    assert.deepEqual(ran.slice(2).sort(), ['child a', 'child b', 'child c'])
    const last = one.record(`${batchId(2)}.2`)
    assert.equal(last.state, 'ready', last.failure?.message)
    const manifest = storedManifest(peekBundle(one.store, last.id, last.bundle).bytes)
    assert.deepEqual(
      manifest.dependencies.map(({ name, root }) => [name, root.toString()]),
      [['in', outputOf('parent').toString()]]
    )
  })

  it('S14, S15: fails a sweep whose tasks would be too large with it, before one is made', async () => {
    const { one, settle, submit, take } = await network()
    submit(1, ['parent'], new Map())
    await settle()
    const parent = `${batchId(1)}.0`
    const value = 'v'.repeat(1024)
    const template = bundle('', { dependencies: [], command: ['{x}'.repeat(31), '{x}'.repeat(32)] })
    const sweep = { template, sweep: { mode: 'product' as const, parameters: [{ name: 'x', values: ['short', value] }] } }
    const list = Array.from({ length: 20 }, (_, at) => take(parent, { name: `in${at}`, path: 'p'.repeat(50) }))
    one.submit(batchId(2), [], {}, { sweep, sources: new Map([[0, { allowFailed: false, list }]]), ended: new Map([[parent, null]]) })
    await settle()
    assert.equal(one.store.keys(`task/${batchId(2)}`).length, 0)
    assert.equal(one.coordinator.batch(batchId(2)), undefined)
    const { end } = decodeMadeRecord(one.store.peek(madeKey(batchId(2))) ?? new Uint8Array())
    assert.match(end === null || end === 'killed' ? '' : end.message, /the manifest has \d+ bytes, at most/)
  })

  it('is computed again over a crash of the project server, too', async () => {
    const { one, held, ran, settle, submit, take, crash } = await network()
    submit(1, ['parent'], new Map())
    await settle()
    held.clear()
    const parent = `${batchId(1)}.0`
    submit(2, ['child'], new Map([[0, { allowFailed: false, list: [take(parent)] }]]), [parent])
    await crash()
    await settle()
    assert.deepEqual(ran, ['parent', 'parent', 'child'])
    assert.equal(one.record(`${batchId(2)}.0`).state, 'ready')
  })

  it('D19: is computed again for a task that was complete and waited for a node when it was lost', async () => {
    for (const crashes of [false, true]) {
      const { one, held, ran, settle, submit, take, crash, hook } = await network()
      submit(1, ['grandparent', 'parent'], new Map([[1, { allowFailed: false, list: [take('')] }]]))
      await settle()
      const parent = `${batchId(1)}.1`
      submit(2, ['child'], new Map([[0, { allowFailed: false, list: [take(parent)] }]]), [parent])
      const child = `${batchId(2)}.0`
      let lost = false
      let looked = false
      let crashed = !crashes
      hook.before = async (name) => {
        if (name === 'child' && !lost) held.clear()
        lost ||= name === 'child'
        if (lost && name === 'grandparent' && !looked) {
          looked = true
          const { waitsFor, sources } = one.coordinator.why(child) ?? {}
          assert.deepEqual([waitsFor, sources], ['sources', 1])
        }
        if (!lost || crashed || name !== 'grandparent') return false
        crashed = true
        await crash()
        return true
      }
      await settle()
      assert.deepEqual(ran, ['grandparent', 'parent', 'grandparent', 'parent', 'child'])
      const { state, failure, replicas } = one.record(child)
      assert.deepEqual([state, failure], ['ready', null])
      const faults = replicas.map(({ fault }) => fault?.class ?? '')
      // What was waited for is forgotten in a crash: it is tried at once, and meanwhile the input comes back.
      assert.deepEqual(faults, ['lost_input', 'lost_input', ...(crashes ? ['input'] : []), ''])
    }
  })

  it('D19: fails a task that was complete when it cannot be computed again, and says why', async () => {
    const { one, held, settle, hook } = await network()
    const missing = outputOf('uploaded')
    held.add(missing.toString())
    one.submit(batchId(1), [bundle('child', { dependencies: [{ name: 'in', root: missing, path: '', executables: [] }] })], {
      minQuorum: 1,
      targetResults: 1
    })
    hook.before = () => {
      held.clear()
      return false
    }
    await settle()
    assert.match(one.record(`${batchId(1)}.0`).failure?.message ?? '', /nobody has it; .*the project does not hold the data of input in.*upload it first/)
  })

  it('is taken as it is by a task whose complete bundle was decided before (D16), unless that is to be run again', async () => {
    const { one, held, ran, settle, submit, take } = await network()
    const chain = new Map([
      [1, { allowFailed: false, list: [take('')] }],
      [2, { allowFailed: false, list: [take('', { from: 1 })] }]
    ])
    submit(1, ['first', 'second', 'third'], chain)
    await settle()
    submit(2, ['first', 'second', 'third'], chain)
    await settle()
    assert.deepEqual(ran, ['first', 'second', 'third', 'first'])
    assert.deepEqual([one.record(`${batchId(2)}.2`).state, one.record(`${batchId(2)}.2`).repeats], ['ready', `${batchId(1)}.2`])
    submit(3, ['first', 'second', 'third'], chain, [], true)
    await settle()
    assert.deepEqual(ran.slice(4), ['first', 'second', 'third'])
    held.delete(outputOf('third').toString())
    submit(4, ['first', 'second', 'third'], chain)
    await settle()
    assert.deepEqual(ran.slice(7), ['first', 'third'])
  })
})
