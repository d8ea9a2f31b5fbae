import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CID } from 'multiformats/cid'
import type { Comparing } from '#protocol/bundle/policy'
import { cidOfBytes, RAW } from '#protocol/content/cid'
import { ContentError, type ContentStore } from '#protocol/content/content'
import type { Host } from '#protocol/peer/host'
import { until } from '#test/support/until'
import { ComparatorError } from './comparators.ts'
import { agreeBy, Comparisons } from './comparisons.ts'
import type { Candidate, Event } from './coordinator/events.ts'
import { KnownPairs } from './known-pairs.ts'
import { SILENT } from './logger.ts'
import { COMPARATORS_MAX } from './policy.ts'
import type { Change } from './ports.ts'
import { ManualClock } from './testing/manual-clock.ts'

const rootOf = (text: string): string => cidOfBytes(RAW, Buffer.from(text)).toString()

const noProgram = async (): Promise<boolean> => assert.fail('there is no program')
const PROGRAM = { kind: 'program' as const, bundle: 'p' }
const NEAR = { kind: 'tolerance' as const, rules: { abs: 0, rel: 1e-6, files: [] } }

/** Outputs are folders of one file, `x.csv`, by the text in it. */
function setUp(
  texts: readonly string[],
  here: readonly string[] = [],
  away: readonly string[] = [],
  program: (a: string, b: string, signal: AbortSignal) => Promise<boolean> = noProgram
) {
  const files = new Map(texts.map((text) => [rootOf(text), text]))
  const held = new Set(here.map(rootOf))
  const records = new Map<string, Uint8Array>()
  const pinned = new Set<string>()
  const compared: Extract<Event, { kind: 'compared' }>[] = []
  const fileOf = (root: CID): string => files.get(root.toString()) ?? ''
  const content: Pick<ContentStore, 'check' | 'fetch' | 'drop' | 'list' | 'read' | 'sizeOf'> = {
    check: async (root) => held.has(root.toString()),
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
  const asked: string[] = []
  const agree = agreeBy(content, {
    agree(_bundle, a, b, signal) {
      asked.push(`${a.vote} ${b.vote}`)
      return program(a.vote, b.vote, signal)
    }
  })
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
  const ask = (...all: readonly string[]): Promise<Extract<Event, { kind: 'compared' }>> => askBy(NEAR, 't', ...all)
  const send = (by: Comparing, task: string, ...all: readonly string[]): void => {
    const candidates = all.map((text): Candidate => ({ vote: text, nodes: [`node of ${text}`], output: rootOf(text), stdout: null }))
    const pairs = all.flatMap((a, index) => all.slice(index + 1).map((b) => [a, b] as const))
    comparisons.compare({ kind: 'compare', task, by, client: 'ann', candidates, pairs, bytesMax: 100 })
  }
  const askBy = async (by: Comparing, task: string, ...all: readonly string[]): Promise<Extract<Event, { kind: 'compared' }>> => {
    send(by, task, ...all)
    const answer = (): number => compared.findIndex((event) => event.task === task)
    await until('the answer', () => answer() >= 0)
    return compared.splice(answer(), 1)[0] as Extract<Event, { kind: 'compared' }>
  }
  return { ask, askBy, send, compared, asked, held, records, pinned, comparisons, content, committer }
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

  it('a program is asked once about two outputs, whatever task they are of: then nothing is fetched for it', async () => {
    const { askBy, asked, held, comparisons } = setUp(['1', '2', '3'], [], [], async (a, b) => a !== '3' && b !== '3')
    assert.deepEqual((await askBy(PROGRAM, 't', '1', '2')).pairs, [{ a: '1', b: '2', agree: true }])
    comparisons.enough('t')
    await until('they are dropped', () => held.size === 0)
    assert.deepEqual((await askBy(PROGRAM, 'u', '2', '1')).pairs, [{ a: '2', b: '1', agree: true }])
    assert.deepEqual([asked, held.size], [['1 2'], 0])
    const { pairs } = await askBy(PROGRAM, 'v', '1', '2', '3')
    assert.deepEqual(
      pairs.map(({ a, b, agree }) => [a, b, agree]),
      [
        ['1', '2', true],
        ['1', '3', false],
        ['2', '3', false]
      ]
    )
    assert.deepEqual([asked, held.size], [['1 2', '1 3', '2 3'], 3])
  })

  it('two tasks that need the same answer at the same time have the one; the other asks when the first is given up', async () => {
    for (const givesUp of [false, true]) {
      const open: (() => void)[] = []
      const { askBy, send, asked, comparisons } = setUp(['1', '2'], ['1', '2'], [], async (_a, _b, signal) => {
        await new Promise<void>((resolve, reject) => {
          open.push(resolve)
          signal.addEventListener('abort', () => reject(signal.reason))
        })
        return true
      })
      send(PROGRAM, 't', '1', '2')
      const other = askBy(PROGRAM, 'u', '2', '1')
      await until('the first asks', () => open.length === 1)
      if (givesUp) {
        comparisons.enough('t')
        await until('the other asks', () => open.length === 2)
      }
      open.at(-1)?.()
      assert.deepEqual((await other).pairs, [{ a: '2', b: '1', agree: true }])
      assert.equal(asked.length, givesUp ? 2 : 1)
    }
  })

  it('what keeps a program from answering is said of it, and no output counts as missing; what it said before that stands', async () => {
    for (const whose of ['program', 'project'] as const) {
      const { askBy, asked } = setUp(['1', '2', '3'], [], [], async (_a, b) => {
        if (b === '3') throw new ComparatorError(whose, 'broken')
        return true
      })
      const answer = await askBy(PROGRAM, 't', '1', '2', '3')
      assert.deepEqual(answer, { kind: 'compared', task: 't', pairs: [{ a: '1', b: '2', agree: true }], missing: [], fault: { of: whose, message: 'broken' } })
      assert.deepEqual(asked, ['1 2', '1 3'])
    }
  })

  it('an answer that cannot be written down is an answer all the same', async () => {
    const { askBy, committer } = setUp(['1', '2'], ['1', '2'], [], async () => true)
    committer.write = async () => {
      throw new Error('the disk is full')
    }
    assert.deepEqual(await askBy(PROGRAM, 't', '1', '2'), { kind: 'compared', task: 't', pairs: [{ a: '1', b: '2', agree: true }], missing: [] })
  })

  it('few programs run at once, and those that wait hold up no comparing by tolerance', async () => {
    const open: (() => void)[] = []
    let most = 0
    let running = 0
    const { ask, askBy } = setUp(['1', '1.0', '2'], ['1', '1.0', '2'], [], async () => {
      most = Math.max(most, ++running)
      await new Promise<void>((resolve) => open.push(resolve))
      running--
      return false
    })
    const answers = Array.from({ length: 6 }, (_, index) => askBy({ kind: 'program', bundle: `p${index}` }, `t${index}`, '1', '2'))
    await until('they run', () => open.length === COMPARATORS_MAX)
    assert.deepEqual((await ask('1', '1.0')).pairs, [{ a: '1', b: '1.0', agree: true }])
    for (let done = 0; done < answers.length; done++) {
      await until('one runs', () => open.length > 0)
      open.shift()?.()
    }
    await Promise.all(answers)
    assert.equal(most, COMPARATORS_MAX)
  })

  it('a program whose answer nobody waits for any more is ended, and what was fetched for it goes', async () => {
    let ended = false
    const { send, compared, asked, held, records, comparisons } = setUp(['1', '2'], [], [], async (_a, _b, signal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      ended = true
      throw signal.reason
    })
    send(PROGRAM, 't', '1', '2')
    await until('it runs', () => asked.length === 1)
    comparisons.enough('t')
    await until('all is dropped', () => held.size === 0 && records.size === 0)
    assert.deepEqual([ended, compared], [true, []])
  })
})
