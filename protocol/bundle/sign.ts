/**
 * A project's signature over bundles: what lets a volunteer refuse all work that the project it chose did not publish. The
 * bundles that travel together are signed together (signing/batch.ts): an Ed25519 check costs a node as much as all the rest
 * of accepting a lease.
 */
import { BUNDLES_DOMAIN } from '../control/messages.ts'
import type { PeerIdString } from '../ids.ts'
import { BATCH_LEAVES_MAX, leavesOf, rootOf } from '../signing/batch.ts'
import { type Signer, verify } from '../signing/keys.ts'

/** One signature (64 bytes) over 1 to BATCH_LEAVES_MAX manifests, in this order. */
export function signBundles(signer: Pick<Signer, 'sign'>, manifests: readonly Uint8Array[]): Uint8Array {
  return signBundleLeaves(signer, manifests.map(bundleLeaf))
}

/** What stands for a manifest in the batch that is signed: of one that is leased a thousand times it is made once. */
export function bundleLeaf(manifest: Uint8Array): Uint8Array {
  return leavesOf([manifest])
}

/** As `signBundles`, from the leaves of its manifests. */
export function signBundleLeaves(signer: Pick<Signer, 'sign'>, leaves: readonly Uint8Array[]): Uint8Array {
  const [only] = leaves
  return signer.sign(BUNDLES_DOMAIN, rootOf(only !== undefined && leaves.length === 1 ? only : Buffer.concat(leaves)))
}

/** True when `project` signed exactly these manifests, in this order. */
export function verifyBundles(project: PeerIdString, manifests: readonly Uint8Array[], signature: Uint8Array): boolean {
  if (manifests.length === 0 || manifests.length > BATCH_LEAVES_MAX) return false
  return verify(project, BUNDLES_DOMAIN, rootOf(leavesOf(manifests)), signature)
}
