/** sha2-256 through node:crypto (CONTENT lab: faster than any other implementation tried). Imports nothing else, so that a thread which only hashes starts quickly. */
import { hash, webcrypto } from 'node:crypto'

const { subtle } = webcrypto

/** A sha2-256 digest as text of one character a byte (latin1), which a map finds sooner than bytes. */
export type BlockId = string

/** As text: making it costs a third of making a buffer, which is most of hashing something small. */
export function sha256Text(bytes: Uint8Array): BlockId {
  return hash('sha256', bytes, 'binary')
}

export function sha256(bytes: Uint8Array): Uint8Array {
  return Buffer.from(sha256Text(bytes), 'latin1')
}

/** The same beside the main thread, for large blocks (the bytes must not change meanwhile). */
export async function sha256Aside(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>))
}

/** A digest as what `sha256Text` gives. */
export function digestText(digest: Uint8Array): BlockId {
  return Buffer.from(digest.buffer, digest.byteOffset, digest.length).toString('latin1')
}
