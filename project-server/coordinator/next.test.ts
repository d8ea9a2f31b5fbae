import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, dataBundle, offer, plainBundle } from '#test/support/coordinator-parts'
import { DEFAULT_COORDINATOR_POLICY, NEXT_PASSED_FACTOR, NEXT_PASSED_MIN } from './policy.ts'

const A = batchId(1)
const B = batchId(2)
const SINGLE = { minQuorum: 1, targetResults: 1 }
/** One tree of so many MiB each, of its own. */
const each = (names: string, mebibytes = 10) => [...names].map((name) => dataBundle(name, { [`data of ${name}`]: mebibytes }))

async function world(): Promise<CoordinatorWorld> {
  return new CoordinatorWorld().start()
}

/** A node with one slot that runs the first of these tasks. */
async function busyWith(names: string, policy: object = SINGLE): Promise<{ at: CoordinatorWorld; ann: ScriptedNode }> {
  const at = await world()
  const ann = at.join('ann', offer(1), [], 4)
  at.submit(A, each(names), policy)
  at.begin(ann, `${A}.0.1`)
  return { at, ann }
}

/** Its content has come. */
function brought(at: CoordinatorWorld, node: string, name: string): void {
  at.apply({ kind: 'holdings', node, got: [{ root: `data of ${name}`, bytes: 10 * 1024 ** 2 }], dropped: [] })
}

function nextOf(at: CoordinatorWorld, task: string): string {
  return (at.coordinator.why(task)?.next ?? []).map(({ id, here }) => `${id}${here ? ' here' : ''}`).join(', ')
}

