import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FakeCoordinator, ManualClock } from '#test/support/fake-owner'
import { followLog } from './logs.ts'

function read(coordinator: FakeCoordinator, clock: ManualClock, options: { follow?: boolean; signal?: AbortSignal } = {}) {
  const pieces: Buffer[] = []
  const done = (async () => {
    for await (const piece of followLog({ open: coordinator.open, clock, random: { fraction: () => 0 } }, 'task', options)) pieces.push(Buffer.from(piece))
  })()
  done.catch(() => {})
  return { done, text: () => Buffer.concat(pieces).toString() }
}

describe('a log', () => {
  it('goes on at the same byte after the stream breaks, and a restart of the project', async () => {
    const log = Buffer.from('0123456789'.repeat(10))
    const coordinator = new FakeCoordinator()
    const clock = new ManualClock()
    let breaks = 3
    coordinator.handle = ({ id, logs }, stream) => {
      if (logs === undefined) return
      const rest = log.subarray(logs.offset)
      if (breaks-- > 0) {
        stream.answer({ id, end: false, data: rest.subarray(0, 17) })
        setImmediate(() => stream.abort())
      } else {
        stream.answer({ id, end: false, data: rest })
        stream.answer({ id })
      }
    }
    const reading = read(coordinator, clock, { follow: true })
    await clock.advance(1_000)
    coordinator.down = true
    await clock.advance(10_000)
    coordinator.down = false
    await clock.advance(10_000)
    await reading.done
    assert.equal(reading.text(), log.toString())
  })

  it('is refused with the reason the project gives', async () => {
    const coordinator = new FakeCoordinator()
    coordinator.handle = ({ id }, stream) => stream.answer({ id, code: 'not_running', message: 'it does not run' })
    await assert.rejects(read(coordinator, new ManualClock()).done, { code: 'refused', message: 'it does not run' })
  })

  it('does not wait for a project that was never there', async () => {
    const coordinator = new FakeCoordinator()
    coordinator.down = true
    await assert.rejects(read(coordinator, new ManualClock()).done, { code: 'unreachable' })
    assert.equal(coordinator.tries, 1)
  })

  it('ends with its signal', async () => {
    const coordinator = new FakeCoordinator()
    const clock = new ManualClock()
    const stop = new AbortController()
    const reading = read(coordinator, clock, { signal: stop.signal })
    await clock.advance(10)
    stop.abort(new Error('enough'))
    await assert.rejects(reading.done, /enough/)
    assert.ok(coordinator.last.gone.aborted)
  })
})
