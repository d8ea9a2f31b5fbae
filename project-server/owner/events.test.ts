import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Events, EventsPart, MoveView } from '#protocol/owner/messages'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'
import { ManualClock } from '#test/support/fake-owner'
import { Changes, EVERYTHING } from './changes.ts'
import { DataNames } from './data.ts'
import { events } from './events.ts'
import { storeViews } from './store-views.ts'

const A = batchId(1)
const B = batchId(2)
const T = `${A}.0`
const ONE = { minQuorum: 1, targetResults: 1 }

/** A project in which this and that has happened. */
async function setUp() {
  const at = await new CoordinatorWorld().start()
  const changes = new Changes()
  const clock = new ManualClock()
  const ask = async (change: Partial<Events> = {}, client = 'owner', signal = new AbortController().signal, seen: (part: EventsPart) => void = () => {}) => {
    const views = storeViews(at.store, at.coordinator, { client, all: false })
    const ports = { views, data: new DataNames().of(client), store: at.store, changes, clock }
    const parts: EventsPart[] = []
    const open = {
      client,
      signal,
      part: async ({ body }: { body?: unknown }) => {
        parts.push(body as EventsPart)
        seen(body as EventsPart)
      }
    }
    parts.push(await events({ of: '', node: '', after: 0, limit: 0, follow: false, ...change }, open, ports))
    return parts
  }
  const told = async (change: Partial<Events> = {}, client = 'owner') => (await ask(change, client)).flatMap(({ moves }) => moves)
  return { at, changes, clock, ask, told }
}

const line = ({ kind, id, state, node, cause, actor, detail }: MoveView): string =>
  [kind, id.replaceAll(A, 'A').replaceAll(B, 'B'), state, node ?? '', cause, actor ?? '', detail ?? ''].join(' ').replaceAll(/ +/g, ' ').trim()

describe('what happened (O09)', () => {
  it('is told in order, each with its cause and whoever caused it', async () => {
    const { at, told } = await setUp()
    const ann = at.join('ann', offer(1))
    at.submit(A, [bundle('x'), bundle('y')], ONE)
    at.begin(ann, `${T}.1`)
    at.apply({ kind: 'hold', batch: A, task: `${A}.1`, by: 'owner', reason: 'wrong', stop: false })
    at.report(ann, `${T}.1`, { output: 'o' })
    at.apply({ kind: 'kill', batch: A, by: 'owner' })
    assert.deepEqual((await told()).map(line), [
      'node ann online hello ann',
      'batch A submitted submit owner 2 tasks',
      'replica A.0.1 leased ann place',
      'task A.0 running place',
      'replica A.0.1 running ann start ann',
      'task A.1 held hold owner wrong',
      'replica A.0.1 reported ann reports ann',
      'task A.0 validating settle',
      'task A.0 ready pulled',
      'task A.1 killed kill owner',
      'batch A over kill owner'
    ])
  })

  it('is told of a node, a batch or a task alone, and the last of it', async () => {
    const { at, told } = await setUp()
    const ann = at.join('ann', offer(1))
    at.join('bob', offer(1))
    at.submit(A, [bundle('x')], ONE)
    at.submit(B, [bundle('y')], ONE)
    at.giveBack(ann, [...ann.leases.keys()][0] ?? '', 'node', 'no disk')
    assert.ok((await told({ node: 'ann' })).every(({ id, node }) => id === 'ann' || node === 'ann'))
    assert.ok((await told({ of: A })).every(({ id }) => id.startsWith(A)))
    assert.ok((await told({ of: T })).every(({ id }) => id === A || id.startsWith(T)))
    const all = await told()
    assert.ok(all.some((move) => line(move).endsWith('returned ann returned ann no disk')))
    assert.deepEqual(await told({ limit: 3 }), all.slice(-3))
    assert.deepEqual(await told({ after: 4 }), all.slice(4))
  })

  it("of another client's tasks is not told, but of nodes it is", async () => {
    const { at, told } = await setUp()
    at.join('ann', offer(1))
    at.submit(A, [bundle('x')], ONE)
    assert.deepEqual((await told({}, 'another')).map(line), ['node ann online hello ann'])
    await assert.rejects(told({ of: A }, 'another'), { code: 'not_found' })
  })

  it('is followed without gap or repeat, over a lost stream and a restart of the project', async () => {
    const { at, changes, clock, ask } = await setUp()
    const seen: number[] = []
    let after = 0
    for (let life = 0; life < 3; life++) {
      const stop = new AbortController()
      const following = ask({ follow: true, after }, 'owner', stop.signal, (part) => {
        seen.push(...part.moves.map(({ number }) => number))
        after = part.after
      })
      for (let step = 0; step < 3; step++) {
        at.join(`node ${life} ${step}`)
        changes.changed(EVERYTHING)
        await clock.advance(1_000)
      }
      stop.abort()
      await assert.rejects(following, { code: 'unavailable' })
      at.join(`unseen ${life}`)
      await at.start()
    }
    const all = (await ask({})).flatMap(({ moves }) => moves).map(({ number }) => number)
    assert.deepEqual(seen, all.slice(0, seen.length))
    assert.deepEqual([seen.length, all.length], [11, 12])
  })

  it('is told in bounded parts, with how many are no longer kept', async () => {
    const { at, ask } = await setUp()
    at.submit(
      A,
      Array.from({ length: 1_200 }, (_, index) => bundle(`${index}`)),
      ONE
    )
    at.apply({ kind: 'kill', batch: A, by: 'owner' })
    const parts = await ask()
    assert.deepEqual(
      parts.map(({ moves }) => moves.length),
      [1_000, 202, 0]
    )
    at.submit(B, [bundle('x')], ONE)
    const gone = at.store.keys('event/').slice(0, -1)
    at.store.write(
      at.epoch,
      gone.map((key) => ({ key, value: null }))
    )
    assert.deepEqual(
      (await ask({ after: 2 })).map(({ missed, moves }) => [missed, moves.length]),
      [
        [1_200, 1],
        [0, 0]
      ]
    )
    await assert.rejects(ask({ limit: 20_000 }), { code: 'malformed' })
  })
})
