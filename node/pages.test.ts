import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { openPages, type PageStore } from './pages.ts'
import type { NodeStore } from './ports.ts'

/** A disk; `fail` makes the next write fail and leave nothing. */
class Disk implements PageStore {
  entries = new Map<string, Uint8Array>()
  fail = false

  async write(put: { readonly key: string; readonly value: Uint8Array } | undefined, deleted: readonly string[]): Promise<void> {
    if (this.fail) throw new Error('no space left on device')
    for (const key of deleted) this.entries.delete(key)
    if (put !== undefined) this.entries.set(put.key, new Uint8Array(put.value))
  }
  async *all(): AsyncGenerator<readonly [string, Uint8Array]> {
    yield* [...this.entries].sort(([a], [b]) => (a < b ? -1 : 1))
  }
  async get(key: string): Promise<Uint8Array | undefined> {
    return this.entries.get(key)
  }
  async close(): Promise<void> {}

  get bytes(): number {
    return [...this.entries.values()].reduce((sum, { length }) => sum + length, 0)
  }
}

async function contents(store: NodeStore, prefix = ''): Promise<[string, string][]> {
  const all: [string, string][] = []
  for await (const [key, value] of store.range(prefix)) all.push([key, Buffer.from(value).toString()])
  return all
}

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const change = fc.record({ key: fc.constantFrom('a', 'b', 'c/1', 'c/2', 'ü'), value: fc.oneof(fc.constant(null), fc.string({ maxLength: 20 })) })

it('holds what a map would, over restarts and failed writes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ changes: fc.array(change, { maxLength: 6 }), next: fc.constantFrom('goOn', 'restart', 'fail') })), async (steps) => {
      const disk = new Disk()
      const model = new Map<string, string>()
      let store = await openPages(disk)
      for (const { changes, next } of steps) {
        disk.fail = next === 'fail'
        const written = store.batch(changes.map(({ key, value }) => ({ key, value: value === null ? null : bytes(value) })))
        if (next === 'fail') {
          await assert.rejects(written)
          // Nothing may be written after a failure.
          disk.fail = false
          await assert.rejects(store.batch([{ key: 'late', value: bytes('') }]))
        } else {
          await written
          for (const { key, value } of changes) {
            if (value === null) model.delete(key)
            else model.set(key, value)
          }
        }
        if (next !== 'goOn') store = await openPages(disk)
        assert.deepEqual(new Map(await contents(store)), model)
        if (model.size === 0) assert.equal(disk.entries.size, 0)
      }
      assert.deepEqual(
        await contents(store, 'c/'),
        [...model].filter(([key]) => key.startsWith('c/')).sort(([a], [b]) => (a < b ? -1 : 1))
      )
    })
  )
})

it('keeps little more than what counts, however long an old record does', async () => {
  const disk = new Disk()
  let store = await openPages(disk)
  await store.batch([
    { key: 'old', value: bytes('twice in one page: the first') },
    { key: 'old', value: bytes('the last') }
  ])
  const large = new Uint8Array(50_000)
  for (let index = 0; index < 200; index++) {
    await store.batch([
      { key: `new/${index}`, value: large },
      { key: `new/${index - 3}`, value: null }
    ])
    assert.ok(disk.bytes < 1_400_000, `${disk.bytes} bytes`)
    if (index % 50 === 49) store = await openPages(disk)
  }
  assert.deepEqual(await contents(store, 'old'), [['old', 'the last']])
  assert.equal((await contents(store, 'new/')).length, 3)
})

it('says when a page is damaged', async () => {
  const disk = new Disk()
  const store = await openPages(disk)
  await store.batch([{ key: 'a', value: bytes('long enough') }])
  for (const [key, page] of disk.entries) disk.entries.set(key, page.subarray(0, -1))
  await assert.rejects(openPages(disk), /damaged/)
})
