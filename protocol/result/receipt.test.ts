import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import fc from 'fast-check'
import { DEFAULT_RESOURCES, decodeManifest, encodeManifest, manifestCid } from '../bundle/manifest.ts'
import { cidOfBytes, RAW } from '../content/cid.ts'
import { batchIdFrom, replicaId, taskId } from '../ids.ts'
import { type Inclusion, signBatch } from '../signing/batch.ts'
import { generateIdentity, type Signer } from '../signing/keys.ts'
import { checkReceipt, decodeSignedReceipt, encodeReceipt, encodeSignedReceipt, RECEIPT_DOMAIN, type Receipt, type SignedReceipt } from './receipt.ts'
import { decodeResult, encodeResult, RESULT_DOMAIN, type Result, voteOf } from './result.ts'

const [project, ann, bob] = await Promise.all([generateIdentity(), generateIdentity(), generateIdentity()])
const manifest = encodeManifest({
  kind: 'run',
  v: 1,
  engine: 'process',
  image: null,
  command: ['true'],
  dependencies: [],
  environment: {},
  resources: DEFAULT_RESOURCES,
  network: 'none',
  compareStdout: true
})
const task = taskId(batchIdFrom(new Uint8Array(16)), 7)
const file = (text: string) => cidOfBytes(RAW, Buffer.from(text))

function result(node: Signer, change: Partial<Result> = {}): Result {
  return {
    v: 1,
    project: project.peerId,
    replica: replicaId(task, node === ann ? 1 : 2),
    bundle: manifestCid(manifest),
    node: node.peerId,
    reason: 'exit',
    exitCode: 0,
    output: file('out'),
    stdout: file('42'),
    stderr: file(node.peerId),
    bytes: 5,
    startedAtMs: 1,
    endedAtMs: 2,
    cpuMs: 1,
    memoryPeakBytes: 1,
    ...change
  }
}

interface Signed {
  readonly body: Uint8Array
  readonly proof: Inclusion
}

function signed(node: Signer, change?: Partial<Result>): Signed {
  const body = encodeResult(result(node, change))
  const [proof] = signBatch(node, RESULT_DOMAIN, [body, Uint8Array.of(9)])
  assert.ok(proof)
  return { body, proof }
}

interface Change {
  readonly results?: readonly Signed[]
  readonly manifest?: Uint8Array
  readonly receipt?: Partial<Receipt>
}

function receipt({ results = [signed(ann), signed(bob)], manifest: of = manifest, receipt: other = {} }: Change = {}, signer = project): SignedReceipt {
  const body = encodeReceipt({
    v: 1,
    project: project.peerId,
    task,
    bundle: manifestCid(manifest),
    epoch: 1,
    quorum: 2,
    decidedAtMs: 3,
    vote: voteOf(result(ann), true),
    results: results.map((one) => one.body),
    dissent: [],
    ...other
  })
  const [proof] = signBatch(signer, RECEIPT_DOMAIN, [body])
  assert.ok(proof)
  return { body, proof, manifest: of, proofs: results.map((one) => one.proof) }
}

const last = (lines: readonly string[]): string => lines.at(-1) ?? ''

