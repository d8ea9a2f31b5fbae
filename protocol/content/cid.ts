/** CIDs the one way talko makes them: version 1, sha2-256. */
import { CID } from 'multiformats/cid'
import { Digest } from 'multiformats/hashes/digest'
import { type BlockId, digestText, sha256, sha256Text } from './hash.ts'

export { type BlockId, sha256, sha256Text }

export const RAW = 0x55
export const DAG_PB = 0x70
export const DAG_CBOR = 0x71
export const SHA2_256 = 0x12

/** All of one; its codec is one byte, as are the version and the kind and length of the hash before and behind it. */
export const CID_BYTES = 36
const DIGEST_BYTES = 32
const DIGEST_AT = CID_BYTES - DIGEST_BYTES
/** Made of one piece of memory at a time: a piece of its own for each costs as much as its hash. */
const CIDS_AT_ONCE = 128

let piece = new Uint8Array(0)
let used = 0

export function cidOfBytes(codec: number, bytes: Uint8Array): CID {
  if (used === piece.length) {
    piece = new Uint8Array(CIDS_AT_ONCE * CID_BYTES)
    used = 0
  }
  const own = piece.subarray(used, used + CID_BYTES)
  used += CID_BYTES
  fill(own, codec, bytes)
  return cidOfOwn(own)
}

/** Writes the CID of these bytes. */
function fill(own: Uint8Array, codec: number, bytes: Uint8Array): void {
  own[0] = 1
  own[1] = codec
  own[2] = SHA2_256
  own[3] = DIGEST_BYTES
  const digest = sha256Text(bytes)
  for (let index = 0; index < DIGEST_BYTES; index++) own[DIGEST_AT + index] = digest.charCodeAt(index)
}

/** The CID that these bytes are, without a copy of them: version 1, sha2-256, and a codec below 128. */
export function cidOfOwn(own: Uint8Array): CID {
  // The library's own ways make two pieces of memory for each, which its memory has to be freed of again.
  return new CID(1, own[1] ?? 0, new Digest(SHA2_256, DIGEST_BYTES, own.subarray(DIGEST_AT), own.subarray(2)), own)
}

/** By what its block is found, whatever its codec. */
export function blockIdOf(cid: CID): BlockId {
  return digestText(cid.multihash.digest)
}

const BASE32 = Buffer.from('abcdefghijklmnopqrstuvwxyz234567')
const TEXT = Buffer.alloc(1 + Math.ceil((CID_BYTES * 8) / 5), 'b')
const BYTES = new Uint8Array(CID_BYTES)

/** `cidOfBytes(codec, bytes).toString()`, in a third of the time. `codec` is below 128. */
export function cidTextOfBytes(codec: number, bytes: Uint8Array): string {
  fill(BYTES, codec, bytes)
  return textOf(BYTES)
}

/** Whether the text is `cid.toString()`, which is not called for those that talko makes. */
export function isTextOf(cid: CID, text: string): boolean {
  return (cid.bytes.length === CID_BYTES ? textOf(cid.bytes) : cid.toString()) === text
}

/** A CID of 36 bytes in base32. */
function textOf(own: Uint8Array): string {
  let at = 1
  let bits = 0
  let value = 0
  for (let index = 0; index < CID_BYTES; index++) {
    value = ((value & 31) << 8) | (own[index] ?? 0)
    for (bits += 8; bits >= 5; ) {
      bits -= 5
      TEXT[at++] = BASE32[(value >>> bits) & 31] ?? 0
    }
  }
  TEXT[at] = BASE32[(value << (5 - bits)) & 31] ?? 0
  return TEXT.toString('latin1')
}

/** A CID from hostile text or bytes: version 1, sha2-256 and a codec we know; undefined for anything else. */
export function acceptCid(from: string | Uint8Array): CID | undefined {
  let cid: CID
  try {
    cid = typeof from === 'string' ? CID.parse(from) : CID.decode(from)
  } catch {
    return undefined
  }
  if (cid.version !== 1 || cid.multihash.code !== SHA2_256 || cid.multihash.digest.length !== 32) return undefined
  return cid.code === RAW || cid.code === DAG_PB || cid.code === DAG_CBOR ? cid : undefined
}
