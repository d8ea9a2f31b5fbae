/** Serves blocks to whoever asks by id, over streams that the asking peer opens. */

import { CID } from 'multiformats/cid'
import * as Digest from 'multiformats/hashes/digest'
import type { FrameStream, Host } from '../peer/host.ts'
import { type BlockId, RAW, SHA2_256 } from './cid.ts'
import { CONTENT_PROTOCOL, type ContentStore } from './content.ts'
import { BLOCK_BYTES_MAX, REPLY_FRAME_BYTES_MAX, STREAMS_PER_CONNECTION_MAX } from './policy.ts'
import { decodeRequest, ReplyFrames, WireError } from './wire.ts'

/** Where a block of so many bytes is to stand. */
export type Room = (bytes: number) => Uint8Array

/** What a store may offer beside the contract: a block read to where it leaves from, not hashed again (the requester checks it). */
export interface BlockServer {
  /** The block, in what `room` gave for it last; small ones at once; undefined when it is not here or its file has changed. */
  serveBlock(id: BlockId, room: Room): Uint8Array | undefined | Promise<Uint8Array | undefined>
}

/** Who may be served, and how fast: a node has a line of its own to spare. */
export interface Gate {
  /** Undefined: this stream is not served. */
  enter(stream: FrameStream): Guest | undefined
}

export interface Guest {
  /** Where what the store lacks is looked for, for this guest alone. */
  readonly also?: BlockServer
  /** So many bytes have left; the next wait for the promise, if one is given. */
  sent(bytes: number): Promise<void> | undefined
  /** The stream is over. */
  leave(): void
}

/**
 * Answers requests of the content protocol from `store` until the host stops. Blocks of a request go out in order, each
 * written only when the one before has left, so that a slow reader costs one block of memory. A peer that breaks the
 * protocol loses its stream.
 */
export async function serveContent(host: Pick<Host, 'handle'>, store: ContentStore & Partial<BlockServer>, gate?: Gate): Promise<void> {
  // one bound for both directions of a stream; requests are held to theirs when they are decoded
  const options = { frameBytesMax: REPLY_FRAME_BYTES_MAX, streamsMax: STREAMS_PER_CONNECTION_MAX }
  await host.handle(CONTENT_PROTOCOL, options, async (stream) => {
    const guest = gate?.enter(stream)
    try {
      if (gate !== undefined && guest === undefined) throw new Error('others are served already; ask again later')
      for await (const frame of stream.frames()) await answer(stream, decodeRequest(frame), store, guest)
      await stream.close()
    } catch (error) {
      if (error instanceof WireError) stream.accuse?.(error.message)
      if (!stream.gone.aborted) stream.abort(error instanceof Error ? error : new Error(String(error)))
    } finally {
      guest?.leave()
    }
  })
}

async function answer(stream: FrameStream, ids: readonly BlockId[], store: ContentStore & Partial<BlockServer>, guest: Guest | undefined): Promise<void> {
  const reply = new ReplyFrames(ids.length, Buffer.allocUnsafeSlow)
  const room: Room = (bytes) => reply.room(bytes)
  const read = (index: number): Uint8Array | undefined | Promise<Uint8Array | undefined> => {
    const id = ids[index]
    if (id === undefined) return undefined
    const block = store.serveBlock === undefined ? copyBlock(store, id, room) : store.serveBlock(id, room)
    const { also } = guest ?? {}
    if (also === undefined) return block
    return block instanceof Promise ? block.then((found) => found ?? also.serveBlock(id, room)) : (block ?? also.serveBlock(id, room))
  }
  let ahead = read(0)
  for (let index = 0; index < ids.length; index++) {
    const block = ahead instanceof Promise ? await ahead : ahead
    stream.gone.throwIfAborted()
    reply.take(block)
    ahead = read(index + 1)
    if (ahead instanceof Promise) ahead.catch(() => undefined)
    for (const frame of reply.finished()) {
      await stream.write(frame)
      const wait = guest?.sent(frame.length)
      if (wait !== undefined) await wait
    }
  }
}

async function copyBlock(store: ContentStore, id: BlockId, room: Room): Promise<Uint8Array | undefined> {
  const block = await store.getBlock(CID.createV1(RAW, Digest.create(SHA2_256, Buffer.from(id, 'latin1'))))
  if (block === undefined || block.length > BLOCK_BYTES_MAX) return undefined
  const copy = room(block.length)
  copy.set(block)
  return copy
}
