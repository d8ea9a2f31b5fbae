import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CALLER_FRAME_BYTES_MAX, decodeCaller, encodeCaller } from '#protocol/callers/messages'
import { CallerBook } from '#protocol/callers/serve'
import type { FrameStream } from '#protocol/peer/host'
import { pipe } from '#test/support/pipe'
import { Callers } from './callers.ts'
import { CALLERS_LOOK_MS, CALLERS_RETRY_MS } from './policy.ts'
import { ManualClock } from './testing/manual-clock.ts'

const RELAY = '12D3KooWD8APRYqjqvLY4qrgB4NxZi75BnWMJeCL87EUdFdfxNyd'
const OTHER = '12D3KooWEu9mzKK1LNTThU4Zeu2LUcdTFgnXFS7gLqxJhp7boEb5'
const NODE = '12D3KooWQwF4eUsvaWbEEeStfA64ryiXfHnaVUYrbJA4RfhzyVov'
const RELAYS_OWN = { network: '203.0.113.0/24', hidden: true }
const PROJECT = 'the project'
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }
const through = (relay: string): string => `/ip4/203.0.113.9/tcp/443/p2p/${relay}/p2p-circuit/p2p/${NODE}`
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A project with a place at RELAY, which tells what it is told to, or (`old`) does not know the protocol. */
async function world({ old = false } = {}) {
  const clock = new ManualClock()
  const book = new CallerBook()
  let serve: ((stream: FrameStream) => Promise<void>) | undefined
  await book.serve({
    handle: async (_protocol, _options, handler) => {
      serve = handler
    }
  })
  let opened = 0
  const host = {
    isConnected: (peer: string) => peer === RELAY,
    open: async (): Promise<FrameStream> => {
      opened += 1
      if (old) throw new Error('protocol_unsupported')
      const [ours, theirs] = pipe([PROJECT, RELAY])
      void serve?.(theirs)
      return ours
    }
  }
  const callers = new Callers({ host, clock, logger: SILENT }, [`/ip4/203.0.113.9/tcp/443/p2p/${RELAY}`])
  callers.start()
  const settle = async (): Promise<void> => {
    for (let round = 0; round < 5; round += 1) await turn()
  }
  await settle()
  return { callers, book, clock, settle, opened: () => opened }
}

describe('the network of who calls', () => {
  it('is that of its address when it calls directly', async () => {
    const { callers } = await world()
    assert.deepEqual(callers.whereFrom(NODE, '/ip4/198.51.100.7/tcp/1'), { network: '198.51.100.0/24' })
    assert.deepEqual(callers.whereFrom(NODE, '/ip4/192.168.1.7/tcp/1'), { network: '' })
    callers.stop()
  })

  it('is what the relay told that it calls through, also when it called before the relay was asked, and the last that was told', async () => {
    const { callers, book, settle } = await world()
    book.called({ from: NODE, to: PROJECT, address: '/ip4/198.51.100.7/tcp/1' })
    book.called({ from: OTHER, to: 'another', address: '/ip4/198.51.100.7/tcp/1' })
    await settle()
    assert.deepEqual(callers.whereFrom(NODE, through(RELAY)), { network: '198.51.100.0/24' })
    assert.deepEqual(callers.whereFrom(OTHER, through(RELAY)), RELAYS_OWN, 'whom it called is not the project')
    book.called({ from: NODE, to: PROJECT, address: '/ip4/192.168.1.7/tcp/1' })
    await settle()
    assert.deepEqual(callers.whereFrom(NODE, through(RELAY)), { network: '' }, 'a neighbour of the relay')
    callers.stop()
  })

  it('is that of the relay when it is another one than the project chose, or tells nothing', async () => {
    const chosen = await world()
    chosen.book.called({ from: NODE, to: PROJECT, address: '/ip4/198.51.100.7/tcp/1' })
    await chosen.settle()
    assert.deepEqual(chosen.callers.whereFrom(NODE, through(OTHER)), RELAYS_OWN)
    chosen.callers.stop()
    const { callers, clock, opened, settle } = await world({ old: true })
    assert.deepEqual(callers.whereFrom(NODE, through(RELAY)), RELAYS_OWN)
    clock.forward(CALLERS_LOOK_MS)
    await settle()
    assert.equal(opened(), 1)
    clock.forward(CALLERS_RETRY_MS)
    await settle()
    assert.equal(opened(), 2)
    callers.stop()
  })

  it('is told in frames that are bounded, and nothing else is believed', () => {
    const network = fc.constantFrom('', '203.0.113.0/24', '2001:db8:0::/48')
    fc.assert(
      fc.property(network, (one) => {
        const bytes = encodeCaller({ peer: NODE, network: one })
        assert.ok(bytes.length <= CALLER_FRAME_BYTES_MAX)
        assert.deepEqual(decodeCaller(bytes), { peer: NODE, network: one })
      })
    )
    for (const bad of ['203.0.113.7', '0.0.0.0/0', 'local', '203.0.113.0/24 '])
      assert.equal(decodeCaller(encodeCaller({ peer: NODE, network: bad })), undefined)
    assert.equal(decodeCaller(encodeCaller({ peer: 'x', network: '' })), undefined)
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => decodeCaller(bytes) === undefined))
  })
})
