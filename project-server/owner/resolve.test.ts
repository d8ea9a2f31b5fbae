import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CID } from 'multiformats/cid'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import type { BatchView, TaskView } from '#protocol/owner/messages'
import { DataNames } from './data.ts'
import { resolve, resolveBatch, resolveTask } from './resolve.ts'
import type { Views } from './views.ts'

const ONE = `abc${'a'.repeat(23)}`
const TWO = `abd${'b'.repeat(23)}`
const BATCHES = new Map([
  [ONE, { name: 'primes', tasks: 3 }],
  [TWO, { name: 'picture', tasks: 1 }]
])

const views: Views = {
  batch: async (id) => (BATCHES.has(id) ? ({ id, tasks: BATCHES.get(id)?.tasks } as BatchView) : undefined),
  batches: async () => [],
  select: async () => [],
  batchesByPrefix: async (prefix) => [...BATCHES.keys()].filter((id) => id.startsWith(prefix)).slice(0, 2),
  batchesByName: async (name) => [...BATCHES].filter(([, batch]) => batch.name === name).map(([id]) => id),
  task: async (id) => ([`${ONE}.0`, `${ONE}.2`, `${TWO}.0`].includes(id) ? ({ id } as TaskView) : undefined),
  tasks: async () => [],
  nodes: async () => [],
  why: async () => undefined,
  receipt: async () => undefined
}
const data = new DataNames().of('c')
data.set(data.change(CID.parse(EMPTY_DIRECTORY), 'rainfall', 4, 1).record)
data.set(data.change(CID.parse(EMPTY_FILE), 'rainfall', 4, 2).record)
const names = { views, data }

describe('what an owner means', () => {
  it('is found by id, unique prefix or name', async () => {
    const cases: readonly [string, string, string][] = [
      [ONE, 'batch', ONE],
      ['abc', 'batch', ONE],
      ['primes', 'batch', ONE],
      [`${ONE}.2`, 'task', `${ONE}.2`],
      ['abc.2', 'task', `${ONE}.2`],
      ['primes.0', 'task', `${ONE}.0`],
      [EMPTY_DIRECTORY, 'data', EMPTY_DIRECTORY],
      [EMPTY_DIRECTORY.slice(0, 12), 'data', EMPTY_DIRECTORY]
    ]
    for (const [text, kind, id] of cases) {
      const found = await resolve(text, names)
      assert.deepEqual([found.kind, found.id], [kind, id], text)
    }
  })

  it('is the newest data of a name that was used again', async () => {
    assert.deepEqual(await resolve('rainfall', names), { kind: 'data', id: EMPTY_FILE, name: 'rainfall' })
  })

  it('is refused when it is nothing, or could be two things', async () => {
    await assert.rejects(resolve('zz', names), { code: 'not_found' })
    await assert.rejects(resolve('primes.9', names), { code: 'not_found' })
    await assert.rejects(resolve('ab', names), { code: 'ambiguous', message: new RegExp(`${ONE} or ${TWO}`) })
    await assert.rejects(resolve('baf', names), { code: 'ambiguous' })
    await assert.rejects(resolve('', names), { code: 'malformed' })
  })

  it('is the only task of a batch where a task is asked for', async () => {
    assert.equal(await resolveTask('picture', names), `${TWO}.0`)
    assert.equal(await resolveTask('abc.0', names), `${ONE}.0`)
    await assert.rejects(resolveTask('primes', names), { code: 'ambiguous', message: /has 3 tasks/ })
    await assert.rejects(resolveTask('rainfall', names), { code: 'not_found' })
    assert.equal(await resolveBatch('abc.0', names), ONE)
  })
})
