import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { decodeManifest, manifestCid } from '#protocol/bundle/manifest'
import { policyFault } from '#protocol/bundle/policy'
import { cidOfBytes, DAG_CBOR, RAW } from '#protocol/content/cid'
import { executablesBelow, manifestOf, policyOf, type ResolvedSpec } from './spec.ts'

const image = cidOfBytes(DAG_CBOR, Buffer.from('image')).toString()
const data = cidOfBytes(RAW, Buffer.from('data')).toString()
const spec: ResolvedSpec = { image, command: ['true'], inputs: {}, environment: {}, resources: {}, engine: 'docker', compareStdout: true }

describe('a task as submitted', () => {
  it('is the same bundle however its inputs and variables were ordered', () => {
    const one = manifestOf({ ...spec, inputs: { a: { root: data }, b: { root: data, path: 'x' } }, environment: { X: '1', Y: '2' } })
    const other = manifestOf({ ...spec, inputs: { b: { root: data, path: 'x' }, a: { root: data } }, environment: { Y: '2', X: '1' } })
    assert.equal(manifestCid(one).toString(), manifestCid(other).toString())
    assert.deepEqual(
      decodeManifest(one).dependencies.map(({ name, path }) => [name, path]),
      [
        ['a', ''],
        ['b', 'x']
      ]
    )
  })
  it('is refused with the reason when it makes no sense', () => {
    assert.throws(() => manifestOf({ ...spec, command: [] }), { code: 'manifest_malformed' })
    assert.throws(() => manifestOf({ ...spec, image: 'nonsense' }), { code: 'usage' })
    assert.throws(() => manifestOf({ ...spec, inputs: { 'a/b': { root: data } } }), { code: 'manifest_malformed' })
    assert.throws(() => manifestOf({ ...spec, command: ['x'.repeat(100_000)] }), { code: /manifest_/ })
  })
  it('has a policy that makes sense whatever part of it was asked for', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), (minQuorum) => {
        assert.equal(policyFault(policyOf({ minQuorum })), undefined)
        assert.equal(policyOf({ minQuorum }).targetResults, minQuorum)
      })
    )
    assert.equal(policyOf({ minQuorum: 1 }).maxErrorResults, 3)
    assert.throws(() => policyOf({ minQuorum: 3, targetResults: 2 }), { code: 'usage' })
    assert.throws(() => policyOf({ minQuorum: 0 }), { code: 'usage' })
  })
  it('knows which files below an input are executable', () => {
    assert.deepEqual(executablesBelow(['bin/run', 'bin/sub/x', 'other'], ''), ['bin/run', 'bin/sub/x', 'other'])
    assert.deepEqual(executablesBelow(['bin/run', 'bin/sub/x', 'binary'], 'bin'), ['run', 'sub/x'])
    assert.deepEqual(executablesBelow(['bin/run'], 'bin/run'), [''])
  })
})
