/** A stream that carries what the content protocol carries, in the same frames and with the same number of bytes asked for ahead, and does nothing with it: what is left to gain. */
import { LEAF_BYTES, REPLY_JOINED_BYTES, WINDOW_BYTES } from '#protocol/content/policy'
import type { PeerIdString } from '#protocol/ids'
import type { Host } from '#protocol/peer/host'

export const BARE_PROTOCOL = '/talko/bench-bare/1.0.0'
export const BARE_FRAME_BYTES_MAX = 2 * LEAF_BYTES

/** Asks for `bytes` in frames of `frameBytes`, a window ahead, and drops them, or hands each to `onFrame`. */
export async function pullBare(
  host: Host,
  peer: PeerIdString,
  { bytes, frameBytes, onFrame }: { bytes: number; frameBytes: number; onFrame?: (frame: Uint8Array, index: number) => void }
): Promise<void> {
  const stream = await host.open(peer, BARE_PROTOCOL, { frameBytesMax: BARE_FRAME_BYTES_MAX })
  const frames = Math.ceil(bytes / frameBytes)
  const ahead = Math.max(1, Math.floor(WINDOW_BYTES / frameBytes))
  let asked = 0
  const ask = async (count: number): Promise<void> => {
    const request = new Uint8Array(8)
    new DataView(request.buffer).setUint32(0, count)
    new DataView(request.buffer).setUint32(4, frameBytes)
    asked += count
    await stream.write(request)
  }
  await ask(Math.min(ahead, frames))
  let got = 0
  for await (const frame of stream.frames()) {
    onFrame?.(frame, got)
    if (++got === frames) break
    if (asked < frames) await ask(1)
  }
  await stream.close()
}

/** Frames of a large file (a leaf and its head) and of many small ones (joined). */
export const FRAME_BYTES = { large: LEAF_BYTES + 5, joined: REPLY_JOINED_BYTES } as const
