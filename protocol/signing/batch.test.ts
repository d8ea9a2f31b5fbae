import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { signBatch, signedRoot, verifyInBatch } from './batch.ts'
import { generateIdentity, verify } from './keys.ts'

const signer = await generateIdentity()
const other = await generateIdentity()
const statements = fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 40 })

describe('signed batch', () => {
  it('proves each statement of a batch alone', () => {
    fc.assert(
      fc.property(statements, (batch) => {
        const proofs = signBatch(signer, 'test', batch)
        return proofs.every((proof, index) => verifyInBatch(signer.peerId, 'test', batch[index] as Uint8Array, proof))
      }),
      { numRuns: 100 }
    )
  })

  it('proves nothing else: not another statement, place, batch size, domain, peer or path', () => {
    fc.assert(
      fc.property(statements, fc.nat(), fc.nat(), (batch, pick, bit) => {
        const index = pick % batch.length
        const statement = batch[index] as Uint8Array
        const proof = signBatch(signer, 'test', batch)[index]
        assert.ok(proof)
        assert.ok(!verifyInBatch(other.peerId, 'test', statement, proof))
        assert.ok(!verifyInBatch(signer.peerId, 'other', statement, proof))
        assert.ok(!verifyInBatch(signer.peerId, 'test', Uint8Array.of(...statement, 1), proof))
        assert.ok(!verifyInBatch(signer.peerId, 'test', statement, { ...proof, count: proof.count + 1 }))
        assert.ok(!verifyInBatch(signer.peerId, 'test', statement, { ...proof, path: [...proof.path, new Uint8Array(32)] }))
        const signature = proof.signature.map((byte, at) => (at === bit % 64 ? byte ^ 1 : byte))
        assert.ok(!verifyInBatch(signer.peerId, 'test', statement, { ...proof, signature }))
      }),
      { numRuns: 100 }
    )
  })

  it('lets all statements of a batch share one signature check', () => {
    const batch = [1, 2, 3, 4, 5].map((value) => Uint8Array.of(value))
    const roots = signBatch(signer, 'test', batch).map((proof, index) => signedRoot(batch[index] as Uint8Array, proof))
    for (const root of roots) assert.deepEqual(root, roots[0])
    assert.ok(roots[0])
  })

  it('answers hostile proofs with false', () => {
    const proof = { index: 0, count: 1, path: [], signature: new Uint8Array(64) }
    for (const change of [
      { index: -1 },
      { index: 1 },
      { count: 0 },
      { count: 2 ** 40 },
      { index: 0.5 },
      { signature: new Uint8Array(3) },
      { count: 2, path: [new Uint8Array(31)] }
    ]) {
      assert.equal(verifyInBatch(signer.peerId, 'test', new Uint8Array(3), { ...proof, ...change }), false)
    }
    assert.equal(verify('12D3KooWnonsense', 'test', new Uint8Array(3), new Uint8Array(64)), false)
  })
})
