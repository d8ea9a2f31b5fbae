import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, dataBundle, MIB, offer, outputOf, plainBundle } from '#test/support/coordinator-parts'
import { completion } from '#test/support/coordinator-shell'
import { HELD_BACK_MS_MAX, LINE_BYTES_PER_MS, PASSED_MAX } from './policy.ts'

const A = batchId(1)
const B = batchId(2)
const SINGLE = { minQuorum: 1, targetResults: 1 }
/** What moving so many MiB is taken to last. */
const moveMs = (mebibytes: number): number => (mebibytes * 1024 ** 2) / LINE_BYTES_PER_MS

async function world(): Promise<CoordinatorWorld> {
  return new CoordinatorWorld().start()
}

/** Runs that take so long have ended, so that others are expected to. */
function learn(at: CoordinatorWorld, node: ScriptedNode, ms: number): void {
  at.submit(batchId(99), [plainBundle('like others')], SINGLE)
  at.pass(ms)
  at.work(node)
}

describe('placing by data', () => {
  it('D09: takes the free node that lacks the fewest bytes, not the fewest trees', async () => {
    const at = await world()
    at.join('small ones', offer(4), ['a', 'b'])
    at.join('large one', offer(1), ['c'])
    at.join('nothing', offer(9))
    at.submit(A, [dataBundle('x', { a: 2, b: 3, c: 60 })], SINGLE)
    assert.equal(at.states(`${A}.0`), 'large one leased')
  })

  it('D09: whatever lies where, no other free node lacks fewer bytes than the one that gets the task', async () => {
    const names = ['a', 'b', 'c', 'd']
    const held = fc.uniqueArray(fc.constantFrom(...names), { maxLength: 4 })
    const sizes = fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 4, maxLength: 4 })
    let chosen = 0
    await fc.assert(
      fc.asyncProperty(fc.array(held, { minLength: 2, maxLength: 6 }), sizes, fc.subarray(names, { minLength: 1 }), async (nodes, mebibytes, needed) => {
        const world = await new CoordinatorWorld().start()
        for (const [index, roots] of nodes.entries()) world.join(`node ${index}`, offer(1 + index), roots)
        const sets = Object.fromEntries(needed.map((name) => [name, mebibytes[names.indexOf(name)] ?? 1]))
        world.submit(batchId(1), [dataBundle('x', sets)], { minQuorum: 1, targetResults: 1 })
        const missing = nodes.map((roots) => needed.reduce((sum, name) => sum + (roots.includes(name) ? 0 : (sets[name] ?? 0)), 0))
        const got = [...world.nodes.values()].findIndex(({ leases }) => leases.size > 0)
        assert.equal(missing[got], Math.min(...missing), `node ${got} of ${missing.join(' ')}`)
        if (Math.min(...missing) < Math.max(...missing)) chosen++
      }),
      { numRuns: 300 }
    )
    assert.ok(chosen > 100, `${chosen}`)
  })

  it('knows what a task takes from others, which its template did not name', async () => {
    const at = await world()
    at.completes = false
    const maker = at.join('maker')
    const takes = { allowFailed: false, list: [{ name: 'in', of: '', from: 0, count: 1, part: 'output' as const, path: '' }] }
    at.submit(A, [plainBundle('makes'), plainBundle('takes')], SINGLE, { sources: new Map([[1, takes]]) })
    at.report(maker, `${A}.0.1`, { output: 'made', bytes: 100 * MIB })
    at.join('larger', offer(5))
    const answer = completion(at.store, `${A}.1`)
    assert.ok(answer.bundle !== null)
    at.apply({ ...answer, bundle: { ...answer.bundle, data: [{ root: String(outputOf('made')), within: null, bytes: 100 * MIB }] } })
    assert.equal(at.states(`${A}.1`), 'maker leased')
  })

  it('takes the one with the most free slots among those that have all', async () => {
    const at = await world()
    for (const [id, slots] of [
      ['one', 1],
      ['three', 3],
      ['two', 2]
    ] as const)
      at.join(id, offer(slots), ['a'])
    at.submit(A, [dataBundle('x', { a: 10 })], SINGLE)
    assert.equal(at.states(`${A}.0`), 'three leased')
  })

  it('does not look at what is smaller than a MiB', async () => {
    const at = await world()
    at.join('has it', offer(1), ['a'])
    at.join('has room', offer(2))
    at.submit(A, [dataBundle('x', { a: 0.5 })], SINGLE)
    assert.equal(at.states(`${A}.0`), 'has room leased')
  })

  it('counts what a lease brings to a node, until the lease is given back', async () => {
    const at = await world()
    const ann = at.join('ann', offer(2))
    at.join('bob', offer(4))
    at.submit(A, [dataBundle('x', { a: 10 })], SINGLE)
    assert.equal(at.states(`${A}.0`), 'bob leased')
    at.submit(B, [dataBundle('y', { a: 10 })], SINGLE)
    assert.equal(at.states(`${B}.0`), 'bob leased')
    const bob = at.nodes.get('bob') ?? ann
    at.apply({ kind: 'gone', node: 'ann' })
    for (const replica of [...bob.leases.keys()]) at.giveBack(bob, replica, 'node')
    at.join('ann', offer(2))
    at.submit(batchId(3), [dataBundle('z', { a: 10 })], SINGLE)
    assert.match(at.states(`${A}.0`), /ann leased$/)
  })

  it('knows of what came and of what was dropped', async () => {
    const at = await world()
    at.join('ann')
    at.join('bob', offer(1), ['a'])
    at.apply({ kind: 'holdings', node: 'ann', got: [{ root: 'a', bytes: 1 }], dropped: [] }, { kind: 'holdings', node: 'bob', got: [], dropped: ['a'] })
    at.submit(A, [dataBundle('x', { a: 10 })], SINGLE)
    assert.equal(at.states(`${A}.0`), 'ann leased')
  })

  it('knows after a restart what the hellos say, and how large everything is from its records', async () => {
    const at = await world()
    at.submit(A, [dataBundle('x', { a: 10 })], SINGLE)
    await at.start()
    at.apply({ kind: 'hello', node: 'ann', link: 'l', spare: 'l', received: 0, offer: offer(0), replicas: [] })
    at.join('bob', offer(0), ['a'])
    at.apply({ kind: 'demand', node: 'ann', slots: 8 })
    assert.equal(at.states(`${A}.0`), 'ann leased')
  })

  it('gives a node that became free the first task whose data it has', async () => {
    const at = await world()
    const ann = at.join('ann', offer(1), ['a'])
    at.submit(A, [plainBundle('first')], SINGLE)
    at.submit(B, [dataBundle('x', { b: 10 }), dataBundle('y', { c: 10 }), dataBundle('z', { a: 10 })], SINGLE)
    at.work(ann)
    assert.equal(at.states(`${B}.2`), 'ann leased')
    assert.equal(at.states(`${B}.0`), '')
  })

  it('finds the output of a task at the nodes that agreed on it', async () => {
    const at = await world()
    const ann = at.join('ann', offer(1))
    at.submit(A, [plainBundle('parent')], SINGLE)
    at.work(ann, { output: 'x', bytes: 5 * 1024 ** 2 })
    at.join('bob', offer(9))
    at.submit(B, [dataBundle('child', { [outputOf('x').toString()]: 5 })], SINGLE)
    assert.equal(at.states(`${B}.0`), 'ann leased')
  })

  it('lets a task without data keep its turn', async () => {
    const at = await world()
    const ann = at.join('ann', offer(1), ['a'])
    at.submit(A, [plainBundle('first')], SINGLE)
    at.submit(B, [plainBundle('x'), dataBundle('y', { a: 10 })], SINGLE)
    at.work(ann)
    assert.equal(at.states(`${B}.0`), 'ann running')
  })
})

