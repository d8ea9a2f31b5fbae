/** What a node runs: only what the project it chose has signed, with an engine it offers, within what it lends. */
import { ManifestError } from '#protocol/bundle/errors'
import type { RunManifest } from '#protocol/bundle/manifest'
import { openBundle, SignedRoots } from '#protocol/bundle/sign'
import type { Lease } from '#protocol/control/messages'
import type { PeerIdString } from '#protocol/ids'
import { parseReplicaId } from '#protocol/ids'
import type { Fault, OfferedLease } from './agent/events.ts'
import { BUNDLES_CACHED_MAX } from './policy.ts'

export interface Offer {
  readonly engines: readonly string[]
  readonly cpuMillis: number
  readonly memoryBytes: number
}

/** Checks leases as they arrive; a bundle that was checked before is not checked again. */
export class LeaseCheck {
  readonly #project: PeerIdString
  readonly #offer: Offer
  readonly #roots = new SignedRoots()
  readonly #known = new Map<string, { readonly bytes: Uint8Array; readonly manifest: RunManifest }>()

  constructor(project: PeerIdString, offer: Offer) {
    this.#project = project
    this.#offer = offer
  }

  /** undefined when the lease names no replica at all, so that it cannot even be returned. */
  check(lease: Lease): OfferedLease | undefined {
    const { replica, epoch } = lease
    if (parseReplicaId(replica) === undefined) return undefined
    let manifest: RunManifest
    try {
      manifest = this.#open(lease)
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error
      // A manifest that its project did not sign, or that is none, is the input's fault: no other node would run it either.
      return { ok: false, replica, fault: { class: 'input', code: error.code, message: error.message } }
    }
    const fault = this.#beyondOffer(manifest)
    return fault === undefined ? { ok: true, lease: { replica, epoch, bytes: lease.manifest, manifest } } : { ok: false, replica, fault }
  }

  #open({ manifest: bytes, signature }: Lease): RunManifest {
    const key = Buffer.from(signature).toString('latin1')
    const known = this.#known.get(key)
    if (known !== undefined && Buffer.compare(known.bytes, bytes) === 0) return known.manifest
    const { manifest } = openBundle(this.#project, bytes, signature, this.#roots)
    if (this.#known.size >= BUNDLES_CACHED_MAX) this.#known.clear()
    this.#known.set(key, { bytes, manifest })
    return manifest
  }

  #beyondOffer({ engine, resources }: RunManifest): Fault | undefined {
    const { engines, cpuMillis, memoryBytes } = this.#offer
    const refuse = (code: string, message: string): Fault => ({ class: 'node', code, message })
    if (!engines.includes(engine)) return refuse('engine', `this node does not offer the engine ${engine}`)
    if (resources.cpuMillis > cpuMillis) return refuse('resources', `the task wants ${resources.cpuMillis} thousandths of a core, this node lends ${cpuMillis}`)
    if (resources.memoryBytes > memoryBytes)
      return refuse('resources', `the task wants ${resources.memoryBytes} bytes of memory, this node lends ${memoryBytes}`)
    return undefined
  }
}
