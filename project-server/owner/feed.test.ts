import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { MemoryNetwork } from '#protocol/content/memory-network'
import { decodeLiveOpen, LIVE_FRAME_BYTES_MAX, LIVE_PROTOCOL, LiveFrame } from '#protocol/live/messages'
import type { FrameStream } from '#protocol/peer/host'
import { until } from '#test/support/until'
import { FEED_BYTES, LIVE_OPENS, LIVE_READS_MAX, LIVE_REFUSED_MS } from '../policy.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { type Cursor, Feeds } from './feed.ts'
import { LiveNodes, NodeLost } from './live.ts'
import { Ring } from './ring.ts'

const FOLLOWED = { node: 'node', replica: `${'a'.repeat(26)}.0.1`, file: 'out', path: 'log' } as const
const PIECE = 64 * 1024

/** A node with one file, which it sends as node/live does: what follows the offset, in pieces, and what comes while it is followed. */
class Node {
  readonly network = new MemoryNetwork()
  readonly clock = new ManualClock()
  readonly nodes: LiveNodes
  readonly feeds: Feeds
  /** Open follow streams, and the most that there were of them and of the others. */
  readonly streams = new Set<FrameStream>()
  most = 0
  others = 0
  mostOthers = 0
  sent = 0
  file = { identity: 'a', bytes: Buffer.alloc(0) }
  /** Files that were replaced, which are still beside it. */
  readonly old: { identity: string; bytes: Buffer }[] = []
  over = false
  #wakes = new Set<() => void>()
  /** What it is led over now. */
  #led = new AbortController()