describe('a task whose data is at a busy node', () => {
  it('waits for it while that is likely free before the bytes would have moved, and no longer', async () => {
    const at = await world()
    const ann = at.join('ann', offer(1), ['a'])
    learn(at, ann, 1_000)
    at.submit(A, [plainBundle('busy')], SINGLE)
    at.join('bob', offer(4))
    at.submit(B, [dataBundle('x', { a: 100 })], SINGLE)
    assert.equal(at.states(`${B}.0`), '')
    at.pass(moveMs(100) - 500)
    assert.equal(at.states(`${B}.0`), '')
    at.pass(1_000)
    assert.equal(at.states(`${B}.0`), 'bob leased')
  })

  it('is given to it when it becomes free', async () => {
    const at = await world()
    const ann = at.join('ann', offer(1), ['a'])
    learn(at, ann, 1_000)
    at.submit(A, [plainBundle('busy')], SINGLE)
    at.join('bob', offer(4))
    at.submit(B, [dataBundle('x', { a: 100 })], SINGLE)
    at.pass(1_000)
    at.work(ann)
    assert.equal(at.states(`${B}.0`), 'ann leased')
  })

  it('goes elsewhere at once when runs there take longer than moving', async () => {
    const at = await world()
    const ann = at.join('ann', offer(1), ['a'])
    learn(at, ann, 30_000)
    at.submit(A, [plainBundle('busy')], SINGLE)
    at.join('bob', offer(4))
    at.submit(B, [dataBundle('x', { a: 100 })], SINGLE)
    assert.equal(at.states(`${B}.0`), 'bob leased')
  })

  it('does not wait for a node that is away, was given it already or could not run it', async () => {
    for (const trouble of ['away', 'small']) {
      const at = await world()
      const ann = at.join('ann', trouble === 'small' ? offer(1, { memoryBytes: 1024 ** 3 }) : offer(1), ['a'])
      learn(at, ann, 1_000)
      at.submit(A, [plainBundle('busy')], SINGLE)
      at.join('bob', offer(4))
      if (trouble === 'away') at.apply({ kind: 'gone', node: 'ann' })
      const wide = dataBundle('x', { a: 100 })
      at.submit(B, [{ ...wide, manifest: { ...wide.manifest, resources: { ...wide.manifest.resources, memoryBytes: 2 * 1024 ** 3 } } }], SINGLE)
      assert.equal(at.states(`${B}.0`), 'bob leased', trouble)
    }
  })

  it('holds up nobody', async () => {
    const at = await world()
    const ann = at.join('ann', offer(1), ['a'])
    learn(at, ann, 1_000)
    at.submit(A, [plainBundle('busy')], SINGLE)
    at.join('bob', offer(1))
    at.submit(B, [dataBundle('x', { a: 100 }), plainBundle('y')], SINGLE)
    assert.equal(at.states(`${B}.0`), '')
    assert.equal(at.states(`${B}.1`), 'bob running')
  })
})

