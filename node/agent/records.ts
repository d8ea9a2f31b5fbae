/**
 * The durable form of a held replica. Preparing is not a step worth a record: it is done again after a restart. Nor is
 * publishing after a plain success: the record says `running`, and the engine finds the run again, ended.
 */
import * as dagCbor from '@ipld/dag-cbor'
import { Writer } from '#protocol/cbor/writer'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import type { ReplicaId } from '#protocol/ids'
import type { EndReason } from '#protocol/result/result'
import { goingOn, gpusAndMemory, leasedManifest } from '../leases.ts'
import type { Ended } from '../ports.ts'
import type { CheckedLease, Fault, Replica } from './events.ts'

export const REPLICA_PREFIX = 'replica/'

type At = 'leased' | 'asked' | 'granted' | 'running' | 'killing' | 'killed' | 'publishing' | 'reported'

/** A list: the names of a map's keys would be most of a record that is written three times for every replica. */
type Stored = readonly [
  v: 1,
  at: At,
  epoch: number,
  manifest: Uint8Array,
  fault: readonly [Fault['class'], code: string, message: string] | null,
  ended: readonly [EndReason, exitCode: number, startedAtMs: number, endedAtMs: number, cpuMs: number, memoryPeakBytes: number] | null,
  /** The well-known ids of nothing are left empty. */
  content: readonly string[],
  /** Left out for none. */
  gpus?: readonly string[],
  /** Left out for what the manifest says. */
  memoryBytes?: number,
  /** Of a sealed result; before there is one, empty. Left out for others. */
  sealed?: Uint8Array | null,
  /** Left out where its run may leave no snapshots. */
  checkpoint?: readonly [everyMs: number, root: string]
]

const NO_BYTES = new Uint8Array(0)
/** Of a run that left nothing: output, stdout, stderr. */
const NOTHING: readonly string[] = [EMPTY_DIRECTORY, EMPTY_FILE, EMPTY_FILE]
const WRITER = new Writer()

export function encodeReplica(replica: Replica): Uint8Array {
  switch (replica.phase) {
    case 'reported':
      return write('reported', null, { content: replica.content, ...(replica.sealed === undefined ? {} : { sealed: replica.sealed }) })
    case 'preparing':
      return write(replica.granted ? 'granted' : replica.asked ? 'asked' : 'leased', replica.lease)
    case 'ready':
      return write('leased', replica.lease)
    case 'asking':
      return write('asked', replica.lease)
    case 'running':
      return write('running', replica.lease)
    case 'killing':
      return write(replica.publish ? 'killed' : 'killing', replica.lease, { fault: replica.fault })
    case 'saving':
      // Found again, it is given back, with what it left.
      return write('killing', replica.lease, { fault: replica.fault })
    case 'publishing':
      return write('publishing', replica.lease, { ended: replica.ended })
  }
}

/** Reads a record of this node's own; throws ManifestError or TypeError when it is damaged. */
export function decodeReplica(id: ReplicaId, bytes: Uint8Array): Replica {
  const stored: Stored = dagCbor.decode(bytes)
  if (!Array.isArray(stored) || stored[0] !== 1) throw new TypeError(`replica record ${id} is not of version 1, which this talko reads`)
  const [, at, epoch, manifest, fault, ended, content, gpus, memory, seal, checkpoints] = stored
  const sealed = seal ?? undefined
  if (at === 'reported')
    return { phase: 'reported', content: content.map((text, index) => text || (NOTHING[index] ?? '')), ...(sealed === undefined ? {} : { sealed }) }
  const memoryBytes = memory === 0 ? undefined : memory
  const checkpoint = checkpoints === undefined ? undefined : { everyMs: checkpoints[0], ...(checkpoints[1] === '' ? {} : { root: checkpoints[1] }) }
  const lease: CheckedLease = {
    replica: id,
    epoch,
    bytes: manifest,
    manifest: goingOn(leasedManifest(manifest, memoryBytes), checkpoint),
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...gpusAndMemory(gpus, memoryBytes),
    ...(sealed === undefined ? {} : { sealed: true as const })
  }
  switch (at) {
    case 'leased':
    case 'asked':
    case 'granted':
      return { phase: 'preparing', lease, asked: at !== 'leased', granted: at === 'granted' }
    case 'running':
      return { phase: 'running', lease }
    case 'killing':
    case 'killed':
      return { phase: 'killing', lease, fault: fault === null ? null : faultOf(fault), publish: at === 'killed' }
    case 'publishing':
      if (ended === null) throw new TypeError(`replica record ${id} lacks how it ended`)
      return { phase: 'publishing', lease, ended: endedOf(ended) }
    default:
      throw new TypeError(`replica record ${id} is in an unknown state`)
  }
}

function faultOf([kind, code, message]: NonNullable<Stored[4]>): Fault {
  return { class: kind, code, message }
}

function endedOf([reason, exitCode, startedAtMs, endedAtMs, cpuMs, memoryPeakBytes]: NonNullable<Stored[5]>): Ended {
  return { reason, exitCode, startedAtMs, endedAtMs, cpuMs, memoryPeakBytes }
}

interface Details {
  readonly fault?: Fault | null
  readonly ended?: Ended
  readonly content?: readonly string[]
  readonly sealed?: Uint8Array
}

const NO_DETAILS: Details = {}

/** dag-cbor by hand. */
function write(
  at: At,
  lease: CheckedLease | null,
  { fault = null, ended, content = [], sealed = lease?.sealed ? NO_BYTES : undefined }: Details = NO_DETAILS
): Uint8Array {
  const { gpus = [], memoryBytes = 0, checkpoint } = lease ?? {}
  const withSeal = sealed !== undefined || checkpoint !== undefined
  const withMemory = memoryBytes > 0 || withSeal
  WRITER.list(checkpoint !== undefined ? 11 : withSeal ? 10 : withMemory ? 9 : gpus.length === 0 ? 7 : 8)
    .int(1)
    .text(at)
    .int(lease?.epoch ?? 0)
    .bytes(lease?.bytes ?? NO_BYTES)
  if (fault === null) WRITER.nil()
  else WRITER.list(3).text(fault.class).text(fault.code).text(fault.message)
  if (ended === undefined) WRITER.nil()
  else {
    const { cpuMs, reason, exitCode, endedAtMs, startedAtMs, memoryPeakBytes } = ended
    WRITER.list(6).text(reason).int(whole(exitCode)).int(whole(startedAtMs)).int(whole(endedAtMs)).int(whole(cpuMs)).int(whole(memoryPeakBytes))
  }
  WRITER.list(content.length)
  for (const [index, cid] of content.entries()) WRITER.text(cid === NOTHING[index] ? '' : cid)
  if (gpus.length > 0 || withMemory) {
    WRITER.list(gpus.length)
    for (const uuid of gpus) WRITER.text(uuid)
  }
  if (withMemory) WRITER.int(memoryBytes)
  if (sealed !== undefined) WRITER.bytes(sealed)
  else if (withSeal) WRITER.nil()
  if (checkpoint !== undefined)
    WRITER.list(2)
      .int(checkpoint.everyMs)
      .text(checkpoint.root ?? '')
  return WRITER.done()
}

/** Records and results hold whole numbers only. */
export function whole(value: number): number {
  return Number.isFinite(value) ? Math.trunc(Math.max(-(2 ** 31), Math.min(value, Number.MAX_SAFE_INTEGER))) : 0
}
