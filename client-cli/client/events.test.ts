import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { MoveView } from '#protocol/owner/messages'
import { FakeCoordinator, ManualClock } from '#test/support/fake-owner'
import { moveLine } from '../commands/events.ts'
import { followEvents } from './events.ts'

const moveOf = (number: number): MoveView => ({ number, atMs: 0, kind: 'node', id: 'p1', state: 'online', cause: 'hello', actor: 'p1' })

it('events go on behind the last one that came, whenever the stream breaks, without gap or repeat', async () => {
  const coordinator = new FakeCoordinator()
  const clock = new ManualClock()
  let breaks = 4
  coordinator.handle = ({ id, events }, stream) => {
    const after = events?.after ?? 0
    stream.answer({ id, end: false, body: { after: after + 2, missed: 0, moves: [moveOf(after + 1), moveOf(after + 2)] } })
    // What was looked at and is not meant for this client is not looked at again.
    stream.answer({ id, end: false, body: { after: after + 5, missed: 0, moves: [] } })
    if (breaks-- > 0) setImmediate(() => stream.abort())
    else stream.answer({ id, body: { after: after + 5, missed: 0, moves: [] } })
  }
  const seen: number[] = []
  const reading = (async () => {
    for await (const { moves } of followEvents({ open: coordinator.open, clock, random: { fraction: () => 0 } }, { follow: true }))
      seen.push(...moves.map(({ number }) => number))
  })()
  await clock.advance(20_000)
  await reading
  assert.deepEqual(seen, [1, 2, 6, 7, 11, 12, 16, 17, 21, 22])
})

it('a line of what happened names nodes as people do, and lets nothing write to the terminal', () => {
  const names = new Map([['p1', 'aino']])
  const at = { number: 1, atMs: 0, kind: 'replica', id: `${'a'.repeat(26)}.0.1`, state: 'lost', node: 'p1', cause: 'sweep' } as const
  const line = moveLine({ ...at, detail: 'silent\u001b[2J' }, names)
  assert.match(line, /^1970-01-01T00:00:00\.000Z {2}replica a+\.0\.1 lost on aino {2}\(sweep, by the coordinator\): silent/)
  assert.ok([...line].every((char) => char >= ' '))
})
