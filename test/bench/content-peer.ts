/**
 * A serving process of the content benchmark: `STORE FILE TREE` publishes both (and a few bytes) and serves them; `bare TREE`
 * answers the bare protocol. Prints its addresses and the roots as one line of JSON.
 */
import { RAW } from '#protocol/content/cid'
import { openContentStore } from '#protocol/content/live/store'
import { serveContent } from '#protocol/content/serve'
import { createHost } from '#protocol/peer/live/host'
import { generateIdentity } from '#protocol/signing/keys'
import { serveBare } from './content-bare.ts'

const [storeFolder = '', file = '', tree = ''] = process.argv.slice(2)
const host = await createHost({ signer: await generateIdentity(), listen: ['/ip4/127.0.0.1/tcp/0'], role: 'server' })
const roots = { file: '', tree: '', first: '' }
if (storeFolder === 'bare') await serveBare(host, file)
else {
  const store = await openContentStore(storeFolder)
  await serveContent(host, store)
  roots.file = (await store.addTree(file)).root.toString()
  roots.tree = (await store.addTree(tree)).root.toString()
  roots.first = (await store.putBlock(RAW, Buffer.from('a file that is fetched before anything is measured'))).toString()
}
console.log(JSON.stringify({ peer: host.peerId, addresses: host.addresses(), ...roots }))
process.once('SIGTERM', () => process.exit(0))
