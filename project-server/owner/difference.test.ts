import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CID } from 'multiformats/cid'
import type { TaskPolicy } from '#protocol/bundle/policy'
import { parseRules } from '#protocol/compare/rules'
import { cidOfBytes, RAW } from '#protocol/content/cid'
import { batchId } from '#test/support/coordinator'
import { type DifferencePorts, difference } from './difference.ts'

const TEXT = new TextEncoder()
const cidOf = (text: string): CID => cidOfBytes(RAW, TEXT.encode(text))
const [A, B] = [batchId(1), batchId(2)]

/** Two tasks that left these files and printed this, the first compared by these rules. */
function ports(
  a: Record<string, string>,
  b: Record<string, string>,
  { compare = null, stdout = ['', ''] }: { compare?: TaskPolicy['compare']; stdout?: [string, string] }
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
  const views = {
    task: async (id: string) => {
      const index = id.startsWith(A) ? 0 : 1
      return { id, batch: id.slice(0, id.indexOf('.')), output: cidOf(`tree ${index}`).toString(), stdout: cidOf(stdout[index] ?? '').toString() }
    },
    batch: async (id: string) => ({ id, policy: id === A ? { compare } : {} })
  }
  return { content, views, data: {} } as unknown as DifferencePorts
}

const between = (of: DifferencePorts) => difference({ a: `${A}.0`, b: `${B}.0` }, of)
const tolerance = (...rules: string[]) => ({ kind: 'tolerance' as const, rules: parseRules(rules) })

describe('how the outputs of two tasks differ', () => {
  const left = { 'sum.csv': 'x,1.0000000\n', 'log.txt': 'a\n' }
  const right = { 'sum.csv': 'x,1.0000001\n', 'log.txt': 'b\n' }

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
