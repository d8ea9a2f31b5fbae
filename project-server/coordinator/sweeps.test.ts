import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { decodeSweep, encodeSweep, manifestAt, type Parameter, type Sweep, sweepCount, valuesAt } from '#protocol/bundle/sweep'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer, plainBundle } from '#test/support/coordinator-parts'
import { peekTask, peekTasks } from '../../sim/stored-tasks.ts'
import { decodeBatchRecord } from './batch-records.ts'
import { batchKey } from './keys.ts'
import { LiveTasks } from './live-tasks.ts'
import type { Task } from './model.ts'
import { SWEEP_AHEAD } from './policy.ts'

const ONE = batchId(1)
const TWO = batchId(2)
const SINGLE = { minQuorum: 1, targetResults: 1 }

function sweepOf(count: number): Sweep {
  return { mode: 'product', parameters: [{ name: 'x', values: { from: 0, to: count - 1, step: 1 } }] }
}

async function world(count: number): Promise<CoordinatorWorld> {
  const one = await new CoordinatorWorld().start()
  one.submit(ONE, [], SINGLE, { sweep: { template: plainBundle('{x}'), sweep: sweepOf(count) } })
  return one
}

function commandOf(one: CoordinatorWorld, id: string): readonly string[] {
  const bytes = one.coordinator.bundle(one.record(id).bundle)
  assert.ok(bytes !== undefined)
  return JSON.parse(
    JSON.stringify(
      Buffer.from(bytes)
        .toString('latin1')
        .match(/work.(\d+)/) ?? []
    )
  )
}

describe('a sweep', () => {
  it('is accepted as a number, and makes a few tasks ahead of those that run', async () => {
    const one = await world(1_000_000)
    const counts = one.coordinator.batch(ONE)
    assert.equal(counts?.tasks, 1_000_000)
    assert.equal(counts?.created, 1_000_000)
    assert.equal(peekTasks(one.store, ONE).size, SWEEP_AHEAD)
    const node = one.join('n', offer(10))
    assert.equal(node.leases.size, 10)
    assert.equal(one.coordinator.batch(ONE)?.running, 10)
    assert.equal(commandOf(one, `${ONE}.7`)[1], '7')
    assert.deepEqual(one.coordinator.why(`${ONE}.999999`)?.waitsFor, 'turn')
    assert.equal(one.coordinator.why(`${ONE}.999999`)?.ahead?.tasks, 999_999 - 10)
  })

  it('gives a big node all that it takes at once', async () => {
    const one = await world(20_000)
    assert.equal(one.join('n', offer(4096, { cpuMillis: 2 ** 40 })).leases.size, 4096)
    assert.equal(one.join('m', offer(4096, { cpuMillis: 2 ** 40 })).leases.size, 4096)
  })

  it('killed ends the tasks that were never made, too; a single one of them ends alone', async () => {
    const one = await world(10_000)
    one.apply({ kind: 'kill', batch: ONE, task: `${ONE}.9000`, by: 'owner' })
    assert.equal(one.record(`${ONE}.9000`).state, 'killed')
    assert.equal(one.coordinator.batch(ONE)?.killed, 1)
    await one.start()
    assert.equal(one.coordinator.why(`${ONE}.9000`), undefined)
    one.apply({ kind: 'kill', batch: ONE, by: 'owner' })
    assert.equal(one.coordinator.batch(ONE), undefined)
    const { created, killed } = decodeBatchRecord(one.store.peek(batchKey(ONE)) ?? new Uint8Array())
    assert.deepEqual([created, killed], [0, 10_000])
    await one.start()
    assert.equal(one.coordinator.batch(ONE), undefined)
  })

  it('killed before a task of it was made lets go who goes on without it, and fails who does not', async () => {
    const one = await world(10_000)
    const list = [{ name: '', of: `${ONE}.9000`, from: 0, count: 0, part: 'after' as const, path: '' }]
    one.submit(TWO, [plainBundle('x'), plainBundle('y')], SINGLE, {
      sources: new Map([
        [0, { allowFailed: true, list }],
        [1, { allowFailed: false, list }]
      ])
    })
    one.apply({ kind: 'kill', batch: ONE, by: 'owner' })
    assert.equal(one.record(`${TWO}.1`).failure?.message, `task ${ONE}.9000 was killed`)
    one.work(one.join('n'))
    assert.equal(one.record(`${TWO}.0`).state, 'ready')
  })

  it('ends tasks that waited too long, also those that were made later, after a restart and after a kill of a late one', async () => {
    const one = await new CoordinatorWorld().start()
    const count = SWEEP_AHEAD + 100
    one.submit(ONE, [], { ...SINGLE, queueLimitMs: 10_000 }, { sweep: { template: plainBundle('{x}'), sweep: sweepOf(count) } })
    one.apply({ kind: 'kill', batch: ONE, task: `${ONE}.${count - 1}`, by: 'owner' })
    one.pass(1_000)
    await one.start()
    one.pass(30_000)
    assert.equal(one.coordinator.batch(ONE), undefined)
    assert.equal(one.record(`${ONE}.${count - 2}`).failure?.code, 'queue_limit')
  })

  it('holds a task of it that is not made yet, over a restart, and the others go on', async () => {
    const one = await world(SWEEP_AHEAD + 10)
    const last = `${ONE}.${SWEEP_AHEAD + 9}`
    one.apply({ kind: 'hold', batch: ONE, task: last, by: 'owner', reason: 'not this one', stop: false })
    await one.start()
    assert.equal(one.record(last).held?.reason, 'not this one')
    const node = one.join('n', offer(4096))
    for (let turn = 0; turn < 6 && node.leases.size > 0; turn++) one.work(node)
    assert.equal(one.coordinator.batch(ONE)?.ready, SWEEP_AHEAD + 9)
    one.apply({ kind: 'release', batch: ONE, task: last, by: 'owner' })
    one.work(node)
    assert.equal(one.coordinator.batch(ONE), undefined)
  })

  it('that is held makes nothing more until it is released', async () => {
    const one = await world(10_000)
    one.apply({ kind: 'hold', batch: ONE, by: 'owner', reason: '', stop: false })
    const node = one.join('n', offer(10))
    assert.equal(node.leases.size, 0)
    one.apply({ kind: 'release', batch: ONE, by: 'owner' })
    assert.equal(node.leases.size, 10)
  })

  it('can be waited for, as a whole and for a task of it that is not made yet', async () => {
    const one = await world(SWEEP_AHEAD + 10)
    const last = `${ONE}.${SWEEP_AHEAD + 9}`
    assert.equal(one.coordinator.expects(last), true)
    assert.equal(one.coordinator.expects(`${ONE}.${SWEEP_AHEAD + 10}`), false)
    const source = { name: 'a', of: last, from: 0, count: 0, part: 'output' as const, path: '' }
    const after = { name: '', of: ONE, from: 0, count: 0, part: 'after' as const, path: '' }
    one.submit(TWO, [plainBundle('x'), plainBundle('y')], SINGLE, {
      sources: new Map([
        [0, { allowFailed: false, list: [source] }],
        [1, { allowFailed: false, list: [after] }]
      ])
    })
    const node = one.join('n', offer(4096))
    for (let turn = 0; turn < 6 && node.leases.size > 0; turn++) one.work(node, { output: 'x' })
    assert.equal(one.coordinator.batch(ONE), undefined)
    assert.equal(one.coordinator.batch(TWO), undefined)
    assert.equal(one.record(`${TWO}.0`).state, 'ready')
    assert.equal(one.record(`${TWO}.1`).state, 'ready')
  })
})

