/**
 * A project's signature over a bundle: what lets a volunteer refuse all work that the project it chose did not publish.
 * One bundle is signed alone (64 bytes); the bundles of a submission are signed in groups (signing/batch.ts), and each
 * carries its proof: `signature (64) | count (4) | index (4) | 32 bytes of path each`. An Ed25519 check costs a node as
 * much as all the rest of accepting a lease; a group shares one.
 */
import type { CID } from 'multiformats/cid'
import { BUNDLE_DOMAIN, BUNDLES_DOMAIN } from '../control/messages.ts'
import type { PeerIdString } from '../ids.ts'
import { type Inclusion, signBatch, signedRoot } from '../signing/batch.ts'
import { type Signer, verify } from '../signing/keys.ts'
import { ManifestError } from './errors.ts'
import { decodeManifest, manifestCid, type RunManifest } from './manifest.ts'

/** A group is spread over many nodes, each of which checks its signature once: 64 of them cost a node more than three further hashes do. */
const GROUP_BUNDLES_MAX = 512
const SIGNATURE_BYTES = 64
const HASH_BYTES = 32
const HEAD_BYTES = SIGNATURE_BYTES + 8
/** A path in the largest batch. */
const PROOF_BYTES_MAX = HEAD_BYTES + 17 * HASH_BYTES
/** Signed roots remembered. */
const ROOTS_MAX = 1024

export function signBundle(signer: Pick<Signer, 'sign'>, bundle: CID): Uint8Array {
  return signer.sign(BUNDLE_DOMAIN, bundle.bytes)
}

/** One signature for each, in order. */
export function signBundles(signer: Pick<Signer, 'sign'>, bundles: readonly CID[]): Uint8Array[] {
  const signatures: Uint8Array[] = []
  for (let from = 0; from < bundles.length; from += GROUP_BUNDLES_MAX) {
    const group = bundles.slice(from, from + GROUP_BUNDLES_MAX).map(({ bytes }) => bytes)
    for (const proof of signBatch(signer, BUNDLES_DOMAIN, group)) signatures.push(encodeProof(proof))
  }
  return signatures
}

/** Groups whose signature was found good lately: their other bundles need no check of it. */
export class SignedRoots {
  readonly #known = new Set<string>()

  /** True when `project` signed the bundle. */
  verify(project: PeerIdString, bundle: CID, signature: Uint8Array): boolean {
    if (signature.length === SIGNATURE_BYTES) return verify(project, BUNDLE_DOMAIN, bundle.bytes, signature)
    const proof = decodeProof(signature)
    const root = proof === undefined ? undefined : signedRoot(bundle.bytes, proof)
    if (proof === undefined || root === undefined) return false
    const key = `${project} ${Buffer.from(root).toString('latin1')}${Buffer.from(proof.signature).toString('latin1')}`
    if (this.#known.has(key)) return true
    if (!verify(project, BUNDLES_DOMAIN, root, proof.signature)) return false
    if (this.#known.size >= ROOTS_MAX) this.#known.clear()
    this.#known.add(key)
    return true
  }
}

/** Decodes a manifest that claims to be `project`'s. Throws ManifestError, `manifest_signature` when the project did not sign it. */
export function openBundle(
  project: PeerIdString,
  manifest: Uint8Array,
  signature: Uint8Array,
  roots = new SignedRoots()
): { readonly cid: CID; readonly manifest: RunManifest } {
  const decoded = decodeManifest(manifest)
  const cid = manifestCid(manifest)
  if (!roots.verify(project, cid, signature)) throw new ManifestError('manifest_signature', `bundle ${cid} is not signed by project ${project}`)
  return { cid, manifest: decoded }
}

function encodeProof({ signature, count, index, path }: Inclusion): Uint8Array {
  const bytes = Buffer.alloc(HEAD_BYTES + path.length * HASH_BYTES)
  bytes.set(signature)
  bytes.writeUInt32BE(count, SIGNATURE_BYTES)
  bytes.writeUInt32BE(index, SIGNATURE_BYTES + 4)
  for (const [at, hash] of path.entries()) bytes.set(hash, HEAD_BYTES + at * HASH_BYTES)
  return bytes
}

function decodeProof(bytes: Uint8Array): Inclusion | undefined {
  if (bytes.length < HEAD_BYTES || bytes.length > PROOF_BYTES_MAX || (bytes.length - HEAD_BYTES) % HASH_BYTES !== 0) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const path: Uint8Array[] = []
  for (let at = HEAD_BYTES; at < bytes.length; at += HASH_BYTES) path.push(bytes.subarray(at, at + HASH_BYTES))
  return { signature: bytes.subarray(0, SIGNATURE_BYTES), count: view.getUint32(SIGNATURE_BYTES), index: view.getUint32(SIGNATURE_BYTES + 4), path }
}
