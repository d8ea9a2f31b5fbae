import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CallAct, type CallEvent, FIRST_CALL, step } from './calling.ts'
import { NEWS_MS_MAX, RECONNECT_MS_MAX, SILENT_BEATS_MAX } from './policy.ts'

const TIME: CallEvent = { kind: 'time' }
const HEARD: CallEvent = { kind: 'heard' }
const lost = (draw: number): CallEvent => ({ kind: 'lost', draw })
const welcomed = (heartbeatMs: number): CallEvent => ({ kind: 'welcomed', heartbeatMs })

/** What is done at each event, and the last wait that was asked for. */
function play(...events: readonly CallEvent[]): { readonly acts: readonly CallAct[]; readonly waitMs: number | undefined; readonly at: string } {
  let state = FIRST_CALL
  let waitMs: number | undefined
  const acts = events.map((event) => {
    const next = step(state, event)
    state = next.state
    waitMs = next.waitMs ?? waitMs
    return next.act
  })
  return { acts, waitMs, at: state.at }
}

describe('when a node calls its coordinator', () => {
  it('calls, beats as it was told, and hangs up on a coordinator that answers no heartbeat', () => {
    const beats = Array.from({ length: SILENT_BEATS_MAX }, () => TIME)
    const { acts, waitMs } = play(TIME, welcomed(3_000), ...beats, TIME)
    assert.deepEqual(acts, ['call', 'nothing', ...beats.map(() => 'beat'), 'hang up'])
    assert.equal(waitMs, 3_000)
  })

  it('hangs up on nobody who answers now and then', () => {
    const answered = Array.from({ length: 20 }, () => [TIME, TIME, TIME, TIME, HEARD]).flat()
    assert.ok(!play(TIME, welcomed(3_000), ...answered).acts.includes('hang up'))
  })

  it('gives a fast heart no less than five seconds', () => {
    const beats = Array.from({ length: 50 }, () => TIME)
    assert.ok(!play(TIME, welcomed(100), ...beats).acts.includes('hang up'))
    assert.equal(play(TIME, welcomed(100), ...beats, TIME).acts.at(-1), 'hang up')
  })

  it('gives up an attempt that leads to no welcome', () => {
    assert.deepEqual(play(TIME, TIME).acts, ['call', 'give up'])
  })

  it('waits twice as long after each failure, up to a bound, in its upper half, and briefly again after a welcome', () => {
    const failures = (count: number, draw: number): readonly CallEvent[] => Array.from({ length: count }, () => [TIME, lost(draw)]).flat()
    assert.deepEqual(
      [1, 2, 3, 20].map((count) => play(...failures(count, 0)).waitMs),
      [100, 200, 400, RECONNECT_MS_MAX / 2]
    )
    assert.equal(play(...failures(20, 1)).waitMs, RECONNECT_MS_MAX)
    assert.equal(play(...failures(20, 0), TIME, welcomed(0), lost(0)).waitMs, 100)
  })

  it('cuts a pause short when there is news, scattered, and never makes it longer; otherwise goes on as before', () => {
    const news = (leftMs: number, draw: number): CallEvent => ({ kind: 'news', leftMs, draw })
    const away = [TIME, lost(1)]
    assert.equal(play(...away, news(5_000, 0)).waitMs, 0)
    assert.equal(play(...away, news(5_000, 1)).waitMs, NEWS_MS_MAX)
    assert.equal(play(...away, news(50, 1)).waitMs, 50)
    assert.equal(play(...away, news(5_000, 0)).at, 'away')
    assert.equal(play(TIME, news(5_000, 0)).waitMs, play(TIME).waitMs)
    assert.equal(play(TIME, welcomed(3_000), news(1_000, 0)).waitMs, 3_000)
  })
})
