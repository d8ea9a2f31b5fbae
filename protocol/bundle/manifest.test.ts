import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import fc from 'fast-check'
import { cidOfBytes, DAG_CBOR, RAW } from '../content/cid.ts'
import { generateIdentity } from '../signing/keys.ts'
import { ManifestError } from './errors.ts'
import { DEFAULT_RESOURCES, decodeManifest, encodeManifest, isRelativePath, MANIFEST_BYTES_MAX, manifestCid, type RunManifest } from './manifest.ts'
import { signBundles, verifyBundles } from './sign.ts'

const image = cidOfBytes(DAG_CBOR, Uint8Array.of(1))
const root = cidOfBytes(RAW, Uint8Array.of(2))

function manifest(change: Partial<RunManifest> = {}): RunManifest {
  return {
    kind: 'run',
    v: 1,
    engine: 'docker',
    image,
    command: ['sh', '-c', 'cat /in/part'],
    dependencies: [{ name: 'part', root, path: '', executables: [] }],
    environment: { LEVEL: '3' },
    resources: DEFAULT_RESOURCES,
    network: 'none',
    compareStdout: true,
    ...change
  }
}

function refusal(change: object): string {
  const bytes = dagCbor.encode({ ...manifest(), ...change })
  try {
    decodeManifest(bytes)
  } catch (error) {
    assert.ok(error instanceof ManifestError, String(error))
    return error.message
  }
  return 'accepted'
}

