/** A project's signature over a bundle: what lets a volunteer refuse all work that the project it chose did not publish. */
import type { CID } from 'multiformats/cid'
import { BUNDLE_DOMAIN } from '../control/messages.ts'
import type { PeerIdString } from '../ids.ts'
import { type Signer, verify } from '../signing/keys.ts'
import { ManifestError } from './errors.ts'
import { decodeManifest, manifestCid, type RunManifest } from './manifest.ts'

export function signBundle(signer: Pick<Signer, 'sign'>, bundle: CID): Uint8Array {
  return signer.sign(BUNDLE_DOMAIN, bundle.bytes)
}

/** Decodes a manifest that claims to be `project`'s. Throws ManifestError, `manifest_signature` when the project did not sign it. */
export function openBundle(project: PeerIdString, manifest: Uint8Array, signature: Uint8Array): { readonly cid: CID; readonly manifest: RunManifest } {
  const decoded = decodeManifest(manifest)
  const cid = manifestCid(manifest)
  if (!verify(project, BUNDLE_DOMAIN, cid.bytes, signature)) throw new ManifestError('manifest_signature', `bundle ${cid} is not signed by project ${project}`)
  return { cid, manifest: decoded }
}
