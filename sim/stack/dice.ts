/** Random bytes and keys as libraries draw them, from a world's dice. */
import crypto, { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import type { Random } from '../random.ts'

/** What comes before the 32 secret bytes in a key's PKCS #8 form. */
const PREFIXES: Readonly<Record<string, Buffer>> = {
  ed25519: Buffer.from('302e020100300506032b657004220420', 'hex'),
  x25519: Buffer.from('302e020100300506032b656e04220420', 'hex')
}

interface Encodings {
  readonly privateKeyEncoding?: Parameters<KeyObject['export']>[0]
  readonly publicKeyEncoding?: Parameters<KeyObject['export']>[0]
}

/**
 * Every draw from now on, of whoever asks, comes from `dice()`. What cannot be drawn so is refused: the operating system's
 * threads answer when they like, so WebCrypto and keys of other kinds throw.
 */
export function throwFrom(dice: () => Random): void {
  const fill = <T extends ArrayBufferView>(view: T): T => {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
    const from = dice()
    for (let at = 0; at < bytes.length; at += 4) {
      const word = from.word()
      for (let byte = 0; byte < 4 && at + byte < bytes.length; byte++) bytes[at + byte] = (word >>> (8 * byte)) & 255
    }
    return view
  }
  const bytes = (count: number): Buffer => fill(Buffer.alloc(count))
  const uuid = (): string => {
    const hex = bytes(16).toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
  }
  const keyPair = (kind: string, { privateKeyEncoding, publicKeyEncoding }: Encodings = {}): object => {
    const prefix = PREFIXES[kind]
    if (prefix === undefined) throw refusal(`a ${kind} key`)
    const privateKey = createPrivateKey({ key: Buffer.concat([prefix, bytes(32)]), format: 'der', type: 'pkcs8' })
    const publicKey = createPublicKey(privateKey)
    return {
      privateKey: privateKeyEncoding === undefined ? privateKey : privateKey.export(privateKeyEncoding),
      publicKey: publicKeyEncoding === undefined ? publicKey : publicKey.export(publicKeyEncoding)
    }
  }
  const refused = (what: string) => (): never => {
    throw refusal(what)
  }
  Math.random = () => dice().float()
  Object.assign(crypto, {
    randomBytes: bytes,
    randomFillSync: fill,
    randomUUID: uuid,
    randomInt: (from: number, to?: number) => (to === undefined ? dice().below(from) : from + dice().below(to - from)),
    generateKeyPairSync: keyPair,
    generateKeyPair: refused('a key made in another thread'),
    randomFill: refused('random bytes of another thread')
  })
  const { webcrypto } = crypto
  Object.defineProperties(webcrypto, {
    getRandomValues: { value: fill },
    randomUUID: { value: uuid },
    subtle: { value: new Proxy({}, { get: () => refused('WebCrypto') }) }
  })
  syncBuiltinESMExports()
}

function refusal(what: string): Error {
  return new Error(`${what} would depend on more than the seed; a simulated world cannot give it`)
}
