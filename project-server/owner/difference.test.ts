import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CID } from 'multiformats/cid'
import type { TaskPolicy } from '#protocol/bundle/policy'
import { parseRules } from '#protocol/compare/rules'
import { cidOfBytes, RAW } from '#protocol/content/cid'
import { batchId } from '#test/support/coordinator-parts'
import { ComparatorError } from '../comparators.ts'
import { type DifferencePorts, difference } from './difference.ts'

const TEXT = new TextEncoder()
const cidOf = (text: string): CID => cidOfBytes(RAW, TEXT.encode(text))
const [A, B] = [batchId(1), batchId(2)]

/** Two tasks that left these files and printed this, the first compared by these rules. */
function ports(
  a: Record<string, string>,
  b: Record<string, string>,
  { compare = null, stdout = ['', ''], said }: { compare?: TaskPolicy['compare']; stdout?: [string, string]; said?: boolean | Error }
): DifferencePorts {
  const trees = new Map([a, b].map((files, index) => [cidOf(`tree ${index}`).toString(), files]))
  const prints = new Map(stdout.map((text) => [cidOf(text).toString(), text]))
  const content = {
    list: async (root: CID) =>
      Object.entries(trees.get(root.toString()) ?? {}).map(([name, text]) => ({ name, cid: cidOf(text), bytes: text.length, directory: false })),
    async *read(root: CID, path?: string) {
      yield TEXT.encode(path === undefined ? (prints.get(root.toString()) ?? '') : (trees.get(root.toString())?.[path] ?? ''))
    },
    sizeOf: (root: CID) => prints.get(root.toString())?.length
  }
  const comparators = {
    async agreeInTurn() {
      if (said instanceof Error) throw said
      return said ?? assert.fail('no program is asked')
    }
  }
  const views = {
    receipt: async () => undefined,
    task: async (id: string) => {
      const index = id.startsWith(A) ? 0 : 1
      return { id, batch: id.slice(0, id.indexOf('.')), output: cidOf(`tree ${index}`).toString(), stdout: cidOf(stdout[index] ?? '').toString() }
    },
    batch: async (id: string) => ({ id, policy: id === A ? { compare } : {} })
  }
  return { content, views, data: {}, comparators } as unknown as DifferencePorts
}

const between = (of: DifferencePorts) => difference({ a: `${A}.0`, b: `${B}.0` }, of)
const tolerance = (...rules: string[]) => ({ kind: 'tolerance' as const, rules: parseRules(rules) })

describe('how the outputs of two tasks differ', () => {
  const left = { 'sum.csv': 'x,1.0000000\n', 'log.txt': 'a\n' }
  const right = { 'sum.csv': 'x,1.0000001\n', 'log.txt': 'b\n' }

  it('is told with what the program says by which its owner compares, or why it does not say', async () => {
    const compare = { kind: 'program' as const, bundle: 'p' }
    for (const agree of [true, false]) {
      const { files, program } = await between(ports(left, right, { compare, said: agree }))
      assert.deepEqual([files.length, program], [2, { bundle: 'p', agree }])
    }
    const broken = await between(ports(left, right, { compare, said: new ComparatorError('program', 'exit status 3') }))
    assert.deepEqual(broken.program, { bundle: 'p', fault: 'exit status 3' })
    assert.equal((await between(ports(left, right, {}))).program, undefined)
  })

  it('is told file by file where nothing else was agreed', async () => {
    const { files, near } = await between(ports(left, right, {}))
    assert.deepEqual([files.map(({ path }) => path).sort(), near], [['log.txt', 'sum.csv'], undefined])
  })

  it('leaves out what agrees under the tolerance of the first, and counts it', async () => {
    const some = await between(ports(left, right, { compare: tolerance('*.csv: rel=1e-6') }))
    assert.deepEqual([some.files.map(({ path }) => path), some.near], [['log.txt'], 1])
    const all = await between(ports(left, right, { compare: tolerance('*.csv: rel=1e-6', 'log.txt: ignore') }))
    assert.deepEqual([all.files, all.near], [[], 2])
    const far = await between(ports(left, { ...right, 'sum.csv': 'x,2\n' }, { compare: tolerance('*.csv: rel=1e-6', 'log.txt: ignore') }))
    assert.deepEqual([far.files.map(({ path }) => path), far.near], [['sum.csv'], 1])
  })

  it('holds for what they print, too', async () => {
    const compare = tolerance('rel=1e-6')
    const { stdout, near } = await between(ports(left, left, { compare, stdout: ['took 1.0000000\n', 'took 1.0000001\n'] }))
    assert.deepEqual([stdout, near], [undefined, 1])
    assert.equal((await between(ports(left, left, { compare, stdout: ['took 1\n', 'took 2\n'] }))).stdout?.path, '')
  })
})
