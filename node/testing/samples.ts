/** Defaults for the node's tests: what a test sets is what it is about. */
import { encodeManifest, type Resources, type RunManifest } from '#protocol/bundle/manifest'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import { batchIdFrom, replicaId, taskId } from '#protocol/ids'
import type { CheckedLease, Published } from '../agent/events.ts'
import type { Ended } from '../ports.ts'

export const PROJECT = '12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp'

/** The first attempt of the `index`th task of a batch. */
export function replicaOf(index: number, attempt = 1): string {
  return replicaId(taskId(batchIdFrom(new Uint8Array(16)), index), attempt)
}

export function manifestOf(overrides: Partial<Omit<RunManifest, 'resources'>> & { readonly resources?: Partial<Resources> } = {}): RunManifest {
  return {
    kind: 'run',
    v: 1,
    engine: 'process',
    image: null,
    command: ['true'],
    dependencies: [],
    environment: {},
    network: 'none',
    compareStdout: false,
    ...overrides,
    resources: { cpuMillis: 100, memoryBytes: 64 * 1024 ** 2, timeMs: 60_000, diskBytes: 1024 ** 2, pids: 64, ...overrides.resources }
  }
}

export function leaseOf(replica: string, manifest = manifestOf()): CheckedLease {
  return { replica, epoch: 1, bytes: encodeManifest(manifest), manifest }
}

export const ENDED: Ended = { reason: 'exit', exitCode: 0, startedAtMs: 1_000, endedAtMs: 1_500, cpuMs: 400, memoryPeakBytes: 1024 }
export const PUBLISHED: Published = { output: EMPTY_DIRECTORY, stdout: EMPTY_FILE, stderr: EMPTY_FILE, bytes: 0, overDisk: false }
