/** Asking the project which nodes have what is about to be fetched: messages and bounds. */
import { RECORD_BYTES_MAX } from '../record/record.ts'
import { Ask, Found } from './sources.js'

export * from './sources.js'

export const SOURCES_PROTOCOL = '/talko/sources/1.0.0'
export const SOURCES_FRAME_BYTES_MAX = 256 * 1024
/** Roots of one question: a task has at most a few dozen dependencies. */
export const ASKED_ROOTS_MAX = 256
/** Addresses of one node. */
export const SOURCE_ADDRESSES_MAX = 16
/** Nodes in one answer. */
export const SOURCES_MAX = 32
/** Nodes that one may ask for news of the project. */
export const NEIGHBOURS_MAX = 8
const ADDRESS_CHARS_MAX = 400
const ROOT_CHARS_MAX = 128

/** undefined for bytes that are not a question of this shape and bounds. */
export function decodeAsk(bytes: Uint8Array): Ask | undefined {
  if (bytes.length > SOURCES_FRAME_BYTES_MAX) return undefined
  try {
    const ask = Ask.decode(bytes, { limits: { addresses: SOURCE_ADDRESSES_MAX, roots: ASKED_ROOTS_MAX } })
    return ask.addresses.every(isAddress) && ask.roots.every((root) => root.length <= ROOT_CHARS_MAX) ? ask : undefined
  } catch {
    return undefined
  }
}

/** undefined for bytes that are not an answer of this shape and bounds. */
export function decodeFound(bytes: Uint8Array): Found | undefined {
  if (bytes.length > SOURCES_FRAME_BYTES_MAX) return undefined
  try {
    const each = { addresses: SOURCE_ADDRESSES_MAX, roots: ASKED_ROOTS_MAX }
    const found = Found.decode(bytes, { limits: { sources: SOURCES_MAX, sources$: each, neighbours: NEIGHBOURS_MAX, neighbours$: each } })
    if ((found.record?.length ?? 0) > RECORD_BYTES_MAX) return undefined
    return [...found.sources, ...found.neighbours].every(({ peer, addresses }) => /^[1-9A-HJ-NP-Za-km-z]{40,64}$/.test(peer) && addresses.every(isAddress))
      ? found
      : undefined
  } catch {
    return undefined
  }
}

function isAddress(text: string): boolean {
  return text.startsWith('/') && text.length <= ADDRESS_CHARS_MAX
}
