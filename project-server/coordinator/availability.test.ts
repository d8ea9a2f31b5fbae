import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CoordinatorWorld, type ScriptedNode } from '../../test/support/coordinator.ts'
import { batchId, bundle, offer } from '../../test/support/coordinator-parts.ts'
import { AVAILABILITY_SPAN_MS } from './policy.ts'

const ONE = { minQuorum: 1, targetResults: 1 }
const HOUR_MS = 3_600_000
const WEEK = 7 * 24

async function world(): Promise<CoordinatorWorld> {
  return new CoordinatorWorld().start()
}

/** An hour passes, which the node spends there or away. */
function hour(at: CoordinatorWorld, node: ScriptedNode, there: boolean): void {
  const { state } = view(at, node.id)
  if (there && state !== 'online') at.join(node.id, offer(2))
  if (!there && state === 'online') at.apply({ kind: 'gone', node: node.id })
  at.nowMs += HOUR_MS
  if (there) at.apply({ kind: 'heartbeat', node: node.id })
  at.apply({ kind: 'tick' })
}

function view(at: CoordinatorWorld, id: string) {
  return at.coordinator.nodes().find((node) => node.id === id) ?? assert.fail(id)
}

describe('a deadline that a host can meet (S19)', () => {
  it('is not met by one that is there half of the time and would need more than half of it', async () => {
    const at = await world()
    const ann = at.join('ann', offer(2))
    for (let passed = 0; passed < 6 * WEEK; passed++) hour(at, ann, passed % 2 === 0)
    assert.ok(Math.abs(view(at, 'ann').availability - 50) <= 2, `${view(at, 'ann').availability} %`)
    at.join('ann', offer(2))
    const slow = bundle('x', { resources: { timeMs: 3 * HOUR_MS } })
    at.submit(batchId(1), [slow], { ...ONE, deadlineMs: 5 * HOUR_MS })
    assert.equal(at.states(`${batchId(1)}.0`), '')
    assert.equal(at.coordinator.why(batchId(1))?.nodes?.[0]?.reason, 'deadline')
    at.submit(batchId(2), [slow], { ...ONE, deadlineMs: 7 * HOUR_MS })
    assert.equal(at.states(`${batchId(2)}.0`), 'ann leased')
    at.join('bob', offer(1))
    assert.equal(at.states(`${batchId(1)}.0`), 'bob leased')
  })

  it('is judged by what runs of the batch took, once some have ended, and by how fast the node is', async () => {
    const at = await world()
    const seldom = at.join('seldom', offer(1))
    for (let passed = 0; passed < 6 * WEEK; passed++) hour(at, seldom, passed % 2 === 0)
    // It is there half of the time: a run that may take ten minutes should be over in twenty.
    at.join('seldom', offer(1))
    const tasks = Array.from({ length: 12 }, (_, index) => bundle(`${index}`, { resources: { timeMs: 600_000 } }))
    at.submit(batchId(1), tasks, { ...ONE, deadlineMs: 900_000 })
    assert.equal(seldom.leases.size, 0)
    const quick = at.join('quick', offer(1))
    for (let ended = 0; ended < 5; ended++) {
      const [replica = ''] = quick.leases.keys()
      at.begin(quick, replica)
      at.pass(10_000)
      at.report(quick, replica)
    }
    at.pass(1_000)
    assert.equal(seldom.leases.size, 1, 'runs take ten seconds, as it turned out')
  })

  it('is not met by one whose runs take too long, where others are done in time', async () => {
    const at = await world()
    const [slow, quick] = [at.join('slow', offer(1)), at.join('quick', offer(1))]
    const work = (node: ScriptedNode, ms: number): void => {
      const [replica = ''] = node.leases.keys()
      at.begin(node, replica)
      at.pass(ms)
      at.report(node, replica)
    }
    at.submit(
      batchId(1),
      Array.from({ length: 80 }, (_, index) => bundle(`${index}`)),
      ONE
    )
    for (let ended = 0; ended < 36; ended++) {
      work(quick, 1_000)
      work(slow, 9_000)
    }
    at.apply({ kind: 'kill', batch: batchId(1), by: 'owner' })
    at.pass(13_000)
    at.apply({ kind: 'gone', node: 'slow' })
    at.submit(
      batchId(2),
      Array.from({ length: 20 }, (_, index) => bundle(`${index}`, { resources: { timeMs: 20_000 } })),
      { ...ONE, deadlineMs: 20_000 }
    )
    for (let ended = 0; ended < 6; ended++) work(quick, 13_000)
    at.join('slow', offer(1))
    assert.equal(slow.leases.size, 0)
    assert.equal(quick.leases.size, 1)
    assert.equal(at.coordinator.why(batchId(2))?.nodes?.find(({ nodes }) => nodes[0]?.id === 'slow')?.reason, 'deadline')
  })

  it('ends what is not done in it', async () => {
    const at = await world()
    const ann = at.join('ann', offer(1))
    at.submit(batchId(1), [bundle('x', { resources: { timeMs: 5_000 } })], { ...ONE, deadlineMs: 20_000 })
    at.begin(ann, `${batchId(1)}.0.1`)
    at.pass(19_000)
    assert.equal(at.states(`${batchId(1)}.0`), 'ann running')
    at.pass(2_000)
    assert.match(at.states(`${batchId(1)}.0`), /^ann lost/)
    await at.start()
    assert.match(at.states(`${batchId(1)}.0`), /^ann lost/)
  })

  it('never sends a task where its estimate over the availability is more than its deadline', async () => {
    const week = fc.array(fc.boolean(), { minLength: 24, maxLength: 24 })
    const task = fc.record({ timeMs: fc.integer({ min: 1_000, max: 10_000_000 }), deadlineMs: fc.integer({ min: 1_000, max: 20_000_000 }) })
    let sent = 0
    let kept = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(week, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 24, max: 3 * WEEK }),
        fc.array(task, { minLength: 1, maxLength: 12 }),
        async (days, hours, tasks) => {
          const at = await world()
          const nodes = days.map((_, index) => at.join(`node ${index}`, offer(20)))
          // The same by hand: every hour counts less the longer ago it was.
          const shares = nodes.map(() => 1)
          const rest = Math.exp(-HOUR_MS / AVAILABILITY_SPAN_MS)
          for (let passed = 0; passed < hours; passed++) {
            const there = days.map((day) => day[passed % 24] === true)
            for (const [index, node] of nodes.entries()) {
              const online = view(at, node.id).state === 'online'
              if (there[index] === true && !online) at.join(node.id, offer(20))
              if (there[index] !== true && online) at.apply({ kind: 'gone', node: node.id })
            }
            at.nowMs += HOUR_MS
            for (const [index, node] of nodes.entries()) {
              if (there[index] === true) at.apply({ kind: 'heartbeat', node: node.id })
              shares[index] = (shares[index] ?? 0) * rest + (there[index] === true ? 1 - rest : 0)
            }
            at.apply({ kind: 'tick' })
          }
          for (const node of nodes) at.join(node.id, offer(20))
          for (const [index, { timeMs, deadlineMs }] of tasks.entries()) {
            at.submit(batchId(1 + index), [bundle(`${index}`, { resources: { timeMs } })], { ...ONE, deadlineMs })
            const [replica] = at.record(`${batchId(1 + index)}.0`).replicas
            const able = shares.map((share) => timeMs / Math.max(0.01, share) <= deadlineMs * (1 + 1e-9))
            if (replica === undefined) {
              kept++
              assert.ok(
                shares.every((share) => timeMs / Math.max(0.01, share) > deadlineMs * (1 - 1e-9)),
                'a node could have been done in time'
              )
            } else {
              sent++
              assert.ok(able[Number(replica.node.slice(5))], `${replica.node} is not expected to be done in time`)
            }
          }
        }
      ),
      { numRuns: 60 }
    )
    assert.ok(sent > 50 && kept > 50, `${sent} sent, ${kept} kept`)
  })
})
