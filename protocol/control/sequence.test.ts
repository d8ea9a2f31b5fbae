import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Link } from './link.ts'
import { decodeFrame, Frame } from './messages.ts'
import { Sequence } from './sequence.ts'

/** What was sent on one stream, in order; the last is a heartbeat. */
function sentOf(numbered: readonly boolean[]): readonly Frame[] {
  const sent = new Sequence()
  let seq = 0
  return [...numbered, false].map((one) => {
    const frame = decodeFrame(sent.next(Frame.encode(one ? { seq: ++seq, release: { replicas: [] } } : { heartbeat: {} })))
    assert.ok(frame !== undefined)
    return frame
  })
}

/** Which of them the other side took, in which order; undefined when it ended the stream. */
function takenOf(frames: readonly Frame[], arrivals: readonly number[]): readonly number[] | undefined {
  const came = new Sequence()
  const link = new Link<never>({ id: 'a link', sent: 0, received: 0 })
  const taken: number[] = []
  for (const place of arrivals) {
    const frame = frames[place] as Frame
    const arrival = came.accept(frame)
    const accepted = arrival === 'new' && frame.seq > 0 ? link.accept(frame.seq) : arrival
    if (accepted === 'gap') return undefined
    if (accepted === 'new') taken.push(place)
  }
  return taken
}

describe('the frames of one stream', () => {
  it('a frame without a number says how many went before it, and one with a number is as it was', () => {
    assert.deepEqual(
      sentOf([false, true, false]).map(({ seq, before }) => [seq, before]),
      [
        [0, 0],
        [1, undefined],
        [0, 2],
        [0, 3]
      ]
    )
  })

  it('all that comes once and in order is taken, whatever has a number', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 20 }), (numbered) => {
        const frames = sentOf(numbered)
        const places = frames.map((_, place) => place)
        assert.deepEqual(takenOf(frames, places), places)
      })
    )
  })

  it('who hears a heartbeat at last has taken all before it, once and in order, or knows that something is missing', () => {
    const copies = fc.record({ numbered: fc.boolean(), come: fc.array(fc.double({ noNaN: true }), { maxLength: 2 }) })
    fc.assert(
      fc.property(fc.array(copies, { maxLength: 12 }), (drawn) => {
        const frames = sentOf(drawn.map(({ numbered }) => numbered))
        const arrivals = drawn.flatMap(({ come }, place) => come.map((at) => ({ at, place }))).sort((a, b) => a.at - b.at)
        const taken = takenOf(frames, [...arrivals.map(({ place }) => place), frames.length - 1])
        if (taken === undefined) return
        assert.deepEqual(
          taken,
          frames.map((_, place) => place)
        )
      }),
      { numRuns: 2_000 }
    )
  })

  it('one that is lost is not made up for by another that comes twice', () => {
    const frames = sentOf([false, true, true, false])
    assert.equal(takenOf(frames, [0, 1, 1, 3]), undefined)
    assert.equal(takenOf(frames, [0, 1, 2, 2, 4]), undefined)
    assert.deepEqual(takenOf(frames, [0, 0, 1, 1, 2, 1, 3, 3, 4]), [0, 1, 2, 3, 4])
  })

  it('an older version, which does not say, is taken as it comes', () => {
    const came = new Sequence()
    assert.deepEqual([came.accept({ seq: 0 }), came.accept({ seq: 0 }), came.accept({ seq: 0, before: 2 })], ['new', 'new', 'new'])
  })
})
