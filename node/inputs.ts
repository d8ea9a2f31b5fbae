/** Brings what a replica needs onto this machine: its image and its dependencies. Equal needs at the same time share one download. */
import { CID } from 'multiformats/cid'
import type { RunManifest } from '#protocol/bundle/manifest'
import { DAG_CBOR } from '#protocol/content/cid'
import { ContentError, type ContentStore } from '#protocol/content/content'
import type { PeerIdString } from '#protocol/ids'
import { decodeImage } from '#protocol/image/image'
import { type Host, HostError, StreamError } from '#protocol/peer/host'
import type { Exchange } from './exchange.ts'
import { pause } from './pause.ts'
import { FETCH_RETRY_MS, FETCH_SILENCE_MS_MAX, FETCH_TRIES_MAX, FETCHES_AT_ONCE, INPUT_BYTES_MAX } from './policy.ts'
import type { Clock, Execution } from './ports.ts'
import { StalledError } from './stalled.ts'

export interface InputsPorts {
  readonly store: ContentStore
  readonly host: Host
  /** Who has it: the coordinator. */
  readonly from: readonly PeerIdString[]
  readonly clock: Pick<Clock, 'after'>
  /** Other nodes that may have it. */
  readonly peers?: Peers
  /** Resolves when there is a connection to the coordinator; an outage only makes a download wait. */
  readonly online: (signal: AbortSignal) => Promise<void>
  /** Something came. */
  readonly moved: () => void
  /** A tree that is needed is here, with whether it had to be fetched. Called before anything else can happen to it. */
  readonly using: Using
}

/** See exchange.ts. */
export type Peers = Pick<Exchange, 'host' | 'find'>

export type Using = (tree: { readonly root: CID; readonly bytes: number; readonly fetched: boolean }) => void

interface Need {
  readonly root: CID
  readonly path: string
  readonly executables: readonly string[]
  /** Other nodes that have it. */
  readonly nearby: readonly PeerIdString[]
}

/** Resolves when everything the manifest names is here. Throws ContentError, or the signal's reason. */
export async function fetchInputs(ports: InputsPorts, manifest: RunManifest, signal: AbortSignal): Promise<void> {
  // What was here may have been removed by somebody: then it is fetched again, and nothing runs without it.
  for (const { root, path } of manifest.dependencies) await ports.store.check(ownCid(root), path)
  if (manifest.image !== null) await ports.store.check(ownCid(manifest.image))
  const roots = [...manifest.dependencies.filter(({ root, path }) => !isHere(ports.store, ownCid(root), path)).map(({ root }) => root), manifest.image]
  const missing = [...new Set(roots.filter((root) => root !== null && !(root === manifest.image && ports.store.has(ownCid(root)))).map(String))]
  if (ports.peers !== undefined && missing.length > 0) await ports.online(signal)
  const found = missing.length === 0 ? undefined : await ports.peers?.find(missing, signal)
  try {
    await fetchAll(ports, manifest, (root) => found?.of(root.toString()) ?? [], signal)
  } finally {
    found?.release()
  }
}

async function fetchAll(ports: InputsPorts, manifest: RunManifest, nearby: (root: CID) => readonly PeerIdString[], signal: AbortSignal): Promise<void> {
  const needs: Need[] = manifest.dependencies.map(({ root, path, executables }) => ({ root: ownCid(root), path, executables, nearby: nearby(root) }))
  if (manifest.image !== null) {
    const image = ownCid(manifest.image)
    await fetchOne(ports, { root: image, path: '', executables: [], nearby: nearby(image) }, signal)
    const node = await ports.store.getBlock(image)
    if (node === undefined) throw new ContentError('not_found', `image ${image} is not what it seems: its node is missing`)
    for (const layer of decodeImage(node).layers) needs.push({ root: layer, path: '', executables: [], nearby: nearby(image) })
  }
  const waiting = needs[Symbol.iterator]()
  await Promise.all(
    Array.from({ length: Math.min(FETCHES_AT_ONCE, needs.length) }, async () => {
      for (const need of waiting) await fetchOne(ports, need, signal)
    })
  )
}

