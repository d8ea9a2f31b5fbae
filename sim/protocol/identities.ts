/** Keys that follow from a name: the same in every run, and made once a process. */
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { sha256 } from '#protocol/content/cid'
import { identityFrom, type Signer } from '#protocol/signing/keys'

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const made = new Map<string, Signer>()

export function identityOf(name: string): Signer {
  const known = made.get(name)
  if (known !== undefined) return known
  const seed = sha256(new TextEncoder().encode(`talko sim ${name}`))
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  const signer = identityFrom(Buffer.concat([seed, Buffer.from(x, 'base64url')]))
  made.set(name, signer)
  return signer
}
