/** What a relay tells of who asks: messages and bounds. */
import { Ask, Seen } from './reach.js'

export * from './reach.js'

export const REACH_PROTOCOL = '/talko/reach/1.0.0'
export const REACH_FRAME_BYTES_MAX = 1024
/** A question over UDP is as long as its answer can be, so that nobody is made to send more than it got. */
export const UDP_BYTES = 96
const UDP_MARK = Buffer.from('talko-reach-1 ')
const ID_BYTES = 16

export function decodeReachAsk(bytes: Uint8Array): Ask | undefined {
  try {
    const ask = Ask.decode(bytes)
    return ask.port <= 65_535 ? ask : undefined
  } catch {
    return undefined
  }
}

export function decodeSeen(bytes: Uint8Array): Seen | undefined {
  try {
    const seen = Seen.decode(bytes)
    return seen.address.length <= 64 && seen.udpPort <= 65_535 ? seen : undefined
  } catch {
    return undefined
  }
}

/** A question over UDP; `id` has 16 bytes that nobody else knows. */
export function udpAsk(id: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(UDP_BYTES)
  bytes.set(UDP_MARK)
  bytes.set(id.subarray(0, ID_BYTES), UDP_MARK.length)
  return bytes
}

/** What is answered to a question from `address`:`port`; undefined for what is none, or cannot be answered: UDP may come from port 0, and nothing can be sent there. */
export function udpAnswer(ask: Uint8Array, address: string, port: number): Uint8Array | undefined {
  if (port === 0 || ask.length !== UDP_BYTES || UDP_MARK.compare(ask.subarray(0, UDP_MARK.length)) !== 0) return undefined
  const seen = Buffer.from(`${address} ${port}`)
  const answer = Buffer.concat([ask.subarray(0, UDP_MARK.length + ID_BYTES), seen])
  return answer.length > UDP_BYTES ? undefined : answer
}

/** From where the relay saw the question with this id come; undefined for what is no answer to it. */
export function udpSeen(answer: Uint8Array, id: Uint8Array): string | undefined {
  const head = udpAsk(id).subarray(0, UDP_MARK.length + ID_BYTES)
  if (answer.length > UDP_BYTES || Buffer.compare(answer.subarray(0, head.length), head) !== 0) return undefined
  const [address, port, ...rest] = Buffer.from(answer.subarray(head.length)).toString('latin1').split(' ')
  return rest.length === 0 && address !== undefined && /^\d{1,5}$/.test(port ?? '') ? `${address} ${port}` : undefined
}
