/** What the node says of a run that ended: the canonical bytes of its result. */
import { CID } from 'multiformats/cid'
import { manifestCid } from '#protocol/bundle/manifest'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import type { PeerIdString } from '#protocol/ids'
import { encodeResult } from '#protocol/result/result'
import type { Ended } from '../ports.ts'
import type { CheckedLease, Published } from './events.ts'
import { whole } from './records.ts'

export interface EndedRun {
  readonly project: PeerIdString
  readonly node: PeerIdString
  readonly lease: CheckedLease
  readonly ended: Ended
  readonly published: Published
  /** Of a result that is committed to first. */
  readonly salt?: Uint8Array
}

/** A tree that was too large was not kept: then its run ended by `disk`, whatever it says itself. */
export function resultOf({ project, node, lease, ended, published, salt }: EndedRun): Uint8Array {
  return encodeResult({
    v: 1,
    project,
    replica: lease.replica,
    bundle: manifestCid(lease.bytes),
    node,
    reason: published.overDisk ? 'disk' : ended.reason,
    exitCode: whole(ended.exitCode),
    output: cidOf(published.output),
    stdout: cidOf(published.stdout),
    stderr: cidOf(published.stderr),
    bytes: whole(published.bytes),
    startedAtMs: whole(ended.startedAtMs),
    endedAtMs: whole(ended.endedAtMs),
    cpuMs: whole(ended.cpuMs),
    memoryPeakBytes: whole(ended.memoryPeakBytes),
    ...(salt === undefined ? {} : { salt })
  })
}

const NOTHING = new Map([EMPTY_DIRECTORY, EMPTY_FILE].map((text) => [text, CID.parse(text)]))

/** Most runs leave one of the three empty: those ids are not read again. */
function cidOf(text: string): CID {
  return NOTHING.get(text) ?? CID.parse(text)
}