describe('receipt', () => {
  it('is checked with nothing but itself, also after a trip through a file', () => {
    const again = decodeSignedReceipt(encodeSignedReceipt(receipt()))
    assert.ok(again)
    const check = checkReceipt(again, { project: project.peerId })
    assert.ok(check.ok, last(check.lines))
    assert.equal(last(check.lines), '2 different nodes agree, quorum 2')
  })

  it('names the program that found different results to agree, and says that it is the project that says so', () => {
    const compare = JSON.stringify({ kind: 'program', bundle: 'bafyprogram' })
    const near = checkReceipt(receipt({ results: [signed(ann), signed(bob, { output: file('other') })], receipt: { compare } }))
    assert.ok(near.ok, last(near.lines))
    assert.match(near.lines.join('\n'), /which the project found to agree by its owner's program bafyprogram/)
    assert.match(near.lines.join('\n'), /that outputs with different ids agree is the project's word: .* can run bafyprogram on them/)
    for (const odd of ['null', '3', '{', JSON.stringify({ kind: 'program' })]) {
      const { ok, lines } = checkReceipt(receipt({ results: [signed(ann), signed(bob, { output: file('other') })], receipt: { compare: odd } }))
      assert.ok(ok && lines.some((line) => /agree under its rules$/.test(line)), lines.join('\n'))
    }
    assert.ok(!checkReceipt(receipt()).lines.join('\n').includes("project's word"))
  })

  it('fails, saying why, when anything in it is not as it says', () => {
    const why = (change: Change, signer?: Signer): string => {
      const check = checkReceipt(receipt(change, signer))
      assert.equal(check.ok, false)
      return last(check.lines)
    }
    assert.match(why({}, ann), /signature of project/)
    assert.match(why({ results: [signed(ann)] }), /1 agree, the quorum is 2/)
    assert.match(why({ results: [signed(ann), signed(ann)] }), /counted twice/)
    assert.match(why({ results: [signed(ann), signed(bob, { stdout: file('43') })] }), /does not agree/)
    assert.match(why({ results: [signed(ann), signed(bob, { replica: replicaId(taskId(batchIdFrom(new Uint8Array(16)), 8), 1) })] }), /another task/)
    assert.match(why({ results: [signed(ann), signed(bob, { bundle: file('x') })] }), /another bundle/)
    assert.match(why({ results: [signed(ann), { ...signed(bob), body: encodeResult(result(bob, { bytes: 6 })) }] }), /signature of node/)
    assert.match(why({ results: [signed(ann), { ...signed(bob), body: Uint8Array.of(1) }] }), /malformed/)
    assert.match(why({ results: [signed(ann), { ...signed(bob), proof: signed(ann).proof }] }), /signature of node/)
    assert.match(why({ manifest: encodeManifest({ ...decodeManifest(manifest), command: ['false'] }) }), /not that of bundle/)
    assert.match(why({ manifest: Uint8Array.of(1) }), /not dag-cbor|not canonical|manifest/)
    assert.match(why({ receipt: { quorum: 0 } }), /the quorum is 0/)
    assert.match(last(checkReceipt(receipt(), { project: ann.peerId }).lines), /expected/)
  })

  it('survives hostile bytes', () => {
    const bytes = encodeSignedReceipt(receipt())
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(254), (at, add) => {
        const decoded = decodeSignedReceipt(bytes.map((old, index) => (index === at ? (old + add + 1) & 255 : old)))
        return decoded === undefined || !checkReceipt(decoded, { project: project.peerId }).ok
      }),
      { numRuns: 300 }
    )
  })
})

describe('result', () => {
  it('decodes only what is one', () => {
    assert.deepEqual(decodeResult(encodeResult(result(ann)))?.node, ann.peerId)
    for (const change of [{ v: 2 }, { replica: 'x' }, { reason: 'tired' }, { exitCode: 0.5 }, { output: 'x' }, { node: 'x'.repeat(200) }]) {
      assert.equal(decodeResult(dagCbor.encode(Object.values({ ...result(ann), ...change }))), undefined)
    }
    assert.equal(decodeResult(dagCbor.encode([...Object.values(result(ann)), 1])), undefined)
    assert.equal(decodeResult(dagCbor.encode(result(ann))), undefined)
  })

  it('agrees on what was made when it succeeded, and on how it failed when it did not', () => {
    const vote = (change: Partial<Result>, compareStdout = true): string => voteOf(result(ann, change), compareStdout)
    assert.equal(vote({ stderr: file('noise'), cpuMs: 99 }), vote({}))
    assert.notEqual(vote({ stdout: file('43') }), vote({}))
    assert.equal(vote({ stdout: file('43') }, false), vote({}, false))
    assert.notEqual(vote({ output: file('other') }, false), vote({}, false))
    assert.equal(vote({ exitCode: 3, output: file('partial') }), 'exit:3')
    assert.equal(vote({ reason: 'memory', exitCode: 137 }), 'ended:memory')
  })
})