  constructor() {
    const host = this.network.host('server')
    const beside = (...asked: Parameters<NonNullable<FrameStream['beside']>>): Promise<FrameStream> => host.open('node', ...asked)
    this.nodes = new LiveNodes({ nodes: { streamOf: () => ({ beside, gone: this.#led.signal }) }, clock: this.clock })
    this.feeds = new Feeds(this.nodes)
    const node = this.network.host('node')
    node.handle(LIVE_PROTOCOL, { frameBytesMax: LIVE_FRAME_BYTES_MAX }, (stream) => this.#serve(stream))
  }

  append(text: string): void {
    this.file.bytes = Buffer.concat([this.file.bytes, Buffer.from(text)])
    this.wake()
  }

  rotate(): void {
    this.old.push(this.file)
    this.file = { identity: String.fromCharCode(97 + this.old.length), bytes: Buffer.alloc(0) }
    this.wake()
  }

  end(): void {
    this.over = true
    this.wake()
  }

  cut(): void {
    for (const stream of this.streams) stream.abort(new Error('cut'))
  }

  /** It is led over a new connection; nobody hears that the old one is dead. */
  move(): void {
    const old = this.#led
    this.#led = new AbortController()
    old.abort()
  }

  wake(): void {
    for (const wake of this.#wakes) wake()
    this.#wakes.clear()
  }

  async #serve(stream: FrameStream): Promise<void> {
    const first = await stream.frames().next()
    const open = first.done === true ? undefined : decodeLiveOpen(first.value)
    if (open === undefined) throw new Error('not a request')
    if (open.follow) this.streams.add(stream)
    else this.others++
    this.most = Math.max(this.most, this.streams.size)
    this.mostOthers = Math.max(this.mostOthers, this.others)
    try {
      let file = [...this.old, this.file].find(({ identity }) => identity === open.identity) ?? this.file
      let at = open.identity === '' || open.identity === file.identity ? open.offset : 0
      await stream.write(LiveFrame.encode({ offset: at, identity: file.identity, missed: at !== open.offset }))
      for (;;) {
        const changed = new Promise<void>((resolve) => this.#wakes.add(resolve))
        const { over } = this
        const to = open.until > 0 ? Math.min(open.until, file.bytes.length) : file.bytes.length
        for (; at < to; at += PIECE) {
          const data = new Uint8Array(file.bytes.subarray(at, Math.min(to, at + PIECE)))
          this.sent += data.length
          await stream.write(LiveFrame.encode({ data }))
        }
        at = Math.min(at, to)
        const next = [...this.old, this.file][[...this.old, this.file].indexOf(file) + 1]
        if (open.follow && next !== undefined) {
          // What was appended while this was sent, and before the file was replaced, comes first.
          if (at < file.bytes.length) continue
          file = next
          at = 0
          await stream.write(LiveFrame.encode({ offset: 0, identity: file.identity }))
          continue
        }
        if (!open.follow || over) break
        await Promise.race([changed, new Promise((resolve) => stream.gone.addEventListener('abort', resolve, { once: true }))])
        if (stream.gone.aborted) return
      }
      await stream.write(LiveFrame.encode({ end: true }))
      await stream.close()
    } finally {
      this.streams.delete(stream)
      if (!open.follow) this.others--
    }
  }
}

/** One who follows, at its own pace, and goes on at its cursor when the node is lost. */
class Watcher {
  readonly cursor: Cursor
  /** What was read of each file. */
  readonly parts = new Map<string, string>()
  readonly #node: Node
  readonly #stop = new AbortController()
  readonly done: Promise<void>
  /** What it waits for before it takes the next piece. */
  ready: () => Promise<void> = async () => {}

  constructor(node: Node, cursor: Partial<Cursor> = {}) {
    this.#node = node
    this.cursor = { offset: 0, identity: '', seen: new Uint8Array(), ...cursor }
    this.done = this.#run()
  }

  leave(): Promise<void> {
    this.#stop.abort()
    return this.done
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        for await (const step of this.#node.feeds.follow(FOLLOWED, this.cursor, 'client', this.#stop.signal)) {
          if (step.kind === 'data') {
            const { identity } = this.cursor
            this.parts.set(identity, (this.parts.get(identity) ?? '') + Buffer.from(step.bytes).toString('latin1'))
          } else assert.equal(step.place.missed, false)
          await this.ready()
        }
        return
      } catch (error) {
        if (!(error instanceof NodeLost)) throw error
      }
    }
  }
}

describe('a followed file of many readers', () => {
  it('reaches each of them whole, in one stream from the node, whatever is cut, rotated, and however late they come', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('append' as const), bytes: fc.constantFrom(1, 5_000, 700_000) }),
      fc.constantFrom({ kind: 'cut' as const }, { kind: 'rotate' as const }, { kind: 'join' as const }, { kind: 'turn' as const })
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.array(fc.nat(3), { minLength: 1, maxLength: 4 }), async (steps, paces) => {
        const node = new Node()
        const watchers: Watcher[] = []
        const join = (): void => {
          const watcher = new Watcher(node)
          const turns = paces[watchers.length % paces.length] ?? 0
          watcher.ready = async () => {
            for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
          }
          watchers.push(watcher)
        }
        // From the first file on, before anything is replaced.
        const joined = new Map<Watcher, number>()
        const add = (): void => {
          join()
          joined.set(watchers.at(-1) as Watcher, node.old.length)
        }
        add()
        let line = 0
        for (const one of steps) {
          if (one.kind === 'append') {
            let text = ''
            while (text.length < one.bytes) text += `${line++}\n`
            node.append(text)
          } else if (one.kind === 'cut') node.cut()
          else if (one.kind === 'join') add()
          else if (one.kind === 'rotate') {
            // Who has nothing of a file yet begins with the one that stands there, and who is two files behind may miss one.
            await until('all to have begun', () => watchers.every(({ cursor }) => cursor.identity === node.file.identity))
            node.rotate()
          } else await new Promise((resolve) => setImmediate(resolve))
        }
        await until('all to have begun', () => watchers.every(({ cursor }) => cursor.identity !== ''))
        node.end()
        await Promise.all(watchers.map(({ done }) => done))
        const files = [...node.old, node.file]
        for (const watcher of watchers) {
          const expected = files.slice(joined.get(watcher)).map(({ identity, bytes }) => [identity, bytes.toString('latin1')] as const)
          for (const [identity, text] of expected)
            assert.ok((watcher.parts.get(identity) ?? '') === text, `file ${identity}: ${watcher.parts.get(identity)?.length} of ${text.length}`)
        }
        assert.ok(node.most <= 1 && node.mostOthers <= 1, `${node.most} and ${node.mostOthers} streams at once`)
      }),
      { numRuns: 100 }
    )
  })

  it('is slowed by nobody: who reads nothing keeps neither the others nor more than a ring of memory', async () => {
    const node = new Node()
    const slow = new Watcher(node)
    const gate = Promise.withResolvers<void>()
    slow.ready = () => gate.promise
    const fast = new Watcher(node)
    const text = 'x'.repeat(4 * FEED_BYTES)
    node.append(text)
    await until('the fast one', () => fast.cursor.offset === text.length)
    assert.ok(slow.cursor.offset <= PIECE, `${slow.cursor.offset}`)
    gate.resolve()
    node.end()
    await Promise.all([slow.done, fast.done])
    assert.equal(slow.parts.get('a')?.length, text.length)
  })

  it('is read only as fast as the fastest takes it', async () => {
    const node = new Node()
    const slow = new Watcher(node)
    slow.ready = () => new Promise(() => {})
    node.append('x'.repeat(16 * FEED_BYTES))
    await until('the node to wait', () => node.sent > FEED_BYTES)
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    // Half a ring here, and what waits in the stream.
    assert.ok(node.sent < 3 * FEED_BYTES, `${node.sent}`)
  })

  it('is begun near its end for who wants that, though another reads it from its begin', async () => {
    const node = new Node()
    const bytes = 6 * FEED_BYTES
    node.append('x'.repeat(bytes))
    const first = new Watcher(node)
    const gate = Promise.withResolvers<void>()
    first.ready = () => gate.promise
    await until('it to begin', () => first.cursor.identity === 'a')
    const second = new Watcher(node, { offset: bytes - 10, identity: 'a', seen: new Uint8Array(Buffer.from('x'.repeat(10))) })
    await until('the end', () => second.cursor.offset === bytes)
    assert.ok(node.sent < 3 * FEED_BYTES, `${node.sent} bytes for 10`)
    gate.resolve()
    node.end()
    await Promise.all([first.done, second.done])
    assert.equal(first.parts.get('a')?.length, bytes)
    assert.equal(node.most, 1)
  })

  it('goes on over the connection that the node is led over now', async () => {
    const node = new Node()
    const watcher = new Watcher(node)
    node.append('one ')
    await until('it', () => watcher.parts.get('a') === 'one ')
    const [before] = node.streams
    node.move()
    await until('a new stream', () => node.streams.size === 1 && !node.streams.has(before as FrameStream))
    node.append('two')
    node.end()
    await watcher.done
    assert.equal(watcher.parts.get('a'), 'one two')
  })

  it('costs the node nothing when nobody is left', async () => {
    const node = new Node()
    const watchers = [new Watcher(node), new Watcher(node)]
    await until('a stream', () => node.streams.size === 1)
    await Promise.all(watchers.map((watcher) => watcher.leave()))
    await until('no stream', () => node.streams.size === 0)
  })
})

