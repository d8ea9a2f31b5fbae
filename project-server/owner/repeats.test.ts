import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { covers, DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer, outputOf } from '#test/support/coordinator-parts'
import { recheckKey, revisedKey } from '../coordinator/keys.ts'
import { encodeRecheckRecord, encodeRevisedRecord } from '../coordinator/trust-records.ts'
import { storeViews } from './store-views.ts'
import { Submissions } from './submit.ts'

const A = batchId(1)
const B = batchId(2)
const T = `${A}.0`
const ONE = { minQuorum: 1, targetResults: 1 }
const TWO = { minQuorum: 2, targetResults: 2 }

/** A project among whose nodes everything ran once under this policy, and which holds what came of it. */
async function decided(policy: Partial<TaskPolicy>, texts: readonly string[] = ['x']) {
  const at = await new CoordinatorWorld().start()
  const gone = new Set<string>()
  const make = () =>
    new Submissions({
      content: {
        check: async (root) => !gone.has(root.toString()),
        has: () => true,
        locate: () => '/x',
        resolve: () => undefined,
        sizeOf: () => undefined,
        getBlock: async () => undefined
      },
      random: { bytes: (count: number) => new Uint8Array(count) },
      committer: {
        assertOpen() {},
        flush: async () => undefined,
        commit: async (event) => at.apply(event),
        write: async (changes) => at.store.write(at.epoch, changes)
      },
      coordinator: at.coordinator,
      store: at.store
    })
  let submissions = make()
  const submit = (batch: string, asked: Partial<TaskPolicy>, by = 'owner', of = texts, more = false, first = 0) =>
    submissions.add(
      { batch, name: '', by, manifests: of.map((text) => bundle(text).bytes), policy: { ...DEFAULT_POLICY, ...asked }, more, labels: [], retryOf: null },
      first
    )
  const join = () => ['ann', 'bob', 'cid'].map((name) => at.join(name, offer(4)))
  const nodes = join()
  const work = () => {
    for (let round = 0; round < 3; round++) for (const node of nodes) at.work(node, { output: 'made' })
  }
  await submit(A, policy)
  work()
  const restart = async () => {
    await at.start()
    submissions = make()
    join()
  }
  return { at, gone, submit, work, restart, views: (client: string) => storeViews(at.store, at.coordinator, { client, all: false }) }
}

