import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle } from '#test/support/coordinator-parts'
import { peekTask } from '../../sim/stored-tasks.ts'
import { taskKey } from './keys.ts'
import { encodeTaskRecord } from './task-records.ts'

const NODES = ['a', 'b', 'c', 'd', 'e'] as const
const TASKS = 4
const deeds = fc.record({
  node: fc.constantFrom(...NODES),
  deed: fc.constantFrom('begin', 'right', 'right', 'wrong', 'fail', 'give back', 'hold', 'release', 'silence', 'come'),
  task: fc.nat({ max: TASKS - 1 })
})

it('writes a live task as it would write its record', async () => {
  const states = new Set<string>()
  let replicas = 0
  await fc.assert(
    fc.asyncProperty(fc.array(deeds, { minLength: 10, maxLength: 40, size: 'max' }), fc.boolean(), fc.boolean(), async (steps, adaptive, pulls) => {
      const world = await new CoordinatorWorld().start()
      world.pulls = pulls
      for (const id of NODES) world.join(id)
      const bundles = Array.from({ length: TASKS }, (_, index) => bundle(`${index}`))
      world.submit(batchId(1), bundles, { adaptive, targetResults: 3, doubtPpm: adaptive ? 10_000 : 0, retryMemoryBytes: 2 ** 40, maxErrorResults: 9 })
      const look = (): void => {
        for (let index = 0; index < TASKS; index++) {
          const id = `${batchId(1)}.${index}`
          const record = world.coordinator.task(id)
          if (record === undefined) continue
          replicas += record.replicas.length
          for (const { state } of record.replicas) states.add(state)
          const own = world.store.peek(taskKey(id))
          if (own === undefined) assert.deepEqual(peekTask(world.store, id), record)
          else assert.deepEqual(own, encodeTaskRecord(record))
        }
      }
      for (const { node: name, deed, task } of steps) {
        const node = world.nodes.get(name)
        assert.ok(node !== undefined)
        const [replica] = node.leases.keys()
        const id = `${batchId(1)}.${task}`
        if (deed === 'come') world.join(name)
        else if (deed === 'silence') world.pass(16_000, [node])
        else if (deed === 'hold') world.apply({ kind: 'hold', batch: batchId(1), task: id, by: 'owner', reason: 'why', stop: false })
        else if (deed === 'release') world.apply({ kind: 'release', batch: batchId(1), task: id, by: 'owner' })
        else if (replica === undefined) continue
        else if (deed === 'begin') world.begin(node, replica)
        else if (deed === 'give back') world.giveBack(node, replica, 'owner')
        else if (deed === 'fail') world.giveBack(node, replica, 'node')
        else world.work(node, { output: deed === 'right' ? 'the truth' : `a lie of ${name} in ${id}` })
        look()
      }
      look()
    }),
    { numRuns: 60, seed: 1 }
  )
  assert.ok(replicas > 1000)
  assert.deepEqual([...states].sort(), ['cancelled', 'leased', 'lost', 'reported', 'returned', 'running'])
})
