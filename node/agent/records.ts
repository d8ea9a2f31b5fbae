/** The durable form of a held replica. Preparing is not a step worth a record: it is done again after a restart. */
import * as dagCbor from '@ipld/dag-cbor'
import { decodeManifest } from '#protocol/bundle/manifest'
import type { ReplicaId } from '#protocol/ids'
import type { Ended } from '../ports.ts'
import type { CheckedLease, Fault, Replica } from './events.ts'

export const REPLICA_PREFIX = 'replica/'

interface Stored {
  readonly v: 1
  readonly at: 'leased' | 'asked' | 'granted' | 'running' | 'killing' | 'publishing' | 'reported'
  readonly epoch: number
  readonly manifest: Uint8Array
  readonly fault: Fault | null
  readonly ended: Ended | null
  readonly content: readonly string[]
}

const NO_BYTES = new Uint8Array(0)

export function encodeReplica(replica: Replica): Uint8Array {
  if (replica.phase === 'reported') return encode({ at: 'reported', content: replica.content })
  const lease = { epoch: replica.lease.epoch, manifest: replica.lease.bytes }
  switch (replica.phase) {
    case 'preparing':
      return encode({ ...lease, at: replica.granted ? 'granted' : replica.asked ? 'asked' : 'leased' })
    case 'ready':
      return encode({ ...lease, at: 'leased' })
    case 'asking':
      return encode({ ...lease, at: 'asked' })
    case 'running':
      return encode({ ...lease, at: 'running' })
    case 'killing':
      return encode({ ...lease, at: 'killing', fault: replica.fault })
    case 'publishing':
      return encode({ ...lease, at: 'publishing', ended: replica.ended })
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
      return { phase: 'killing', lease, fault: stored.fault }
    case 'publishing':
      if (stored.ended === null) throw new TypeError(`replica record ${id} lacks how it ended`)
      return { phase: 'publishing', lease, ended: stored.ended }
    default:
      throw new TypeError(`replica record ${id} is in an unknown state`)
  }
}

function encode(stored: Partial<Stored>): Uint8Array {
  return dagCbor.encode({ v: 1, at: 'leased', epoch: 0, manifest: NO_BYTES, fault: null, ended: null, content: [], ...stored })
}
