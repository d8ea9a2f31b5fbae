/**
 * The durable form of a held replica. Preparing is not a step worth a record: it is done again after a restart. Nor is
 * publishing after a plain success: the record says `running`, and the engine finds the run again, ended.
 */
import * as dagCbor from '@ipld/dag-cbor'
import { decodeManifest } from '#protocol/bundle/manifest'
import { Writer } from '#protocol/cbor/writer'
import type { ReplicaId } from '#protocol/ids'
import type { Ended } from '../ports.ts'
import type { CheckedLease, Fault, Replica } from './events.ts'

export const REPLICA_PREFIX = 'replica/'

interface Stored {
  readonly v: 1
  readonly at: 'leased' | 'asked' | 'granted' | 'running' | 'killing' | 'killed' | 'publishing' | 'reported'
  readonly epoch: number
  readonly manifest: Uint8Array
  readonly fault: Fault | null
  readonly ended: Ended | null
  readonly content: readonly string[]
}

const NO_BYTES = new Uint8Array(0)
const WRITER = new Writer()

export function encodeReplica(replica: Replica): Uint8Array {
  switch (replica.phase) {
    case 'reported':
      return write('reported', null, { content: replica.content })
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
    case 'publishing':
      return write('publishing', replica.lease, { ended: replica.ended })
  }
}

/** Reads a record of this node's own; throws ManifestError or TypeError when it is damaged. */
export function decodeReplica(id: ReplicaId, bytes: Uint8Array): Replica {
  const stored: Stored = dagCbor.decode(bytes)
  if (stored.v !== 1) throw new TypeError(`replica record ${id} has version ${String(stored.v)}, this talko reads version 1`)
  if (stored.at === 'reported') return { phase: 'reported', content: stored.content }
  const lease: CheckedLease = { replica: id, epoch: stored.epoch, bytes: stored.manifest, manifest: decodeManifest(stored.manifest) }
  switch (stored.at) {
    case 'leased':
    case 'asked':
    case 'granted':
      return { phase: 'preparing', lease, asked: stored.at !== 'leased', granted: stored.at === 'granted' }
    case 'running':
      return { phase: 'running', lease }
    case 'killing':
    case 'killed':
      return { phase: 'killing', lease, fault: stored.fault, publish: stored.at === 'killed' }
    case 'publishing':
      if (stored.ended === null) throw new TypeError(`replica record ${id} lacks how it ended`)
      return { phase: 'publishing', lease, ended: stored.ended }
    default:
      throw new TypeError(`replica record ${id} is in an unknown state`)
  }
}

interface Details {
  readonly fault?: Fault | null
  readonly ended?: Ended
  readonly content?: readonly string[]
}

/** dag-cbor by hand: a record is written three times for every replica. */
function write(at: Stored['at'], lease: CheckedLease | null, { fault = null, ended, content = [] }: Details = {}): Uint8Array {
  WRITER.map(7).text('v').int(1).text('at').text(at).text('ended')
  if (ended === undefined) WRITER.nil()
  else {
    const { cpuMs, reason, exitCode, endedAtMs, startedAtMs, memoryPeakBytes } = ended
    WRITER.map(6).text('cpuMs').int(whole(cpuMs)).text('reason').text(reason).text('exitCode').int(whole(exitCode)).text('endedAtMs').int(whole(endedAtMs))
    WRITER.text('startedAtMs').int(whole(startedAtMs)).text('memoryPeakBytes').int(whole(memoryPeakBytes))
  }
  WRITER.text('epoch')
    .int(lease?.epoch ?? 0)
    .text('fault')
  if (fault === null) WRITER.nil()
  else WRITER.map(3).text('code').text(fault.code).text('class').text(fault.class).text('message').text(fault.message)
  WRITER.text('content').list(content.length)
  for (const cid of content) WRITER.text(cid)
  return WRITER.text('manifest')
    .bytes(lease?.bytes ?? NO_BYTES)
    .done()
}

/** Records and results hold whole numbers only. */
export function whole(value: number): number {
  return Number.isFinite(value) ? Math.trunc(Math.max(-(2 ** 31), Math.min(value, Number.MAX_SAFE_INTEGER))) : 0
}
