import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { LINK_FRAMES_MAX, Link, type SavedLink } from './link.ts'
import { decodeFrame } from './messages.ts'

const body = (name: string) => ({ start: { replicas: [{ replica: name, epoch: 1 }] } })
const nameIn = (bytes: Uint8Array): string => decodeFrame(bytes)?.start?.replicas[0]?.replica ?? ''

describe('Link', () => {
  it('numbers from 1 and keeps what it sent until it is acknowledged', () => {
    const link = new Link()
    const first = link.push(body('a'))
    const second = link.push(body('b'))
    assert.deepEqual([first.seq, second.seq, link.nextSeq], [1, 2, 3])
    assert.deepEqual(link.pending(), [first, second])
    assert.equal(decodeFrame(second.bytes)?.seq, 2)
    assert.deepEqual(link.acked(1), [1])
    assert.deepEqual(link.pending(), [second])
    assert.deepEqual(link.acked(1), [])
  })

  it('accepts each number once and in order', () => {
    const link = new Link()
    assert.equal(link.accept(1), 'new')
    assert.equal(link.accept(1), 'duplicate')
    assert.equal(link.accept(3), 'gap')
    assert.equal(link.accept(2), 'new')
    assert.equal(link.cursor, 2)
  })

  it('forgets no more than it sent, whatever the peer acknowledges', () => {
    const link = new Link()
    link.push(body('a'))
    assert.deepEqual(link.acked(Number.NaN), [])
    assert.deepEqual(link.acked(Number.MAX_SAFE_INTEGER), [1])
    const { seq } = link.push(body('b'))
    assert.equal(seq, 2)
    assert.equal(link.size, 1)
  })

  it('says when it is full, and takes no more until something is acknowledged', () => {
    const link = new Link()
    for (let i = 0; i < LINK_FRAMES_MAX; i += 1) link.push({ bye: {} })
    assert.equal(link.full, true)
    assert.throws(() => link.push({ bye: {} }), { name: 'LinkError', code: 'full' })
    assert.equal(link.nextSeq, LINK_FRAMES_MAX + 1)
    link.acked(1)
    assert.equal(link.full, false)
  })

  it('refuses a frame that the other side would refuse, and does not use up its number', () => {
    const link = new Link()
    assert.throws(() => link.push(body('x'.repeat(5_000_000))), { code: 'frame_too_large' })
    assert.equal(link.nextSeq, 1)
  })

  it('sees when one side lost its memory', () => {
    const link = new Link()
    assert.equal(link.resumable(0), true)
    assert.equal(link.resumable(1), false)
    link.push(body('a'))
    link.push(body('b'))
    assert.deepEqual(
      [0, 1, 2, 3].map((received) => link.resumable(received)),
      [true, true, true, false]
    )
    link.acked(2)
    assert.deepEqual(
      [0, 1, 2, 3].map((received) => link.resumable(received)),
      [false, false, true, false]
    )
  })

  it('continues from what was saved', () => {
    const link = new Link()
    link.push(body('a'))
    const kept = link.push(body('b'))
    link.acked(1)
    link.accept(1)
    const again = new Link()
    again.restore(link.saved())
    assert.deepEqual(again.pending(), [kept])
    assert.deepEqual([again.nextSeq, again.cursor], [3, 1])
    again.reset()
    assert.deepEqual(again.saved(), { nextSeq: 1, cursor: 0, pending: [] })
  })
})

/** One end with its disk: what is not committed when it crashes is gone, and nothing leaves before it is committed. */
class End {
  link = new Link()
  disk: SavedLink = this.link.saved()
  applied: string[] = []
  appliedOnDisk: string[] = []
  #outgoing: Uint8Array[] = []
  #pushed: string[] = []
  readonly pushedOnDisk: string[] = []
  #ackDue = false

  push(name: string): void {
    this.#outgoing.push(this.link.push(body(name)).bytes)
    this.#pushed.push(name)
  }

  receive(packet: Packet): 'fine' | 'broken' {
    this.link.acked(packet.ack)
    if (packet.bytes === undefined) return 'fine'
    const verdict = this.link.accept(decodeFrame(packet.bytes)?.seq ?? 0)
    if (verdict === 'new') this.applied.push(nameIn(packet.bytes))
    this.#ackDue = true
    return verdict === 'gap' ? 'broken' : 'fine'
  }

