import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Sweep } from '#protocol/bundle/sweep'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, offer, outputOf, plainBundle } from '#test/support/coordinator-parts'
import { SWEEP_LOOK_MAX } from './coordinator/policy.ts'
import { SILENT } from './logger.ts'
import { SweepLooks } from './sweep-looks.ts'

const SINGLE = { minQuorum: 1, targetResults: 1 }

async function project() {
  const at = await new CoordinatorWorld().start()
  at.looks = false
  const gone = new Set<string>()
  const content = { check: async (root: { toString(): string }) => !gone.has(root.toString()), has: () => true }
  const looks = new SweepLooks({ store: at.store, content, committer: { apply: (event) => at.apply(event) }, logger: SILENT })
  const node = at.join('n', offer(64))
  const ran: string[] = []
  let seen = 0
  const settle = async (): Promise<void> => {
    for (;;) {
      const before = seen
      const effects = at.effects.slice(seen)
      seen = at.effects.length
      for (const effect of effects) if (effect.kind === 'look') looks.look(effect)
      await looks.stop()
      ran.push(...[...node.leases.keys()].map((replica) => replica.slice(0, replica.lastIndexOf('.'))))
      at.work(node, { output: 'made' })
      if (at.effects.length === before) return
    }
  }
  const sweep = async (id: number, to: number, policy = {}): Promise<number> => {
    const values: Sweep = { mode: 'product', parameters: [{ name: 'x', values: { from: 0, to: to - 1, step: 1 } }] }
    at.submit(batchId(id), [], { ...SINGLE, ...policy }, { sweep: { template: plainBundle('{x}'), sweep: values } })
    const before = ran.length
    await settle()
    assert.equal(at.coordinator.batch(batchId(id)), undefined, 'it is over')
    return ran.length - before
  }
  return { at, gone, sweep, settle }
}

it('a sweep that was submitted before is ready at once, however long it is, and what is new of it is run (D16)', async () => {
  const { at, sweep } = await project()
  const long = SWEEP_LOOK_MAX + 100
  assert.equal(await sweep(1, long), long)
  assert.equal(await sweep(2, long + 10), 10)
  const { repeats, decision } = at.record(`${batchId(2)}.${long - 1}`)
  assert.deepEqual([repeats, decision], [`${batchId(1)}.${long - 1}`, at.record(`${batchId(1)}.${long - 1}`).decision])
  assert.equal(await sweep(3, 20, { force: true }), 20)
})

it('a sweep runs again what is gone from the disk', async () => {
  const { gone, sweep } = await project()
  await sweep(1, 5)
  gone.add(outputOf('made').toString())
  assert.equal(await sweep(2, 5), 5)
})

it('a sweep is looked up again from where it was after a crash', async () => {
  const { at, sweep } = await project()
  await sweep(1, 3)
  const values: Sweep = { mode: 'product', parameters: [{ name: 'x', values: { from: 0, to: 2, step: 1 } }] }
  at.submit(batchId(2), [], SINGLE, { sweep: { template: plainBundle('{x}'), sweep: values } })
  await at.start()
  assert.deepEqual(at.effects.at(-1), { kind: 'look', batch: batchId(2), from: 0, to: 3 })
})
