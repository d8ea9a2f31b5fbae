import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
import type { MoveView } from '#protocol/owner/messages'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'
import { decodeEntry, firstOf, JOURNAL_PREFIX } from './journal.ts'
import { MOVING_MS_MAX, PREPARE_MS_MAX, REPORT_SLACK_MS, RUN_SLACK_MS, SILENT_LEASE_MS_MAX } from './policy.ts'

const ONE: TaskPolicy = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1, copies: 'never' }
const TASK = `${batchId(1)}.0`
const TIME_MS = 60_000

async function leased(): Promise<{ world: CoordinatorWorld; ann: ScriptedNode; replica: string }> {
  const world = await new CoordinatorWorld().start()
  const ann = world.join('ann')
  world.submit(batchId(1), [bundle('a')], ONE)
  const [replica = ''] = ann.leases.keys()
  return { world, ann, replica }
}

function say(world: CoordinatorWorld, node: ScriptedNode, replica: string, state: string, again = true): void {
  world.apply({ kind: 'progress', node: node.id, seq: ++node.sent, replicas: [{ replica, state, again }] })
}

function last(world: CoordinatorWorld): string {
  const { state, fault } = world.record(TASK).replicas[0] ?? assert.fail()
  return fault === null ? state : `${state}: ${fault.message}`
}

/** Seconds pass until it is taken back; answers how many milliseconds that were, or undefined when it is not in this time. */
function takenBackAfter(world: CoordinatorWorld, withinMs: number): number | undefined {
  for (let ms = 0; ms < withinMs; ms += 10_000) {
    world.pass(10_000)
    if (world.record(TASK).replicas[0]?.state === 'lost') return ms + 10_000
  }
  return undefined
}

const near = (ms: number | undefined, expectedMs: number): void =>
  assert.ok(ms !== undefined && ms >= expectedMs && ms < expectedMs + 60_000, `${ms} ms instead of ${expectedMs}`)

it('O09: that a node fetches inputs, and that it hands over an output, is an event of its own', async () => {
  const { world, ann, replica } = await leased()
  say(world, ann, replica, 'preparing')
  say(world, ann, replica, 'preparing')
  world.begin(ann, replica)
  say(world, ann, replica, 'uploading')
  world.report(ann, replica, { output: 'the truth' })
  const moves: MoveView[] = []
  for await (const [key, value] of world.store.range(JOURNAL_PREFIX, `${JOURNAL_PREFIX}~`)) moves.push(...decodeEntry(firstOf(key), value))
  assert.deepEqual(
    moves.filter(({ kind }) => kind === 'replica').map(({ id, state, cause, actor }) => [id, state, cause, actor]),
    [
      [replica, 'leased', 'place', undefined],
      [replica, 'preparing', 'reports', 'ann'],
      [replica, 'running', 'start', 'ann'],
      [replica, 'uploading', 'reports', 'ann'],
      [replica, 'reported', 'reports', 'ann']
    ]
  )
})

