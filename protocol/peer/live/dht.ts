/** Project records in a DHT of our own protocol. Everything here may fail: the pinned address path never needs it. */
import { once } from 'node:events'
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
const NEWER_MS_MAX = 1_000
/** So many peers that have the same record are enough: a newer one was given to twenty. */
const ALIKE = 3
/** Who only asks looks for neighbours so long after its start: it dials thirty hosts for that, which is nothing to do beside what it came for. */
const NEIGHBOURS_MS = 15_000
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
    initialQuerySelfInterval: serve ? 1_000 : NEIGHBOURS_MS,
    // Else the library lets every query wait until it has looked for its own neighbours once: a second after its start, and
    // for as long as the slowest of all that it then dials, which takes six seconds when one of them is gone.
    allowQueryWithZeroPeers: true
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
  /** Until there is somebody to ask; the first host of a network has nobody. */
  const known = async (signal: AbortSignal): Promise<void> => {
    const { routingTable } = dht as KadDHT & { readonly routingTable: EventTarget & { readonly size: number } }
    if (peers.length > 0 && routingTable.size === 0) await once(routingTable, 'peer:add', { signal })
  }
  return {
    async publish(record, signal) {
      const { project } = verifyRecord(record, { nowMs: Date.now() })
      let kept = 0
      let cause: unknown
      try {
        const within = limit(signal)
        await known(within)
        for await (const event of dht.put(recordKey(project), record, { signal: within })) {
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
      const found: Found[] = []
      const enough = new AbortController()
      let timer: NodeJS.Timeout | undefined
      try {
        const within = AbortSignal.any([limit(signal), enough.signal])
        await known(within)
        for await (const event of dht.get(key, { signal: within })) {
          if (event.name !== 'VALUE' && event.name !== 'PEER_RESPONSE') continue
          const value = event.name === 'VALUE' ? event.value : event.record?.value
          if (value === undefined || !isValid(key, value)) continue
          found.push({ value, from: event.from.toString() })
          const stop = (): void => enough.abort(new Error('a record was found'))
          if (isEnough(found, project)) stop()
          timer ??= setTimeout(stop, NEWER_MS_MAX)
        }
      } catch (cause) {
        if (signal?.aborted) throw signal.reason
        if (found.length === 0) throw new HostError('dht_unavailable', 'the DHT does not answer; check the bootstrap addresses', { cause })
      } finally {
        clearTimeout(timer)
      }
      return newestOf(found)
    }
  }
}

interface Found {
  readonly value: Uint8Array
  readonly from: PeerIdString
}

function newestOf(found: readonly Found[]): Uint8Array | undefined {
  const values = found.map(({ value }) => value)
  return values[selectEntry(values)]
}

/** Whether no newer record is to be expected: the project itself said it, or several that do not depend on each other. */
function isEnough(found: readonly Found[], project: PeerIdString): boolean {
  const newest = newestOf(found)
  const sayers = new Set(found.filter(({ value }) => newest !== undefined && Buffer.compare(value, newest) === 0).map(({ from }) => from))
  return sayers.has(project) || sayers.size >= ALIKE
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
