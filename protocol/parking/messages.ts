/** Results that are left with other nodes while the project is away: messages, bounds, and the check of who says what. */
import type { PeerIdString, ReplicaId } from '../ids.ts'
import { decodeResult, RESULT_BYTES_MAX, RESULT_DOMAIN, type Result } from '../result/result.ts'
import { leavesOf, rootOf, type Seal } from '../signing/batch.ts'
import { type Signer, verify } from '../signing/keys.ts'
import { type Answer, type Offer, ParkingFrame } from './parking.js'

export type { Offer } from './parking.js'

export const PARKING_PROTOCOL = '/talko/parking/1.0.0'
/** A result with its signature, and what else is said of it. */
export const PARKING_FRAME_BYTES_MAX = RESULT_BYTES_MAX + 512

const CODES = ['kept', 'full', 'busy', 'off', 'refused'] as const
/** `kept`: on the disk, with all that it names; `full`, `busy`, `off`: not now; `refused`: never. */
export type ParkingCode = (typeof CODES)[number]

/** A result as its node signed it by itself. */
export interface ParkedResult {
  readonly body: Uint8Array
  readonly signature: Uint8Array
}

export function signParked(signer: Pick<Signer, 'sign'>, body: Uint8Array): Uint8Array {
  return signer.sign(RESULT_DOMAIN, rootOf(leavesOf([body])))
}

/** The result, and what proves it; undefined when it is none, of another project, or not signed by the node that it names. */
export function verifyParked({ body, signature }: ParkedResult, project: PeerIdString): { readonly result: Result; readonly seal: Seal } | undefined {
  const result = decodeResult(body)
  if (result?.project !== project) return undefined
  const leaves = leavesOf([body])
  return verify(result.node, RESULT_DOMAIN, rootOf(leaves), signature) ? { result, seal: { leaves, signature } } : undefined
}

export function encodeOffer(offer: Offer): Uint8Array {
  return ParkingFrame.encode({ offer })
}

export function encodeAnswer(replica: ReplicaId, code: ParkingCode): Uint8Array {
  return ParkingFrame.encode({ answer: { code, replica } })
}

/** undefined for bytes that are no offer of this shape and bounds. */
export function decodeOffer(bytes: Uint8Array): Offer | undefined {
  const offer = decode(bytes)?.offer
  return offer !== undefined && Number.isSafeInteger(offer.bytes) && offer.bytes >= 0 ? offer : undefined
}

/** A code that is not known is `refused`; undefined for bytes that are no answer. */
export function decodeAnswer(bytes: Uint8Array): { readonly replica: ReplicaId; readonly code: ParkingCode } | undefined {
  const answer: Answer | undefined = decode(bytes)?.answer
  return answer === undefined ? undefined : { replica: answer.replica, code: CODES.find((code) => code === answer.code) ?? 'refused' }
}

function decode(bytes: Uint8Array): ParkingFrame | undefined {
  if (bytes.length > PARKING_FRAME_BYTES_MAX) return undefined
  try {
    return ParkingFrame.decode(bytes)
  } catch {
    return undefined
  }
}
