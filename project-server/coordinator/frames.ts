/** What goes to a node as encoded frames: bounded, and without what no longer holds. */
import { bundleLeaf, signBundleLeaves } from '#protocol/bundle/sign'
import { encodeLeases, encodeTexts } from '#protocol/control/frame-writer'
import { Frame } from '#protocol/control/messages'
import type { ReplicaId } from '#protocol/ids'
import { NONE, withOne } from '#protocol/lists'
import { seals } from './commitments.ts'
import { CANCEL_REASONS, type Outgoing } from './link-records.ts'
import type { Node, Replica } from './model.ts'
import type { LeaseSigner } from './output.ts'
import { ASSIGN_BYTES_MAX, ASSIGN_LEASES_MAX } from './policy.ts'
import { isLive } from './states.ts'

const NO_SIGNATURE = new Uint8Array(0)

export interface Said {
  readonly outgoing: Outgoing
  /** Of an assign. */
  readonly leases: readonly Replica[]
}

/** Drains what is gathered for a node: leases first, cancellations after what they cancel. */
export function drain(node: Node): readonly Said[] {
  const { outgoing } = node
  node.outgoing = null
  if (outgoing === null) return NONE
  const { assign, granted, refused, cancel, release, reveal } = outgoing
  let said: readonly Said[] = NONE
  if (assign.length > 0) for (const leases of assignments(assign)) said = withOne(said, { outgoing: { kind: 'assign', replicas: idsOf(leases) }, leases })
  if (granted.length + refused.length > 0) for (const grant of grants(granted, refused)) said = withOne(said, plain(grant))
  if (cancel.length > 0)
    for (const reason of CANCEL_REASONS) {
      const replicas = cancel.filter((one) => one.reason === reason).map((one) => one.replica)
      for (const part of parts(replicas)) said = withOne(said, plain({ kind: 'cancel', replicas: part, reason }))
    }
  if (reveal.length > 0) for (const part of parts(reveal)) said = withOne(said, plain({ kind: 'reveal', replicas: part }))
  if (release.length > 0) for (const part of parts(release)) said = withOne(said, plain({ kind: 'release', replicas: part }))
  return said
}

function plain(outgoing: Outgoing): Said {
  return { outgoing, leases: NONE }
}

function idsOf(replicas: readonly Replica[]): readonly ReplicaId[] {
  const [only] = replicas
  return only !== undefined && replicas.length === 1 ? [only.id] : replicas.map(({ id }) => id)
}

export function encodeFrame(seq: number, { outgoing, leases }: Said, signer: LeaseSigner): Uint8Array {
  return outgoing.kind === 'assign' ? encodeAssign(seq, leases, signer) : encodePlain(seq, outgoing)
}

/** Without a number: what is next is told as a whole, and told anew after a hello. */
export function encodeNext(manifests: readonly Uint8Array[]): Uint8Array {
  return Frame.encode({ next: { manifests: manifests.map((manifest) => new Uint8Array(manifest)) } })
}

/** What was granted and taken back before it was sent is never started. */
function grants(asked: readonly Replica[], refused: readonly ReplicaId[]): Outgoing[] {
  if (asked.length <= ASSIGN_LEASES_MAX && refused.length <= ASSIGN_LEASES_MAX && asked.every(({ state }) => isLive(state)))
    return [{ kind: 'grant', granted: idsOf(asked), refused }]
  const may: ReplicaId[] = []
  const not = [...refused]
  for (const { id, state } of asked) {
    if (isLive(state)) may.push(id)
    else not.push(id)
  }
  if (may.length <= ASSIGN_LEASES_MAX && not.length <= ASSIGN_LEASES_MAX) return [{ kind: 'grant', granted: may, refused: not }]
  const found: Outgoing[] = []
  for (let at = 0; at < Math.max(may.length, not.length); at += ASSIGN_LEASES_MAX)
    found.push({ kind: 'grant', granted: may.slice(at, at + ASSIGN_LEASES_MAX), refused: not.slice(at, at + ASSIGN_LEASES_MAX) })
  return found
}

/** What a numbered message says once more: leases that are over are left out of it or refused, so that a node never starts them. */
export function saidAgain(outgoing: Outgoing, find: (id: ReplicaId) => Replica | undefined): Said {
  const live = (id: ReplicaId): boolean => {
    const replica = find(id)
    return replica !== undefined && isLive(replica.state)
  }
  if (outgoing.kind === 'assign') {
    const replicas = outgoing.replicas.filter(live)
    return { outgoing: { kind: 'assign', replicas }, leases: replicas.map((id) => find(id) as Replica) }
  }
  if (outgoing.kind !== 'grant') return plain(outgoing)
  const { granted, refused } = outgoing
  return plain({ kind: 'grant', granted: granted.filter(live), refused: [...refused, ...granted.filter((id) => !live(id))] })
}

/** Parts that fit a frame, without leases that ended before they were sent. */
function assignments(assign: readonly Replica[]): readonly (readonly Replica[])[] {
  let found: readonly (readonly Replica[])[] = NONE
  let part: readonly Replica[] = NONE
  let bytes = 0
  for (const replica of assign) {
    if (!isLive(replica.state)) continue
    const size = replica.task.bundle.bytes.length
    if (part.length >= ASSIGN_LEASES_MAX || (part.length > 0 && bytes + size > ASSIGN_BYTES_MAX)) {
      found = withOne(found, part)
      part = NONE
      bytes = 0
    }
    part = withOne(part, replica)
    bytes += size
  }
  return part.length > 0 ? withOne(found, part) : found
}

function parts<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length <= ASSIGN_LEASES_MAX) return items.length === 0 ? NONE : [items]
  const found: T[][] = []
  for (let at = 0; at < items.length; at += ASSIGN_LEASES_MAX) found.push(items.slice(at, at + ASSIGN_LEASES_MAX))
  return found
}

function encodeAssign(seq: number, replicas: readonly Replica[], signer: LeaseSigner): Uint8Array {
  const leases = replicas.map(({ id, epoch, gpus, needs, from, task, task: { bundle, batch } }) => ({
    replica: id,
    epoch,
    gpus,
    manifest: bundle.bytes,
    granted: bundle.atOnce && from === null ? true : undefined,
    memoryBytes: needs.memoryBytes === bundle.needs.memoryBytes ? undefined : needs.memoryBytes,
    sealed: seals({ task }) ? true : undefined,
    checkpoint: batch.policy.checkpointMs > 0 ? { everyMs: batch.policy.checkpointMs, root: from?.root } : undefined
  }))
  // Every lease of a frame may have ended before it is sent again.
  const signature = leases.length === 0 ? NO_SIGNATURE : signBundleLeaves(signer, replicas.map(leafOf))
  return encodeLeases(seq, leases, signature)
}

/** That of a manifest which one task has is made anew, as its digest is. */
function leafOf({ task: { bundle } }: Replica): Uint8Array {
  if (bundle.users > 1) bundle.leaf ??= bundleLeaf(bundle.bytes)
  return bundle.leaf ?? bundleLeaf(bundle.bytes)
}

function encodePlain(seq: number, outgoing: Exclude<Outgoing, { kind: 'assign' }>): Uint8Array {
  switch (outgoing.kind) {
    case 'grant':
      return encodeTexts(seq, 'grant', outgoing.granted, outgoing.refused)
    case 'cancel':
      return encodeTexts(seq, 'cancel', outgoing.replicas, [outgoing.reason])
    case 'reveal':
    case 'release':
      return encodeTexts(seq, outgoing.kind, outgoing.replicas, NONE)
  }
}
