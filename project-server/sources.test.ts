import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FrameStream } from '#protocol/peer/host'
import { Ask, decodeFound, type Found, type Source } from '#protocol/sources/messages'
import { TURN_NODES_MIN } from './policy.ts'
import { Sources } from './sources.ts'

const ANN = '12D3KooWD8APRYqjqvLY4qrgB4NxZi75BnWMJeCL87EUdFdfxNyd'
const BOB = '12D3KooWEu9mzKK1LNTThU4Zeu2LUcdTFgnXFS7gLqxJhp7boEb5'
const CID = '12D3KooWQwF4eUsvaWbEEeStfA64ryiXfHnaVUYrbJA4RfhzyVov'
const DEE = '12D3KooWB8BM8hQSJQzZg5er7nJbQYBrdj9yz2361nv8GfZbNddT'
const OPEN = '/ip4/5.5.5.20/tcp/1'
const HOME = '/ip4/192.168.1.2/tcp/1'
const RELAYED = '/ip4/5.5.5.9/tcp/1/p2p/Rel/p2p-circuit/p2p/Ann'

async function world(
  holders: Readonly<Record<string, readonly string[]>>,
  comingTo: (node: string, root: string) => number | undefined = () => undefined,
  crowd = TURN_NODES_MIN
) {
  let serve: ((stream: FrameStream) => Promise<void>) | undefined
  const sources = new Sources({
    host: {
      handle: async (_protocol, _options, handler) => {
        serve = handler
      }
    },
    coordinator: { isOnline: (node) => node !== CID, holdersOf: (root, _draw, max) => (holders[root] ?? []).slice(0, max), comingTo, crowdAt: () => crowd },
    clock: { nowMs: () => 0 },
    random: { bytes: (count) => new Uint8Array(count) },
    record: () => Uint8Array.of(7),
    secret: Uint8Array.of(1)
  })
  await sources.start()
  const found = async (node: string, at: string, question: { addresses?: string[]; roots?: string[] } | Uint8Array): Promise<Found | undefined> => {
    let said: Uint8Array | undefined
    await serve?.({
      remotePeer: node,
      remoteAddress: at,
      frames: async function* () {
        yield question instanceof Uint8Array ? question : Ask.encode({ addresses: [], roots: [], ...question })
      },
      write: async (frame) => {
        said = frame
      },
      close: async () => {},
      abort: () => {},
      gone: new AbortController().signal
    })
    return said === undefined ? undefined : decodeFound(said)
  }
  /** What a node is told; undefined when its stream is reset. */
  const ask = async (node: string, at: string, question: { addresses?: string[]; roots?: string[] } | Uint8Array): Promise<readonly Source[] | undefined> =>
    (await found(node, at, question))?.sources
  const neighbours = async (node: string, at: string, roots: string[] = []): Promise<readonly Source[] | undefined> =>
    (await found(node, at, { roots }))?.neighbours
  return Object.assign(ask, { neighbours, found })
}

