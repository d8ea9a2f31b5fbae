/** The relay's messages, their numbers and bounds. */
import { Hop, Stop } from './relay.js'

export * from './relay.js'

export const HOP_PROTOCOL = '/libp2p/circuit/relay/0.2.0/hop'
export const STOP_PROTOCOL = '/libp2p/circuit/relay/0.2.0/stop'
/** Of one message; a request has a few hundred bytes. */
export const MESSAGE_BYTES_MAX = 4096
const ADDRESSES_MAX = 32

export const HOP_RESERVE = 0
export const HOP_CONNECT = 1
export const HOP_STATUS = 2
export const STOP_CONNECT = 0

export const STATUS = {
  ok: 100,
  reservationRefused: 200,
  overLimit: 201,
  denied: 202,
  connectionFailed: 203,
  noReservation: 204,
  malformed: 400,
  unexpected: 401
} as const

/** undefined for what is no such message. */
export function decodeHop(bytes: Uint8Array): Hop | undefined {
  try {
    return Hop.decode(bytes, { limits: { peer: { addrs: ADDRESSES_MAX }, reservation: { addrs: ADDRESSES_MAX } } })
  } catch {
    return undefined
  }
}

/** undefined for what is no such message. */
export function decodeStop(bytes: Uint8Array): Stop | undefined {
  try {
    return Stop.decode(bytes, { limits: { peer: { addrs: ADDRESSES_MAX } } })
  } catch {
    return undefined
  }
}
