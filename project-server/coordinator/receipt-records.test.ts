import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import { manifestCid } from '#protocol/bundle/manifest'
import { replicaId, taskId } from '#protocol/ids'
import { encodeReceipt, encodeSignedReceipt, type Receipt } from '#protocol/result/receipt'
import { encodeResult } from '#protocol/result/result'
import { inclusionOf, leavesOf, type Seal } from '#protocol/signing/batch'
import { batchId, PROJECT, result } from '#test/support/coordinator-parts'
import { encodeReceiptPage, encodeSeal, encodeStoredReceipt, receiptPageKey, sealId, sealKey, signedReceipt, storedReceipt } from './receipt-records.ts'

const MANIFEST = Uint8Array.of(1, 2, 3)
const TASK = taskId(batchId(7), 12)
const NODES = ['ann', 'bob']

function receipt(overrides: Partial<Receipt> = {}): Receipt {
  const bundle = manifestCid(MANIFEST)
  return {
    v: 1,
    project: PROJECT,
    task: TASK,
    bundle,
    epoch: 3,
    quorum: 2,
    decidedAtMs: 1_790_000_000_000,
    vote: 'exit:1',
    results: NODES.map((node, index) => encodeResult(result(node, replicaId(TASK, index + 1), bundle, { exitCode: 1 }))),
    dissent: [],
    ...overrides
  }
}

function seal(...statements: readonly Uint8Array[]): Seal {
  return { leaves: leavesOf(statements), signature: new Uint8Array(64).fill(statements.length) }
}

/** The project's seal is the third of epoch 3; each node's is of an epoch of its own. */
function sealed({ results, ...rest }: Receipt): { readonly ids: readonly string[]; readonly seals: readonly Seal[] } {
  return {
    ids: [sealId(3, 'p', 3), ...results.map((_, index) => sealId(index + 1, 'n', 1_000_000 + index))],
    seals: [seal(MANIFEST, encodeReceipt({ results, ...rest })), ...results.map((body) => seal(body))]
  }
}

async function handOut(stored: Uint8Array, { ids, seals }: ReturnType<typeof sealed>): ReturnType<typeof signedReceipt> {
  const records = new Map(ids.map((id, index) => [sealKey(id), encodeSeal(seals[index] as Seal)]))
  return await signedReceipt(stored, { get: async (key) => records.get(key), manifest: async () => MANIFEST })
}

function refs({ ids }: ReturnType<typeof sealed>): { readonly seal: string; readonly index: number; readonly seals: { seal: string; index: number }[] } {
  const [own = '', ...others] = ids
  return { seal: own, index: 1, seals: others.map((id) => ({ seal: id, index: 0 })) }
}

describe('stored receipts', () => {
  for (const [what, overrides] of [
    ['plain', {}],
    ['with who said otherwise', { dissent: [{ node: 'cid', vote: 'exit:2' }] }],
    ['of results that were compared', { compare: '{"kind":"program","bundle":"x"}' }],
    ['of one node that was believed', { quorum: 1, trusted: 0 }]
  ] as const)
    it(`are handed out as they were signed: ${what}`, async () => {
      const one = receipt(overrides)
      const signed = sealed(one)
      const [own, ...others] = signed.seals as readonly [Seal, ...Seal[]]
      const expected = { body: encodeReceipt(one), proof: inclusionOf(own, 1), manifest: MANIFEST, proofs: others.map((of) => inclusionOf(of, 0)) }
      const handedOut = await handOut(encodeStoredReceipt({ receipt: one, ...refs(signed) }), signed)
      assert.deepEqual(dagCbor.decode(encodeSignedReceipt(handedOut)), dagCbor.decode(encodeSignedReceipt(expected)))
    })

  it('are read as version 1 wrote them, with the bytes that were signed', async () => {
    const one = receipt()
    const signed = sealed(one)
    const { seal: own, index, seals } = refs(signed)
    const stored = dagCbor.encode([1, encodeReceipt(one), own, index, seals.map((of) => [of.seal, of.index])])
    assert.deepEqual(await handOut(stored, signed), await handOut(encodeStoredReceipt({ receipt: one, ...refs(signed) }), signed))
  })

  it('do not repeat what their results say', () => {
    const one = receipt()
    const stored = Buffer.from(encodeStoredReceipt({ receipt: one, ...refs(sealed(one)) }))
    const results = one.results.reduce((sum, { length }) => sum + length, 0)
    assert.ok(stored.length < results + 64)
  })

  it('are found on the page that the record of their task names, and as they lay before there were pages', async () => {
    const [first, second] = [receipt(), receipt({ vote: 'exit:2' })].map((one) => encodeStoredReceipt({ receipt: one, ...refs(sealed(one)) })) as [
      Uint8Array,
      Uint8Array
    ]
    const place = { epoch: 3, page: 9, index: 1 }
    const records = new Map([
      [receiptPageKey(place), encodeReceiptPage([first, second])],
      [`receipt/${TASK}`, first]
    ])
    const get = async (key: string): Promise<Uint8Array | undefined> => records.get(key)
    assert.deepEqual(Buffer.from((await storedReceipt(TASK, place, get)) ?? []), Buffer.from(second))
    assert.deepEqual(await storedReceipt(TASK, null, get), first)
    assert.equal(await storedReceipt(TASK, { ...place, page: 8 }, get), undefined)
    assert.equal(await storedReceipt(taskId(batchId(7), 13), null, get), undefined)
  })
})
