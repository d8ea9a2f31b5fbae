/** Serves blocks to whoever asks by id, over streams that the asking peer opens. */

import { CID } from 'multiformats/cid'
import * as Digest from 'multiformats/hashes/digest'
import type { FrameStream, Host } from '../peer/host.ts'
import { RAW, SHA2_256 } from './cid.ts'
import { CONTENT_PROTOCOL, type ContentStore } from './content.ts'
import { BLOCK_BYTES_MAX, REPLY_FRAME_BYTES_MAX, REPLY_JOINED_BYTES, STREAMS_PER_CONNECTION_MAX } from './policy.ts'
import { decodeRequest, encodeReply, REPLY_HEAD_BYTES, sealReply } from './wire.ts'

/** What a store may offer beside the contract: a block with room before it, not hashed again (the requester checks it). */
export interface BlockServer {
  /** Bytes of the block at `headroom`, small ones at once; undefined when it is not here or its file has changed. */
  serveBlock(digest: Uint8Array, headroom: number): Uint8Array | undefined | Promise<Uint8Array | undefined>
}

/**
 * Answers requests of the content protocol from `store` until the host stops. Blocks of a request go out in order, each
 * written only when the one before has left, so that a slow reader costs one block of memory. A peer that breaks the
 * protocol loses its stream.
 */
export async function serveContent(host: Host, store: ContentStore & Partial<BlockServer>): Promise<void> {
  // one bound for both directions of a stream; requests are held to theirs when they are decoded
  const options = { frameBytesMax: REPLY_FRAME_BYTES_MAX, streamsMax: STREAMS_PER_CONNECTION_MAX }
  await host.handle(CONTENT_PROTOCOL, options, async (stream) => {
    try {
      for await (const frame of stream.frames()) await answer(stream, decodeRequest(frame), store)
      await stream.close()
    } catch (error) {
      if (!stream.gone.aborted) stream.abort(error instanceof Error ? error : new Error(String(error)))
    }
  })
}

async function answer(stream: FrameStream, digests: readonly Uint8Array[], store: ContentStore & Partial<BlockServer>): Promise<void> {
  let joined: (Uint8Array | undefined)[] = []
  let joinedBytes = 0
  const flush = async (): Promise<void> => {
    if (joined.length === 0) return
    const frame = encodeReply(joined)
    joined = []
    joinedBytes = 0
    await stream.write(frame)
  }
  let ahead = readFrame(store, digests[0])
  for (let index = 0; index < digests.length; index++) {
    const frame = ahead instanceof Promise ? await ahead : ahead
    stream.gone.throwIfAborted()
    ahead = readFrame(store, digests[index + 1])
    if (ahead instanceof Promise) ahead.catch(() => undefined)
    const length = frame === undefined ? 0 : frame.length - REPLY_HEAD_BYTES
    if (frame !== undefined && length > REPLY_JOINED_BYTES) {
      await flush()
      sealReply(frame, length)
      await stream.write(frame)
      continue
    }
    joined.push(frame?.subarray(REPLY_HEAD_BYTES))
    joinedBytes += length + 4
    if (joinedBytes >= REPLY_JOINED_BYTES) await flush()
  }
  await flush()
}

function readFrame(store: ContentStore & Partial<BlockServer>, digest: Uint8Array | undefined): Uint8Array | undefined | Promise<Uint8Array | undefined> {
  if (digest === undefined) return undefined
  return store.serveBlock === undefined ? copyBlock(store, digest) : store.serveBlock(digest, REPLY_HEAD_BYTES)
}

async function copyBlock(store: ContentStore, digest: Uint8Array): Promise<Uint8Array | undefined> {
  const block = await store.getBlock(CID.createV1(RAW, Digest.create(SHA2_256, digest)))
  if (block === undefined || block.length > BLOCK_BYTES_MAX) return undefined
  const frame = new Uint8Array(REPLY_HEAD_BYTES + block.length)
  frame.set(block, REPLY_HEAD_BYTES)
  return frame
}
