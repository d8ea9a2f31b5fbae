import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Record as DhtRecord } from '@libp2p/kad-dht'
import { signRecord } from '../../record/record.ts'
import { generateIdentity } from '../../signing/keys.ts'
import { DHT_ENTRIES_MAX, DhtStore } from './dht-store.ts'

type Key = Parameters<DhtStore['put']>[0]

/** All that the store looks at of a key is its name. */
const keyOf = (name: string): Key => ({ toString: () => name }) as Key
const signer = await generateIdentity()

function entry(sequence: number): Uint8Array {
  const record = { v: 1, project: signer.peerId, sequence, epoch: 1, coordinators: [], issuedAtMs: 0, expiresAtMs: 1 } as const
  return new DhtRecord(new Uint8Array(0), signRecord(signer, record), new Date(0)).serialize().subarray()
}

it('keeps the newest record of a project, whatever comes later', () => {
  const store = new DhtStore()
  const key = keyOf('/dht/record/a')
  for (const [offered, kept] of [
    [2, 2],
    [1, 2],
    [3, 3],
    [2, 3]
  ] as const) {
    store.put(key, entry(offered))
    assert.deepEqual(store.get(key), entry(kept))
  }
})

it('drops what was written longest ago when it is full, and nothing of the peer store', () => {
  const store = new DhtStore()
  store.put(keyOf('/peers/a'), Uint8Array.of(1))
  const name = (i: number) => keyOf(`/dht/provider/${i}`)
  for (let i = 0; i < DHT_ENTRIES_MAX; i += 1) store.put(name(i), Uint8Array.of(1))
  store.put(name(0), Uint8Array.of(2))
  store.put(name(DHT_ENTRIES_MAX), Uint8Array.of(1))
  assert.deepEqual([store.has(name(0)), store.has(name(1)), store.has(name(2)), store.has(name(DHT_ENTRIES_MAX))], [true, false, true, true])
  assert.equal(store.has(keyOf('/peers/a')), true)
})
