import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import fc from 'fast-check'
import { decodeSources } from '#protocol/bundle/sources'
import { batchIdFrom } from '#protocol/ids'
import { REQUEST_BYTES_MAX, Request, SUBMIT_MANIFESTS_MAX, type Submit } from '#protocol/owner/messages'
import { FakeCoordinator, ManualClock, settled } from '#test/support/fake-owner'
import { OwnerLink } from './owner-link.ts'
import { policyOf } from './spec.ts'
import { BATCH_TASKS_MAX, partsOf, submitBatch, submitSweep } from './submission.ts'

const id = Uint8Array.from({ length: 16 }, (_, index) => index)

describe('a batch on its way', () => {
  it('is cut into parts that follow each other, none above the bounds', () => {
    const sizes = fc.array(fc.oneof(fc.constant(100), fc.integer({ min: 1, max: 64 * 1024 })), { minLength: 1, maxLength: 400 })
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 30 }), (bytes, times) => {
        const manifests = Array.from({ length: times }, () => bytes.map((size) => new Uint8Array(size))).flat()
        const parts = partsOf(manifests)
        let next = 0
        for (const { from, to } of parts) {
          assert.equal(from, next)
          assert.ok(to > from && to - from <= SUBMIT_MANIFESTS_MAX)
          next = to
        }
        assert.equal(next, manifests.length)
      }),
      { numRuns: 30 }
    )
    const full = Array.from({ length: 300 }, () => new Uint8Array(64 * 1024) as Uint8Array<ArrayBuffer>)
    for (const { from, to } of partsOf(full)) {
      const submit = { batch: id, name: 'x'.repeat(256), manifests: full.slice(from, to), policy: new Uint8Array(8192), more: true, first: from }
      assert.ok(Request.encode({ id: 1, cancel: false, submit }).length <= REQUEST_BYTES_MAX)
    }
  })

  it('keeps its id and its order through a broken stream, so that nothing is added twice', async () => {
    const coordinator = new FakeCoordinator()
    const clock = new ManualClock()
    const link = new OwnerLink({ open: coordinator.open, clock, random: { bytes: (count) => new Uint8Array(count), fraction: () => 0 } })
    const held: Uint8Array[] = []
    let breaks = 2
    coordinator.handle = ({ id: request, submit }, stream) => {
      if (submit === undefined) return
      assert.deepEqual(submit.batch, id)
      assert.ok(submit.first <= held.length)
      held.push(...submit.manifests.slice(held.length - submit.first))
      // Durable, and the answer is lost.
      if (breaks-- > 0) stream.abort()
      else stream.answer({ id: request })
    }
    const manifests = Array.from({ length: SUBMIT_MANIFESTS_MAX + 10 }, (_, index) => Uint8Array.of(index & 255, index >> 8))
    const submitted = submitBatch(link, id, { name: 'n', manifests, policy: policyOf() })
    await clock.advance(5_000)
    await settled()
    const batch = await submitted
    assert.equal(batch.id, batchIdFrom(id))
    assert.equal(batch.tasks.length, manifests.length)
    assert.deepEqual(held, manifests)
  })

  it('says no trust class, no checkpoints and no sources where nobody asks for them: an older project would refuse what it does not know', async () => {
    const sent: Submit[] = []
    const ask = async ({ submit }: { submit?: Submit }) => {
      if (submit !== undefined) sent.push(submit)
      return undefined
    }
    const link = { ask } as unknown as Parameters<typeof submitBatch>[0]
    const sweep = { mode: 'product' as const, parameters: [{ name: 'x', values: ['a'] }] }
    const sources = { allowFailed: false, list: [{ name: '', of: batchIdFrom(id), from: 0, count: 0, part: 'after' as const, path: '' }] }
    await submitBatch(link, id, { name: '', manifests: [id], policy: policyOf() })
    await submitSweep(link, id, { name: '', template: id, sweep, policy: policyOf() })
    await submitSweep(link, id, { name: '', template: id, sweep, policy: policyOf({ trust: 'own', checkpointMs: 60_000 }), sources })
    const said = sent.map(({ policy, sources: taken }) => {
      const { trust, checkpointMs } = dagCbor.decode<{ trust?: string; checkpointMs?: number }>(policy)
      return [trust, checkpointMs, taken === undefined]
    })
    assert.deepEqual(said, [
      [undefined, undefined, true],
      [undefined, undefined, true],
      ['own', 60_000, false]
    ])
    assert.deepEqual(decodeSources(sent[2]?.sources ?? id, 1), new Map([[0, sources]]))
  })

  it('is refused before anything is sent when it cannot be one', async () => {
    const ask = () => Promise.reject(new Error('nothing may be sent'))
    const submit = (manifests: readonly Uint8Array[], name = '') => submitBatch({ ask }, id, { name, manifests, policy: policyOf() })
    await assert.rejects(submit([]), { code: 'usage' })
    await assert.rejects(submit(Array.from({ length: BATCH_TASKS_MAX + 1 }, () => id)), { code: 'usage' })
    await assert.rejects(submit([id], 'x'.repeat(300)), { code: 'usage' })
  })
})
