/**
 * `discovery-node.ts PROJECT PINNED BOOTSTRAP...`: a node of the benchmark `discovery`. Told `found` or `pinned` over IPC it becomes
 * a fresh one, with a new key and a new host, that knows only the bootstrap peers or only the project's address, and says how
 * many milliseconds it took to be welcomed. It stays until it is told the next.
 */
import { createHost } from '#protocol/peer/live/host'
import { generateIdentity } from '#protocol/signing/keys'
import { join } from './idle-node.ts'

export type Way = 'found' | 'pinned'

const [project = '', pinned = '', ...bootstrap] = process.argv.slice(2)
let leave = async (): Promise<void> => {}

async function come(way: Way): Promise<number> {
  await leave()
  const signer = await generateIdentity()
  const from = performance.now()
  const found = { dht: { bootstrap, serve: false, allowPrivate: true }, relays: bootstrap }
  const host = await createHost({ signer, listen: [], role: 'volunteer', ...(way === 'found' ? found : {}) })
  const end =
    way === 'found'
      ? await join(host, { project, addresses: [], relays: bootstrap, lookUp: true })
      : await join(host, { project, addresses: [pinned], lookUp: false })
  const tookMs = performance.now() - from
  leave = async () => {
    await end()
    await host.stop()
  }
  return tookMs
}

process.on('message', (way: Way) => void come(way).then((tookMs) => process.send?.(tookMs)))
// The benchmark was stopped.
process.on('disconnect', () => process.exit(0))
process.send?.('ready')
