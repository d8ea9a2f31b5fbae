import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ContentError, type ContentStore } from '#protocol/content/content'
import type { Host } from '#protocol/peer/host'
import { outputOf } from '#test/support/coordinator-parts'
import { until } from '#test/support/until'
import { Checkpoints } from './checkpoints.ts'
import type { Event } from './coordinator/events.ts'
import { SILENT } from './logger.ts'
import { ManualClock } from './testing/manual-clock.ts'

const ONE = outputOf('one').toString()
const TWO = outputOf('two').toString()

/** A store of roots; what is fetched comes when `arrive` is called, if `arrives` says so. */
function setUp(arrives: (node: string) => boolean = () => true) {
  const here = new Set<string>()
  const kept = new Set<string>()
  const notes = new Set<string>()
  const said: Extract<Event, { kind: 'saved' }>[] = []
  const gates: (() => void)[] = []
  let held = false
  const content: Pick<ContentStore, 'fetch' | 'check' | 'drop' | 'sizeOf'> = {
    async fetch(root, { from }) {
      if (held) await new Promise<void>((resolve) => gates.push(resolve))
      if (!arrives(from[0] ?? '')) throw new ContentError('unreachable', 'gone')
      here.add(root.toString())
      return { bytes: 5 }
    },
    check: async (root) => here.has(root.toString()),
    sizeOf: (root) => (here.has(root.toString()) ? 5 : undefined),
    async drop(root) {
      here.delete(root.toString())
    }
  }
  const checkpoints = new Checkpoints({
    content,
    host: { isConnected: () => true } as unknown as Host,
    clock: new ManualClock(),
    logger: SILENT,
    committer: {
      async write(changes) {
        for (const { key, value } of changes) value === null ? notes.delete(key) : notes.add(key)
      }
    },
    keeps: (root) => kept.has(root),
    done: (event) => {
      said.push(event)
      if (event.ok) kept.add(event.root)
    }
  })
  const save = (replica: string, root: string, node = 'ann'): void => checkpoints.save({ kind: 'save', replica, node, root, bytesMax: 100 })
  const hold = (): void => {
    held = true
  }
  const arrive = (): void => {
    held = false
    for (const go of gates.splice(0)) go()
  }
  return { checkpoints, save, here, kept, notes, said, hold, arrive, gates }
}

describe('snapshots that the project holds', () => {
  it('are noted before they are fetched, told of when they are here, and dropped with their note', async () => {
    const { checkpoints, save, here, kept, notes, said } = setUp()
    save('a.0.1', ONE)
    await until('it', () => said.length === 1)
    assert.deepEqual(said, [{ kind: 'saved', replica: 'a.0.1', node: 'ann', root: ONE, ok: true, bytes: 5 }])
    assert.deepEqual([...notes], [`checkpoint/${ONE}`])
    kept.clear()
    checkpoints.unsave(ONE)
    await until('its end', () => notes.size === 0)
    assert.equal(here.size, 0)
  })

  it('say so when they cannot be had', async () => {
    const { save, said } = setUp((node) => node !== 'bob')
    save('a.0.1', ONE, 'bob')
    await until('it', () => said.length === 1)
    assert.deepEqual([said[0]?.ok, said[0]?.bytes], [false, 0])
  })

  it('are not dropped when another run has left the same meanwhile', async () => {
    const { checkpoints, save, here, notes, said, kept, hold, arrive, gates } = setUp()
    hold()
    save('a.0.1', ONE)
    await until('the transfer', () => gates.length === 1)
    checkpoints.unsave(ONE)
    save('b.0.1', ONE, 'bob')
    arrive()
    await until('both', () => said.length === 2)
    assert.ok(here.has(ONE) && kept.has(ONE) && notes.has(`checkpoint/${ONE}`))
  })

  it('of one run only the newest is fetched next, and nothing after the end', async () => {
    const { checkpoints, save, said, hold, arrive, gates } = setUp()
    hold()
    save('a.0.1', ONE)
    await until('the transfer', () => gates.length === 1)
    save('a.0.1', outputOf('between').toString())
    save('a.0.1', TWO)
    arrive()
    await until('both', () => said.length === 2)
    assert.deepEqual(
      said.map(({ root }) => root),
      [ONE, TWO]
    )
    await checkpoints.stop()
    save('a.0.1', ONE)
    assert.equal(said.length, 2)
  })

  it('that a dead server fetched and nobody goes on from are dropped by the next', async () => {
    const { checkpoints, here, kept, notes } = setUp()
    for (const root of [ONE, TWO]) {
      here.add(root)
      notes.add(`checkpoint/${root}`)
    }
    kept.add(TWO)
    await checkpoints.begin({
      async *range() {
        for (const note of [...notes]) yield [note, new Uint8Array(0)] as const
      }
    })
    assert.deepEqual([[...here], [...notes]], [[TWO], [`checkpoint/${TWO}`]])
  })
})
