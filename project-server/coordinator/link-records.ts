/** `link/<peer>` and `out/<peer>/<seq>`: the numbers of a control stream, and what was said on it that the node may not have yet. */
import type { Link, LinkNumbers, Numbered } from '#protocol/control/link'
import type { ReplicaId } from '#protocol/ids'
import { NONE } from '#protocol/lists'
import { LINK_MESSAGES_MAX } from './policy.ts'
import { decodeRecord as decode, RECORD_VERSION } from './record-version.ts'
import { WRITER, writeTexts } from './record-writer.ts'

export type Outgoing =
  | { readonly kind: 'assign'; readonly replicas: readonly ReplicaId[] }
  | { readonly kind: 'grant'; readonly granted: readonly ReplicaId[]; readonly refused: readonly ReplicaId[] }
  | { readonly kind: 'cancel'; readonly replicas: readonly ReplicaId[]; readonly reason: CancelReason }
  | { readonly kind: 'release' | 'reveal'; readonly replicas: readonly ReplicaId[] }

/** A numbered message that waits for its acknowledgement. */
export interface Waiting {
  readonly said: Outgoing
  /** It has a record of its own. */
  readonly filed: boolean
}

export interface LinkRecord extends LinkNumbers {
  /** Those without a record of their own. The node may have them already: that is not written, and it tells with its next hello. */
  readonly waiting: readonly Numbered<Waiting>[]
}

/** `yield`: a copy gives its slot to a task that waits. */
export const CANCEL_REASONS = ['killed', 'decided', 'lost', 'held', 'yield'] as const

export type CancelReason = (typeof CANCEL_REASONS)[number]

export function encodeLinkRecord(link: Link<Waiting>): Uint8Array {
  WRITER.list(5).int(RECORD_VERSION).text(link.id).int(link.sent).int(link.received)
  // Those without a record of their own are among the first: they were few when it was numbered.
  const waiting = link.waiting === 0 ? NONE : link.pending(LINK_MESSAGES_MAX)
  let own = 0
  for (const { payload } of waiting) if (!payload.filed) own++
  WRITER.list(own)
  for (const { seq, payload } of waiting) {
    if (payload.filed) continue
    WRITER.list(4).int(seq)
    writeOutgoing(payload.said)
  }
  return WRITER.done()
}

export function decodeLinkRecord(bytes: Uint8Array): LinkRecord {
  const [id, sent, received, rows] = decode<[string, number, number, [number, ...OutgoingRow][]]>('link', bytes)
  return { id, sent, received, waiting: rows.map(([seq, ...row]) => ({ seq, payload: { said: outgoingOf(row), filed: false } })) }
}

export function encodeOutgoing(outgoing: Outgoing): Uint8Array {
  WRITER.list(4).int(RECORD_VERSION)
  writeOutgoing(outgoing)
  return WRITER.done()
}

export function decodeOutgoing(bytes: Uint8Array): Outgoing {
  return outgoingOf(decode<OutgoingRow>('outgoing', bytes))
}

/** Last: those refused of a grant, the reason of a cancel. */
type OutgoingRow = [Outgoing['kind'], ReplicaId[], ReplicaId[] | CancelReason | null]

/** Three items. */
function writeOutgoing(outgoing: Outgoing): void {
  const { kind } = outgoing
  WRITER.text(kind)
  writeTexts(kind === 'grant' ? outgoing.granted : outgoing.replicas)
  if (kind === 'grant') writeTexts(outgoing.refused)
  else WRITER.text(kind === 'cancel' ? outgoing.reason : null)
}

function outgoingOf([kind, replicas, more]: OutgoingRow): Outgoing {
  if (kind === 'grant') return { kind, granted: replicas, refused: Array.isArray(more) ? more : [] }
  if (kind === 'cancel') return { kind, replicas, reason: more as CancelReason }
  return { kind, replicas }
}
