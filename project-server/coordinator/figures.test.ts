import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { TaskPolicy } from '#protocol/bundle/policy'
import { DONE_PPM_MAX } from '#protocol/control/messages'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, bundle } from '#test/support/coordinator-parts'
import { type FigureAt, progressOf } from './figures.ts'
import { FIGURE_LEFT_MS_MAX, FIGURE_MS_MIN, SILENT_LEASE_MS_MAX } from './policy.ts'

const ONE: Partial<TaskPolicy> = { minQuorum: 1, targetResults: 1, copies: 'never' }
const TASK = `${batchId(1)}.0`
const REPLICA = `${TASK}.1`

function say(world: CoordinatorWorld, node: ScriptedNode, donePpm: number, note = '', replica = REPLICA): void {
  world.apply({ kind: 'progress', node: node.id, seq: ++node.sent, replicas: [{ replica, state: 'running', again: false, figure: { donePpm, note } }] })
}

async function running(): Promise<{ world: CoordinatorWorld; ann: ScriptedNode }> {
  const world = await new CoordinatorWorld().start()
  const ann = world.join('ann')
  world.submit(batchId(1), [bundle('a')], ONE)
  return { world, ann }
}

const shown = (world: CoordinatorWorld): unknown => world.coordinator.progress(TASK).get(1)

describe('O08: how far a run says that it is', () => {
  it('is shown while it runs, with what is left at its pace, in `why` too', async () => {
    const { world, ann } = await running()
    say(world, ann, 100_000)
    assert.equal(shown(world), undefined, 'it does not run yet')
    world.begin(ann, REPLICA)
    assert.equal(shown(world), undefined)
    world.pass(20_000)
    say(world, ann, 250_000, 'training')
    assert.deepEqual(shown(world), { done: 0.25, note: 'training', leftMs: 60_000 })
    world.pass(15_000)
    assert.deepEqual(shown(world), { done: 0.25, note: 'training', leftMs: 45_000 })
    assert.deepEqual(world.coordinator.why(TASK)?.runs[0]?.progress, shown(world))
    world.pass(5_000)
    say(world, ann, 800_000)
    assert.deepEqual(shown(world), { done: 0.8, leftMs: 10_000 })
    world.report(ann, REPLICA, { output: 'it' })
    assert.equal(shown(world), undefined)
  })

  it('is one figure of each run a second at most, of its own node, and nothing of it is written or outlives the coordinator', async () => {
    const { world, ann } = await running()
    const bob = world.join('bob')
    world.begin(ann, REPLICA)
    world.pass(10_000)
    const before = Buffer.from(JSON.stringify(world.record(TASK)))
    say(world, ann, 100_000)
    for (let step = 1; step <= 100; step++) say(world, ann, 100_000 + step, 'again')
    say(world, bob, 900_000)
    assert.deepEqual(shown(world), { done: 0.1, leftMs: 90_000 })
    world.pass(FIGURE_MS_MIN)
    say(world, ann, 90_000, 'back')
    assert.equal(world.coordinator.progress(TASK).get(1)?.note, 'back')
    assert.deepEqual(Buffer.from(JSON.stringify(world.record(TASK))), before)
    await world.start()
    assert.equal(shown(world), undefined)
  })

  it('keeps no lease: a run that goes on saying how far it is has no more time than another', async () => {
    const lostAfter = async (says: boolean): Promise<number> => {
      const { world, ann } = await running()
      world.begin(ann, REPLICA)
      for (let ms = 0; ms < 100 * SILENT_LEASE_MS_MAX; ms += 60_000) {
        if (world.record(TASK).replicas[0]?.state === 'lost') return ms
        world.pass(60_000)
        if (says) say(world, ann, 1 + ms / 60_000)
      }
      return assert.fail('it was never taken back')
    }
    assert.equal(await lostAfter(true), await lostAfter(false))
  })

  it('says a whole and bounded time that is left, or none, whatever the figure and the clock are', () => {
    const ms = fc.integer({ min: 0, max: 2 ** 42 })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: DONE_PPM_MAX }), ms, ms, ms, (donePpm, atMs, sinceMs, nowMs) => {
        const figure: FigureAt = { donePpm, note: '', atMs: sinceMs }
        const { done, leftMs = 0 } = progressOf({ state: 'running', atMs, figure }, nowMs) ?? assert.fail()
        assert.ok(done >= 0 && done <= 1)
        assert.ok(Number.isSafeInteger(leftMs) && leftMs >= 0 && leftMs <= FIGURE_LEFT_MS_MAX)
        if (donePpm === DONE_PPM_MAX && nowMs >= sinceMs) assert.equal(leftMs, 0)
      })
    )
  })
})
