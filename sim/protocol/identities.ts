/** Keys that follow from a name: the same in every run, and made once a process. */
import { createPrivateKey, createPublicKey, hash } from 'node:crypto'
import { identityFrom, type Signer } from '#protocol/signing/keys'

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
/** Keys that are kept of those who signed lately; the others are made again. */
const KEYS_MAX = 4_096

const known = new Map<string, NamedSigner>()
const keys = new Map<string, Signer>()

export function identityOf(name: string): Signer {
  const made = known.get(name)
  if (made !== undefined) return made
  const signer = new NamedSigner(name)
  known.set(name, signer)
  return signer
}

/** A name and the id that follows from it: of ten thousand nodes few sign at a time. */
class NamedSigner implements Signer {
  readonly #name: string
  readonly peerId: string

  constructor(name: string) {
    this.#name = name
    // A part of a longer string would keep all of that.
    this.peerId = Buffer.from(make(name).peerId, 'latin1').toString('latin1')
  }

  get privateKey(): Signer['privateKey'] {
    return keyOf(this.#name).privateKey
  }

  sign(domain: string, bytes: Uint8Array): Uint8Array {
    return keyOf(this.#name).sign(domain, bytes)
  }
}

function keyOf(name: string): Signer {
  const made = keys.get(name)
  if (made !== undefined) return made
  const signer = make(name)
  if (keys.size >= KEYS_MAX) keys.clear()
  keys.set(name, signer)
  return signer
}

function make(name: string): Signer {
  const seed = hash('sha256', `talko sim ${name}`, 'buffer')
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  return identityFrom(Buffer.concat([seed, Buffer.from(x, 'base64url')]))
}