describe('run manifest', () => {
  it('keeps what was put in, and its id depends on nothing but its content', () => {
    const bytes = encodeManifest(manifest())
    const { command, environment, ...rest } = manifest()
    const reordered = encodeManifest({ environment, ...rest, command })
    assert.deepEqual(manifestCid(reordered), manifestCid(bytes))
    assert.deepEqual(dagCbor.encode(decodeManifest(bytes)), bytes)
    assert.notDeepEqual(manifestCid(encodeManifest(manifest({ command: ['true'] }))), manifestCid(bytes))
  })

  it('has the id it always had while it asks for nothing new', () => {
    const id = manifestCid(encodeManifest(manifest())).toString()
    assert.equal(id, 'bafyreiebenbp2nefspjtow7l5x6ngp2wqbclo5l4lbtp4cnnrvbvbx27d4')
    const watched = encodeManifest(manifest({ resources: { ...DEFAULT_RESOURCES, silenceMs: 60_000 } }))
    assert.notEqual(manifestCid(watched).toString(), id)
    assert.equal(decodeManifest(watched).resources.silenceMs, 60_000)
    assert.notEqual(manifestCid(encodeManifest(manifest({ platform: 'linux/arm64' }))).toString(), id)
  })

  it('asks for a platform and for GPUs in one spelling each', () => {
    const gpus = { count: 2, memoryBytes: 16 * 1024 ** 3, model: 'a100', driver: '535.104.5' }
    const asked = manifest({ platform: 'linux/arm64', gpus })
    const { platform, gpus: read } = decodeManifest(encodeManifest(asked))
    assert.deepEqual({ platform, gpus: read }, { platform: 'linux/arm64', gpus })
    assert.equal(refusal({ gpus: { ...gpus, model: '', driver: '' } }), 'accepted')
    for (const wrong of ['linux', 'linux/arm64/v8', 'Linux/arm64', '', null]) assert.match(refusal({ platform: wrong }), /`platform` is like/)
    for (const driver of ['535.0', '0535', '535.', '535.04', '1.2.3.4.5', 'new']) assert.match(refusal({ gpus: { ...gpus, driver } }), /gpus.driver/)
    for (const model of ['A100', ' a100', 'a100 ']) assert.match(refusal({ gpus: { ...gpus, model } }), /gpus.model/)
    for (const count of [0, 65, 1.5]) assert.match(refusal({ gpus: { ...gpus, count } }), /gpus.count/)
    assert.match(refusal({ gpus: { count: 1 } }), /gpus lacks `memoryBytes`/)
    assert.match(refusal({ gpus: null }), /gpus is not a map/)
  })

  it('says what is wrong with a malformed one', () => {
    assert.match(refusal({ v: 2 }), /version 2/)
    assert.match(refusal({ command: [] }), /`command` is empty/)
    assert.match(refusal({ command: ['a\0b'] }), /NUL/)
    assert.match(refusal({ engine: 'vm' }), /unknown engine "vm"/)
    assert.match(refusal({ engine: 'process' }), /`image` must be/)
    assert.match(refusal({ network: 'full' }), /network tier/)
    assert.match(refusal({ surprise: 1 }), /unknown field `surprise`/)
    assert.match(refusal({ environment: { 'A=B': '1' } }), /not an environment variable/)
    assert.match(refusal({ resources: { ...DEFAULT_RESOURCES, pids: 0 } }), /resources.pids/)
    assert.match(refusal({ resources: { ...DEFAULT_RESOURCES, silenceMs: 999 } }), /resources.silenceMs/)
    assert.match(refusal({ resources: { ...DEFAULT_RESOURCES, timeMs: 1.5 } }), /resources.timeMs/)
    assert.match(refusal({ dependencies: [{ name: '../x', root, path: '', executables: [] }] }), /dependency's name/)
    assert.match(refusal({ dependencies: [{ name: 'x', root, path: 'a/../../b', executables: [] }] }), /`path` must be relative/)
    assert.match(refusal({ dependencies: [manifest().dependencies[0], manifest().dependencies[0]] }), /two dependencies/)
  })

  it('refuses an oversized one before decoding it', () => {
    assert.throws(() => decodeManifest(new Uint8Array(MANIFEST_BYTES_MAX + 1)), { code: 'manifest_too_large' })
    assert.throws(() => encodeManifest(manifest({ command: Array.from({ length: 1024 }, () => 'x'.repeat(100)) })), { code: 'manifest_too_large' })
  })

  it('answers any bytes with a manifest or a ManifestError', () => {
    const valid = encodeManifest(manifest())
    const mutated = fc.tuple(fc.nat(valid.length - 1), fc.nat(255)).map(([at, byte]) => valid.map((old, index) => (index === at ? byte : old)))
    fc.assert(
      fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 200 })), (bytes) => {
        try {
          return dagCbor.encode(decodeManifest(bytes)).every((byte, index) => byte === bytes[index])
        } catch (error) {
          return error instanceof ManifestError
        }
      }),
      { numRuns: 2000 }
    )
  })

  it('takes no path that leaves its root', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('..', '.', '', 'a', 'b')),
        (parts) => !isRelativePath(parts.join('/')) || parts.join('/') === '' || parts.every((part) => part === 'a' || part === 'b')
      )
    )
  })
})

describe('signed bundles', () => {
  it('are those that the project signed, all of them, in that order', async () => {
    const [project, other] = await Promise.all([generateIdentity(), generateIdentity()])
    const all = Array.from({ length: 5 }, (_, index) => encodeManifest(manifest({ command: ['echo', String(index)] })))
    const signature = signBundles(project, all)
    assert.ok(verifyBundles(project.peerId, all, signature))
    assert.ok(!verifyBundles(other.peerId, all, signature))
    assert.ok(!verifyBundles('nobody', all, signature))
    for (const some of [[], all.slice(1), all.toReversed(), [...all, ...all], all.map(() => encodeManifest(manifest()))])
      assert.ok(!verifyBundles(project.peerId, some, signature))
    for (const at of [0, 31, 63])
      assert.ok(
        !verifyBundles(
          project.peerId,
          all,
          signature.map((byte, place) => (place === at ? byte ^ 1 : byte))
        )
      )
    assert.ok(!verifyBundles(project.peerId, all, signature.subarray(1)))
  })
})
