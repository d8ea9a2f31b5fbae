import assert from 'node:assert/strict'
import { it } from 'node:test'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer, plainBundle } from '#test/support/coordinator-parts'
import type { Batch } from './model.ts'
import { LIVE_TASKS_MAX, SWEEP_AHEAD, SWEEP_AHEAD_MIN } from './policy.ts'
import { SweepLine } from './sweep-line.ts'

it('a thousand sweeps that come one after the other, and run nowhere, leave memory for each', () => {
  const line = new SweepLine()
  let waiting = 0
  for (let index = 0; index < 1_000; index++) {
    line.add({ id: batchId(index) } as Batch)
    assert.ok(line.ahead >= SWEEP_AHEAD_MIN && line.ahead <= SWEEP_AHEAD)
    waiting += line.ahead
  }
  assert.ok(waiting < LIVE_TASKS_MAX, `${waiting} wait`)
})

it('a sweep is looked at when it came, was touched, and never when it is gone', () => {
  const line = new SweepLine()
  const [one, two] = [{ id: batchId(1) } as Batch, { id: batchId(2) } as Batch]
  line.add(one)
  line.add(two)
  assert.deepEqual([...line.due], [one, two])
  line.rest(one)
  assert.deepEqual([...line.due], [two])
  line.touch(one)
  assert.deepEqual([...line.due], [two, one])
  line.delete(two)
  line.touch(two)
  assert.deepEqual([...line.due], [one])
  assert.deepEqual([...line], [one])
})

it('many sweeps and ordinary tasks all come to their end, whatever rests meanwhile', async () => {
  const world = await new CoordinatorWorld().start()
  const policy = { minQuorum: 1, targetResults: 1 }
  const sweep = { mode: 'product', parameters: [{ name: 'x', values: { from: 1, to: 300, step: 1 } }] } as const
  for (let index = 1; index <= 8; index++) world.submit(batchId(index), [], policy, { sweep: { template: plainBundle(`${index} {x}`), sweep } })
  world.submit(batchId(9), [bundle('alone')], policy)
  world.apply({ kind: 'hold', batch: batchId(3), by: 'owner', reason: '', stop: false })
  const node = world.join('n', offer(64))
  for (let turn = 0; turn < 60 && node.leases.size > 0; turn++) world.work(node)
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7, 8, 9].filter((index) => world.coordinator.batch(batchId(index)) !== undefined),
    [3]
  )
  world.apply({ kind: 'release', batch: batchId(3), by: 'owner' })
  for (let turn = 0; turn < 20 && node.leases.size > 0; turn++) world.work(node)
  assert.equal(world.coordinator.batch(batchId(3)), undefined)
})