/** None lost, none doubled, whatever is killed and whenever the coordinator dies. */
it('S14: each index of a sweep ends exactly once with its own command, over crashes and kills', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 2 * SWEEP_AHEAD }),
      fc.array(fc.tuple(fc.constantFrom('work', 'crash', 'kill'), fc.nat()), { maxLength: 12 }),
      async (count, acts) => {
        const one = await world(count)
        one.join('n', offer(700))
        const work = (): void => {
          const node = one.nodes.get('n')
          if (node === undefined) return
          for (const replica of [...node.leases.keys()]) {
            const index = replica.split('.')[1]
            assert.equal(commandOf(one, `${ONE}.${index}`)[1], index)
          }
          one.work(node, { output: 'x' })
        }
        const killed = new Set<number>()
        for (const [act, number] of acts) {
          if (act === 'work') work()
          if (act === 'crash') {
            await one.start()
            one.join('n', offer(700))
          }
          if (act === 'kill') {
            const id = `${ONE}.${number % count}`
            const before = peekTask(one.store, id)
            if (before === undefined || before.endedAtMs === null) killed.add(number % count)
            one.apply({ kind: 'kill', batch: ONE, task: id, by: 'owner' })
          }
        }
        for (let turn = 0; turn < 20 && one.coordinator.batch(ONE) !== undefined; turn++) work()
        const batch = decodeBatchRecord(one.store.peek(batchKey(ONE)) ?? new Uint8Array())
        assert.deepEqual([batch.created, batch.running, batch.validating], [0, 0, 0])
        assert.equal(peekTasks(one.store, ONE).size, count)
        for (let index = 0; index < count; index++) assert.equal(one.record(`${ONE}.${index}`).state, killed.has(index) ? 'killed' : 'ready')
        assert.equal(batch.ready, count - killed.size)
      }
    ),
    { numRuns: 5 }
  )
})

