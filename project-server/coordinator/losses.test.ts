import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'
import { DEFAULT_COORDINATOR_POLICY } from './policy.ts'

const A = batchId(1)
const T = `${A}.0`
const SINGLE = { minQuorum: 1, targetResults: 1 }
/** The world looks every half second, the coordinator once a second. */
const LOOK_MS = 1_500

/** How long a node is silent, in steps of the world's half second. */
const silence = fc.integer({ min: 1, max: 119 }).map((halves) => halves * 500)

describe('a node that falls silent', () => {
  it('F01: is lost after H x I, and not before, whatever the project has set them to', async () => {
    const beats = fc.record({ heartbeatMs: fc.constantFrom(1_000, 3_000, 5_000), missedMax: fc.integer({ min: 5, max: 9 }) })
    let lost = 0
    await fc.assert(
      fc.asyncProperty(beats, silence, async (set, silentMs) => {
        const at = await new CoordinatorWorld({ ...DEFAULT_COORDINATOR_POLICY, ...set }).start()
        const ann = at.join('ann')
        at.submit(A, [bundle('x')], SINGLE)
        at.begin(ann, `${T}.1`)
        at.pass(silentMs, [ann])
        const limitMs = set.heartbeatMs * set.missedMax
        if (silentMs <= limitMs) assert.equal(at.states(T), 'ann running')
        if (silentMs <= limitMs + LOOK_MS) return
        lost++
        assert.equal(at.states(T), 'ann lost')
        assert.equal(at.coordinator.nodes()[0]?.state, 'lost')
      }),
      { numRuns: 200 }
    )
    assert.ok(lost > 30, `${lost}`)
    assert.equal(DEFAULT_COORDINATOR_POLICY.heartbeatMs * DEFAULT_COORDINATOR_POLICY.missedMax, 15_000)
  })

  it('F02: has its task queued again within a second, keeps its attempt when it is back before another has it, and its late result counts', async () => {
    const limitMs = DEFAULT_COORDINATOR_POLICY.heartbeatMs * DEFAULT_COORDINATOR_POLICY.missedMax
    const kinds = { kept: 0, 'taken over': 0 }
    await fc.assert(
      fc.asyncProperty(silence, fc.boolean(), async (silentMs, another) => {
        const at = await new CoordinatorWorld().start()
        const [ann, bob] = [at.join('ann'), at.join('bob', offer(0))]
        at.submit(A, [bundle('x')], SINGLE)
        at.begin(ann, `${T}.1`)
        if (another) at.apply({ kind: 'demand', node: 'bob', slots: 1 })
        const lease = ann.leases.get(`${T}.1`)
        assert.ok(lease !== undefined)
        at.pass(silentMs, [ann])
        const isOver = silentMs > limitMs + LOOK_MS
        if (silentMs > limitMs && !isOver) return
        assert.equal(at.states(T), isOver ? (another ? 'ann lost, bob leased' : 'ann lost') : 'ann running')
        assert.equal(bob.leases.size, isOver && another ? 1 : 0)
        at.join('ann')
        if (isOver && another) {
          kinds['taken over']++
          assert.deepEqual(ann.welcomes.at(-1)?.unknown, [`${T}.1`])
          // It had ended meanwhile: what it found out is not thrown away.
          ann.leases.set(`${T}.1`, lease)
        } else {
          kinds.kept++
          assert.deepEqual([at.states(T), ann.welcomes.at(-1)?.unknown], ['ann running', []])
        }
        at.report(ann, `${T}.1`, { output: 'four' })
        assert.equal(at.record(T).state, 'ready')
        assert.deepEqual(at.counts('ann'), { valid: 1, invalid: 0, errors: 0, lost: 0 })
        assert.equal(at.receipts.get(T)?.results.length, 1)
        if (isOver && another) assert.deepEqual(bob.cancelled, [`${T}.2`])
      }),
      { numRuns: 200 }
    )
    for (const [kind, count] of Object.entries(kinds)) assert.ok(count > 20, `${kind}: ${count}`)
  })
})

describe('a budget of attempts', () => {
  it('F03: is K runs in all, failures, losses and stragglers together, and not one more', async () => {
    const end = fc.constantFrom('fails' as const, 'is lost' as const, 'straggles' as const)
    const estimateMs = 5_000
    const ended: Record<string, number> = {}
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.array(end, { maxLength: 8 }), async (attempts, drawn) => {
        const at = await new CoordinatorWorld({ ...DEFAULT_COORDINATOR_POLICY, failuresMax: Number.POSITIVE_INFINITY, deathsMax: 0, idleCopies: 0 }).start()
        for (let node = 0; node < 10; node++) at.join(`node ${node}`)
        at.submit(A, [bundle('x', { resources: { timeMs: 3_600_000 } })], {
          ...SINGLE,
          maxErrorResults: attempts,
          maxTotalResults: 10,
          copies: 'never',
          estimateMs
        })
        // By an estimate at most five are stragglers.
        const ends = drawn.filter((one, index) => one !== 'straggles' || drawn.slice(0, index).filter((before) => before === one).length < 5).slice(0, attempts)
        const silent = new Set<string>()
        const others = () => [...at.nodes.values()].filter(({ id }) => silent.has(id))
        for (const [index, one] of ends.entries()) {
          const replica = `${T}.${index + 1}`
          const holder = [...at.nodes.values()].find(({ leases }) => leases.has(replica))
          assert.ok(holder !== undefined, `attempt ${index + 1} of ${attempts}: ${at.states(T)}`)
          at.begin(holder, replica)
          if (one === 'fails') at.giveBack(holder, replica, 'node')
          else if (one === 'is lost') {
            silent.add(holder.id)
            at.pass(17_000, others())
          } else at.pass(4 * estimateMs + 2_000, others())
        }
        const { replicas, state, failure } = at.record(T)
        const used = ends.length === attempts
        assert.equal(replicas.length, used ? attempts : ends.length + 1)
        const goesOn = replicas.some(({ state }) => state === 'running')
        if (used && !goesOn) assert.deepEqual([state, failure?.code], ['failed', 'too_many_errors'])
        else assert.equal(state, 'running')
        const how = state === 'failed' ? 'failed' : used ? 'used up, and a straggler runs on' : 'goes on'
        ended[how] = (ended[how] ?? 0) + 1
        for (const one of ends) ended[one] = (ended[one] ?? 0) + 1
        if (state === 'failed') return
        // Whoever has it brings it to its end, a straggler too; no run more is asked for.
        const last = [...at.nodes.values()].find(({ id, leases }) => !silent.has(id) && leases.size > 0)
        assert.ok(last !== undefined)
        at.work(last, { output: 'the truth' })
        assert.deepEqual([at.record(T).state, at.record(T).replicas.length], ['ready', replicas.length])
      }),
      { numRuns: 300 }
    )
    for (const what of ['failed', 'used up, and a straggler runs on', 'goes on', 'fails', 'is lost', 'straggles'])
      assert.ok((ended[what] ?? 0) > 20, `${what}: ${ended[what]}`)
  })
})