describe('what is next at a busy node (S20)', () => {
  it('is the first task that waits, for as many runs as may end there, and is leased there when one has', async () => {
    const { at, ann } = await busyWith('abc')
    assert.deepEqual(ann.next, ['b'])
    assert.equal(nextOf(at, `${A}.1`), 'ann')
    assert.equal(at.coordinator.nodes()[0]?.next, 1)
    brought(at, 'ann', 'b')
    assert.equal(nextOf(at, `${A}.1`), 'ann here')
    at.report(ann, `${A}.0.1`)
    assert.equal(at.states(`${A}.1`), 'ann leased')
    assert.deepEqual(ann.next, [], 'nothing is brought while its own content is being prepared')
    at.begin(ann, `${A}.1.1`)
    assert.deepEqual(ann.next, ['c'])
  })

  it('is told to who asks for it alone', async () => {
    const at = await world()
    const old = at.join('old', offer(1))
    at.submit(A, each('ab'), SINGLE)
    at.begin(old, `${A}.0.1`)
    assert.deepEqual(old.next, [])
    assert.equal(nextOf(at, `${A}.1`), '')
  })

  it('holds nothing: another node that is free takes it at once, and nobody is blamed', async () => {
    const { at, ann } = await busyWith('ab')
    assert.deepEqual(ann.next, ['b'])
    at.join('bob', offer(1), [], 4)
    assert.equal(at.states(`${A}.1`), 'bob leased')
    assert.deepEqual(ann.next, [])
    assert.deepEqual(at.counts('ann'), { valid: 0, invalid: 0, errors: 0, lost: 0 })
    assert.equal(at.record(`${A}.1`).replicas.length, 1)
  })

  it('is brought where something is missing, and not where it is there or small', async () => {
    const at = await world()
    const ann = at.join('ann', offer(1), ['data of b'], 4)
    at.submit(A, [dataBundle('a', { x: 5 }), dataBundle('b', { 'data of b': 5 }), dataBundle('c', { y: 0.5 }), dataBundle('d', { z: 5 })], SINGLE)
    for (const [index, next] of ['b', 'c', 'd'].entries()) {
      at.begin(ann, `${A}.${index}.1`)
      assert.equal(nextOf(at, `${A}.${index + 1}`), next === 'd' ? 'ann' : 'ann here')
      assert.deepEqual(ann.next, next === 'd' ? ['d'] : [])
      at.report(ann, `${A}.${index}.1`)
    }
  })

  it('is let go when it is killed or held, and comes again with a release', async () => {
    const { at, ann } = await busyWith('abcd')
    at.apply({ kind: 'kill', batch: A, task: `${A}.1`, by: 'owner' })
    assert.deepEqual(ann.next, ['c'])
    at.apply({ kind: 'hold', batch: A, by: 'owner', reason: '', stop: false })
    assert.deepEqual(ann.next, [])
    at.apply({ kind: 'release', batch: A, by: 'owner' })
    at.pass(1000)
    assert.deepEqual(ann.next, ['c'])
  })

  it('is let go by a node that pauses, falls silent, leaves or fails too often', async () => {
    const ends: readonly ((at: CoordinatorWorld, ann: ScriptedNode) => void)[] = [
      (at) => at.apply({ kind: 'demand', node: 'ann', slots: 0 }),
      (at) => at.apply({ kind: 'gone', node: 'ann' }),
      (at, ann) => at.pass(16_000, [ann]),
      (at, ann) => at.apply({ kind: 'bye', node: 'ann', seq: ++ann.sent }),
      (at) => at.apply({ kind: 'ban', by: 'owner', target: { kind: 'node', value: 'ann' }, reason: '', lift: false })
    ]
    for (const end of ends) {
      const { at, ann } = await busyWith('ab')
      assert.equal(nextOf(at, `${A}.1`), 'ann')
      end(at, ann)
      assert.equal(nextOf(at, `${A}.1`), '')
    }
  })

  it('is told anew after a hello, to a coordinator that was started again, too', async () => {
    const { at, ann } = await busyWith('ab')
    ann.next = ['something else']
    at.join('ann')
    assert.deepEqual(ann.next, ['b'])
    await at.start()
    assert.equal(nextOf(at, `${A}.1`), '')
    at.join('ann')
    assert.deepEqual(ann.next, ['b'])
  })

  it('is another task where one of a higher priority comes, and keeps its place', async () => {
    const { at, ann } = await busyWith('ab')
    at.submit(B, [plainBundle('urgent')], { ...SINGLE, priority: 5 })
    at.report(ann, `${A}.0.1`)
    assert.equal(at.states(`${B}.0`), 'ann running')
    assert.equal(at.states(`${A}.1`), '')
    assert.equal(nextOf(at, `${A}.1`), 'ann')
  })

  it('is of the client whose turn it is', async () => {
    const at = await world()
    const ann = at.join('ann', offer(1), [], 4)
    at.submit(A, each('abc'), SINGLE)
    at.begin(ann, `${A}.0.1`)
    at.submit(B, each('xy'), SINGLE, { by: 'other' })
    at.pass(20_000)
    at.report(ann, `${A}.0.1`)
    assert.equal(at.states(`${B}.0`), 'ann leased')
    at.begin(ann, `${B}.0.1`)
    assert.deepEqual(ann.next, ['b'])
  })

  it('is let go where the run before it takes far longer than others', async () => {
    const at = await world()
    const ann = at.join('ann', offer(1), [], 4)
    at.submit(A, each('abcdefgh'), SINGLE)
    for (let index = 0; index < 6; index++) {
      at.begin(ann, `${A}.${index}.1`)
      at.pass(1000)
      at.report(ann, `${A}.${index}.1`)
    }
    at.begin(ann, `${A}.6.1`)
    assert.equal(nextOf(at, `${A}.7`), 'ann')
    at.pass(10_000)
    assert.equal(nextOf(at, `${A}.7`), '')
    assert.deepEqual(ann.next, [])
  })

  it('is let go where others have begun twice as many meanwhile, though nobody knows what a run takes', async () => {
    const at = await world()
    const ann = at.join('ann', offer(1), [], 4)
    const bob = at.join('bob', offer(1), [], 4)
    at.submit(
      A,
      Array.from({ length: 60 }, (_, index) => dataBundle(`${index}`, { [`data of ${index}`]: 10 })),
      { ...SINGLE, estimateMs: 0 }
    )
    const slow = at.states(`${A}.0`).startsWith('ann') ? ann : bob
    const quick = slow === ann ? bob : ann
    for (const node of [slow, quick]) at.begin(node, [...node.leases.keys()][0] ?? '')
    const first = slow.next[0] ?? ''
    let rounds = 0
    for (; nextOf(at, `${A}.${first}`).startsWith(slow.id); rounds++) {
      assert.ok(rounds <= NEXT_PASSED_MIN + NEXT_PASSED_FACTOR * 2 + 1, 'it waits behind the slow one for ever')
      at.report(quick, [...quick.leases.keys()][0] ?? '')
      at.begin(quick, [...quick.leases.keys()][0] ?? '')
    }
    assert.ok(rounds > 1)
    at.report(quick, [...quick.leases.keys()][0] ?? '')
    assert.match(at.states(`${A}.${first}`), new RegExp(`^(${quick.id} |$)`))
  })

  it('lets a hundred nodes each begin what was brought to it', async () => {
    const at = await new CoordinatorWorld({ ...DEFAULT_COORDINATOR_POLICY, idleCopies: 0 }).start()
    const nodes = Array.from({ length: 100 }, (_, index) => at.join(`node ${index}`, offer(1), [], 1))
    at.submit(
      A,
      Array.from({ length: 300 }, (_, index) => dataBundle(`${index}`, { [`data of ${index}`]: 10 })),
      SINGLE
    )
    for (const node of nodes) at.begin(node, [...node.leases.keys()][0] ?? '')
    for (const node of [...nodes].reverse()) {
      const [next = ''] = node.next
      at.report(node, [...node.leases.keys()][0] ?? '')
      assert.equal(at.states(`${A}.${next}`), `${node.id} leased`)
      at.begin(node, `${A}.${next}.1`)
    }
  })

  it('leaves a data set to the node that has it, as placing does', async () => {
    const at = await world()
    const ann = at.join('ann', offer(1), ['set'], 4)
    const bob = at.join('bob', offer(1), ['other'], 4)
    at.submit(batchId(9), [plainBundle('like others')], SINGLE)
    at.pass(1000)
    for (const node of [ann, bob]) at.work(node)
    at.submit(A, [dataBundle('1', { set: 256 }), dataBundle('2', { other: 256 }), dataBundle('3', { set: 256 })], SINGLE)
    at.begin(ann, `${A}.0.1`)
    at.begin(bob, `${A}.1.1`)
    assert.equal(nextOf(at, `${A}.2`), 'ann here')
    assert.deepEqual([ann.next, bob.next], [[], []])
  })
})

