/** Project records in a DHT of our own protocol. Everything here may fail: the pinned address path never needs it. */
import type { Libp2p } from '@libp2p/interface'
import { type KadDHT, kadDHT, passthroughMapper, removePrivateAddressesMapper } from '@libp2p/kad-dht'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import type { PeerIdString } from '../../ids.ts'
import { RECORD_PREFIX, recordKey, selectEntry, validateEntry, verifyRecord } from '../../record/record.ts'
import { HostError } from '../host.ts'

export const DHT_PROTOCOL = '/talko/kad/1.0.0'
/** How long publishing or finding may take when the caller sets no limit. */
const QUERY_MS_MAX = 30_000
/** After the first valid record, so long for a newer one: the rest of a query asks peers that may be gone, each for many seconds. */
const NEWER_MS_MAX = 2_000
/** Between looks at the bootstrap connections; doubled up to the second value while they fail. */
const REDIAL_MS = 1_000
const REDIAL_MS_MAX = 60_000

export interface DhtOptions {
  /** Multiaddrs with `/p2p/<peer>` of hosts that are in the DHT. */
  readonly bootstrap: readonly string[]
  /** Keep records for others; needs an address that others can dial. */
  readonly serve: boolean
  /** Keep private addresses in the routing table: for a local network; else it stays empty there. */
  readonly allowPrivate: boolean
}

export type DhtService = KadDHT

/** Throws HostError `bad_address` for a bootstrap address that is none. */
export function dhtService({ serve, allowPrivate, bootstrap }: DhtOptions): ReturnType<typeof kadDHT> {
  bootstrap.forEach(parseBootstrap)
  return kadDHT({
    protocol: DHT_PROTOCOL,
    clientMode: !serve,
    peerInfoMapper: allowPrivate ? passthroughMapper : removePrivateAddressesMapper,
    validators: { [RECORD_PREFIX]: (key, value) => validateEntry(key, value, Date.now()) },
    selectors: { [RECORD_PREFIX]: (_key, values) => selectEntry(values) },
    querySelfInterval: 60_000,
    // The first host of a network has nobody to ask, and must not wait for somebody.
    allowQueryWithZeroPeers: bootstrap.length === 0
  })
}

export interface Dht {
  publish(record: Uint8Array, signal: AbortSignal | undefined): Promise<void>
  find(project: PeerIdString, signal: AbortSignal | undefined): Promise<Uint8Array | undefined>
}

export function startDht(libp2p: Libp2p, dht: KadDHT, { bootstrap }: DhtOptions, stopped: AbortSignal): Dht {
  const peers = bootstrap.map(parseBootstrap)
  if (peers.length > 0) keepConnected(libp2p, peers, stopped)
  const limit = (signal: AbortSignal | undefined): AbortSignal =>
    AbortSignal.any([stopped, AbortSignal.timeout(QUERY_MS_MAX), ...(signal === undefined ? [] : [signal])])
  return {
    async publish(record, signal) {
      const { project } = verifyRecord(record, { nowMs: Date.now() })
      let kept = 0
      let cause: unknown
      try {
        for await (const event of dht.put(recordKey(project), record, { signal: limit(signal) })) {
          if (event.name === 'PEER_RESPONSE' && event.messageName === 'PUT_VALUE') kept += 1
        }
      } catch (error) {
        if (signal?.aborted) throw signal.reason
        cause = error
      }
      // Without bootstrap peers this host is the first of its DHT, and keeps the record for those who come.
      if (kept === 0 && peers.length > 0)
        throw new HostError('dht_unavailable', 'no peer of the DHT took the project record; check the bootstrap addresses', { cause })
    },
    async find(project, signal) {
      const key = recordKey(project)
      const found: Uint8Array[] = []
      const enough = new AbortController()
      let timer: NodeJS.Timeout | undefined
      try {
        for await (const event of dht.get(key, { signal: AbortSignal.any([limit(signal), enough.signal]) })) {
          const value = event.name === 'VALUE' ? event.value : event.name === 'PEER_RESPONSE' ? event.record?.value : undefined
          if (value === undefined || !isValid(key, value)) continue
          found.push(value)
          timer ??= setTimeout(() => enough.abort(new Error('a record was found')), NEWER_MS_MAX)
        }
      } catch (cause) {
        if (signal?.aborted) throw signal.reason
        if (found.length === 0) throw new HostError('dht_unavailable', 'the DHT does not answer; check the bootstrap addresses', { cause })
      } finally {
        clearTimeout(timer)
      }
      return found[selectEntry(found)]
    }
  }
}

function isValid(key: Uint8Array, value: Uint8Array): boolean {
  try {
    validateEntry(key, value, Date.now())
    return true
  } catch {
    return false
  }
}

function parseBootstrap(text: string): Multiaddr {
  let address: Multiaddr
  try {
    address = multiaddr(text)
  } catch (cause) {
    throw new HostError('bad_address', `the bootstrap address ${JSON.stringify(text)} is not a multiaddr`, { cause })
  }
  if (address.getComponents().at(-1)?.name !== 'p2p') throw new HostError('bad_address', `the bootstrap address ${text} must end with /p2p/<peer>`)
  return address
}

/** libp2p does not dial a bootstrap peer again by itself. */
function keepConnected(libp2p: Libp2p, peers: readonly Multiaddr[], stopped: AbortSignal): void {
  let waitMs = REDIAL_MS
  let timer: NodeJS.Timeout
  const look = async (): Promise<void> => {
    const results = await Promise.allSettled(peers.map((address) => libp2p.dial(address, { signal: stopped })))
    if (stopped.aborted) return
    waitMs = results.some(({ status }) => status === 'fulfilled') ? REDIAL_MS_MAX : Math.min(waitMs * 2, REDIAL_MS_MAX)
    timer = setTimeout(look, waitMs)
  }
  timer = setTimeout(look, 0)
  stopped.addEventListener('abort', () => clearTimeout(timer), { once: true })
}
