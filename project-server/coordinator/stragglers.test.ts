import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, bundle, offer, plainBundle } from '#test/support/coordinator-parts'
import type { Replica } from './model.ts'
import { DEFAULT_COORDINATOR_POLICY } from './policy.ts'
import { RunTimes } from './stragglers.ts'

const BATCH = batchId(1)
/** Stragglers alone: nothing is copied for idle nodes. */
const ONE: TaskPolicy = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1, copies: 'never' }

/** Each node's runs take so long, by its id; the world goes on until `until` says so, for `ms` at most. */
function play(world: CoordinatorWorld, takesMs: Readonly<Record<string, number>>, ms: number, until: () => boolean): void {
  const began = new Map<string, number>()
  for (const endMs = world.nowMs + ms; world.nowMs < endMs && !until(); ) {
    for (const node of world.nodes.values())
      for (const replica of [...node.leases.keys()]) {
        if (!node.granted.has(replica)) world.begin(node, replica)
        const sinceMs = began.get(replica) ?? world.nowMs
        began.set(replica, sinceMs)
        if (world.nowMs - sinceMs >= (takesMs[node.id] ?? Number.POSITIVE_INFINITY)) world.report(node, replica, { output: 'the truth' })
      }
    world.pass(500)
  }
}

function statesOf(world: CoordinatorWorld, tasks: number): string[] {
  return Array.from({ length: tasks }, (_, index) => world.record(`${BATCH}.${index}`).state)
}

async function worldOf(slots: Readonly<Record<string, number>>, stragglerFactor = 2): Promise<CoordinatorWorld & { node(id: string): ScriptedNode }> {
  const world = await new CoordinatorWorld({ ...DEFAULT_COORDINATOR_POLICY, stragglerFactor }).start()
  for (const [id, count] of Object.entries(slots)) world.join(id, offer(count))
  return Object.assign(world, { node: (id: string) => world.nodes.get(id) as ScriptedNode })
}

