import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseTaskId, taskId } from '#protocol/ids'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer, plainBundle } from '#test/support/coordinator-parts'
import { peekBundle, peekTask } from '../../sim/stored-tasks.ts'
import { encodeBundleRecord } from './bundle-records.ts'
import type { AcceptedBundle } from './events.ts'
import { bundleKey, taskKey } from './keys.ts'
import { storedBundle, storedTask, storedTasks } from './stored-tasks.ts'
import { SUBMITTED_TASKS_MAX } from './submitted-records.ts'
import { encodeTaskRecord, type TaskRecord } from './task-records.ts'

const ONE = batchId(1)
const OTHERS = [batchId(0), batchId(2)]

async function listed(at: CoordinatorWorld, range: { from?: number; limit?: number } = {}): Promise<TaskRecord[]> {
  const tasks: TaskRecord[] = []
  for await (const { record, bundle: stored } of storedTasks(at.store, ONE, range)) {
    tasks.push(record)
    if (stored !== undefined) assert.deepEqual(stored, peekBundle(at.store, record.id, record.bundle))
  }
  return tasks
}

const part = fc.oneof(
  // Tasks of one commit, of few or many bundles, and what then befalls some of them.
  fc.record({ tasks: fc.integer({ min: 1, max: 150 }), bundles: fc.constantFrom(1, 3, 1000), waits: fc.constant(false), leased: fc.nat(9) }),
  fc.record({ tasks: fc.integer({ min: 1, max: 3 }), bundles: fc.constant(1), waits: fc.constant(true), leased: fc.nat(3) })
)

describe('tasks as they are stored', () => {
  it('are found one by one and in a row, from anywhere, however they came and whatever became of them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 6 }), fc.nat(400), fc.integer({ min: 1, max: 400 }), async (parts, from, limit) => {
        const at = await new CoordinatorWorld().start()
        const node = at.join('n', offer(4))
        const came: AcceptedBundle[] = []
        for (const id of OTHERS) at.submit(id, [bundle('another')])
        for (const [number, { tasks, bundles, waits, leased }] of parts.entries()) {
          const first = came.length
          const more = Array.from({ length: tasks }, (_, index) => plainBundle(`${number} ${index % bundles}`))
          const sources = new Map(waits && first > 0 ? more.map((_, index) => [first + index, takes(0)]) : [])
          came.push(...more)
          at.submit(ONE, more, { minQuorum: 1 }, { more: number < parts.length - 1, from: first, ...(sources.size === 0 ? {} : { sources }) })
          for (const replica of [...node.leases.keys()].slice(0, leased)) at.report(node, replica)
        }
        const all = await listed(at)
        assert.deepEqual(
          all.map(({ id }) => id),
          came.map((_, index) => taskId(ONE, index))
        )
        assert.deepEqual(await listed(at, { from, limit }), all.slice(from, from + limit))
        for (const [index, record] of all.entries()) {
          assert.deepEqual(await storedTask(at.store, record.id), record)
          assert.deepEqual(peekTask(at.store, record.id), record)
          if (record.bundle !== '') assert.deepEqual((await storedBundle(at.store, record.id, record.bundle)).bytes, bytesOf(at, record, came[index]))
        }
        for (const index of [came.length, came.length + SUBMITTED_TASKS_MAX]) assert.equal(await storedTask(at.store, taskId(ONE, index)), undefined)
        assert.equal(await storedTask(at.store, 'no task'), undefined)
      }),
      { numRuns: 60 }
    )
  })

  it('come back after a restart, with their bundles, and go on', async () => {
    const at = await new CoordinatorWorld().start()
    const bundles = Array.from({ length: 200 }, (_, index) => plainBundle(`${index}`))
    at.submit(ONE, bundles, { minQuorum: 1 })
    assert.equal(at.store.keys('task/').length, 0)
    await at.start()
    const node = at.join('n', offer(250))
    assert.equal(node.leases.size, 200)
    assert.equal(at.store.keys('task/').length, 200)
    for (const replica of [...node.leases.keys()]) at.report(node, replica)
    assert.deepEqual([...new Set((await listed(at)).map(({ state }) => state))], ['ready'])
  })

  it('are read as an older server wrote them: each task and each bundle by itself', async () => {
    const at = await new CoordinatorWorld().start()
    const bundles = [plainBundle('a'), plainBundle('b')]
    at.submit(ONE, bundles, { minQuorum: 1 })
    const changes = (await listed(at)).map((record) => ({ key: taskKey(record.id), value: encodeTaskRecord(record) }))
    for (const one of bundles) changes.push({ key: bundleKey(ONE, one.cid), value: encodeBundleRecord(one) })
    const gone = at.store.keys('submitted/').map((key) => ({ key, value: null }))
    at.store.write(at.epoch, [...changes, ...gone])
    const before = await listed(at)
    assert.equal(before.length, 2)
    await at.start()
    assert.equal(at.join('n', offer(4)).leases.size, 2)
    assert.deepEqual((await storedBundle(at.store, `${ONE}.1`, bundles[1]?.cid ?? '')).bytes, bundles[1]?.bytes)
  })

  it('say which bundle is missing', async () => {
    const at = await new CoordinatorWorld().start()
    at.submit(ONE, [plainBundle('a')])
    await assert.rejects(storedBundle(at.store, `${ONE}.0`, 'bafy'), /^Error: the record of bundle bafy is missing$/)
    await assert.rejects(storedBundle(at.store, `${ONE}.1`, 'bafy'), /^Error: the record of bundle bafy is missing$/)
  })
})

function takes(index: number): { allowFailed: boolean; list: { name: string; of: string; from: number; count: number; part: 'output'; path: string }[] } {
  return { allowFailed: false, list: [{ name: 'in', of: '', from: index, count: 1, part: 'output', path: '' }] }
}

/** As it came; one that waited has another since. */
function bytesOf(at: CoordinatorWorld, { id, bundle: cid }: TaskRecord, came: AcceptedBundle | undefined): Uint8Array | undefined {
  assert.ok(parseTaskId(id) !== undefined)
  return came?.cid === cid ? came.bytes : peekBundle(at.store, id, cid).bytes
}