describe('telling nodes where others are', () => {
  it('names who has it and said where it is, not the asker itself', async () => {
    const ask = await world({ data: [ANN, BOB], other: [ANN] })
    assert.deepEqual(await ask(BOB, OPEN, { roots: ['data'] }), [])
    assert.deepEqual(await ask(ANN, OPEN, { addresses: [OPEN, RELAYED] }), [])
    assert.deepEqual(await ask(BOB, OPEN, { addresses: [RELAYED], roots: ['data', 'none', 'other'] }), [
      { peer: ANN, addresses: [OPEN, RELAYED], roots: [0, 2] }
    ])
    assert.deepEqual(await ask(ANN, OPEN, { addresses: [], roots: ['data'] }), [{ peer: BOB, addresses: [RELAYED], roots: [0] }])
    assert.deepEqual(await ask(BOB, OPEN, { roots: ['data'] }), [])
  })
  it('names those that come next as neighbours to who asks for nothing, as far as it could reach them', async () => {
    const ask = await world({})
    await ask(CID, OPEN, { addresses: [OPEN] })
    await ask(BOB, '/ip4/6.6.6.6/tcp/1', { addresses: [HOME] })
    assert.deepEqual(await ask.neighbours(ANN, OPEN), [], 'one is not there, the other is in a network of its own')
    await ask(BOB, '/ip4/6.6.6.6/tcp/1', { addresses: [HOME, RELAYED] })
    assert.deepEqual(await ask.neighbours(ANN, OPEN), [{ peer: BOB, addresses: [RELAYED], roots: [] }])
    assert.deepEqual(await ask.neighbours(ANN, OPEN, ['data']), [])
  })
  it('tells private addresses to neighbours only', async () => {
    const ask = await world({ data: [ANN] })
    await ask(ANN, '/ip4/5.5.5.30/tcp/9', { addresses: [HOME, RELAYED] })
    assert.deepEqual((await ask(BOB, '/ip4/5.5.5.30/tcp/8', { roots: ['data'] }))?.[0]?.addresses, [HOME, RELAYED])
    assert.deepEqual((await ask(BOB, '/ip4/5.5.5.31/tcp/8', { roots: ['data'] }))?.[0]?.addresses, [RELAYED])
    // Through the same relay they are not in the same network.
    await ask(ANN, '/ip4/5.5.5.9/tcp/1/p2p/Rel/p2p-circuit/p2p/Ann', { addresses: [HOME, RELAYED] })
    assert.deepEqual((await ask(BOB, '/ip4/5.5.5.9/tcp/1/p2p/Rel/p2p-circuit/p2p/Bob', { roots: ['data'] }))?.[0]?.addresses, [RELAYED])
  })
  it('answers nobody but nodes that are there, and no more than a few questions a second', async () => {
    const ask = await world({ data: [ANN] })
    assert.equal(await ask(CID, OPEN, { roots: ['data'] }), undefined)
    assert.equal(await ask(BOB, OPEN, Uint8Array.of(255)), undefined)
    const answers = []
    for (let i = 0; i < 2_001; i += 1) answers.push(await ask(BOB, OPEN, { roots: ['data'] }))
    assert.ok(answers.includes(undefined))
    assert.notEqual(await ask(ANN, OPEN, {}), undefined)
  })
  it('D11: lets two fetch a large tree, others later from them; who cannot reach them fetches at once, and so do few', async () => {
    const [large, small, other] = [16 * 1024 ** 2, 16 * 1024 ** 2 - 1, 'other']
    const sizes: Readonly<Record<string, number>> = { large, small, other: large }
    const lacking = new Set([ANN, BOB, DEE])
    const holders: Record<string, readonly string[]> = { large: [], small: [], other: [] }
    const ask = await world(holders, (node, root) => (lacking.has(node) ? sizes[root] : undefined))
    const question = (root: string, addresses = [OPEN]) => ({ addresses, roots: [root] })
    const later = async (node: string, roots: string[]): Promise<boolean> => ((await ask.found(node, OPEN, { addresses: [OPEN], roots }))?.laterMs ?? 0) > 0
    assert.deepEqual([await later(ANN, ['large']), await later(BOB, ['large']), await later(DEE, ['large'])], [false, false, true])
    assert.deepEqual(
      [await later(DEE, ['small']), await later(DEE, [other, 'large']), await later(ANN, [other]), await later(BOB, [other])],
      [false, true, false, false]
    )
    lacking.delete(ANN)
    holders.large = [ANN]
    assert.deepEqual(
      (await ask(DEE, OPEN, question('large')))?.map(({ peer }) => peer),
      [ANN]
    )
    const alone = await world({ large: [] }, () => large)
    for (const node of [ANN, BOB, DEE]) assert.equal((await alone.found(node, OPEN, question('large', [])))?.laterMs, undefined)
    const few = await world({ large: [] }, () => large, TURN_NODES_MIN - 1)
    for (const node of [ANN, BOB, DEE]) assert.equal((await few.found(node, OPEN, question('large')))?.laterMs, undefined)
  })

  it('looks for no more trees for one node in a second however it asks, and at few of their holders', async () => {
    let looked = 0
    const holders = Array.from({ length: 10_000 }, (_, index) => `silent ${index}`)
    const data = {
      data: new Proxy(holders, { get: (list, key) => (typeof key === 'string' && /^\d+$/.test(key) ? ++looked && list[Number(key)] : Reflect.get(list, key)) })
    }
    const ask = await world(data)
    const roots = new Array(256).fill('data')
    let answered = 0
    for (let i = 0; i < 100; i += 1) answered += (await ask(BOB, OPEN, { roots })) === undefined ? 0 : 1
    assert.equal(answered, 7)
    assert.ok(looked > 0 && looked <= 7 * 256 * 64, `${looked} were looked at`)
  })
})
