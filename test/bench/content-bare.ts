/**
 * A stream that carries what the content protocol carries, in the same frames and with the same number of bytes asked for ahead,
 * and neither checks nor notes any of it: what is left to gain.
 */
import { closeSync, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { LEAF_BYTES, REPLY_JOINED_BYTES, WINDOW_BYTES } from '#protocol/content/policy'
import type { PeerIdString } from '#protocol/ids'
import type { Host } from '#protocol/peer/host'

const BARE_PROTOCOL = '/talko/bench-bare/1.0.0'
const BARE_FRAME_BYTES_MAX = 2 * LEAF_BYTES
const MEMORY_BYTES = 64 * 1024 * 1024
/** Frames of a large file: a leaf and its head. */
export const LARGE_FRAME_BYTES = LEAF_BYTES + 5

/** A tree of files that are all of one size, at paths that both sides know. */
export const TREE = { files: 20_000, fileBytes: 4096, folders: 200, frameBytes: REPLY_JOINED_BYTES, perFrame: Math.floor(REPLY_JOINED_BYTES / 4096) } as const

export function pathInTree(index: number): string {
  return `d${index % TREE.folders}/f${index}`
}

/** Answers `pullBare`: with memory, or with the files of `tree`, read as they leave. */
export async function serveBare(host: Host, tree: string): Promise<void> {
  /** Frames are not all the same memory: no sender of data has all of it in a processor's cache. */
  const memory = new Uint8Array(MEMORY_BYTES).fill(7)
  let at = 0
  const fromMemory = (bytes: number): Uint8Array => {
    if (at + bytes > memory.length) at = 0
    at += bytes
    return memory.subarray(at - bytes, at)
  }
  await host.handle(BARE_PROTOCOL, { frameBytesMax: BARE_FRAME_BYTES_MAX }, async (stream) => {
    let file = 0
    const fromFiles = (bytes: number): Uint8Array => {
      const frame = Buffer.allocUnsafeSlow(bytes)
      for (let end = 0; end + TREE.fileBytes <= bytes && file < TREE.files; end += TREE.fileBytes) {
        const fd = openSync(join(tree, pathInTree(file++)), 'r')
        readSync(fd, frame, end, TREE.fileBytes, 0)
        closeSync(fd)
      }
      return frame
    }
    try {
      for await (const request of stream.frames()) {
        const view = new DataView(request.buffer, request.byteOffset)
        const [count, bytes, files] = [view.getUint32(0), view.getUint32(4), view.getUint32(8) === 1]
        for (let left = count; left > 0; left--) await stream.write(files ? fromFiles(bytes) : fromMemory(bytes))
      }
      await stream.close()
    } catch (error) {
      stream.abort(error instanceof Error ? error : new Error(String(error)))
    }
  })
}

/** Asks for `bytes` in frames of `frameBytes`, a window ahead, and drops them. */
export async function pullBare(host: Host, peer: PeerIdString, bytes: number, frameBytes: number): Promise<void> {
  await pullFrames(host, peer, { frames: Math.ceil(bytes / frameBytes), frameBytes, files: false, onFrame: () => undefined })
}

/** Asks for the files of the tree and makes the same in `folder`. */
export async function pullBareTree(host: Host, peer: PeerIdString, folder: string): Promise<void> {
  for (let index = 0; index < TREE.folders; index++) mkdirSync(dirname(join(folder, pathInTree(index))))
  const onFrame = (frame: Uint8Array, index: number): void => {
    const first = index * TREE.perFrame
    for (let file = first; file < Math.min(first + TREE.perFrame, TREE.files); file++) {
      const at = (file - first) * TREE.fileBytes
      writeFileSync(join(folder, pathInTree(file)), frame.subarray(at, at + TREE.fileBytes))
    }
  }
  await pullFrames(host, peer, { frames: Math.ceil(TREE.files / TREE.perFrame), frameBytes: TREE.frameBytes, files: true, onFrame })
}

interface Frames {
  readonly frames: number
  readonly frameBytes: number
  /** From files, not from memory. */
  readonly files: boolean
  readonly onFrame: (frame: Uint8Array, index: number) => void
}

async function pullFrames(host: Host, peer: PeerIdString, { frames, frameBytes, files, onFrame }: Frames): Promise<void> {
  const stream = await host.open(peer, BARE_PROTOCOL, { frameBytesMax: BARE_FRAME_BYTES_MAX })
  const ahead = Math.max(1, Math.floor(WINDOW_BYTES / frameBytes))
  let asked = 0
  const ask = async (count: number): Promise<void> => {
    const request = new Uint8Array(12)
    const view = new DataView(request.buffer)
    view.setUint32(0, count)
    view.setUint32(4, frameBytes)
    view.setUint32(8, files ? 1 : 0)
    asked += count
    await stream.write(request)
  }
  await ask(Math.min(ahead, frames))
  let got = 0
  for await (const frame of stream.frames()) {
    onFrame(frame, got)
    if (++got === frames) break
    if (asked < frames) await ask(1)
  }
  await stream.close()
}
