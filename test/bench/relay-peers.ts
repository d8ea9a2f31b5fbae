/**
 * `relay-peers.ts serve RELAY PAIRS`: hosts with places at a relay, each of which sends blocks to who asks; says where they are, directly
 * and through the relay. `relay-peers.ts fetch`: told where, it makes a host for each, fetches from all at once, and says how
 * much came in how many seconds.
 */
import { throughRelay } from '#protocol/peer/addresses'
import type { StreamOptions } from '#protocol/peer/host'
import { createHost, type LiveHost } from '#protocol/peer/live/host'
import { generateIdentity } from '#protocol/signing/keys'
import { until } from '../support/until.ts'

export interface Place {
  readonly peer: string
  readonly direct: string
  readonly relayed: string
}

export interface Fetched {
  readonly bytes: number
  readonly seconds: number
}

export interface Fetch {
  readonly places: readonly { readonly peer: string; readonly address: string }[]
  /** From each. */
  readonly blocks: number
}

const PROTOCOL = '/talko/bench/blocks'
const BLOCK_BYTES = 1024 * 1024
const OPTIONS: StreamOptions = { frameBytesMax: BLOCK_BYTES + 16 }

async function serve(relay: string): Promise<Place> {
  const host = await createHost({ signer: await generateIdentity(), listen: ['/ip4/127.0.0.1/tcp/0'], role: 'volunteer', relays: [relay] })
  await host.handle(PROTOCOL, OPTIONS, async (stream) => {
    const block = new Uint8Array(BLOCK_BYTES)
    for await (const frame of stream.frames()) {
      const blocks = new DataView(frame.buffer, frame.byteOffset).getUint32(0)
      for (let sent = 0; sent < blocks; sent++) await stream.write(block)
    }
  })
  await until('a place at the relay', () => host.relays().some(({ held }) => held))
  const direct = host.addresses().find((address) => !address.includes('/p2p-circuit')) ?? ''
  return { peer: host.peerId, direct, relayed: throughRelay(relay, host.peerId) }
}

async function fetchFrom(host: LiveHost, peer: string, blocks: number): Promise<void> {
  const stream = await host.open(peer, PROTOCOL, OPTIONS)
  const ask = new DataView(new ArrayBuffer(4))
  ask.setUint32(0, blocks)
  await stream.write(new Uint8Array(ask.buffer))
  let bytes = 0
  for await (const frame of stream.frames()) {
    bytes += frame.length
    if (bytes === blocks * BLOCK_BYTES) break
  }
  if (bytes !== blocks * BLOCK_BYTES) throw new Error(`${bytes} bytes came, not ${blocks} blocks`)
  await stream.close()
}

async function fetchAll({ places, blocks }: Fetch): Promise<Fetched> {
  const hosts = await Promise.all(
    places.map(async ({ peer, address }) => {
      const host = await createHost({ signer: await generateIdentity(), listen: [], role: 'volunteer' })
      await host.connect(peer, [address])
      const [way] = host.connections(peer)
      if (way?.relayed !== address.includes('/p2p-circuit')) throw new Error(`${peer} was called at ${address} and is reached at ${way?.address}`)
      return { host, peer }
    })
  )
  const from = performance.now()
  await Promise.all(hosts.map(({ host, peer }) => fetchFrom(host, peer, blocks)))
  const seconds = (performance.now() - from) / 1000
  await Promise.all(hosts.map(({ host }) => host.stop()))
  return { bytes: places.length * blocks * BLOCK_BYTES, seconds }
}

const [part, relay = '', pairs = '1'] = process.argv.slice(2)
if (part === 'serve') process.send?.(await Promise.all(Array.from({ length: Number(pairs) }, () => serve(relay))))
else {
  process.on('message', (asked: Fetch) => void fetchAll(asked).then((took) => process.send?.(took)))
  process.send?.('ready')
}
// The benchmark was stopped.
process.on('disconnect', () => process.exit(0))
