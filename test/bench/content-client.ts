/**
 * A fetching process of the content benchmark, started with `fork`: `PEER ADDRESS...` connects to one of the serving processes;
 * then it answers each order with the seconds it took. Each side has processes of its own: what one leaves to the garbage
 * collector would be paid for by the other.
 */
import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { acceptCid } from '#protocol/content/cid'
import { openContentStore } from '#protocol/content/live/store'
import { createHost } from '#protocol/peer/live/host'
import { generateIdentity } from '#protocol/signing/keys'
import { LARGE_FRAME_BYTES, pullBare, pullBareTree, TREE } from './content-bare.ts'
import { seconds } from './runner.ts'

/** What to fetch; `folder` is made, filled and removed. */
export type Order =
  | { readonly kind: 'talko'; readonly first: string; readonly root: string; readonly folder: string }
  | { readonly kind: 'bare'; readonly bytes: number; readonly frames: 'large' | 'joined' }
  | { readonly kind: 'bare tree'; readonly folder: string }

export type Answer = { readonly seconds: number } | { readonly error: string }

const [peer = '', ...addresses] = process.argv.slice(2)
const host = await createHost({ signer: await generateIdentity(), listen: [], role: 'volunteer' })
await host.connect(peer, addresses)

async function carryOut(order: Order): Promise<number> {
  if (order.kind === 'bare') return seconds(() => pullBare(host, peer, order.bytes, order.frames === 'large' ? LARGE_FRAME_BYTES : TREE.frameBytes))
  mkdirSync(order.folder)
  try {
    if (order.kind === 'bare tree') return await seconds(() => pullBareTree(host, peer, order.folder))
    const [first, root] = [acceptCid(order.first), acceptCid(order.root)]
    if (first === undefined || root === undefined) throw new Error('no root')
    const store = await openContentStore(join(order.folder, 'store'))
    try {
      // a store that has been open for longer has its writing thread
      await store.fetch(first, { host, from: [peer] })
      return await seconds(() => store.fetch(root, { host, from: [peer] }))
    } finally {
      await store.close()
    }
  } finally {
    await rm(order.folder, { recursive: true, force: true })
  }
}

process.on('message', (order: Order) => {
  carryOut(order).then(
    (taken) => process.send?.({ seconds: taken } satisfies Answer),
    (error: unknown) => process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) } satisfies Answer)
  )
})
process.on('disconnect', () => process.exit(0))
process.send?.({ seconds: 0 } satisfies Answer)
