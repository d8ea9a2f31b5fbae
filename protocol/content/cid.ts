/** CIDs the one way talko makes them: version 1, sha2-256. */
import { CID } from 'multiformats/cid'
import * as Digest from 'multiformats/hashes/digest'
import { type BlockId, digestText, sha256, sha256Text } from './hash.ts'

export { type BlockId, sha256, sha256Text }

export const RAW = 0x55
export const DAG_PB = 0x70
export const DAG_CBOR = 0x71
export const SHA2_256 = 0x12

export function cidOfBytes(codec: number, bytes: Uint8Array): CID {
  return CID.createV1(codec, Digest.create(SHA2_256, sha256(bytes)))
}

/** By what its block is found, whatever its codec. */
export function blockIdOf(cid: CID): BlockId {
  return digestText(cid.multihash.digest)
}

const BASE32 = Buffer.from('abcdefghijklmnopqrstuvwxyz234567')
const TEXT = Buffer.alloc(59, 'b')

/** `cidOfBytes(codec, bytes).toString()`, in a third of the time. `codec` is below 128. */
export function cidTextOfBytes(codec: number, bytes: Uint8Array): string {
  const digest = sha256Text(bytes)
  let at = 1
  let bits = 0
  let value = 0
  const push = (byte: number): void => {
    value = ((value & 31) << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      TEXT[at++] = BASE32[(value >>> bits) & 31] ?? 0
    }
  }
  push(1)
  push(codec)
  push(SHA2_256)
  push(digest.length)
  for (let index = 0; index < digest.length; index++) push(digest.charCodeAt(index))
  TEXT[at] = BASE32[(value << (5 - bits)) & 31] ?? 0
  return TEXT.toString('latin1', 0, at + 1)
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
