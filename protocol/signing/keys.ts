/**
 * Ed25519 identities. A peer id contains its public key, so whoever knows an id can check its signatures offline.
 * node:crypto does the work: libp2p's own signer goes through WebCrypto and is asynchronous.
 */
import { createPrivateKey, createPublicKey, sign as cryptoSign, verify as cryptoVerify, type KeyObject } from 'node:crypto'
import { generateKeyPair, privateKeyFromRaw } from '@libp2p/crypto/keys'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey, peerIdFromString } from '@libp2p/peer-id'
import type { PeerIdString } from '../ids.ts'

export interface Signer {
  readonly peerId: PeerIdString
  /** 64-byte Ed25519 signature of `domain`, a zero byte and `bytes`. Domains keep a signature made for one purpose from serving another. */
  sign(domain: string, bytes: Uint8Array): Uint8Array
  /** What libp2p wants to be started with. */
  readonly privateKey: Ed25519PrivateKey
}

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

export async function generateIdentity(): Promise<Signer> {
  return identityFrom((await generateKeyPair('Ed25519')).raw)
}

/** `raw` as libp2p keeps it: 64 bytes, seed then public key. */
export function identityFrom(raw: Uint8Array): Signer {
  const privateKey = privateKeyFromRaw(raw)
  if (privateKey.type !== 'Ed25519') throw new TypeError(`an identity must be an Ed25519 key, got ${privateKey.type}`)
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, raw.subarray(0, 32)]), format: 'der', type: 'pkcs8' })
  return {
    peerId: peerIdFromPrivateKey(privateKey).toString(),
    privateKey,
    sign: (domain, bytes) => cryptoSign(null, message(domain, bytes), key)
  }
}

/** As the key lies in a file. */
export function keyText({ privateKey }: Signer): string {
  return `${Buffer.from(privateKey.raw).toString('base64')}\n`
}

/** Throws when the text of a file is not a key. */
export function identityOfText(text: string): Signer {
  return identityFrom(Buffer.from(text.trim(), 'base64'))
}

const PUBLIC_KEYS_MAX = 4096
const publicKeys = new Map<PeerIdString, KeyObject>()

function publicKeyOf(peer: PeerIdString): KeyObject | undefined {
  const known = publicKeys.get(peer)
  if (known !== undefined) return known
  try {
    const id = peerIdFromString(peer)
    if (id.type !== 'Ed25519') return undefined
    const key = createPublicKey({ key: Buffer.concat([SPKI, id.publicKey.raw]), format: 'der', type: 'spki' })
    if (publicKeys.size >= PUBLIC_KEYS_MAX) publicKeys.clear()
    publicKeys.set(peer, key)
    return key
  } catch {
    return undefined
  }
}

/** True when `peer` signed `bytes` for `domain`. Never throws: a peer id that is none verifies nothing. */
export function verify(peer: PeerIdString, domain: string, bytes: Uint8Array, signature: Uint8Array): boolean {
  const key = signature.length === 64 ? publicKeyOf(peer) : undefined
  return key !== undefined && cryptoVerify(null, message(domain, bytes), key, signature)
}

function message(domain: string, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${domain}\0`), bytes])
}