/** Calls back for everything that the manifest names and that is here. */
export function useInputs(store: InputStore, { image, dependencies }: RunManifest, using: Using): void {
  for (const { root, path } of dependencies) use(store, { root: ownCid(root), path }, false, using)
  if (image !== null) use(store, { root: ownCid(image), path: '' }, false, using)
}

type InputStore = Pick<ContentStore, 'locate' | 'resolve' | 'sizeOf'>

/** A part of a tree that is here whole is used with all of it. */
function use(store: InputStore, { root, path }: Pick<Need, 'root' | 'path'>, fetched: boolean, using: Using): void {
  const tree = path === '' || store.locate(root) !== undefined ? root : store.resolve(root, path)
  const bytes = tree === undefined ? undefined : store.sizeOf(tree)
  if (tree !== undefined && bytes !== undefined) using({ root: tree, bytes, fetched })
}

/** Where each dependency lies. Throws ContentError `not_found` when one has gone. */
export function locateInputs(store: Pick<ContentStore, 'locate'>, manifest: RunManifest): Execution['inputs'] {
  return manifest.dependencies.map(({ name, root, path }) => {
    const at = store.locate(ownCid(root), path)
    if (at === undefined) throw new ContentError('not_found', `dependency ${name} (${root}${path === '' ? '' : `/${path}`}) is not here, or has no such path`)
    return { name, path: at }
  })
}

function isHere(store: Pick<ContentStore, 'has' | 'locate'>, root: CID, path: string): boolean {
  return root.code === DAG_CBOR ? store.has(root) : store.locate(root, path) !== undefined
}

async function fetchOne(
  { store, host, peers, from, clock, online, moved, using }: InputsPorts,
  { root, path, executables, nearby }: Need,
  signal: AbortSignal
): Promise<void> {
  // Executable bits are not part of a tree's id: a tree that is here may still lack them.
  const here = isHere(store, root, path)
  if (here) use(store, { root, path }, false, using)
  if (here && executables.length === 0) return
  let before = 0
  for (let tries = 1; ; tries++) {
    await online(signal)
    let most = before
    try {
      const { bytes } = await untilSilent(clock, root, signal, (watched, onProgress) =>
        store.fetch(root, {
          host: peers?.host ?? host,
          // Those that are lost meanwhile are not waited for.
          from: [...nearby.filter((peer) => host.isConnected(peer)), ...from],
          signal: watched,
          bytesMax: INPUT_BYTES_MAX,
          onProgress: (progress) => {
            most = Math.max(most, progress.bytes)
            onProgress()
            moved()
          },
          ...(path === '' ? {} : { path }),
          ...(executables.length === 0 ? {} : { executables })
        })
      )
      if (!here) use(store, { root, path }, bytes > 0, using)
      return
    } catch (error) {
      signal.throwIfAborted()
      // A connection that was cut after something had come, by a relay for one, is no failed attempt.
      if (most > before) tries = 0
      before = most
      const passing = error instanceof HostError || error instanceof StreamError || (error instanceof ContentError && error.code === 'unreachable')
      if (!passing || (tries >= FETCH_TRIES_MAX && from.some((peer) => host.isConnected(peer)))) throw error
    }
    await pause(clock, FETCH_RETRY_MS, signal)
  }
}

/** Gives up when nothing comes for too long. */
async function untilSilent<T>(
  clock: Pick<Clock, 'after'>,
  root: CID,
  signal: AbortSignal,
  fetch: (signal: AbortSignal, onProgress: () => void) => Promise<T>
): Promise<T> {
  const quiet = new AbortController()
  const silent = (): void => quiet.abort(new StalledError(`nothing of input ${root} came for ${FETCH_SILENCE_MS_MAX / 1000} s`))
  let cancel = clock.after(FETCH_SILENCE_MS_MAX, silent)
  const onProgress = (): void => {
    cancel()
    cancel = clock.after(FETCH_SILENCE_MS_MAX, silent)
  }
  try {
    return await fetch(AbortSignal.any([signal, quiet.signal]), onProgress)
  } catch (error) {
    throw quiet.signal.aborted ? quiet.signal.reason : error
  } finally {
    cancel()
  }
}

/** A decoded manifest's link as the CID class of ours. */
function ownCid(link: CID): CID {
  return CID.asCID(link) ?? link
}
