import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CID } from 'multiformats/cid'
import { cidOfBytes, RAW } from '#protocol/content/cid'
import { ContentError, type ContentStore } from '#protocol/content/content'
import type { Host } from '#protocol/peer/host'
import { until } from '#test/support/until'
import { agreeBy, Comparisons } from './comparisons.ts'
import type { Candidate, Event } from './coordinator/events.ts'
import { KnownPairs } from './known-pairs.ts'
import { SILENT } from './logger.ts'
import type { Change } from './ports.ts'
import { ManualClock } from './testing/manual-clock.ts'

const rootOf = (text: string): string => cidOfBytes(RAW, Buffer.from(text)).toString()

/** Outputs are folders of one file, `x.csv`, by the text in it. */
function setUp(texts: readonly string[], here: readonly string[] = [], away: readonly string[] = []) {
  const files = new Map(texts.map((text) => [rootOf(text), text]))
  const held = new Set(here.map(rootOf))
  const records = new Map<string, Uint8Array>()
  const pinned = new Set<string>()
  const compared: Extract<Event, { kind: 'compared' }>[] = []
  const fileOf = (root: CID): string => files.get(root.toString()) ?? ''
  const content: Pick<ContentStore, 'fetch' | 'has' | 'drop' | 'list' | 'read' | 'sizeOf'> = {
    has: (root) => held.has(root.toString()),
    sizeOf: () => 1,
    async fetch(root) {
      assert.ok(records.has(`fetched/${root}`), 'it is noted before it is here')
      held.add(root.toString())
      return { bytes: 1 }
    },
    async drop(root) {
      if (!pinned.has(root.toString())) held.delete(root.toString())
    },
    async list(root) {
      if (fileOf(root) === 'no folder') throw new ContentError('not_a_directory', 'it is a file')
      return [{ name: 'x.csv', cid: root, bytes: fileOf(root).length, directory: false }]
    },
    async *read(root, _path, range) {
      yield Buffer.from(fileOf(root).slice(range?.from, range?.to))
    }
  }
  const committer = {
    async write(changes: readonly Change[]): Promise<void> {
      for (const { key, value } of changes) value === null ? records.delete(key) : records.set(key, value)
    }
  }
  const host = { isConnected: (node: string) => !away.includes(node) } as Host
  const agree = agreeBy(content, { agree: async () => assert.fail('there is no program') })
  const comparisons = new Comparisons({
    content,
    host,
    clock: new ManualClock(),
    logger: SILENT,
    committer,
    done: (event) => compared.push(event),
    agree,
    known: new KnownPairs()
  })
  const ask = async (...all: readonly string[]): Promise<Extract<Event, { kind: 'compared' }>> => {
    const before = compared.length
    const candidates = all.map((text): Candidate => ({ vote: text, nodes: [`node of ${text}`], output: rootOf(text), stdout: null }))
    const pairs = all.flatMap((a, index) => all.slice(index + 1).map((b) => [a, b] as const))
    comparisons.compare({ kind: 'compare', task: 't', by: { kind: 'tolerance', rules: { abs: 0, rel: 1e-6, files: [] } }, candidates, pairs, bytesMax: 100 })
    await until('the answer', () => compared.length > before)
    return compared.at(-1) as Extract<Event, { kind: 'compared' }>
  }
  return { ask, held, records, pinned, comparisons, content, committer }
}

describe('comparing outputs', () => {
  it('fetches them, compares each pair by the rules, and keeps them until it is enough', async () => {
    const { ask, held, records, comparisons } = setUp(['a,1.0', 'a,1.0000001', 'a,2'])
    const { pairs, missing } = await ask('a,1.0', 'a,1.0000001', 'a,2')
    assert.deepEqual([pairs.map(({ agree }) => agree), missing], [[true, false, false], []])
    assert.deepEqual([held.size, records.size], [3, 3])
    comparisons.enough('t')
    await until('they are dropped', () => records.size === 0)
    assert.equal(held.size, 0)
  })

  it('drops neither what was here before nor what is pinned by then', async () => {
    const { ask, held, records, pinned, comparisons } = setUp(['1', '2', '3'], ['1'])
    await ask('1', '2', '3')
    pinned.add(rootOf('2'))
    comparisons.enough('t')
    await until('the rest is dropped', () => records.size === 0)
    assert.deepEqual([...held], [rootOf('1'), rootOf('2')])
  })

  it('names what cannot be had, and compares the others', async () => {
    const { ask } = setUp(['1', '1.0', '3'], [], ['node of 3'])
    assert.deepEqual(await ask('1', '1.0', '3'), { kind: 'compared', task: 't', pairs: [{ a: '1', b: '1.0', agree: true }], missing: ['3'] })
  })

  it('what no honest node can have made agrees with nothing', async () => {
    const { ask } = setUp(['1', 'no folder'])
    assert.deepEqual((await ask('1', 'no folder')).pairs, [{ a: '1', b: 'no folder', agree: false }])
  })

  it('what a dead server left is dropped by the next', async () => {
    const { ask, held, records, content, committer } = setUp(['1', '2'])
    await ask('1', '2')
    const range = async function* (from: string, to: string) {
      for (const [key, value] of [...records]) if (key >= from && key < to) yield [key, value] as const
    }
    await Comparisons.begin({ content, committer }, { range })
    assert.deepEqual([held.size, records.size], [0, 0])
  })
})
