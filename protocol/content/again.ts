/** Fetching over connections that end: a relay ends one that has carried enough, an address changes. What had come is kept, so the next one goes on there. */
import type { CID } from 'multiformats/cid'
import { ContentError, type ContentStore, type FetchOptions } from './content.ts'

/**
 * As `fetch`, and again when the provider was lost after something had come; `connected` resolves when there is a connection
 * again, or rejects, which ends it. An attempt that brings nothing ends it too, so there are never more than there are blocks.
 */
export async function fetchAgain(
  store: Pick<ContentStore, 'fetch'>,
  root: CID,
  options: FetchOptions,
  connected: (error: ContentError) => Promise<void>
): Promise<{ readonly bytes: number }> {
  for (let before = 0; ; ) {
    let most = before
    const onProgress: FetchOptions['onProgress'] = (progress) => {
      most = Math.max(most, progress.bytes)
      options.onProgress?.(progress)
    }
    try {
      return await store.fetch(root, { ...options, onProgress })
    } catch (error) {
      if (!(error instanceof ContentError) || error.code !== 'unreachable' || most <= before) throw error
      options.signal?.throwIfAborted()
      before = most
      await connected(error)
    }
  }
}
