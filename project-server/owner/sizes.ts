/** How large everything is that a bundle needs on its node: what the coordinator chooses nodes by. */
import type { CID } from 'multiformats/cid'
import type { RunManifest } from '#protocol/bundle/manifest'
import type { ContentStore } from '#protocol/content/content'
import type { DataNeed } from '../coordinator/model.ts'

/** What was looked up already, by root and path; null for what has no size. */
export type Sizes = Map<string, DataNeed | null>

/** Image and dependencies with their sizes, as far as they are complete here; each tree once. */
export function dataOf({ image, dependencies }: RunManifest, content: Pick<ContentStore, 'resolve' | 'sizeOf'>, known: Sizes = new Map()): DataNeed[] {
  const data = new Set<DataNeed>()
  for (const { root, path } of [...(image === null ? [] : [{ root: image, path: '' }]), ...dependencies]) {
    const key = `${root}/${path}`
    const need = known.get(key) ?? sizeOf(root, path, content)
    known.set(key, need)
    if (need !== null) data.add(need)
  }
  return [...data]
}

function sizeOf(root: CID, path: string, content: Pick<ContentStore, 'resolve' | 'sizeOf'>): DataNeed | null {
  const tree = content.resolve(root, path)
  const bytes = tree === undefined ? undefined : content.sizeOf(tree)
  return tree === undefined || bytes === undefined ? null : { root: tree.toString(), within: path === '' ? null : root.toString(), bytes }
}
