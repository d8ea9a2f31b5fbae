import assert from 'node:assert/strict'
import { it } from 'node:test'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle } from '#test/support/coordinator-parts'
import { batchView, taskView } from './views.ts'

const BATCH = batchId(1)
const TASK = `${BATCH}.0`

it('F23: nobody is shown an answer while it could still be copied', async () => {
  const world = await new CoordinatorWorld().start()
  const [ann, bob] = [world.join('ann'), world.join('bob')]
  world.submit(BATCH, [bundle('x')])
  const shown = (): (string | undefined)[] => {
    const batch = world.coordinator.batch(BATCH)
    assert.ok(batch !== undefined)
    const { replicas = [] } = taskView(world.record(TASK), { batch, command: [], left: undefined }, true)
    return replicas.map(({ vote }) => vote)
  }
  world.pulls = false
  world.work(ann, { output: 'four' })
  assert.deepEqual(shown(), [undefined, undefined])
  assert.notEqual(world.record(TASK).replicas[0]?.vote, null)
  world.work(bob, { output: 'four' })
  assert.equal(new Set(shown()).size, 1)
  assert.notEqual(shown()[0], undefined)
})

it('of the policy of a batch what is as usual is not shown', async () => {
  const world = await new CoordinatorWorld().start()
  world.submit(BATCH, [bundle('x')], { minQuorum: 3, targetResults: 3, sameClass: 'cpu', tags: ['big'] })
  const batch = world.coordinator.batch(BATCH)
  assert.ok(batch !== undefined)
  assert.deepEqual(batchView(batch).policy, { minQuorum: 3, targetResults: 3, sameClass: 'cpu', tags: ['big'] })
})
