import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BlockServer } from '#protocol/content/serve'
import type { FrameStream, Host } from '#protocol/peer/host'
import { HostError } from '#protocol/peer/host'
import { decodeAsk, Found, SOURCES_PROTOCOL, type Source } from '#protocol/sources/messages'
import { Exchange } from './exchange.ts'
import { GUEST_IDLE_MS, GUEST_STREAMS_MAX, GUESTS_MAX, PEER_IDLE_MS, TELL_AGAIN_MS, TELL_LOOK_MS } from './policy.ts'

const PROJECT = '12D3KooWD8APRYqjqvLY4qrgB4NxZi75BnWMJeCL87EUdFdfxNyd'
const ANN = '12D3KooWEu9mzKK1LNTThU4Zeu2LUcdTFgnXFS7gLqxJhp7boEb5'
const BOB = '12D3KooWQwF4eUsvaWbEEeStfA64ryiXfHnaVUYrbJA4RfhzyVov'
const ME = '12D3KooWB8BM8hQSJQzZg5er7nJbQYBrdj9yz2361nv8GfZbNddT'
const NEVER = new AbortController().signal
const at = (peer: string): Source => ({ peer, addresses: [`/ip4/5.5.5.5/tcp/1/p2p/${peer}`], roots: [0] })

interface Worldly {
  readonly sources?: Source[]
  readonly gone?: string[]
  readonly uploadPerSecond?: number
  readonly kept?: BlockServer
  /** Others fetch it first. */
  readonly waiting?: { readonly laterMs: number }
}

