/** What a node runs: only what the project it chose has signed, with an engine it offers, within what it lends. */
import { ManifestError } from '#protocol/bundle/errors'
import { decodeManifest, encodeManifest, manifestCid, type RunManifest } from '#protocol/bundle/manifest'
import { CHECKPOINT_MS_MAX, CHECKPOINT_MS_MIN } from '#protocol/bundle/policy'
import { verifyBundles } from '#protocol/bundle/sign'
import { acceptCid } from '#protocol/content/cid'
import type { Assign, Gpu, Lease } from '#protocol/control/messages'
import type { PeerIdString } from '#protocol/ids'
import { parseReplicaId } from '#protocol/ids'
import type { CheckedLease, Checkpointing, Fault, NextBundle, OfferedLease } from './agent/events.ts'

export interface Offer {
  readonly engines: readonly string[]
  readonly cpuMillis: number
  readonly memoryBytes: number
  readonly gpus: readonly Pick<Gpu, 'uuid'>[]
}

/** One answer for each lease; undefined when it names no replica at all, so that it cannot even be returned. */
export function checkLeases(project: PeerIdString, offer: Offer, { leases, signature }: Assign): (OfferedLease | undefined)[] {
  const signed = verifyBundles(
    project,
    leases.map(({ manifest }) => manifest),
    signature
  )
  return leases.map((lease) => checkOne(lease, offer, signed ? undefined : project))
}

/** `unsigned` is the project that did not sign it. */
function checkOne(
  { replica, epoch, manifest: bytes, granted, gpus, memoryBytes, sealed, checkpoint }: Lease,
  offer: Offer,
  unsigned: PeerIdString | undefined
): OfferedLease | undefined {
  if (parseReplicaId(replica) === undefined) return undefined
  let manifest: RunManifest
  if (checkpoint !== undefined && !isCheckpointing(checkpoint))
    return { ok: false, replica, fault: { class: 'input', code: 'checkpoint', message: 'the lease names a checkpoint that is none' } }
  try {
    manifest = goingOn(leasedManifest(bytes, memoryBytes), checkpoint)
    if (unsigned !== undefined) throw new ManifestError('manifest_signature', `the bundle of replica ${replica} is not signed by project ${unsigned}`)
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error
    // A manifest that its project did not sign, or that is none, is the input's fault: no other node would run it either.
    return { ok: false, replica, fault: { class: 'input', code: error.code, message: error.message } }
  }
  const fault = beyondOffer(manifest, offer) ?? gpuFault(manifest, offer, gpus)
  return fault === undefined
    ? {
        ok: true,
        lease: {
          replica,
          epoch,
          bytes,
          manifest,
          ...gpusAndMemory(gpus, memoryBytes),
          ...(sealed === true ? { sealed } : {}),
          ...(checkpoint === undefined ? {} : { checkpoint })
        },
        granted: granted === true
      }
    : { ok: false, replica, fault }
}

/** What is run: the manifest, with the memory that was leased where that is another. Throws ManifestError. */
export function leasedManifest(bytes: Uint8Array, memoryBytes: number | undefined): RunManifest {
  const manifest = decodeManifest(bytes)
  if (memoryBytes === undefined) return manifest
  const leased = { ...manifest, resources: { ...manifest.resources, memoryBytes } }
  // It has a manifest's bounds.
  encodeManifest(leased)
  return leased
}

/** As what a checkpoint is among a run's inputs; no dependency of a manifest can be called so. */
export const RESUME_NAME = '.checkpoint'

/** Where a run's snapshot lies below the root that is offered: see live/snapshots.ts. */
export const SNAPSHOT_PATH = 'data'

/** The same with the checkpoint that it goes on from, which is fetched and shown like any other input. */
export function goingOn(manifest: RunManifest, checkpoint: Checkpointing | undefined): RunManifest {
  const root = checkpoint?.root === undefined ? undefined : acceptCid(checkpoint.root)
  if (root === undefined) return manifest
  return { ...manifest, dependencies: [...manifest.dependencies, { name: RESUME_NAME, root, path: SNAPSHOT_PATH, executables: [] }] }
}

function isCheckpointing({ everyMs, root }: Checkpointing): boolean {
  return everyMs >= CHECKPOINT_MS_MIN && everyMs <= CHECKPOINT_MS_MAX && (root === undefined || acceptCid(root) !== undefined)
}

/** Of what may be leased next. Nothing of it is run, so that it need not be signed: its lease will be. What is no manifest is left out. */
export function nextBundles(manifests: readonly Uint8Array[]): NextBundle[] {
  return manifests.flatMap((bytes) => {
    try {
      return [{ bundle: manifestCid(bytes).toString(), manifest: decodeManifest(bytes) }]
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error
      return []
    }
  })
}

/** What a lease has beside its manifest, where it has it. */
export function gpusAndMemory(gpus: readonly string[] | undefined, memoryBytes: number | undefined): Pick<CheckedLease, 'gpus' | 'memoryBytes'> {
  return { ...(gpus === undefined || gpus.length === 0 ? {} : { gpus }), ...(memoryBytes === undefined ? {} : { memoryBytes }) }
}

/** As many as the task needs, each of this machine. That nobody else has them is the coordinator's matter. */
function gpuFault({ gpus: needs }: RunManifest, offer: Offer, gpus: readonly string[]): Fault | undefined {
  const known = gpus.filter((uuid) => offer.gpus.some((gpu) => gpu.uuid === uuid))
  if (new Set(known).size === gpus.length && gpus.length === (needs?.count ?? 0)) return undefined
  return {
    class: 'node',
    code: 'resources',
    message: `the task needs ${needs?.count ?? 0} GPUs and was leased ${gpus.length}, of which this node has ${known.length}`
  }
}

function beyondOffer({ engine, resources }: RunManifest, { engines, cpuMillis, memoryBytes }: Offer): Fault | undefined {
  const refuse = (code: string, message: string): Fault => ({ class: 'node', code, message })
  if (!engines.includes(engine)) return refuse('engine', `this node does not offer the engine ${engine}`)
  if (resources.cpuMillis > cpuMillis) return refuse('resources', `the task wants ${resources.cpuMillis} thousandths of a core, this node lends ${cpuMillis}`)
  if (resources.memoryBytes > memoryBytes) return refuse('resources', `the task wants ${resources.memoryBytes} bytes of memory, this node lends ${memoryBytes}`)
  return undefined
}
