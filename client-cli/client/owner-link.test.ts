import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import { REQUESTS_OPEN_MAX } from '#protocol/owner/messages'
import { FakeCoordinator, ManualClock, settled } from '#test/support/fake-owner'
import { ClientError } from '../errors.ts'
import { OwnerLink, pauseMs, RECONNECT_MS, RECONNECT_PAUSE_MS_MAX, refusalOf, UNAVAILABLE_RETRIES_MAX } from './owner-link.ts'

function setUp(reconnectMs?: number) {
  const coordinator = new FakeCoordinator()
  const clock = new ManualClock()
  const seen: [boolean, string][] = []
  const link = new OwnerLink(
    { open: coordinator.open, clock, random: { bytes: (count) => new Uint8Array(count), fraction: () => 0.5 }, onLink: (up, why) => seen.push([up, why]) },
    reconnectMs === undefined ? {} : { reconnectMs }
  )
  return { coordinator, clock, link, seen }
}

const kill = (of: string) => ({ kill: { of } })

describe('the owner link', () => {
  it('matches many answers to their requests, in whatever order they come', async () => {
    const { coordinator, link } = setUp()
    const answers = Promise.all(['a', 'b', 'c'].map((of) => link.ask(kill(of))))
    await settled()
    for (const { id, kill: asked } of coordinator.last.requests.toReversed()) coordinator.last.answer({ id, body: asked?.of })
    assert.deepEqual(
      (await answers).map((body) => dagCbor.decode(body ?? new Uint8Array())),
      ['a', 'b', 'c']
    )
    assert.equal(coordinator.streams.length, 1)
  })

  it('sends what is open again when the stream breaks, and says so', async () => {
    const { coordinator, clock, link, seen } = setUp()
    const answer = link.ask(kill('a'))
    await settled()
    coordinator.down = true
    coordinator.last.abort()
    await clock.advance(3_000)
    coordinator.down = false
    await clock.advance(RECONNECT_PAUSE_MS_MAX)
    assert.equal(coordinator.streams.length, 2)
    assert.deepEqual(
      coordinator.last.requests.map(({ kill: asked }) => asked?.of),
      ['a']
    )
    coordinator.last.answer({ id: coordinator.last.requests[0]?.id ?? 0 })
    await answer
    assert.deepEqual(
      seen.map(([up]) => up),
      [false, true]
    )
  })

  it('fails at once when the project cannot be reached at first, and after a bound when it is lost', async () => {
    const { coordinator, clock, link } = setUp()
    coordinator.down = true
    await assert.rejects(link.ask(kill('a')), { code: 'unreachable' })
    assert.equal(coordinator.tries, 1)
    coordinator.down = false
    const answer = link.ask(kill('b'))
    await settled()
    coordinator.down = true
    coordinator.last.abort()
    const failed = assert.rejects(answer, { code: 'unreachable' })
    await clock.advance(RECONNECT_MS + RECONNECT_PAUSE_MS_MAX)
    await failed
  })

  it('asks again when the coordinator is not available now, a bounded number of times', async () => {
    const { coordinator, clock, link } = setUp()
    coordinator.handle = ({ id }, stream) => stream.answer({ id, code: 'unavailable', message: 'stopping' })
    const failed = assert.rejects(link.ask(kill('a')), { code: 'unreachable', message: 'stopping' })
    await clock.advance(60_000)
    await failed
    assert.equal(coordinator.last.requests.length, 1 + UNAVAILABLE_RETRIES_MAX)
  })

  it('holds back more requests than may be open, and cancels those given up', async () => {
    const { coordinator, link } = setUp()
    const stop = new AbortController()
    const answers = Array.from({ length: REQUESTS_OPEN_MAX + 2 }, () => link.ask(kill('a'), { signal: stop.signal }))
    const failed = Promise.all(answers.slice(1).map((answer) => assert.rejects(answer, { code: 'interrupted' })))
    await settled()
    assert.equal(coordinator.last.requests.length, REQUESTS_OPEN_MAX)
    coordinator.last.answer({ id: 1 })
    await answers[0]
    await settled()
    assert.equal(coordinator.last.requests.length, REQUESTS_OPEN_MAX + 1)
    stop.abort(new ClientError('interrupted', 'enough'))
    await failed
    await settled()
    assert.ok(coordinator.last.requests.some(({ cancel }) => cancel))
  })

  it('leaves a stream that carries garbage and goes on with another', async () => {
    const { coordinator, clock, link } = setUp()
    const answer = link.ask(kill('a'))
    await settled()
    coordinator.last.raw(Uint8Array.of(0xff, 0xff, 0xff))
    await clock.advance(1_000)
    assert.equal(coordinator.streams.length, 2)
    coordinator.last.answer({ id: 99 })
    coordinator.last.answer({ id: 1 })
    await answer
  })

  it('fails what is open when it is closed', async () => {
    const { link } = setUp()
    const failed = assert.rejects(link.ask(kill('a')), { code: 'unreachable' })
    await settled()
    await link.close()
    await failed
    await assert.rejects(link.ask(kill('b')), { code: 'unreachable' })
  })

  it('knows what each refusal means, and takes an unknown one as a refusal', () => {
    const means = (code: string) => refusalOf(code, 'why').code
    assert.equal(means('not_found'), 'not_found')
    assert.equal(means('no_output'), 'not_found')
    assert.equal(means('ambiguous'), 'ambiguous')
    assert.equal(means('malformed'), 'usage')
    assert.equal(means('not_owner'), 'refused')
    assert.equal(means('disk_full'), 'refused')
    assert.equal(means('brand_new_code'), 'refused')
    assert.equal(refusalOf('x', `a\u001b[31m\nb${'c'.repeat(5000)}`).message.length, 1001)
  })

  it('waits longer each time, within bounds', () => {
    const pauses = Array.from({ length: 20 }, (_, attempt) => pauseMs(attempt, 1))
    assert.ok(pauses.every((ms, index) => ms <= RECONNECT_PAUSE_MS_MAX && ms >= (pauses[index - 1] ?? 0)))
  })
})