/** A node whose project answers with `sources`, and who reaches all peers but `gone`. */
function world({ sources = [], gone = [], uploadPerSecond = 1_000, kept, waiting = { laterMs: 0 } }: Worldly) {
  const timers = new Set<{ atMs: number; call: () => void }>()
  const told: (readonly string[])[] = []
  const connected = new Set<string>()
  const ended: string[] = []
  let now = 0
  const clock = {
    nowMs: () => now,
    after(ms: number, call: () => void) {
      const timer = { atMs: now + ms, call }
      timers.add(timer)
      return () => void timers.delete(timer)
    }
  }
  const streamTo = (peer: string, address: string, frames: readonly Uint8Array[], wrote: (frame: Uint8Array) => void): FrameStream => ({
    remotePeer: peer,
    remoteAddress: address,
    frames: async function* () {
      yield* frames
    },
    write: async (frame) => wrote(frame),
    close: async () => {},
    abort: () => void ended.push(peer),
    gone: NEVER
  })
  const host: Host & { own: string[] } = {
    own: ['/ip4/127.0.0.1/tcp/9/p2p/Me', '/ip4/192.168.1.2/tcp/9/p2p/Me'],
    peerId: ME,
    addresses: () => host.own,
    handle: async () => {},
    connect: async (peer) => {
      if (gone.includes(peer)) throw new HostError('unreachable', 'nobody there')
      connected.add(peer)
    },
    isConnected: (peer) => connected.has(peer),
    open: async (peer, protocol) => {
      if (protocol !== SOURCES_PROTOCOL) return streamTo(peer, '/ip4/5.5.5.9/tcp/1/p2p/R/p2p-circuit', [new Uint8Array(70), new Uint8Array(30)], () => {})
      if (gone.includes(PROJECT)) throw new HostError('not_connected', 'the project is away')
      return streamTo(peer, '/ip4/5.5.5.1/tcp/1', [Found.encode(waiting.laterMs > 0 ? { ...waiting } : { sources })], (frame) =>
        told.push(decodeAsk(frame)?.addresses ?? [])
      )
    },
    disconnect: async (peer) => void connected.delete(peer),
    publishRecord: async () => {},
    findRecord: async () => undefined,
    stop: async () => {}
  }
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const exchange = new Exchange({ host, isDirect: () => false, clock, logger }, { project: PROJECT, uploadPerSecond, ...(kept === undefined ? {} : { kept }) })
  const pass = async (ms: number): Promise<void> => {
    now += ms
    for (const timer of [...timers]) if (timer.atMs <= now && timers.delete(timer)) timer.call()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { exchange, host, told, connected, ended, pass, guest: (peer: string) => exchange.enter(streamTo(peer, '/ip4/5.5.5.5/tcp/1', [], () => {})) }
}

describe('what nodes fetch from each other', () => {
  it('comes from those that the project names and that can be reached', async () => {
    const { exchange, connected, pass } = world({ sources: [at(ANN), at(BOB), at(ME), at(PROJECT)], gone: [BOB] })
    const found = await exchange.find(['bafy', 'other'], NEVER)
    assert.deepEqual([found.of('bafy'), found.of('other'), found.of('third')], [[ANN], [], []])
    for await (const frame of (await exchange.host.open(ANN, '/talko/content/1.0.0', { frameBytesMax: 100 })).frames()) assert.ok(frame.length > 0)
    assert.deepEqual(exchange.view().received, { project: 0, direct: 0, relayed: 100 })
    assert.deepEqual(exchange.view().peers, [{ peer: ANN, direct: false, bytes: 100 }])
    found.release()
    await pass(PEER_IDLE_MS - 1)
    assert.ok(connected.has(ANN))
    await pass(1)
    assert.ok(!connected.has(ANN))
  })
  it('D11: comes from who fetches it first, when the project says so, and from the project after a while', async () => {
    const waiting = { laterMs: 2_000 }
    const first = world({ sources: [at(ANN)], waiting })
    const found = first.exchange.find(['bafy'], NEVER)
    await first.pass(0)
    waiting.laterMs = 0
    await first.pass(2_000)
    assert.deepEqual([(await found).of('bafy'), first.told.length], [[ANN], 2])
    const never = world({ waiting: { laterMs: 2 ** 31 } })
    assert.deepEqual([(await never.exchange.find(['bafy'], NEVER)).of('bafy'), never.told.length], [[], 1])
  })
  it('comes from nobody when the project does not say, and is given up when it is not wanted', async () => {
    const { exchange } = world({ gone: [PROJECT] })
    assert.deepEqual((await exchange.find(['bafy'], NEVER)).of('bafy'), [])
    await assert.rejects(exchange.find(['bafy'], AbortSignal.abort(new Error('given up'))), /given up/)
  })
  it('is given to a few others at once, at the rate that its owner allows, and to the project at any', async () => {
    const { exchange, guest } = world({ uploadPerSecond: 1_000 })
    const guests = Array.from({ length: GUESTS_MAX }, (_, index) => guest(`node ${index}`))
    assert.ok(guests.every((one) => one !== undefined))
    assert.equal(guest(BOB), undefined)
    assert.ok(guest(PROJECT) !== undefined)
    guests[0]?.leave()
    const bob = guest(BOB)
    assert.equal(bob?.sent(1_000), undefined)
    assert.ok(bob?.sent(500) instanceof Promise)
    assert.equal(guest(PROJECT)?.sent(1_000_000), undefined)
    assert.deepEqual(exchange.view().sent, { project: 1_000_000, direct: 1_500, relayed: 0 })
    assert.equal(world({ uploadPerSecond: 0 }).guest(ANN), undefined)
  })
  it('F22: what is kept for others is given to the project and to nobody else', () => {
    const kept = { serveBlock: () => undefined }
    const { guest } = world({ kept })
    assert.equal(guest(PROJECT)?.also, kept)
    assert.deepEqual([guest(ANN)?.also, world({}).guest(PROJECT)?.also], [undefined, undefined])
  })
  it('leaves room for others than the one who takes all it can, and none to those who fetch nothing', async () => {
    const { guest, ended, pass } = world({})
    const greedy = Array.from({ length: GUESTS_MAX }, () => guest(ANN))
    assert.equal(greedy.filter((one) => one !== undefined).length, GUEST_STREAMS_MAX)
    const bob = guest(BOB)
    assert.ok(bob !== undefined)
    await pass(GUEST_IDLE_MS - 1)
    bob.sent(500)
    assert.equal(ended.length, 0)
    await pass(1)
    assert.equal(ended.join(), new Array(GUEST_STREAMS_MAX).fill(ANN).join())
    for (const one of greedy) one?.leave()
    assert.ok(guest(ANN) !== undefined)
    await pass(GUEST_IDLE_MS - 2)
    assert.ok(!ended.includes(BOB))
    bob.leave()
    await pass(2)
    assert.ok(!ended.includes(BOB))
  })
  it('leaves a connection over which the other node still fetches', async () => {
    const { exchange, connected, guest, pass } = world({ sources: [at(ANN)] })
    const found = await exchange.find(['bafy'], NEVER)
    const ann = guest(ANN)
    found.release()
    await pass(PEER_IDLE_MS)
    assert.ok(connected.has(ANN))
    ann?.leave()
    await pass(PEER_IDLE_MS)
    assert.ok(!connected.has(ANN))
  })
  it('needs the project to know where a node is: it is told at once, when that changes, when it forgot, and now and then', async () => {
    const { exchange, host, told, pass } = world({})
    exchange.start()
    await pass(0)
    assert.deepEqual(told, [['/ip4/192.168.1.2/tcp/9/p2p/Me']])
    await pass(TELL_LOOK_MS)
    assert.equal(told.length, 1)
    host.own = ['/ip4/5.5.5.7/tcp/9/p2p/Me']
    await pass(TELL_LOOK_MS)
    assert.deepEqual(told[1], host.own)
    exchange.welcomed()
    await pass(0)
    assert.equal(told.length, 3)
    await pass(TELL_AGAIN_MS)
    assert.equal(told.length, 4)
    exchange.stop()
    await pass(TELL_AGAIN_MS)
    assert.equal(told.length, 4)
  })
})
