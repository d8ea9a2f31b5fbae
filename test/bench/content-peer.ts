/**
 * The serving process of the content benchmark: `STORE FILE TREE` publishes both (and a few bytes) and serves them, and answers a bare protocol
 * beside it: the same asking, the same frames, no content. Prints its addresses and the roots as one line of JSON.
 */
import { RAW } from '#protocol/content/cid'
import { openContentStore } from '#protocol/content/live/store'
import { serveContent } from '#protocol/content/serve'
import { createHost } from '#protocol/peer/live/host'
import { generateIdentity } from '#protocol/signing/keys'
import { BARE_FRAME_BYTES_MAX, BARE_PROTOCOL } from './content-bare.ts'

const [storeFolder = '', file = '', tree = ''] = process.argv.slice(2)
const store = await openContentStore(storeFolder)
const host = await createHost({ signer: await generateIdentity(), listen: ['/ip4/127.0.0.1/tcp/0'], role: 'server' })
await serveContent(host, store)
/** Frames are not all the same memory: no sender of data has all of it in a processor's cache. */
const memory = new Uint8Array(64 * 1024 * 1024).fill(7)
let at = 0
function nextFrame(bytes: number): Uint8Array {
  if (at + bytes > memory.length) at = 0
  at += bytes
  return memory.subarray(at - bytes, at)
}
await host.handle(BARE_PROTOCOL, { frameBytesMax: BARE_FRAME_BYTES_MAX }, async (stream) => {
  try {
    for await (const request of stream.frames()) {
      const view = new DataView(request.buffer, request.byteOffset)
      for (let left = view.getUint32(0); left > 0; left--) await stream.write(nextFrame(view.getUint32(4)))
    }
    await stream.close()
  } catch (error) {
    stream.abort(error instanceof Error ? error : new Error(String(error)))
  }
})
const one = await store.addTree(file)
const many = await store.addTree(tree)
const first = await store.putBlock(RAW, Buffer.from('a file that is fetched before anything is measured'))
console.log(JSON.stringify({ peer: host.peerId, addresses: host.addresses(), file: one.root.toString(), tree: many.root.toString(), first: first.toString() }))
process.once('SIGTERM', () => process.exit(0))
