import assert from 'node:assert/strict'
import { createCipheriv, createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { buildDirectory, FileBuilder } from './build.ts'
import { acceptCid, cidOfBytes, cidTextOfBytes, DAG_CBOR, DAG_PB, isTextOf, RAW, SHA2_256 } from './cid.ts'
import { EMPTY_DIRECTORY, EMPTY_FILE } from './content.ts'
import { sha256, sha256Aside } from './hash.ts'

/** The bytes kubo's own tests draw from a seed: ChaCha20 keyed with the seed's sha2-256. */
function seeded(seed: string): (count: number) => Buffer {
  const cipher = createCipheriv('chacha20', createHash('sha256').update(seed).digest(), Buffer.alloc(16))
  return (count) => cipher.update(Buffer.alloc(count))
}

const MIB = 1024 * 1024
const ignore = (): void => undefined

function fileId(seed: string, bytes: number): string {
  const draw = seeded(seed)
  const builder = new FileBuilder(ignore)
  for (let at = 0; at < bytes; at += MIB) {
    const leaf = draw(Math.min(MIB, bytes - at))
    builder.leaf(cidOfBytes(RAW, leaf), leaf.length)
  }
  return builder.finish().cid.toString()
}

/** kubo's directory of one-byte files whose names are drawn from the seed, the last name longer. */
function directoryId(seed: string, files: number, nameBytes: number, lastNameBytes: number): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz01234567890-_'
  const draw = seeded(seed)
  const cid = cidOfBytes(RAW, Buffer.from('x'))
  const entries = Array.from({ length: files }, (_, index) => {
    const name = [...draw(index === files - 1 ? lastNameBytes : nameBytes)].map((byte) => alphabet[byte % alphabet.length]).join('')
    return { name, cid, dagBytes: 1, contentBytes: 1 }
  })
  return buildDirectory(entries, ignore).cid.toString()
}

describe("ids are those of kubo's unixfs-v1-2025 profile (its test/cli/cid_profiles_test.go)", () => {
  it('is spelt the same by hand as by the library', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.constantFrom(RAW, DAG_PB, DAG_CBOR), (bytes, codec) =>
        assert.equal(cidTextOfBytes(codec, bytes), cidOfBytes(codec, bytes).toString())
      )
    )
  })

  it('is what the library makes of the same hash, and reads', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.constantFrom(RAW, DAG_PB, DAG_CBOR), (bytes, codec) => {
        const cid = cidOfBytes(codec, bytes)
        const other = CID.createV1(codec, createDigest(SHA2_256, new Uint8Array(createHash('sha256').update(bytes).digest())))
        assert.ok(cid.equals(other))
        assert.deepEqual(
          [cid.version, cid.code, cid.bytes, cid.multihash.bytes, cid.multihash.digest],
          [1, codec, other.bytes, other.multihash.bytes, other.multihash.digest]
        )
        assert.ok(CID.parse(cid.toString()).equals(cid))
        assert.equal(CID.asCID(cid), cid)
      })
    )
  })

  it('is told from another by its text', () => {
    const bytes = fc.uint8Array({ maxLength: 3 })
    fc.assert(
      fc.property(bytes, bytes, fc.constantFrom(RAW, DAG_PB), fc.integer({ min: 0, max: 58 }), (one, two, codec, at) => {
        const cid = cidOfBytes(codec, one)
        const other = cidOfBytes(RAW, two).toString()
        const text = cid.toString()
        assert.equal(isTextOf(cid, other), text === other)
        assert.ok(isTextOf(cid, text) && isTextOf(CID.parse(text), text))
        assert.ok(!isTextOf(cid, `${text.slice(0, at)}${text[at] === 'a' ? 'c' : 'a'}${text.slice(at + 1)}`))
        assert.ok(!isTextOf(cid, text.slice(0, -1)) && !isTextOf(cid, `${text}a`) && !isTextOf(cid, text.toUpperCase()))
      })
    )
    const old = CID.parse('QmdfTbBqBPQ7VNxZEYEj14VmRuZBkqFbiwReogJgS1zR1n')
    const long = CID.createV1(RAW, createDigest(0x13, new Uint8Array(64)))
    for (const [one, other] of [
      [old, long],
      [long, old]
    ] as const)
      assert.ok(isTextOf(one, one.toString()) && !isTextOf(one, other.toString()))
  })

  it('names a small file', () => {
    assert.equal(cidOfBytes(RAW, Buffer.from('hello world')).toString(), 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e')
  })
  it('names a file of exactly one leaf', () => {
    assert.equal(fileId('chunk-v1-seed', MIB), 'bafkreiacndfy443ter6qr2tmbbdhadvxxheowwf75s6zehscklu6ezxmta')
  })
  it('names a file of one byte more', () => {
    assert.equal(fileId('chunk-v1-seed', MIB + 1), 'bafybeigmix7t42i6jacydtquhet7srwvgpizfg7gjbq7627d35mjomtu64')
  })
  it('names a file of exactly one row of links', () => {
    assert.equal(fileId('v1-2025-seed', 1024 * MIB), 'bafybeihmf37wcuvtx4hpu7he5zl5qaf2ineo2lqlfrapokkm5zzw7zyhvm')
  })
  it('names a file of one byte more than one row of links', () => {
    assert.equal(fileId('v1-2025-seed', 1024 * MIB + 1), 'bafybeibdsi225ugbkmpbdohnxioyab6jsqrmkts3twhpvfnzp77xtzpyhe')
  })
  it('names the largest flat directory', () => {
    assert.equal(directoryId('hamt-unixfs-v1-2025', 4766, 11, 21), 'bafybeic3h7rwruealwxkacabdy45jivq2crwz6bufb5ljwupn36gicplx4')
  })
  it('names a directory one byte larger, which is sharded', () => {
    assert.equal(directoryId('hamt-unixfs-v1-2025', 4766, 11, 22), 'bafybeiegvuterwurhdtkikfhbxcldohmxp566vpjdofhzmnhv6o4freidu')
  })
})

describe('well-known ids', () => {
  it('are those of the empty directory and the empty file', () => {
    assert.equal(buildDirectory([], ignore).cid.toString(), EMPTY_DIRECTORY)
    assert.equal(cidOfBytes(RAW, new Uint8Array(0)).toString(), EMPTY_FILE)
  })
  it('are the same when hashed beside the main thread', async () => {
    const bytes = Buffer.from('hello world')
    assert.deepEqual(Buffer.from(await sha256Aside(bytes)), Buffer.from(sha256(bytes)))
  })
  it('are accepted from text and bytes, and other kinds are not', () => {
    const cid = cidOfBytes(DAG_PB, Buffer.from('x'))
    assert.ok(acceptCid(cid.toString())?.equals(cid))
    assert.ok(acceptCid(cid.bytes)?.equals(cid))
    for (const other of ['', 'x', 'QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn', `${cid}/a`, 'bafkqaaa']) assert.equal(acceptCid(other), undefined, other)
  })
})