describe('the tasks of a generator', () => {
  it('are every combination, or what goes together', () => {
    const parameters: Parameter[] = [
      { name: 'a', values: ['x', 'y'] },
      { name: 'n', values: { from: 3, to: -1, step: -2 } }
    ]
    const all = (mode: Sweep['mode'], list: readonly Parameter[]) => {
      const sweep = { mode, parameters: list }
      return Array.from({ length: sweepCount(sweep) }, (_, index) => list.map(({ name }) => valuesAt(sweep, index).get(name)).join(''))
    }
    assert.deepEqual(all('product', parameters), ['x3', 'x1', 'x-1', 'y3', 'y1', 'y-1'])
    assert.deepEqual(all('zip', [parameters[0] as Parameter, { name: 'm', values: ['1', '2'] }]), ['x1', 'y2'])
  })

  it('are all different, and as many as are said', () => {
    const parameter = fc.oneof(
      fc.uniqueArray(fc.string({ maxLength: 3 }), { minLength: 1, maxLength: 5 }),
      fc
        .record({ from: fc.integer({ min: -5, max: 5 }), steps: fc.nat({ max: 5 }), step: fc.constantFrom(1, 2, -3) })
        .map(({ from, steps, step }) => ({ from, to: from + steps * step, step }))
    )
    fc.assert(
      fc.property(fc.array(parameter, { minLength: 1, maxLength: 3 }), (values) => {
        const sweep: Sweep = { mode: 'product', parameters: values.map((one, at) => ({ name: `p${at}`, values: one })) }
        const decoded = decodeSweep(encodeSweep(sweep))
        fc.pre(typeof decoded !== 'string')
        const found = new Set(Array.from({ length: sweepCount(sweep) }, (_, index) => JSON.stringify([...valuesAt(sweep, index)])))
        assert.equal(found.size, sweepCount(sweep))
      })
    )
  })

  it('fill what stands in braces in the command and environment, and nothing else', () => {
    const template = bundle('{x}-{index}/{count} {y} {{x}}', { environment: { A: 'v{x}' } }).manifest
    const { command, environment } = manifestAt(template, sweepOf(5), 3)
    assert.deepEqual(command, ['work', '3-3/5 {y} {3}'])
    assert.deepEqual(environment, { A: 'v3' })
  })

  it('are refused when there are none, too many, or too few for one another', () => {
    const list = (count: number): Parameter => ({ name: `n${count}`, values: Array.from({ length: count }, String) })
    const wrong: readonly (readonly [unknown, RegExp])[] = [
      [{ mode: 'other', parameters: [list(1)] }, /product or a zip/],
      [{ mode: 'zip', parameters: [] }, /1 to 16/],
      [{ mode: 'zip', parameters: [list(1), list(2)] }, /as many values/],
      [{ mode: 'product', parameters: [list(1), list(1)] }, /two parameters/],
      [{ mode: 'product', parameters: [{ name: 'index', values: ['x'] }] }, /there anyway/],
      [{ mode: 'product', parameters: [{ name: 'x', values: [] }] }, /not 1 to/],
      [{ mode: 'product', parameters: [{ name: 'x', values: { from: 0, to: 10, step: 0 } }] }, /neither a list/],
      [{ mode: 'product', parameters: [{ name: 'x', values: { from: 0, to: 10, step: -1 } }] }, /neither a list/],
      [{ mode: 'product', parameters: [{ name: 'x', values: { from: 0, to: 2 ** 20, step: 1 } }] }, /at most 1048576/],
      [{ mode: 'product', parameters: [null] }, /name is letters/]
    ]
    for (const [sweep, message] of wrong) assert.match(String(decodeSweep(encodeSweep(sweep as Sweep))), message)
    fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => assert.equal(typeof decodeSweep(bytes), 'string')))
  })
})

it('the live tasks of a batch are those that were added and not deleted, in their order', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat({ max: 3000 }), fc.boolean()), { maxLength: 200 }), (acts) => {
      const tasks = new LiveTasks()
      const model = new Map<number, Task>()
      for (const [index, adds] of acts) {
        const task = { index } as Task
        if (adds && !model.has(index)) {
          tasks.add(task)
          model.set(index, task)
        } else if (!adds) {
          tasks.delete(task)
          model.delete(index)
        }
      }
      const expected = [...model.keys()].sort((a, b) => a - b)
      assert.deepEqual(
        [...tasks].map(({ index }) => index),
        expected
      )
      assert.equal(tasks.size, expected.length)
      for (const [index, task] of model) assert.equal(tasks.get(index), task)
    })
  )
})