describe('stragglers', () => {
  it('F05, F06: a node ten times as slow is found out, its task is run by another too, the first result wins and the loser is told at once', async () => {
    const world = await worldOf({ a: 2, b: 2, slow: 1 })
    const tasks = 12
    world.submit(
      BATCH,
      Array.from({ length: tasks }, (_, index) => bundle(`${index}`)),
      ONE
    )
    const began = world.nowMs
    play(world, { a: 4_000, b: 4_000, slow: 40_000 }, 60_000, () => statesOf(world, tasks).every((state) => state === 'ready'))
    const copied = Array.from({ length: tasks }, (_, index) => world.record(`${BATCH}.${index}`)).filter(({ replicas }) => replicas.length > 1)
    assert.equal(copied.length, 1)
    assert.deepEqual(
      copied[0]?.replicas.map(({ node, state }) => (node === 'slow' ? `slow ${state}` : state)),
      ['slow cancelled', 'reported']
    )
    assert.equal(world.node('slow').cancelled.length, 1)
    // 2 x (4 s + 2 x almost nothing) after its start, then a run of 4 s, and the sweep's grain.
    assert.ok(world.nowMs - began < 16_000, `it took ${world.nowMs - began} ms`)
  })

  it('leaves it to run on: it may win as well, and a result that comes too late is judged', async () => {
    const world = await worldOf({ a: 6, slow: 1 })
    world.submit(
      BATCH,
      Array.from({ length: 7 }, (_, index) => bundle(`${index}`)),
      ONE
    )
    // Its copy is never begun: a is at its end.
    play(world, { a: 4_000, slow: 20_000 }, 12_000, () => false)
    const slow = [...world.node('slow').leases.keys()][0] ?? ''
    const task = slow.slice(0, slow.lastIndexOf('.'))
    assert.deepEqual(world.record(task).replicas.length, 2)
    world.report(world.node('slow'), slow, { output: 'the truth' })
    assert.equal(world.record(task).state, 'ready')
    assert.deepEqual(world.counts('slow'), { valid: 1, invalid: 0, errors: 0, lost: 0 })
  })

  it('says nothing before five runs have ended, nor of runs of less than two seconds, nor when it is told not to', async () => {
    for (const [tasks, fastMs, factor] of [
      [5, 4_000, 2],
      [12, 100, 2],
      [12, 4_000, 0]
    ] as const) {
      const world = await worldOf({ a: 1, slow: 1 }, factor)
      world.submit(
        BATCH,
        Array.from({ length: tasks }, (_, index) => plainBundle(`${index}`)),
        ONE
      )
      play(world, { a: fastMs, slow: fastMs === 100 ? 1_400 : 60_000 }, 59_000, () => false)
      for (let index = 0; index < tasks; index++) assert.equal(world.record(`${BATCH}.${index}`).replicas.length, 1, `${tasks} tasks of ${fastMs} ms`)
    }
  })

  it('F05: before five runs have ended what its owner expects tells a straggler, of five runs at the most', async () => {
    const world = await worldOf({ slow: 1 })
    world.submit(BATCH, [bundle('0')], { ...ONE, estimateMs: 5_000 })
    play(world, {}, 15_000, () => false)
    world.join('b', offer(1))
    const replicas = (): readonly { readonly node: string }[] => world.record(`${BATCH}.0`).replicas
    play(world, {}, 4_000, () => false)
    assert.equal(replicas().length, 1, 'four times the estimate are not over')
    play(world, { b: 5_000 }, 1_800_000, () => statesOf(world, 1)[0] === 'ready')
    assert.deepEqual(
      replicas().map(({ node }) => node),
      ['slow', 'b']
    )
    assert.equal(statesOf(world, 1)[0], 'ready')
    assert.equal(world.node('slow').cancelled.length, 1)

    // A thousandth of what they take: five are copied, and then it is known.
    const other = await worldOf({ a: 40, b: 40 })
    const tasks = Array.from({ length: 30 }, (_, index) => bundle(`${index}`))
    other.submit(BATCH, tasks, { ...ONE, estimateMs: 30 })
    play(other, { a: 30_000, b: 30_000 }, 90_000, () => statesOf(other, 30).every((state) => state === 'ready'))
    assert.equal(
      tasks.reduce((sum, _, index) => sum + other.record(`${BATCH}.${index}`).replicas.length, 0),
      35
    )
  })

  it('learns anew after a restart, and copies once more at most', async () => {
    const world = await worldOf({ a: 2, slow: 1 })
    const tasks = 16
    world.submit(
      BATCH,
      Array.from({ length: tasks }, (_, index) => bundle(`${index}`)),
      ONE
    )
    play(world, { a: 4_000, slow: 1e9 }, 6_000, () => false)
    await world.start()
    for (const id of ['a', 'slow']) world.join(id, offer(id === 'a' ? 2 : 1))
    play(world, { a: 4_000, slow: 1e9 }, 120_000, () => statesOf(world, tasks).every((state) => state === 'ready'))
    assert.deepEqual(
      statesOf(world, tasks).filter((state) => state !== 'ready'),
      []
    )
  })

  it('takes no run for long because the coordinator was away, or its node is', async () => {
    const world = await worldOf({ a: 2, b: 1 })
    world.submit(
      BATCH,
      Array.from({ length: 12 }, (_, index) => bundle(`${index}`)),
      ONE
    )
    play(world, { a: 4_000, b: 4_000 }, 9_000, () => false)
    world.nowMs += 50_000
    await world.start()
    world.join('a', offer(2))
    // The results of those that ran meanwhile come first, and five of them say that runs are short.
    play(world, { a: 500, b: 1e9 }, 10_000, () => false)
    world.join('b', offer(1))
    play(world, { a: 500, b: 500 }, 10_000, () => statesOf(world, 12).every((state) => state === 'ready'))
    for (let index = 0; index < 12; index++) assert.equal(world.record(`${BATCH}.${index}`).replicas.length, 1, `task ${index}`)
  })

  it('finds, in whatever order runs begin and end, those that a look at all of them finds', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('begin' as const) }),
      fc.record({ kind: fc.constant('end' as const), which: fc.nat(), result: fc.boolean() }),
      fc.record({ kind: fc.constantFrom('again' as const, 'comes or goes' as const), which: fc.nat() }),
      fc.record({ kind: fc.constant('look' as const) })
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.integer({ min: 0, max: 5_000 })), { maxLength: 400 }), fc.constantFrom(0, 1_000), (steps, estimateMs) => {
        const times = new RunTimes(estimateMs)
        let guessed = 0
        const going: { state: string; atMs: number; straggles: boolean; node: { connected: boolean } }[] = []
        const samples: number[] = []
        let now = 0
        for (const [one, ms] of steps) {
          now += ms
          const which = 'which' in one ? going[one.which % Math.max(1, going.length)] : undefined
          if (one.kind === 'begin') {
            const run = { state: 'running', atMs: now, straggles: false, node: { connected: true } }
            going.push(run)
            times.began(run as unknown as Replica)
          } else if (which !== undefined && one.kind === 'comes or goes') which.node.connected = !which.node.connected
          else if (which !== undefined && one.kind !== 'look') {
            const tookMs = one.kind === 'end' && one.result ? now - which.atMs : undefined
            if (tookMs !== undefined) samples.push(tookMs)
            times.ended(tookMs)
            if (one.kind === 'again') {
              // Lost, and found again with its node.
              Object.assign(which, { atMs: now, straggles: false })
              times.began(which as unknown as Replica)
            } else {
              which.state = 'reported'
              going.splice(going.indexOf(which), 1)
            }
          } else if (one.kind === 'look') {
            const mean = samples.reduce((total, sample) => total + sample, 0) / samples.length
            const sigma = Math.sqrt(samples.reduce((total, sample) => total + (sample - mean) ** 2, 0) / samples.length)
            const guess = samples.length < 5
            const limit = guess ? (estimateMs === 0 ? Number.POSITIVE_INFINITY : 4 * estimateMs) : Math.max(2_000, 2 * (mean + 2 * sigma))
            assert.ok(limit === Number.POSITIVE_INFINITY ? times.limitMs(2) === limit : Math.abs(times.limitMs(2) - limit) < 1e-3)
            const expected = going.filter(({ atMs, straggles, node }) => !straggles && node.connected && now - atMs > times.limitMs(2))
            const found = times.takeStragglers(2, now) as unknown as typeof going
            if (guess) {
              assert.ok(found.every((run) => expected.includes(run)))
              guessed += found.length
              assert.ok(guessed <= 5)
            } else assert.deepEqual(new Set(found), new Set(expected))
            for (const run of found) run.straggles = true
          }
        }
      })
    )
  })
})