describe('whatever is asked of nodes with data', () => {
  const set = fc.constantFrom('a', 'b', 'c', 'd')
  const task = fc.oneof({ weight: 4, arbitrary: fc.record({ set, mebibytes: fc.constantFrom(2, 40, 400) }) }, { weight: 1, arbitrary: fc.constant(null) })
  const move = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('submit' as const), tasks: fc.array(task, { minLength: 1, maxLength: 12 }) }) },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('work' as const), node: fc.nat(3) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(100, 1_000, 10_000) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), node: fc.nat(3), set }) }
  )

  it('no task is passed over by more than PASSED_MAX later ones, nor waits longer than its bound beside a free node', async () => {
    let most = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(move, { minLength: 10, maxLength: 60 }),
        fc.array(fc.array(set, { maxLength: 3 }), { minLength: 4, maxLength: 4 }),
        async (moves, held) => {
          const at = await world()
          const nodes = held.map((sets, index) => at.join(`n${index}`, offer(1 + (index % 2)), sets))
          const tasks: string[] = []
          const started = new Set<string>()
          const passedBy = new Map<string, number>()
          const freeSince = new Map<string, number>()
          const look = (): void => {
            const fresh = tasks.filter((id) => !started.has(id) && at.states(id) !== '')
            for (const id of fresh) started.add(id)
            const last = Math.max(-1, ...fresh.map((id) => tasks.indexOf(id)))
            for (const [index, id] of tasks.entries()) {
              if (started.has(id)) {
                freeSince.delete(id)
                continue
              }
              if (index < last) passedBy.set(id, (passedBy.get(id) ?? 0) + fresh.filter((other) => tasks.indexOf(other) > index).length)
              most = Math.max(most, passedBy.get(id) ?? 0)
              assert.ok((passedBy.get(id) ?? 0) <= PASSED_MAX, `${id} was passed by ${passedBy.get(id)}`)
              if (!nodes.some((node, at) => node.leases.size < 1 + (at % 2))) freeSince.delete(id)
              else if (!freeSince.has(id)) freeSince.set(id, at.nowMs)
              const sinceMs = at.nowMs - (freeSince.get(id) ?? at.nowMs)
              assert.ok(sinceMs <= HELD_BACK_MS_MAX + 500, `${id} waits beside a free node for ${sinceMs} ms`)
            }
          }
          for (const [index, one] of moves.entries()) {
            if (one.kind === 'submit') {
              const batch = batchId(index + 1)
              tasks.push(...one.tasks.map((_, index) => `${batch}.${index}`))
              at.submit(
                batch,
                one.tasks.map((wanted, index) =>
                  wanted === null ? plainBundle(`${index}`) : dataBundle(`${wanted.set}${index}`, { [wanted.set]: wanted.mebibytes })
                ),
                SINGLE
              )
            } else if (one.kind === 'work') at.work(nodes[one.node] as ScriptedNode)
            else if (one.kind === 'drop') at.apply({ kind: 'holdings', node: `n${one.node}`, got: [], dropped: [one.set] })
            else at.pass(one.ms)
            look()
          }
          for (let round = 0; round < 200 && tasks.some((id) => !started.has(id)); round++) {
            for (const node of nodes) at.work(node)
            at.pass(1_000)
            look()
          }
          assert.deepEqual(
            tasks.filter((id) => !started.has(id)),
            []
          )
        }
      ),
      { numRuns: 100 }
    )
    assert.ok(most > 0, 'some task was passed')
  })
})
