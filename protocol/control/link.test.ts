import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Link, type LinkNumbers, type Numbered } from './link.ts'

const NEW: LinkNumbers = { id: 'a link', sent: 0, received: 0 }

function newLink(): Link<string> {
  return new Link<string>(NEW)
}

function numbersOf({ id, sent, received }: LinkNumbers): LinkNumbers {
  return { id, sent, received }
}

describe('Link', () => {
  it('numbers from 1 and keeps what it sent until it is acknowledged', () => {
    const link = newLink()
    assert.deepEqual([link.push('a'), link.push('b'), link.sent, link.waiting], [1, 2, 2, 2])
    const [first, second] = link.pending()
    assert.deepEqual(
      [first, second],
      [
        { seq: 1, payload: 'a' },
        { seq: 2, payload: 'b' }
      ]
    )
    assert.deepEqual(link.acknowledge(1), [first])
    assert.deepEqual([link.pending(), link.acked, link.waiting], [[second], 1, 1])
    assert.deepEqual(link.acknowledge(1), [])
  })

  it('accepts each number once and in order', () => {
    const link = newLink()
    assert.equal(link.accept(1), 'new')
    assert.equal(link.accept(1), 'duplicate')
    assert.equal(link.accept(3), 'gap')
    assert.equal(link.accept(2), 'new')
    assert.equal(link.received, 2)
  })

  it('forgets no more than it sent, whatever the peer acknowledges', () => {
    const link = newLink()
    link.push('a')
    assert.deepEqual(link.acknowledge(Number.NaN), [])
    assert.deepEqual(
      link.acknowledge(Number.MAX_SAFE_INTEGER).map(({ seq }) => seq),
      [1]
    )
    assert.equal(link.push('b'), 2)
    assert.equal(link.waiting, 1)
  })

  it('keeps its order over many acknowledgements of any size', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ push: fc.nat(5), ack: fc.nat(7) }), { maxLength: 60 }), (steps) => {
        const link = new Link<number>(NEW)
        let acked = 0
        for (const { push, ack } of steps) {
          for (let more = push; more > 0; more--) link.push(link.sent + 1)
          const to = Math.min(acked + ack, link.sent)
          const expected = Array.from({ length: to - acked }, (_, index) => acked + index + 1)
          assert.deepEqual(
            link.acknowledge(to).map(({ payload }) => payload),
            expected
          )
          acked = to
          assert.deepEqual([link.acked, link.waiting, link.pending().length], [acked, link.sent - acked, link.sent - acked])
        }
      })
    )
  })

  it('sees when one side lost its memory', () => {
    const link = newLink()
    assert.equal(link.resumable(0), true)
    assert.equal(link.resumable(1), false)
    link.push('a')
    link.push('b')
    assert.deepEqual(
      [0, 1, 2, 3].map((received) => link.resumable(received)),
      [true, true, true, false]
    )
    link.acknowledge(2)
    assert.deepEqual(
      [0, 1, 2, 3].map((received) => link.resumable(received)),
      [false, false, true, false]
    )
  })

  it('continues from what was saved', () => {
    const link = newLink()
    link.push('a')
    link.push('b')
    link.acknowledge(1)
    link.accept(1)
    const again = new Link<string>(numbersOf(link), link.pending())
    assert.deepEqual(again.pending(), [{ seq: 2, payload: 'b' }])
    assert.deepEqual(numbersOf(again), { id: 'a link', sent: 2, received: 1 })
  })
})

interface Saved extends LinkNumbers {
  readonly pending: readonly Numbered<string>[]
}

/** One end with its disk: what is not committed when it crashes is gone, and nothing leaves before it is committed. */
class End {
  link = newLink()
  disk: Saved = { ...NEW, pending: [] }
  applied: string[] = []
  appliedOnDisk: string[] = []
  #outgoing: Numbered<string>[] = []
  readonly pushedOnDisk: string[] = []
  #ackDue = false

  push(name: string): void {
    this.#outgoing.push({ seq: this.link.push(name), payload: name })
  }

  receive({ ack, frame }: Packet): 'fine' | 'broken' {
    this.link.acknowledge(ack)
    if (frame === undefined) return 'fine'
    const verdict = this.link.accept(frame.seq)
    if (verdict === 'new') this.applied.push(frame.payload)
    this.#ackDue = true
    return verdict === 'gap' ? 'broken' : 'fine'
  }

  /** What may leave after this commit. */
  commit(): Packet[] {
    this.disk = { ...numbersOf(this.link), pending: this.link.pending() }
    this.appliedOnDisk = [...this.applied]
    this.pushedOnDisk.push(...this.#outgoing.map(({ payload }) => payload))
    const packets: Packet[] = this.#outgoing.map((frame) => ({ frame, ack: this.disk.received }))
    if (this.#ackDue) packets.push({ ack: this.disk.received })
    this.#outgoing = []
    this.#ackDue = false
    return packets
  }

  crash(): void {
    this.link = new Link<string>(this.disk, this.disk.pending)
    this.applied = [...this.appliedOnDisk]
    this.#outgoing = []
    this.#ackDue = false
  }

  /** A new connection: the other side's durable number, then all that is not acknowledged. */
  reconnected(received: number): Packet[] {
    assert.equal(this.link.resumable(received), true)
    this.link.acknowledge(received)
    return this.link
      .pending()
      .filter(({ seq }) => seq <= this.disk.sent)
      .map((frame) => ({ frame, ack: this.disk.received }))
  }
}

interface Packet {
  readonly frame?: Numbered<string>
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
        const received = ends.map(({ disk }) => disk.received)
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
      assert.deepEqual([ends[0].link.waiting, ends[1].link.waiting], [0, 0])
    }),
    { numRuns: 200 }
  )
  for (const [what, times] of Object.entries(happened)) assert.ok(times > 0, `no ${what} happened`)
})
