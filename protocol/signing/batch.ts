/**
 * One signature for many statements: a Merkle tree whose root is signed (RFC 6962's hashing). An Ed25519 signature costs
 * about as much as 100 hashes, so a batch of a hundred results or receipts costs little more than one, and each can still
 * be checked alone and offline with its path.
 */
import { sha256Text } from '../content/cid.ts'
import type { PeerIdString } from '../ids.ts'
import { type Signer, verify } from './keys.ts'

export const BATCH_LEAVES_MAX = 65_536
const HASH_BYTES = 32

/** Proof that one statement is in a signed batch. */
export interface Inclusion {
  readonly index: number
  readonly count: number
  /** Sibling hashes from the leaf up, 32 bytes each. */
  readonly path: readonly Uint8Array[]
  readonly signature: Uint8Array
}

/** Signs all statements at once; the answer holds one inclusion for each, in order. */
export function signBatch(signer: Pick<Signer, 'sign'>, domain: string, statements: readonly Uint8Array[]): Inclusion[] {
  if (statements.length === 0) return []
  const leaves = leavesOf(statements)
  return inclusions({ leaves, signature: signer.sign(domain, rootOf(leaves)) })
}

/** All there is to know of a signed batch, from which each statement's inclusion can be made. */
export interface Seal {
  /** Hashes of the statements, 32 bytes each. */
  readonly leaves: Uint8Array
  readonly signature: Uint8Array
}

/** The hashes of 1 to BATCH_LEAVES_MAX statements, 32 bytes each. Throws RangeError for another count. */
export function leavesOf(statements: readonly Uint8Array[]): Uint8Array {
  const leaves = Buffer.allocUnsafe(checkCount(statements.length) * HASH_BYTES)
  for (const [index, statement] of statements.entries()) leaves.write(leafHash(statement), index * HASH_BYTES, 'latin1')
  return leaves
}

/** The bytes to sign for a batch. Who has all of a batch needs no paths: two hashes a statement instead of one for each level. */
export function rootOf(leaves: Uint8Array): Uint8Array {
  const count = checkCount(leaves.length / HASH_BYTES)
  return rootStatement(levelsOf(leaves).at(-1) ?? leaves, count)
}

/** One for each statement, in order. */
export function inclusions(seal: Seal): Inclusion[] {
  const levels = levelsOf(seal.leaves)
  return Array.from({ length: seal.leaves.length / HASH_BYTES }, (_, index) => inclusionAt(seal, levels, index))
}

/** That of one statement. */
export function inclusionOf(seal: Seal, index: number): Inclusion {
  return inclusionAt(seal, levelsOf(seal.leaves), index)
}

function inclusionAt({ leaves, signature }: Seal, levels: readonly Uint8Array[], index: number): Inclusion {
  const path: Uint8Array[] = []
  let at = index
  for (const hashes of levels) {
    const sibling = (at ^ 1) * HASH_BYTES
    if (sibling < hashes.length) path.push(hashes.subarray(sibling, sibling + HASH_BYTES))
    at >>>= 1
  }
  return { index, count: leaves.length / HASH_BYTES, path, signature }
}

/** The hashes of every level, from the leaves to the one of the root. */
function levelsOf(leaves: Uint8Array): Uint8Array[] {
  const levels = [leaves]
  for (let level = leaves; level.length > HASH_BYTES; ) {
    const count = level.length / HASH_BYTES
    const next = Buffer.allocUnsafe(((count + 1) >>> 1) * HASH_BYTES)
    for (let at = 0; at < count; at += 2) {
      const from = at * HASH_BYTES
      if (at + 1 === count) next.set(level.subarray(from, from + HASH_BYTES), from / 2)
      else {
        PAIR.set(level.subarray(from, from + 2 * HASH_BYTES), 1)
        next.write(sha256Text(PAIR), from / 2, 'latin1')
      }
    }
    levels.push(next)
    level = next
  }
  return levels
}

/** The bytes that were signed for a batch; undefined when the proof cannot be of such a batch. Results of one batch share them, so one signature check serves all. */
export function signedRoot(statement: Uint8Array, proof: Inclusion): Uint8Array | undefined {
  const { index, count } = proof
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(count) || index < 0 || index >= count || count > BATCH_LEAVES_MAX) return undefined
  let hash = Buffer.from(leafHash(statement), 'latin1')
  let at = index
  let width = count
  let used = 0
  while (width > 1) {
    if ((at ^ 1) < width) {
      const sibling = proof.path[used++]
      if (sibling === undefined || sibling.length !== HASH_BYTES) return undefined
      PAIR.set(hash, at % 2 === 0 ? 1 : 33)
      PAIR.set(sibling, at % 2 === 0 ? 33 : 1)
      hash = Buffer.from(sha256Text(PAIR), 'latin1')
    }
    at >>>= 1
    width = (width + 1) >>> 1
  }
  return used === proof.path.length ? rootStatement(hash, count) : undefined
}

/** True when `peer` signed a batch for `domain` that contains `statement`. */
export function verifyInBatch(peer: PeerIdString, domain: string, statement: Uint8Array, proof: Inclusion): boolean {
  const root = signedRoot(statement, proof)
  return root !== undefined && verify(peer, domain, root, proof.signature)
}

/** Reused: a hash reads them at once. The first byte tells a pair from a statement. */
const PAIR = Buffer.alloc(1 + 2 * HASH_BYTES, 1)
const LEAF = Buffer.alloc(8 * 1024)

/** One character a byte. */
function leafHash(statement: Uint8Array): string {
  const length = 1 + statement.length
  const bytes = length <= LEAF.length ? LEAF.subarray(0, length) : Buffer.alloc(length)
  bytes.set(statement, 1)
  return sha256Text(bytes)
}

function checkCount(count: number): number {
  if (count >= 1 && count <= BATCH_LEAVES_MAX && Number.isInteger(count)) return count
  throw new RangeError(`a signed batch holds 1 to ${BATCH_LEAVES_MAX} statements, got ${count}`)
}

function rootStatement(root: Uint8Array, count: number): Uint8Array {
  const bytes = Buffer.alloc(4 + HASH_BYTES)
  bytes.writeUInt32BE(count, 0)
  bytes.set(root, 4)
  return bytes
}
