/**
 * `connections-nodes.ts PROJECT ADDRESS`: idle nodes of the benchmark `connections`, in one process: each has a key, a libp2p host
 * and the node's real end of the control stream, and nothing else of a node. Told a number over IPC it makes so many more hosts
 * and says `made`; told `bare`, the last made connect and open nothing; told `nodes`, they connect and say hello. Says `done`, with seconds.
 */
import { setTimeout as passing } from 'node:timers/promises'
import type { Host } from '#protocol/peer/host'
import { createHost } from '#protocol/peer/live/host'
import { generateIdentity } from '#protocol/signing/keys'
import { join } from './idle-node.ts'

/** The node's answer to its host. */
export type Told = 'made' | { readonly seconds: number }
export type Asked = number | 'bare' | 'nodes'

const RETRY_MS = 1_000

const [project = '', address = ''] = process.argv.slice(2)
let hosts: Host[] = []

async function make(count: number): Promise<void> {
  hosts = []
  while (hosts.length < count) hosts.push(await createHost({ signer: await generateIdentity(), listen: [], role: 'volunteer' }))
}

/** As often as it takes: while so many call at once, some hear nothing in time. */
async function reach(host: Host): Promise<void> {
  for (;;) {
    try {
      return await host.connect(project, [address])
    } catch {
      await passing(RETRY_MS)
    }
  }
}

async function answer(asked: Asked): Promise<Told> {
  if (typeof asked === 'number') {
    await make(asked)
    return 'made'
  }
  const from = performance.now()
  await Promise.all(hosts.map((host) => (asked === 'bare' ? reach(host) : join(host, { project, addresses: [address], lookUp: false }))))
  return { seconds: (performance.now() - from) / 1000 }
}

process.on('message', (asked: Asked) => void answer(asked).then((told) => process.send?.(told)))
// The benchmark was stopped.
process.on('disconnect', () => process.exit(0))
process.send?.('made' satisfies Told)
