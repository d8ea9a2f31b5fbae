/** Content without blocks, asked for over real streams: a root goes one way, whether it is there comes back. */
import { type FrameStream, type Host, StreamError } from '#protocol/peer/host'
import type { ContentWorld } from '../protocol/content.ts'

export const CONTENT_PROTOCOL = '/talko/sim/content/1.0.0'
const OPTIONS = { frameBytesMax: 256, streamsMax: 64 }
const HERE = 1

/** Hands out what `has` says is here. */
export async function serveRoots(host: Host, has: (root: string) => boolean): Promise<void> {
  await host.handle(CONTENT_PROTOCOL, OPTIONS, async (stream) => {
    for await (const frame of stream.frames()) await stream.write(Uint8Array.of(has(new TextDecoder().decode(frame)) ? HERE : 0))
  })
}

/** A stream for each question. */
export function askOverStreams(host: Host): ContentWorld['ask'] {
  return async (peer, root, signal) => {
    if (!host.isConnected(peer)) return false
    let stream: FrameStream | undefined
    const onAbort = (): void => stream?.abort(new StreamError('closed', 'nobody waits for it any more'))
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      stream = await host.open(peer, CONTENT_PROTOCOL, OPTIONS, signal)
      await stream.write(new TextEncoder().encode(root))
      await stream.close()
      let found = false
      for await (const [answer] of stream.frames()) found = answer === HERE
      return found
    } catch {
      signal?.throwIfAborted()
      return false
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  }
}
