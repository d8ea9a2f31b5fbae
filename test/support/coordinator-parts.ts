import { CID } from 'multiformats/cid'
import type { AcceptedBundle, NodeOffer } from '#project-server/coordinator/events'
import type { LeaseSigner } from '#project-server/coordinator/output'
import { encodeManifest, manifestCid, type RunManifest } from '#protocol/bundle/manifest'
import { cidOfBytes, RAW } from '#protocol/content/cid'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import { batchIdFrom, type ReplicaId } from '#protocol/ids'
import { type EndReason, encodeResult, type Result } from '#protocol/result/result'
import type { Seal } from '#protocol/signing/batch'

export const PROJECT = 'the-project'

export function batchId(number: number): string {
  const bytes = new Uint8Array(16)
  new DataView(bytes.buffer).setUint32(12, number)
  return batchIdFrom(bytes)
}

const INPUT = { name: 'data', root: cidOfBytes(RAW, new Uint8Array(1)), path: '', executables: [] }

/** A bundle told apart by its argument, whose input has to be fetched. */
export function bundle(
  argument: string,
  overrides: Partial<Omit<RunManifest, 'resources'>> & { resources?: Partial<RunManifest['resources']> } = {}
): AcceptedBundle {
  const { resources, ...rest } = overrides
  const manifest: RunManifest = {
    kind: 'run',
    v: 1,
    engine: 'process',
    image: null,
    command: ['work', argument],
    dependencies: [INPUT],
    environment: {},
    network: 'none',
    compareStdout: false,
    ...rest,
    resources: { cpuMillis: 1000, memoryBytes: 1024 ** 3, timeMs: 60_000, diskBytes: 0, pids: 16, ...resources }
  }
  const bytes = encodeManifest(manifest)
  return { cid: manifestCid(bytes).toString(), bytes, manifest }
}

/** One that needs nothing, so that its lease is its grant. */
export function plainBundle(argument: string, resources: Partial<RunManifest['resources']> = {}): AcceptedBundle {
  return bundle(argument, { dependencies: [], resources })
}

export const MIB = 1024 ** 2

/** One whose nodes are chosen by where these data sets lie: their names, and how large they are in MiB. */
export function dataBundle(argument: string, sets: Readonly<Record<string, number>>): AcceptedBundle {
  return { ...bundle(argument), data: Object.entries(sets).map(([root, mebibytes]) => ({ root, within: null, bytes: mebibytes * MIB })) }
}

export function offer(slots: number, overrides: Partial<NodeOffer> = {}): NodeOffer {
  return {
    name: 'a node',
    agent: 'test',
    platform: 'linux/amd64',
    cpu: '',
    engines: ['process', 'docker'],
    cpuMillis: 1_000_000,
    memoryBytes: 2 ** 50,
    diskBytes: 2 ** 50,
    slots,
    tags: [],
    exclusive: [],
    gpus: [],
    ownerOnly: false,
    owner: null,
    network: '',
    ...overrides
  }
}

/** The id of an output that holds this text. */
export function outputOf(text: string): CID {
  return cidOfBytes(RAW, new TextEncoder().encode(text))
}

export interface Outcome {
  /** Text of the output; '' for none. */
  readonly output?: string
  readonly stdout?: string
  readonly exitCode?: number
  readonly reason?: EndReason
  /** What it says that it took; 1 unless said. */
  readonly ranMs?: number
  readonly cpuMs?: number
  readonly memoryPeakBytes?: number
  /** Of all that it left; the output's when not said. */
  readonly bytes?: number
}

const EMPTY_TREE = CID.parse(EMPTY_DIRECTORY)
const EMPTY = CID.parse(EMPTY_FILE)

export function result(node: string, replica: ReplicaId, bundleId: CID, outcome: Outcome): Result {
  const { ranMs = 1, cpuMs = 1, output = '', stdout = '', exitCode = 0, reason = 'exit', bytes = output.length, memoryPeakBytes = 1 } = outcome
  return {
    v: 1,
    project: PROJECT,
    replica,
    bundle: bundleId,
    node,
    reason,
    exitCode,
    output: output === '' ? EMPTY_TREE : outputOf(output),
    stdout: stdout === '' ? EMPTY : outputOf(stdout),
    stderr: EMPTY,
    bytes,
    startedAtMs: 0,
    endedAtMs: ranMs,
    cpuMs,
    memoryPeakBytes
  }
}

/** Pretends to be signed: the core trusts the shell with signatures. */
export function signedResult(one: Result): { result: Result; body: Uint8Array } {
  return { result: one, body: encodeResult(one) }
}

export const SEAL: Seal = { leaves: new Uint8Array(32), signature: Uint8Array.of(1) }
export const SIGNER: LeaseSigner = { sign: () => Uint8Array.of(1) }