describe('what was decided already (D16)', () => {
  it('is ready at once with the receipt that there is, without any replica, over a restart', async () => {
    const { at, submit, restart, views } = await decided(TWO)
    assert.equal(at.record(T).state, 'ready')
    await restart()
    await submit(B, TWO)
    const task = at.record(`${B}.0`)
    assert.deepEqual([task.state, task.repeats, task.replicas.length, task.decision], ['ready', T, 0, at.record(T).decision])
    assert.equal(at.coordinator.batch(B), undefined, 'the batch is over')
    assert.equal(at.receipts.has(`${B}.0`), false)
    const view = await views('owner').task(`${B}.0`)
    assert.deepEqual([view?.repeats, view?.output, view?.agreeing, view?.decidedAtMs], [T, outputOf('made').toString(), 2, at.nowMs])
  })

  it('is run again when that is asked for', async () => {
    const { at, submit, work } = await decided(TWO)
    await submit(B, { ...TWO, force: true })
    assert.equal(at.record(`${B}.0`).state, 'running')
    work()
    assert.deepEqual([at.record(`${B}.0`).repeats, at.receipts.has(`${B}.0`)], [null, true])
  })

  it('is run again when the policy asks for more than it was decided by, and then that counts', async () => {
    const { at, submit, work } = await decided(ONE)
    await submit(B, TWO)
    assert.equal(at.record(`${B}.0`).state, 'running')
    work()
    await submit(batchId(3), TWO)
    assert.equal(at.record(`${batchId(3)}.0`).repeats, `${B}.0`)
  })

  it('is run again while one node alone decided it and that is looked at again, and when it was not confirmed', async () => {
    const { at, submit } = await decided(TWO)
    const write = (key: string, value: Uint8Array | null) => at.store.write(at.epoch, [{ key, value }])
    const revised = (verdict: 'confirmed' | 'revoked' | 'open') => encodeRevisedRecord({ verdict, by: T, vote: '', atMs: 1 })
    const isRepeated = async (number: number) => {
      await submit(batchId(number), TWO)
      return at.record(`${batchId(number)}.0`).repeats !== null
    }
    write(recheckKey(T), encodeRecheckRecord({ node: 'ann', vote: '', by: null, earned: null }))
    assert.equal(await isRepeated(3), false)
    write(recheckKey(T), null)
    write(revisedKey(T), revised('confirmed'))
    assert.equal(await isRepeated(4), true)
    write(revisedKey(T), revised('revoked'))
    assert.equal(await isRepeated(5), false)
  })

  it('is found whatever was said of how it should get there', async () => {
    const { at, submit } = await decided(TWO)
    await submit(B, { ...TWO, copies: 'never', estimateMs: 1_000, priority: 3 })
    assert.equal(at.record(`${B}.0`).repeats, T)
  })

  it('is computed again when its output is no longer here', async () => {
    const { at, gone, submit } = await decided(TWO)
    gone.add(outputOf('made').toString())
    await submit(B, TWO)
    assert.deepEqual([at.record(`${B}.0`).state, at.record(`${B}.0`).repeats], ['running', null])
  })

  it("is no other client's: what that decided does not exist for this one", async () => {
    const { at, submit, views } = await decided(TWO)
    await submit(B, TWO, 'another')
    assert.equal(at.record(`${B}.0`).state, 'running')
    assert.equal(await views('another').receipt(T), undefined)
  })

  it('is not what failed, what was killed, or what still runs', async () => {
    const at = await decided(ONE, ['x', 'y'])
    assert.equal(at.at.record(`${A}.1`).state, 'ready')
    await at.submit(B, ONE, 'owner', ['z'])
    await at.submit(batchId(3), ONE, 'owner', ['z'])
    assert.deepEqual([at.at.record(`${B}.0`).repeats, at.at.record(`${batchId(3)}.0`).repeats], [null, null])
    at.at.apply({ kind: 'kill', batch: B, by: 'owner' }, { kind: 'kill', batch: batchId(3), by: 'owner' })
    await at.submit(batchId(4), ONE, 'owner', ['z'])
    assert.equal(at.at.record(`${batchId(4)}.0`).repeats, null)
  })

  it('waits for the rest of its batch, over a restart, and is counted with what had to be run', async () => {
    const { at, submit, work, restart } = await decided(ONE)
    await submit(B, ONE, 'owner', ['x'], true)
    assert.equal(at.record(`${B}.0`).state, 'created')
    await restart()
    await submit(B, ONE, 'owner', ['x', 'new'], false, 0)
    assert.deepEqual([at.record(`${B}.0`).state, at.record(`${B}.1`).state], ['ready', 'running'])
    assert.deepEqual([at.coordinator.batch(B)?.ready, at.coordinator.batch(B)?.running], [1, 1])
    work()
    assert.equal(at.record(`${B}.1`).state, 'ready')
  })
})

it('a policy is covered by itself and by what is stricter, and by nothing that leaves something out', () => {
  const policy = fc.record({
    minQuorum: fc.integer({ min: 1, max: 3 }),
    independence: fc.constantFrom('prefer' as const, 'require' as const),
    tags: fc.subarray(['a', 'b']),
    nodes: fc.subarray(['m', 'n']),
    priority: fc.integer()
  })
  fc.assert(
    fc.property(policy, policy, (had, asked) => {
      const [a, b] = [
        { ...DEFAULT_POLICY, ...had },
        { ...DEFAULT_POLICY, ...asked }
      ]
      assert.ok(covers(a, a))
      const should =
        a.minQuorum >= b.minQuorum &&
        (a.independence === 'require' || b.independence === 'prefer') &&
        b.tags.every((tag) => a.tags.includes(tag)) &&
        (b.nodes.length === 0 || (a.nodes.length > 0 && a.nodes.every((node) => b.nodes.includes(node))))
      assert.equal(covers(a, b), should)
    })
  )
  assert.ok(!covers({ ...DEFAULT_POLICY, something: 1 } as TaskPolicy, DEFAULT_POLICY), 'what is not known must be equal')
})
