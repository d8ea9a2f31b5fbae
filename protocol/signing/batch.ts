/**
 * One signature for many statements: a Merkle tree whose root is signed (RFC 6962's hashing). An Ed25519 signature costs
 * about as much as 100 hashes, so a batch of a hundred results or receipts costs little more than one, and each can still
 * be checked alone and offline with its path.
 */
import { sha256 } from '../content/cid.ts'
import type { PeerIdString } from '../ids.ts'
import { type Signer, verify } from './keys.ts'

export const BATCH_LEAVES_MAX = 65_536

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
  const { root, prove } = batchOf(statements)
  return prove(signer.sign(domain, root))
}

/** The bytes to sign for all these statements together, and their inclusions once there is a signature. Who has all of a batch needs no paths: two hashes a statement instead of one for each level. */
export function batchOf(statements: readonly Uint8Array[]): { readonly root: Uint8Array; prove(signature: Uint8Array): Inclusion[] } {
  const count = statements.length
  if (count === 0 || count > BATCH_LEAVES_MAX) throw new RangeError(`a signed batch holds 1 to ${BATCH_LEAVES_MAX} statements, got ${count}`)
  const levels: Uint8Array[][] = []
  let level = statements.map(leafHash)
  while (level.length > 1) {
    levels.push(level)
    const next: Uint8Array[] = []
    for (let i = 0; i < level.length; i += 2)
      next.push(i + 1 < level.length ? pairHash(level[i] as Uint8Array, level[i + 1] as Uint8Array) : (level[i] as Uint8Array))
    level = next
  }
  const prove = (signature: Uint8Array): Inclusion[] =>
    statements.map((_, index) => {
      const path: Uint8Array[] = []
      let at = index
      for (const hashes of levels) {
        const sibling = hashes[at ^ 1]
        if (sibling !== undefined) path.push(sibling)
        at >>>= 1
      }
      return { index, count, path, signature }
    })
  return { root: rootStatement(level[0] as Uint8Array, count), prove }
}

/** The bytes that were signed for a batch; undefined when the proof cannot be of such a batch. Results of one batch share them, so one signature check serves all. */
export function signedRoot(statement: Uint8Array, proof: Inclusion): Uint8Array | undefined {
  const { index, count } = proof
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(count) || index < 0 || index >= count || count > BATCH_LEAVES_MAX) return undefined
  let hash = leafHash(statement)
  let at = index
  let width = count
  let used = 0
  while (width > 1) {
    if ((at ^ 1) < width) {
      const sibling = proof.path[used++]
      if (sibling === undefined || sibling.length !== 32) return undefined
      hash = at % 2 === 0 ? pairHash(hash, sibling) : pairHash(sibling, hash)
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

function leafHash(statement: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(1 + statement.length)
  bytes[0] = 0
  bytes.set(statement, 1)
  return sha256(bytes)
}

/** Reused: a hash reads it at once. */
const PAIR = Buffer.alloc(65, 1)

function pairHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  PAIR.set(left, 1)
  PAIR.set(right, 33)
  return sha256(PAIR)
}

function rootStatement(root: Uint8Array, count: number): Uint8Array {
  const bytes = Buffer.alloc(36)
  bytes.writeUInt32BE(count, 0)
  bytes.set(root, 4)
  return bytes
}
