import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'
import { OUTBOX_FRAMES_MAX } from './policy.ts'

const SINGLE = { minQuorum: 1, targetResults: 1 }

/** A node that is welcomed and then takes nothing in: its frames stay with the test. */
async function deaf(slots: number): Promise<CoordinatorWorld> {
  const at = await new CoordinatorWorld().start()
  at.apply({ kind: 'hello', node: 'ann', link: 'link of ann', spare: 'link of ann', received: 0, offer: offer(slots), replicas: [] })
  return at
}

describe('messages that a node does not have yet', () => {
  it('reach it after any number of restarts, few and short, long and many, in their order', async () => {
    const at = await deaf(400)
    // Three in the link's record, one too long for it, more than fit into it.
    const sizes = [1, 2, 3, 100, ...Array.from({ length: 12 }, () => 1)]
    for (const [number, size] of sizes.entries())
      at.submit(
        batchId(number + 1),
        Array.from({ length: size }, (_, index) => bundle(`${number} ${index}`)),
        SINGLE
      )
    assert.equal(at.store.keys('out/').length, sizes.length - 7)
    await at.start()
    await at.start()
    const ann = at.join('ann', offer(400))
    assert.equal(ann.welcomes.at(-1)?.resumed, true)
    assert.equal(ann.received, sizes.length)
    assert.equal(
      ann.leases.size,
      sizes.reduce((sum, size) => sum + size, 0)
    )
    at.commit()
    assert.deepEqual(at.store.keys('out/'), [])
  })

  it('and that it had before a restart are not sent again', async () => {
    const at = await new CoordinatorWorld().start()
    const ann = at.join('ann', offer(9))
    for (const number of [1, 2, 3]) at.submit(batchId(number), [bundle('x')], SINGLE)
    at.commit()
    await at.start()
    const before = at.effects.length
    at.join('ann', offer(9))
    assert.equal(ann.welcomes.at(-1)?.resumed, true)
    assert.deepEqual(
      at.effects.slice(before).filter(({ kind }) => kind === 'send'),
      []
    )
    at.work(ann)
    assert.equal(at.receipts.size, 3)
  })

  it('may be so many and no more: it is cut off, also after a restart', async () => {
    for (const restarts of [false, true]) {
      const at = await deaf(1)
      const refused = (): void => at.apply({ kind: 'start', node: 'ann', seq: ++seq, replicas: [{ replica: `${batchId(1)}.0.1`, epoch: 1 }] })
      let seq = 0
      while (seq <= OUTBOX_FRAMES_MAX) refused()
      assert.equal(at.store.keys('out/').length, OUTBOX_FRAMES_MAX - 7)
      if (restarts) await at.start()
      at.pass(500)
      assert.deepEqual(at.store.keys('out/'), [])
      assert.equal(at.effects.filter((effect) => effect.kind === 'disconnect' && effect.code === 'overrun').length, restarts ? 0 : 1)
    }
  })
})
