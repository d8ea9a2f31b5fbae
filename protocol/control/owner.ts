/** A client's word that a node is its own: what lets a project give the client's tasks to it first. It says nothing of trust. */
import type { PeerIdString } from '../ids.ts'
import { type Signer, verify } from '../signing/keys.ts'

const OWNER_DOMAIN = 'talko-node-owner-1'

export interface Ownership {
  /** The client whose key signed. */
  readonly client: PeerIdString
  /** 64 bytes of Ed25519. */
  readonly signature: Uint8Array
}

/** Signed for one node in one project: neither another node nor another project can use it. */
export function signOwnership(signer: Pick<Signer, 'peerId' | 'sign'>, node: PeerIdString, project: PeerIdString): Ownership {
  return { client: signer.peerId, signature: signer.sign(OWNER_DOMAIN, statement(node, project)) }
}

/** True when the client said so of exactly this node and project. */
export function verifyOwnership({ client, signature }: Ownership, node: PeerIdString, project: PeerIdString): boolean {
  return verify(client, OWNER_DOMAIN, statement(node, project), signature)
}

/** Peer ids have no zero byte. */
function statement(node: PeerIdString, project: PeerIdString): Uint8Array {
  return new TextEncoder().encode(`${node}\0${project}`)
}
