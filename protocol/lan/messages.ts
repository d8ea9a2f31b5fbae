/**
 * Looking for a project in one's own network: a question to a multicast group that routers keep inside, answered by the project
 * with its signed record. The question is padded to what an answer takes at most, so nobody is made to send more than it got.
 */
import type { PeerIdString } from '../ids.ts'
import { isPrivateAddress } from '../peer/addresses.ts'

/** Organisation-local scope (RFC 2365), and a port of our own. */
export const LAN_GROUP = '239.192.84.75'
export const LAN_PORT = 4611
/** One packet on any network. */
export const LAN_BYTES_MAX = 1200
const MARK = Buffer.from('talko-lan-1 ')
const ID_BYTES = 16
const PEER = /^[1-9A-HJ-NP-Za-km-z]{40,64}$/

/** `id` has 16 bytes that nobody else knows. */
export function lanAsk(project: PeerIdString, id: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(LAN_BYTES_MAX)
  bytes.set(Buffer.concat([MARK, id.subarray(0, ID_BYTES), Buffer.from(`${project} `)]))
  return bytes
}

/** Whether who asks from there is answered: a neighbour, at a port that can be sent to, which port 0 is not. */
export function isLanAsker(address: string, port: number): boolean {
  return port > 0 && isPrivateAddress(`/ip4/${address}/`)
}

/** What is answered to a question for `project`; undefined for what is none, for another project's, and when the record is too long. */
export function lanAnswer(ask: Uint8Array, project: PeerIdString, record: Uint8Array): Uint8Array | undefined {
  if (ask.length !== LAN_BYTES_MAX || MARK.compare(ask.subarray(0, MARK.length)) !== 0) return undefined
  const head = MARK.length + ID_BYTES
  const asked =
    Buffer.from(ask.subarray(head, head + 65))
      .toString('latin1')
      .split(' ', 1)[0] ?? ''
  if (asked !== project || !PEER.test(asked) || head + record.length > LAN_BYTES_MAX) return undefined
  return Buffer.concat([ask.subarray(0, head), record])
}

/** The record in an answer to the question with this id, not verified; undefined for anything else. */
export function lanRecord(answer: Uint8Array, id: Uint8Array): Uint8Array | undefined {
  const head = Buffer.concat([MARK, id.subarray(0, ID_BYTES)])
  if (answer.length > LAN_BYTES_MAX || head.compare(answer.subarray(0, head.length)) !== 0) return undefined
  return new Uint8Array(answer.subarray(head.length))
}
