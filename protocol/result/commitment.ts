/**
 * A sealed result: its node says what it is bound to before it says what came out. The commitment is a hash of the result's own
 * bytes, which name the node, the replica and a salt; so nobody can find out from it what the result is, or use it as his own.
 */
import { createHash } from 'node:crypto'
import type { ReplicaId } from '../ids.ts'
import type { Signer } from '../signing/keys.ts'

const DOMAIN = new TextEncoder().encode('talko-commitment-1')
const SALT_DOMAIN = 'talko-salt-1'
export const COMMITMENT_BYTES = 32
export const SALT_BYTES = 32

/** Of the canonical bytes of a result with its salt. */
export function commitmentOf(body: Uint8Array): Uint8Array {
  return hash(DOMAIN, body)
}

/** Known to the node alone until its result is; the same after a restart, as its signatures are. */
export function saltOf(signer: Pick<Signer, 'sign'>, replica: ReplicaId): Uint8Array {
  return hash(signer.sign(SALT_DOMAIN, new TextEncoder().encode(replica)))
}

function hash(...parts: readonly Uint8Array[]): Uint8Array {
  const all = createHash('sha256')
  for (const part of parts) all.update(part)
  return new Uint8Array(all.digest())
}
