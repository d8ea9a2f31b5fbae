/** Keys that follow from a name: the same in every run, and made once a process. */
import { createPrivateKey, createPublicKey, hash } from 'node:crypto'
import { identityFrom, type Signer } from '#protocol/signing/keys'

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const made = new Map<string, Signer>()

export function identityOf(name: string): Signer {
  const known = made.get(name)
  if (known !== undefined) return known
  const seed = hash('sha256', `talko sim ${name}`, 'buffer')
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  const signer = identityFrom(Buffer.concat([seed, Buffer.from(x, 'base64url')]))
  made.set(name, signer)
  return signer
}
