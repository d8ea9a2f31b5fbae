/**
 * Inputs that are no longer on the project's disk, though its client named them as data: what a task of that client's left is
 * taken from this task instead, as if it had been asked for so, and is computed again from there.
 */
import type { CID } from 'multiformats/cid'
import { type Dependency, encodeManifest, manifestCidText, type RunManifest } from '#protocol/bundle/manifest'
import type { Source } from '#protocol/bundle/sources'
import type { ContentStore } from '#protocol/content/content'
import type { PeerIdString, TaskId } from '#protocol/ids'
import { decodeDoneRecord } from './coordinator/bundle-records.ts'
import type { AcceptedBundle } from './coordinator/events.ts'
import { fromKey } from './coordinator/keys.ts'
import { OwnerError } from './owner/request.ts'
import { dataOf } from './owner/sizes.ts'
import type { Store } from './ports.ts'

export interface LineagePorts {
  readonly content: Pick<ContentStore, 'check' | 'locate' | 'resolve' | 'sizeOf'>
  readonly store: Pick<Store, 'get'>
}

/** By root and path: who left what is lost; null for what is here. */
export type Looked = Map<string, TaskId | null>

/** A bundle, and what it takes from tasks that is no input of it any more. */
export interface Taken {
  readonly bundle: AcceptedBundle
  readonly list: readonly Source[]
}

/** Looks at everything that the bundle names. Throws OwnerError `missing_content` for what is not here and was left by no task that is known. */
export async function takeLost(bundle: AcceptedBundle, by: PeerIdString, ports: LineagePorts, looked: Looked = new Map()): Promise<Taken> {
  const { image, dependencies } = bundle.manifest
  if (image !== null) await look({ what: 'image', root: image, path: '', how: 'import it first (talko image import)' }, undefined, ports, looked)
  const here: Dependency[] = []
  const list: Source[] = []
  for (const dependency of dependencies) {
    const { name, root, path, executables } = dependency
    const need = { what: `the data of input ${name},`, root, path, how: 'upload it first (talko upload)' }
    // Who marks files of it as executable brought it.
    const of = await look(need, executables.length === 0 ? by : undefined, ports, looked)
    if (of === null) here.push(dependency)
    else list.push({ name, of, from: 0, count: 0, part: 'output', path })
  }
  if (list.length === 0) return { bundle, list }
  const manifest: RunManifest = { ...bundle.manifest, dependencies: here }
  const bytes = encodeManifest(manifest)
  return { bundle: { ...bundle, cid: manifestCidText(bytes), bytes, manifest, data: dataOf(manifest, ports.content) }, list }
}

interface Need {
  readonly what: string
  readonly root: CID
  readonly path: string
  readonly how: string
}

async function look({ what, root, path, how }: Need, by: PeerIdString | undefined, { content, store }: LineagePorts, looked: Looked): Promise<TaskId | null> {
  const key = `${root}/${path}`
  const known = looked.get(key)
  if (known !== undefined) return known
  let of: TaskId | null = null
  if (!(await content.check(root))) {
    const record = by === undefined ? undefined : await store.get(fromKey(by, root.toString()))
    if (record === undefined) throw new OwnerError('missing_content', `the project does not hold ${what} ${root}: ${how}`)
    of = decodeDoneRecord(record)
  } else if (path !== '' && content.locate(root, path) === undefined) throw new OwnerError('missing_content', `${what} ${root} has no ${path}`)
  looked.set(key, of)
  return of
}
