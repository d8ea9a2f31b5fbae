import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { LineRows, SharedLine } from './shared-line.ts'

/** Of rounding in sums; and what a class may take from a cap: a sixteenth of an octave. */
const NEAR = 1e-6
const CLASS = 2 ** (-1 / 16)

interface Transfer {
  capBytesPerS: number
  leftBytes: number
}

/** Max-min fair, found the other way round: the level is the one at which what all take together is what there is. */
function fairRates(bytesPerS: number, caps: readonly number[]): number[] {
  const all = (level: number): number => caps.reduce((sum, cap) => sum + Math.min(cap, level), 0)
  let [low, high] = [0, Math.max(bytesPerS, ...caps)]
  for (let turn = 0; turn < 200; turn++) {
    const middle = (low + high) / 2
    if (all(middle) > bytesPerS) high = middle
    else low = middle
  }
  return caps.map((cap) => Math.min(cap, low))
}

/** The slow model: rates anew from all transfers whenever one has ended. Rows in the order in which they end, with when. */
function played(bytesPerS: number, transfers: Map<number, Transfer>, seconds: number): { row: number; atS: number }[] {
  const ended: { row: number; atS: number }[] = []
  for (let nowS = 0; transfers.size > 0; ) {
    const rows = [...transfers]
    const rates = fairRates(
      bytesPerS,
      rows.map(([, { capBytesPerS }]) => capBytesPerS)
    )
    const forS = Math.min(seconds - nowS, ...rows.map(([, { leftBytes }], at) => leftBytes / (rates[at] ?? 1)))
    for (const [at, [row, transfer]] of rows.entries()) {
      const rate = rates[at] ?? 0
      const isLast = transfer.leftBytes / rate <= forS
      transfer.leftBytes -= rate * forS
      if (!isLast) continue
      ended.push({ row, atS: nowS + forS })
      transfers.delete(row)
    }
    nowS += forS
    if (nowS >= seconds) break
  }
  return ended
}

function near(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) <= NEAR * Math.max(1, Math.abs(expected)), `${actual} is not ${expected}`)
}

function roomFor(rows: number): LineRows {
  const made = new LineRows()
  made.grow(rows)
  return made
}

/** Caps that are classes of their own: nothing is rounded. */
const classCap = fc.integer({ min: 0, max: 20 * 16 }).map((of) => 2 ** (of / 16))
const anyCap = fc.double({ min: 1, max: 1e6, noNaN: true })
const bytes = fc.double({ min: 0, max: 1e6, noNaN: true })
const row = fc.nat(11)

describe('a shared line', () => {
  it('carries what a slow model of max-min fairness says, whatever joins and leaves', () => {
    const order = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('join' as const), row, cap: classCap, bytes }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave' as const), row }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('advance' as const), seconds: fc.double({ min: 0, max: 100, noNaN: true }) }) }
    )
    fc.assert(
      fc.property(fc.double({ min: 1, max: 1e6, noNaN: true }), fc.array(order, { maxLength: 60 }), (bytesPerS, orders) => {
        const rows = new LineRows()
        const line = new SharedLine(bytesPerS, rows)
        rows.grow(5)
        rows.grow(12)
        const model = new Map<number, Transfer>()
        let [joined, left] = [0, 0]
        for (const one of orders) {
          if (one.kind === 'join') {
            if (model.has(one.row)) continue
            line.join(one.row, one.cap, one.bytes)
            model.set(one.row, { capBytesPerS: one.cap, leftBytes: one.bytes })
            joined += one.bytes
          } else if (one.kind === 'leave') {
            const bytesLeft = line.leave(one.row)
            const known = model.get(one.row)
            model.delete(one.row)
            assert.equal(bytesLeft === undefined, known === undefined)
            if (bytesLeft === undefined || known === undefined) continue
            near(bytesLeft, known.leftBytes)
            left += bytesLeft
          } else {
            const ended = new Map<number, number>()
            line.advance(one.seconds, (which, agoS) => ended.set(which, one.seconds - agoS))
            const expected = new Map(played(bytesPerS, model, one.seconds).map(({ row: which, atS }) => [which, atS]))
            // What ends in the last instant may do so a digit later.
            for (const which of new Set([...ended.keys(), ...expected.keys()])) {
              if (ended.has(which) && expected.has(which)) near(ended.get(which) as number, expected.get(which) as number)
              else near(ended.get(which) ?? expected.get(which) ?? Number.NaN, one.seconds)
              if (!ended.has(which)) near(line.leave(which) ?? Number.NaN, 0)
              model.delete(which)
            }
          }
          for (let which = 0; which < 12; which++) assert.equal(rows.isMoving(which), model.has(which))
        }
        let unfinished = 0
        for (const which of model.keys()) unfinished += line.leave(which) ?? Number.NaN
        near(line.carriedBytes, joined - left - unfinished)
      }),
      { numRuns: 300 }
    )
  })

  it('gives nobody more than his own line, none more than 4.3 % less than his share, and all together what there is', () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 1e7, noNaN: true }), fc.array(anyCap, { minLength: 1, maxLength: 20 }), (bytesPerS, caps) => {
        const line = new SharedLine(bytesPerS, roomFor(caps.length))
        for (const [at, cap] of caps.entries()) line.join(at, cap, 1e9)
        line.advance(1, () => assert.fail('nothing ends'))
        const rates = caps.map((_, at) => 1e9 - (line.leave(at) ?? Number.NaN))
        const all = rates.reduce((sum, rate) => sum + rate, 0)
        near(line.carriedBytes, all)
        assert.ok(all <= bytesPerS * (1 + NEAR))
        const wanted = caps.reduce((sum, cap) => sum + cap, 0)
        assert.ok(all >= Math.min(bytesPerS, wanted * CLASS) * (1 - NEAR))
        if (wanted * CLASS > bytesPerS * (1 + NEAR)) near(line.fullS, 1)
        if (wanted < bytesPerS) assert.equal(line.fullS, 0)
        for (const [at, fair] of fairRates(bytesPerS, caps).entries()) {
          const rate = rates[at] ?? Number.NaN
          assert.ok(rate <= (caps[at] ?? 0) * (1 + NEAR) + NEAR, `${rate} over a line of ${caps[at]}`)
          assert.ok(rate >= fair * CLASS * (1 - NEAR) - NEAR, `${rate} of a share of ${fair}`)
        }
      })
    )
  })

  it('is free again when it is empty, and full for as long as somebody waits', () => {
    const line = new SharedLine(128, roomFor(3))
    line.join(0, 64, 64)
    line.join(1, 64, 64)
    const ended: number[] = []
    line.advance(10, (which, agoS) => ended.push(which, agoS))
    assert.deepEqual(ended.toSorted(), [0, 1, 9, 9])
    assert.equal(line.fullS, 0)
    for (const which of [0, 1, 2]) line.join(which, 128, 128)
    line.advance(10, () => undefined)
    near(line.fullS, 3)
    near(line.carriedBytes, 128 + 3 * 128)
    assert.equal(line.leave(0), undefined)
  })

  it('may get the next one from whoever ended', () => {
    const line = new SharedLine(2, roomFor(2))
    line.join(0, 1, 1)
    const ended: number[] = []
    line.advance(3, (which) => {
      ended.push(which)
      if (which === 0) line.join(1, 2, 2)
    })
    assert.deepEqual(ended, [0, 1])
  })
})
