/** What is written by hand for speed is what the general encoder writes: ids and signatures depend on every byte. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import fc from 'fast-check'
import { encodeManifest, type RunManifest } from '../bundle/manifest.ts'
import { cidOfBytes, DAG_CBOR, DAG_PB } from '../content/cid.ts'
import { encodeReceipt, encodeSignedReceipt } from '../result/receipt.ts'
import { encodeResult, voteOf } from '../result/result.ts'

const cid = fc.uint8Array({ maxLength: 8 }).map((bytes) => cidOfBytes(DAG_PB, bytes))
const words = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((word) => !word.includes('\0'))
const path = fc.array(fc.stringMatching(/^[a-z]{1,5}$/), { maxLength: 3 }).map((parts) => parts.join('/'))
const bytes = fc.uint8Array({ maxLength: 50 })
const variable = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,12}$/).filter((name) => name !== '__proto__')
const inclusion = fc.record({ index: fc.nat(), count: fc.nat(), path: fc.array(bytes, { maxLength: 4 }), signature: bytes })
const signed = fc.record({ body: bytes, proof: inclusion, manifest: bytes, proofs: fc.array(inclusion, { maxLength: 3 }) })

it('manifests', () => {
  const dependency = fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), root: cid, path, executables: fc.array(path, { maxLength: 3 }) })
  const gpus = fc.record({
    count: fc.integer({ min: 1, max: 64 }),
    memoryBytes: fc.integer({ min: 0, max: 2 ** 50 }),
    model: fc.constantFrom('', 'a100', 'rtx 3090'),
    driver: fc.constantFrom('', '535', '535.104.5')
  })
  const fields = {
    kind: fc.constant('run' as const),
    v: fc.constant(1 as const),
    engine: fc.constant('docker' as const),
    image: cid,
    command: fc.array(words, { minLength: 1, maxLength: 4 }),
    dependencies: fc.uniqueArray(dependency, { maxLength: 3, selector: ({ name }) => name }),
    environment: fc.dictionary(variable, words, { maxKeys: 6, noNullPrototype: true }),
    resources: fc.record(
      {
        cpuMillis: fc.integer({ min: 1, max: 1_024_000 }),
        memoryBytes: fc.integer({ min: 8 * 1024 ** 2, max: 2 ** 50 }),
        timeMs: fc.integer({ min: 1, max: 86_400_000 }),
        diskBytes: fc.integer({ min: 0, max: 2 ** 50 }),
        pids: fc.integer({ min: 1, max: 1_000_000 }),
        silenceMs: fc.integer({ min: 1_000, max: 86_400_000 })
      },
      { requiredKeys: ['cpuMillis', 'memoryBytes', 'timeMs', 'diskBytes', 'pids'] }
    ),
    network: fc.constant('none' as const),
    compareStdout: fc.boolean()
  }
  const rare = { platform: fc.constantFrom('linux/amd64', 'linux/arm64'), gpus }
  const manifest = fc.record({ ...fields, ...rare }, { requiredKeys: Object.keys(fields) as (keyof typeof fields)[] })
  fc.assert(fc.property(manifest, (one: RunManifest) => assert.deepEqual([...encodeManifest(one)], [...dagCbor.encode(one)])))
  fc.assert(
    fc.property(manifest, (one) => {
      const bare = { ...one, engine: 'process' as const, image: null }
      assert.deepEqual([...encodeManifest(bare)], [...dagCbor.encode(bare)])
    })
  )
})

it('results and votes', () => {
  const whole = fc.maxSafeInteger()
  const result = fc.record({
    v: fc.constant(1 as const),
    project: words,
    replica: words,
    bundle: cid,
    node: words,
    reason: fc.constantFrom('exit' as const, 'time' as const),
    exitCode: fc.constantFrom(0, 1, -5),
    output: cid,
    stdout: cid,
    stderr: cid,
    bytes: whole,
    startedAtMs: whole,
    endedAtMs: whole,
    cpuMs: whole,
    memoryPeakBytes: whole
  })
  fc.assert(
    fc.property(result, (one) => {
      assert.deepEqual([...encodeResult(one)], [...dagCbor.encode(Object.values(one))])
      const agreed = cidOfBytes(DAG_CBOR, dagCbor.encode([one.output, one.stdout])).toString()
      assert.equal(voteOf({ ...one, reason: 'exit', exitCode: 0 }, true), agreed)
    })
  )
})

it('receipts', () => {
  const receipt = fc.record({
    v: fc.constant(1 as const),
    project: words,
    task: words,
    bundle: cid,
    epoch: fc.nat(),
    quorum: fc.nat(),
    decidedAtMs: fc.nat(),
    vote: words,
    results: fc.array(bytes, { maxLength: 3 }),
    dissent: fc.array(fc.record({ node: words, vote: words }), { maxLength: 3 })
  })
  fc.assert(fc.property(receipt, (one) => assert.deepEqual([...encodeReceipt(one)], [...dagCbor.encode(one)])))
  fc.assert(fc.property(signed, (one) => assert.deepEqual([...encodeSignedReceipt(one)], [...dagCbor.encode(one)])))
})
