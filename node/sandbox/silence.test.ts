import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { LOOK_GAP_MS_MAX, LOOK_MS } from './policy.ts'
import { type Signs, Silence } from './silence.ts'

const LIMIT_MS = 60_000

/** Looks once a second for so long; answers after how many seconds it has hung. */
function hangsAfter(seconds: number, at: (second: number) => Partial<Signs>): number | undefined {
  const silence = new Silence(LIMIT_MS)
  for (let second = 0; second <= seconds; second++)
    if (silence.look({ nowMs: 5_000_000 + second * LOOK_MS, cpuMs: 100, logBytes: 10, changedMs: 7, ...at(second) })) return second
  return undefined
}

describe('F13: a run that gives no sign of life', () => {
  it('has hung when it was silent for its limit, and not before', () => {
    assert.equal(
      hangsAfter(200, () => ({})),
      60
    )
    assert.equal(
      hangsAfter(200, (second) => ({ logBytes: Math.min(second, 30) })),
      90
    )
  })

  it('lives by a byte printed, a file changed or processor time, each by itself', () => {
    for (const sign of ['logBytes', 'changedMs'] as const)
      assert.equal(
        hangsAfter(600, (second) => ({ [sign]: Math.floor(second / 59) })),
        undefined,
        sign
      )
    assert.equal(
      hangsAfter(600, (second) => ({ cpuMs: second * 20 })),
      undefined
    )
    // Processes that end take their time with them.
    assert.equal(
      hangsAfter(600, (second) => ({ cpuMs: second % 50 < 25 ? 5_000 : 100 })),
      undefined
    )
  })

  it('that only waits in a loop has hung: less than a hundredth of a processor is no sign', () => {
    assert.notEqual(
      hangsAfter(600, (second) => ({ cpuMs: second * 3 })),
      undefined
    )
  })

  it('is not said to have hung where nobody can tell what it uses', () => {
    assert.equal(
      hangsAfter(600, () => ({ cpuMs: undefined })),
      undefined
    )
  })

  it('is not held against a run while its machine slept', () => {
    assert.equal(
      hangsAfter(40, (second) => ({ nowMs: second * LOOK_MS + (second > 20 ? 86_400_000 : 0) })),
      undefined
    )
  })

  it('is told exactly when the time that was looked at without a sign has reached the limit', () => {
    const looks = fc.array(fc.record({ afterMs: fc.integer({ min: 1, max: 30_000 }), printed: fc.boolean() }), { maxLength: 60 })
    fc.assert(
      fc.property(looks, (list) => {
        const silence = new Silence(LIMIT_MS)
        let nowMs = 1_000
        let logBytes = 0
        let silentMs = 0
        silence.look({ nowMs, cpuMs: 0, logBytes, changedMs: 0 })
        for (const { afterMs, printed } of list) {
          nowMs += afterMs
          if (printed) logBytes++
          silentMs = printed ? 0 : silentMs + Math.min(afterMs, LOOK_GAP_MS_MAX)
          assert.equal(silence.look({ nowMs, cpuMs: 0, logBytes, changedMs: 0 }), silentMs >= LIMIT_MS)
        }
      })
    )
  })
})
