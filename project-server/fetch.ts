/** One output from one node: verified, bounded, given up when the node goes quiet; a node that comes back at once goes on. */
import type { CID } from 'multiformats/cid'
import { fetchAgain } from '#protocol/content/again'
import { ContentError, type ContentStore } from '#protocol/content/content'
import type { PeerIdString } from '#protocol/ids'
import { messageOf } from '#protocol/message-of'
import type { Host } from '#protocol/peer/host'
import { pause } from './owner/changes.ts'
import { BACK_LOOK_MS, BACK_MS_MAX } from './policy.ts'
import type { Clock } from './ports.ts'

export interface FetchPorts {
  readonly content: Pick<ContentStore, 'fetch'>
  readonly host: Host
  readonly clock: Clock
}

export interface FetchLimits {
  readonly pin: boolean
  readonly bytesMax: number
  readonly silenceMsMax: number
  readonly signal: AbortSignal
}

/** Bytes received. Throws ContentError, or the signal's reason. */
export async function fetchFrom(node: PeerIdString, root: CID, { content, host, clock }: FetchPorts, limits: FetchLimits): Promise<number> {
  const { pin, bytesMax, silenceMsMax, signal } = limits
  if (!host.isConnected(node)) throw new ContentError('unreachable', `node ${node} is not connected`)
  const quiet = new AbortController()
  const silent = (): void => quiet.abort(new ContentError('unreachable', `node ${node} sent nothing for ${silenceMsMax} ms`))
  let cancel = clock.after(silenceMsMax, silent)
  const onProgress = (): void => {
    cancel()
    cancel = clock.after(silenceMsMax, silent)
  }
  try {
    const both = AbortSignal.any([quiet.signal, signal])
    const connected = async (lost: ContentError): Promise<void> => {
      for (let looks = 0; !host.isConnected(node); looks += 1) {
        if (looks * BACK_LOOK_MS > BACK_MS_MAX) throw lost
        await pause(clock, BACK_LOOK_MS, both)
        both.throwIfAborted()
      }
    }
    return (await fetchAgain(content, root, { host, from: [node], pin, bytesMax, signal: both, onProgress }, connected)).bytes
  } finally {
    cancel()
  }
}

/** For a log. */
export function reason(error: unknown): string {
  return error instanceof ContentError ? `${error.code}: ${error.message}` : messageOf(error)
}