describe('what clients ask of nodes', () => {
  const still = new AbortController().signal
  /** Whether it may read by now. */
  const now = async (entering: Promise<() => void>): Promise<'entered' | 'refused' | 'waits'> => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    const waits = new Promise<'waits'>((resolve) => setImmediate(() => resolve('waits')))
    const settled = entering.then(
      () => 'entered' as const,
      () => 'refused' as const
    )
    return Promise.race([settled, waits])
  }

  it('is bounded for each client: more at once is refused after a while, and others are not in its way', async () => {
    const { nodes, clock } = new Node()
    const leave = await Promise.all(Array.from({ length: LIVE_READS_MAX }, () => nodes.enter('ann', still)))
    const further = nodes.enter('ann', still)
    const refused = assert.rejects(further, { code: 'unavailable', message: /open already/ })
    assert.equal(await now(further), 'waits')
    assert.equal(await now(nodes.enter('bob', still)), 'entered')
    clock.forward(LIVE_REFUSED_MS)
    await refused
    leave[0]?.()
    leave[0]?.()
    assert.equal(await now(nodes.enter('ann', still)), 'entered')
    assert.equal(await now(nodes.enter('ann', still)), 'waits')
  })

  it('waits for its turn when it asks too often', async () => {
    const { nodes, clock } = new Node()
    let entered = 0
    for (; ; entered++) {
      const entering = nodes.enter('ann', still)
      if ((await now(entering)) === 'waits') break
      ;(await entering)()
    }
    assert.equal(entered, LIVE_OPENS.burst)
    assert.equal(await now(nodes.enter('bob', still)), 'entered')
    const stop = new AbortController()
    const given = nodes.enter('ann', stop.signal)
    stop.abort()
    await assert.rejects(given, { code: 'unavailable' })
    clock.forward(60_000)
    assert.equal(await now(nodes.enter('ann', still)), 'entered')
  })
})

describe('a ring', () => {
  const KIB16 = 'x'.repeat(16 * 1024)
  const make = (pieces: number): Ring => new Ring(pieces * KIB16.length, { offset: 0, identity: 'a', seen: new Uint8Array() })

  it('says that bytes are gone rather than skipping them', () => {
    const ring = make(1)
    ring.push(Buffer.from(KIB16))
    ring.push(Buffer.from('abc'))
    ring.push(Buffer.from('de'))
    const end = KIB16.length + 5
    assert.equal(ring.after(0, 0).kind, 'behind')
    assert.deepEqual(ring.after(0, end - 3), { kind: 'bytes', bytes: new Uint8Array(Buffer.from('cde')) })
    assert.deepEqual(ring.after(0, end), { kind: 'nothing' })
    ring.place({ offset: 0, identity: 'b', missed: false })
    assert.deepEqual(ring.after(0, end), { kind: 'place', generation: 1, place: { offset: 0, identity: 'b', missed: false } })
    ring.push(Buffer.from('0123456789'))
    assert.equal(ring.after(0, end - 3).kind, 'behind')
    assert.equal(ring.after(0, end).kind, 'place')
    assert.equal(ring.bytes, KIB16.length)
    // Of what was left in the middle there may be more.
    ring.jump({ offset: 50, identity: 'b', seen: new Uint8Array() })
    assert.equal(ring.after(1, 10).kind, 'behind')
    assert.deepEqual(ring.after(2, 50), { kind: 'nothing' })
  })

  it('holds no more than it may, however small the pieces are and however often the file is cut', () => {
    const ring = make(4)
    for (let index = 0; index < 200_000; index++) ring.push(new Uint8Array(1))
    assert.ok(ring.bytes <= 4 * KIB16.length, `${ring.bytes}`)
    assert.equal(ring.after(0, 200_000 - 10_000).kind, 'bytes')
    for (let index = 0; index < 1_000; index++) {
      ring.place({ offset: 0, identity: `${index}`, missed: false })
      if (index % 100 === 0) ring.push(new Uint8Array(1))
    }
    assert.ok(ring.bytes <= 4 * KIB16.length, `${ring.bytes}`)
    assert.equal(ring.generationOf('900'), undefined)
    assert.notEqual(ring.generationOf('999'), undefined)
  })
})