describe('F12: a lease that its node does nothing with is taken back', () => {
  it('when nothing is ever said of it; its node is told to drop it', async () => {
    const { world, ann, replica } = await leased()
    near(takenBackAfter(world, PREPARE_MS_MAX), SILENT_LEASE_MS_MAX)
    assert.equal(last(world), 'lost: nothing was said of it for 11 min')
    assert.deepEqual(ann.cancelled, [replica])
  })

  it('when nothing of its inputs comes, and not as long as they come', async () => {
    const { world, ann, replica } = await leased()
    for (let minutes = 0; minutes < 60; minutes += 10) {
      say(world, ann, replica, 'preparing')
      world.pass(600_000)
    }
    assert.equal(last(world), 'preparing')
    say(world, ann, replica, 'preparing')
    near(takenBackAfter(world, PREPARE_MS_MAX), SILENT_LEASE_MS_MAX)
    assert.equal(last(world), 'lost: nothing of its inputs came for 11 min')
  })

  it('when it was not begun for a day, whatever its node says, or for hours when that does not say it again', async () => {
    for (const [again, mostMs] of [
      [true, MOVING_MS_MAX],
      [false, PREPARE_MS_MAX]
    ] as const) {
      const { world, ann, replica } = await leased()
      say(world, ann, replica, 'preparing', again)
      for (let ms = 0; ms < mostMs - 600_000; ms += 600_000) {
        world.pass(600_000)
        if (again) say(world, ann, replica, 'preparing')
      }
      assert.equal(last(world), 'preparing')
      near(takenBackAfter(world, mostMs), 600_000)
    }
  })

  it('when it has not ended long after its time limit, and not as long as its output moves', async () => {
    const { world, ann, replica } = await leased()
    world.begin(ann, replica)
    near(takenBackAfter(world, REPORT_SLACK_MS), TIME_MS + RUN_SLACK_MS)
    assert.equal(last(world), 'lost: it had not ended long after its time limit')
    const other = await leased()
    other.world.begin(other.ann, other.replica)
    for (let minutes = 0; minutes < 120; minutes += 10) {
      say(other.world, other.ann, other.replica, 'uploading')
      other.world.pass(600_000)
    }
    assert.equal(last(other.world), 'uploading')
    near(takenBackAfter(other.world, REPORT_SLACK_MS), SILENT_LEASE_MS_MAX - 600_000)
    assert.equal(last(other.world), 'lost: nothing of its output moved for 11 min')
  })

  it('has its time anew after a restart of the coordinator', async () => {
    const { world, ann, replica } = await leased()
    world.begin(ann, replica)
    world.pass(TIME_MS)
    say(world, ann, replica, 'uploading')
    for (let minutes = 0; minutes < 60; minutes += 10) {
      world.pass(600_000)
      say(world, ann, replica, 'uploading')
    }
    await world.start()
    world.join('ann')
    world.pass(600_000)
    assert.equal(last(world), 'running')
    world.report(ann, replica, { output: 'the truth' })
    assert.equal(world.record(TASK).state, 'ready')
  })

  it('is not, while it waits for a slot of a node whose slots are in use', async () => {
    const world = await new CoordinatorWorld().start()
    const ann = world.join('ann', offer(2))
    world.submit(batchId(2), [bundle('long', { resources: { timeMs: 8 * 3_600_000 } })], ONE)
    world.submit(batchId(1), [bundle('a')], ONE)
    const [long = '', waiting = ''] = ann.leases.keys()
    world.begin(ann, long)
    // Its owner wants some of the machine for itself.
    world.apply({ kind: 'demand', node: 'ann', slots: 1 })
    world.pass(5 * 3_600_000)
    assert.equal(last(world), 'leased')
    world.report(ann, long)
    world.pass(300_000)
    world.begin(ann, waiting)
    assert.equal(last(world), 'running')
  })

  it('sets a node aside that takes leases and does nothing with them', async () => {
    const world = await new CoordinatorWorld().start()
    world.join('hoarder', offer(4))
    for (let round = 1; round <= 5; round++) {
      world.submit(batchId(round), [bundle('a'), bundle('b'), bundle('c')], ONE)
      world.pass(SILENT_LEASE_MS_MAX + 20_000)
    }
    assert.equal(world.coordinator.nodes()[0]?.state, 'set aside')
  })

  it('is never when its node does what it should, in whatever order and at whatever pace', async () => {
    const step = fc.record({ minutes: fc.integer({ min: 0, max: 10 }), full: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), fc.array(step, { maxLength: 8 }), async (preparing, uploading) => {
        const { world, ann, replica } = await leased()
        for (const { minutes, full } of preparing) {
          world.apply({ kind: 'demand', node: 'ann', slots: full ? 0 : 1 })
          world.pass(minutes * 60_000)
          say(world, ann, replica, 'preparing')
        }
        world.begin(ann, replica)
        world.pass(TIME_MS)
        for (const { minutes } of uploading) {
          say(world, ann, replica, 'uploading')
          world.pass(minutes * 60_000)
        }
        world.report(ann, replica, { output: 'the truth' })
        assert.deepEqual([world.record(TASK).state, world.counts('ann').lost], ['ready', 0])
      }),
      { numRuns: 40 }
    )
  })
})