  /** What may leave after this commit. */
  commit(): Packet[] {
    this.disk = this.link.saved()
    this.appliedOnDisk = [...this.applied]
    this.pushedOnDisk.push(...this.#pushed)
    const packets: Packet[] = this.#outgoing.map((bytes) => ({ bytes, ack: this.disk.cursor }))
    if (this.#ackDue) packets.push({ ack: this.disk.cursor })
    this.#outgoing = []
    this.#pushed = []
    this.#ackDue = false
    return packets
  }

  crash(): void {
    this.link = new Link()
    this.link.restore(this.disk)
    this.applied = [...this.appliedOnDisk]
    this.#outgoing = []
    this.#pushed = []
    this.#ackDue = false
  }

  /** A new connection: the other side's durable cursor, then all that is not acknowledged. */
  reconnected(received: number): Packet[] {
    assert.equal(this.link.resumable(received), true)
    this.link.acked(received)
    return this.link
      .pending()
      .filter(({ seq }) => seq < this.disk.nextSeq)
      .map(({ bytes }) => ({ bytes, ack: this.disk.cursor }))
  }
}

interface Packet {
  readonly bytes?: Uint8Array
  readonly ack: number
}

type Move = 'push' | 'commit' | 'deliver' | 'drop' | 'duplicate' | 'swap' | 'reconnect' | 'crash'
/** Of a hundred moves about a fifth each lose and double a packet in flight. */
const moves = fc.array(
  fc.tuple(
    fc.nat(1),
    fc.oneof(
      { weight: 20, arbitrary: fc.constant<Move>('push') },
      { weight: 20, arbitrary: fc.constant<Move>('commit') },
      { weight: 30, arbitrary: fc.constant<Move>('deliver') },
      { weight: 10, arbitrary: fc.constant<Move>('drop') },
      { weight: 10, arbitrary: fc.constant<Move>('duplicate') },
      { weight: 5, arbitrary: fc.constant<Move>('swap') },
      { weight: 5, arbitrary: fc.constant<Move>('reconnect') },
      { weight: 3, arbitrary: fc.constant<Move>('crash') }
    )
  ),
  { minLength: 50, maxLength: 300, size: 'max' }
)

it('loses nothing, applies nothing twice and keeps the order, over a network that drops, doubles and reorders between two ends that crash (R05)', () => {
  const happened = { gap: 0, crash: 0, duplicate: 0, replayed: 0 }
  fc.assert(
    fc.property(moves, (script) => {
      const ends = [new End(), new End()] as const
      /** Towards each end. */
      let flying: [Packet[], Packet[]] = [[], []]
      let names = 0
      const send = (from: 0 | 1, packets: readonly Packet[]): void => {
        flying[from === 0 ? 1 : 0].push(...packets)
      }
      const reconnect = (): void => {
        flying = [[], []]
        const received = ends.map(({ disk }) => disk.cursor)
        const again = [ends[0].reconnected(received[1] as number), ends[1].reconnected(received[0] as number)]
        happened.replayed += (again[0]?.length ?? 0) + (again[1]?.length ?? 0)
        send(0, again[0] as Packet[])
        send(1, again[1] as Packet[])
      }
      const deliver = (to: 0 | 1): void => {
        const packet = flying[to].shift()
        if (packet === undefined || ends[to].receive(packet) === 'fine') return
        happened.gap += 1
        reconnect()
      }
      const check = (): void => {
        for (const [from, to] of [
          [ends[0], ends[1]],
          [ends[1], ends[0]]
        ] as const)
          assert.deepEqual(to.applied, from.pushedOnDisk.slice(0, to.applied.length))
      }
      for (const [side, move] of script) {
        const to = side as 0 | 1
        const queue = flying[to]
        if (move === 'push') ends[to].push(String(names++))
        else if (move === 'commit') send(to, ends[to].commit())
        else if (move === 'deliver') deliver(to)
        else if (move === 'drop') queue.shift()
        else if (move === 'duplicate' && queue[0] !== undefined) {
          happened.duplicate += 1
          queue.unshift(queue[0])
        } else if (move === 'swap' && queue.length > 1) queue.push(...queue.splice(0, 1))
        else if (move === 'reconnect') reconnect()
        else if (move === 'crash') {
          happened.crash += 1
          ends[to].crash()
          reconnect()
        }
        check()
      }
      // Calm: a connection that holds brings everything over.
      for (const to of [0, 1] as const) ends[to].commit()
      reconnect()
      while (flying[0].length + flying[1].length > 0) {
        for (const to of [0, 1] as const) while (flying[to].length > 0) deliver(to)
        for (const to of [0, 1] as const) send(to, ends[to].commit())
      }
      assert.deepEqual(ends[1].appliedOnDisk, ends[0].pushedOnDisk)
      assert.deepEqual(ends[0].appliedOnDisk, ends[1].pushedOnDisk)
      assert.deepEqual([ends[0].link.size, ends[1].link.size], [0, 0])
    }),
    { numRuns: 200 }
  )
  for (const [what, times] of Object.entries(happened)) assert.ok(times > 0, `no ${what} happened`)
})
