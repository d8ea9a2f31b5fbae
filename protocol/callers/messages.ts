/**
 * Who calls through a relay, told by the relay to whom is called: the network alone, not the address. The one who is called
 * opens a stream of this protocol to a relay where it has a place, says nothing but one empty frame, and is sent a frame for
 * each that calls it.
 */
import * as dagCbor from '@ipld/dag-cbor'
import type { PeerIdString } from '../ids.ts'

export const CALLERS_PROTOCOL = '/talko/callers/1.0.0'
export const CALLER_FRAME_BYTES_MAX = 256
const NETWORK = /^((\d{1,3}\.){3}0\/24|[0-9a-f]{1,4}(:[0-9a-f]{1,4}){2}::\/48|)$/

export interface Caller {
  readonly peer: PeerIdString
  /** As `networkOf` (network.ts) says it: `203.0.113.0/24`; '' when it says nothing, as in a local network. */
  readonly network: string
}

export function encodeCaller({ peer, network }: Caller): Uint8Array {
  return dagCbor.encode([peer, network])
}

/** undefined for bytes that are not such a frame. */
export function decodeCaller(bytes: Uint8Array): Caller | undefined {
  if (bytes.length > CALLER_FRAME_BYTES_MAX) return undefined
  try {
    const value: unknown = dagCbor.decode(bytes)
    if (!Array.isArray(value) || value.length !== 2) return undefined
    const [peer, network]: unknown[] = value
    if (typeof peer !== 'string' || !/^[1-9A-HJ-NP-Za-km-z]{40,64}$/.test(peer)) return undefined
    return typeof network === 'string' && NETWORK.test(network) ? { peer, network } : undefined
  } catch {
    return undefined
  }
}