it('S20: whatever comes and goes, a task is next at no more nodes than it waits for, a node has no more than its runs, and none is idle that a task could begin on', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('submit' as const), tasks: fc.integer({ min: 1, max: 5 }), sets: fc.nat({ max: 6 }), quorum: fc.integer({ min: 1, max: 2 }) }),
    fc.record({
      do: fc.constantFrom(
        'begin' as const,
        'begin' as const,
        'report' as const,
        'report' as const,
        'back' as const,
        // Mostly there is nothing to bring.
        'bring' as const,
        'bring' as const,
        'bring' as const,
        'join' as const,
        'gone' as const
      ),
      node: fc.nat({ max: 3 })
    }),
    fc.record({ do: fc.constantFrom('kill' as const, 'hold' as const, 'release' as const), batch: fc.nat({ max: 9 }) }),
    fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(500, 3_000, 20_000) })
  )
  const sometimes = { next: 0, brought: 0, taken: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120, size: 'max' }), async (steps) => {
      const at = await world()
      const nodes = ['ann', 'bob', 'cid', 'dan'].map((id, index) => at.join(id, offer(1 + (index % 2)), [], index === 3 ? 0 : 2))
      let batches = 0
      for (const one of steps) {
        const node = 'node' in one ? (nodes[one.node] as ScriptedNode) : undefined
        const held = [...(node?.leases.keys() ?? [])]
        const batch = 'batch' in one ? batchId(1 + (one.batch % Math.max(1, batches))) : ''
        if (one.do === 'submit') {
          const bundles = Array.from({ length: one.tasks }, (_, index) =>
            dataBundle(`${batches}.${index}`, { [`set ${(one.sets + index) % 7}`]: index % 2 === 0 ? 10 : 0.5 })
          )
          at.submit(batchId(++batches), bundles, { minQuorum: one.quorum, targetResults: one.quorum })
        } else if (one.do === 'pass') at.pass(one.ms)
        else if (one.do === 'kill') at.apply({ kind: 'kill', batch, by: 'owner' })
        else if (one.do === 'hold') at.apply({ kind: 'hold', batch, by: 'owner', reason: '', stop: false })
        else if (one.do === 'release') at.apply({ kind: 'release', batch, by: 'owner' })
        else if (node === undefined) continue
        else if (one.do === 'join') at.join(node.id, offer(1 + (nodes.indexOf(node) % 2)))
        else if (one.do === 'gone') at.apply({ kind: 'gone', node: node.id })
        else if (at.coordinator.isOnline(node.id) && held[0] !== undefined) {
          const [first] = held
          if (one.do === 'begin') at.begin(node, first)
          if (one.do === 'back') at.giveBack(node, first, 'owner')
          if (one.do === 'report' && node.granted.has(first)) at.report(node, first)
          if (one.do === 'bring' && node.next.length > 0) {
            sometimes.brought++
            at.apply({ kind: 'holdings', node: node.id, got: [0, 1, 2, 3, 4, 5, 6].map((set) => ({ root: `set ${set}`, bytes: 10 * 1024 ** 2 })), dropped: [] })
          }
        }
        const count = new Map<string, number>()
        for (let number = 1; number <= batches; number++) {
          const record = at.coordinator.batch(batchId(number))
          for (let index = 0; index < (record?.tasks ?? 0); index++) {
            const id = `${batchId(number)}.${index}`
            const view = at.coordinator.why(id)
            if (view === undefined) continue
            const next = view.next ?? []
            assert.equal(new Set(next.map((where) => where.id)).size, next.length)
            assert.ok(next.length <= view.wanted, `${id} is next at ${next.length} nodes and waits for ${view.wanted}`)
            assert.ok(next.length === 0 || view.waitsFor === 'turn', `${id} is next somewhere and waits for ${view.waitsFor}`)
            assert.equal(
              view.nodes?.find(({ reason }) => reason === 'free'),
              undefined,
              `${id} waits although a node is free for it`
            )
            for (const where of next) {
              count.set(where.id, (count.get(where.id) ?? 0) + 1)
              sometimes.next++
              if (at.record(id).replicas.some((replica) => replica.node !== where.id)) sometimes.taken++
            }
          }
        }
        for (const view of at.coordinator.nodes()) {
          assert.equal(view.next ?? 0, count.get(view.id) ?? 0)
          assert.ok((view.next ?? 0) <= Math.min(view.busy, 2, at.nodes.get(view.id)?.nextMax ?? 0), `${view.id} has ${view.next} next and runs ${view.busy}`)
          assert.ok(view.state === 'online' || view.next === undefined)
          assert.ok((at.nodes.get(view.id)?.next.length ?? 0) <= (view.next ?? 0) || view.state !== 'online', `${view.id} brings what is not next there`)
        }
      }
    }),
    { numRuns: 60 }
  )
  for (const [what, times] of Object.entries(sometimes)) assert.ok(times > 0, `${what} never happened`)
})
