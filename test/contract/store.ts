/** What every store of the project server must do, on whatever it is kept. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Store, StoreError } from '#project-server/ports'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined): string | undefined => (value === undefined ? undefined : new TextDecoder().decode(value))

export interface StoreUnderTest {
  readonly store: Store
  /** Another opening of the same records, after the first was closed. */
  reopen(): Promise<Store>
  dispose(): Promise<void>
}

export function storeContract(name: string, make: () => Promise<StoreUnderTest>): void {
  const check = (what: string, body: (made: StoreUnderTest) => Promise<void>): void => {
    it(what, async () => {
      const made = await make()
      try {
        await body(made)
      } finally {
        await made.dispose()
      }
    })
  }

  describe(`a store ${name}`, () => {
    check('gives back what was written, and nothing for what was not', async ({ store }) => {
      const epoch = await store.beginEpoch()
      await store.batch(epoch, [{ key: 'task/a', value: bytes('one') }])
      assert.equal(text(await store.get('task/a')), 'one')
      assert.equal(await store.get('task/b'), undefined)
      assert.deepEqual(
        (await store.getMany(['task/b', 'task/a'])).map((value) => value && text(value)),
        [undefined, 'one']
      )
    })

    check('applies a batch in order: the last word on a key counts', async ({ store }) => {
      const epoch = await store.beginEpoch()
      await store.batch(epoch, [
        { key: 'a', value: bytes('1') },
        { key: 'a', value: null },
        { key: 'b', value: null },
        { key: 'b', value: bytes('2') }
      ])
      assert.equal(await store.get('a'), undefined)
      assert.equal(text(await store.get('b')), '2')
    })

    check('keeps an empty value apart from none', async ({ store }) => {
      const epoch = await store.beginEpoch()
      await store.batch(epoch, [{ key: 'open/a', value: new Uint8Array(0) }])
      assert.equal((await store.get('open/a'))?.length, 0)
    })

    check('lists a range in key order, from inclusive, to exclusive, backwards and limited', async ({ store }) => {
      const epoch = await store.beginEpoch()
      await store.batch(
        epoch,
        ['k/b', 'k/a', 'k/d', 'k/c', 'k/c!'].map((key) => ({ key, value: bytes(key) }))
      )
      const keys = async (...args: Parameters<Store['range']>): Promise<string[]> => {
        const found: string[] = []
        for await (const [key, value] of store.range(...args)) {
          assert.equal(text(value), key)
          found.push(key)
        }
        return found
      }
      assert.deepEqual(await keys('k/a', 'k/d'), ['k/a', 'k/b', 'k/c', 'k/c!'])
      assert.deepEqual(await keys('k/b', 'k/c'), ['k/b'])
      assert.deepEqual(await keys('k/a', 'k/z', { reverse: true, limit: 2 }), ['k/d', 'k/c!'])
      assert.deepEqual(await keys('k/e', 'k/z'), [])
    })

    check('can be left in the middle of a range', async ({ store }) => {
      const epoch = await store.beginEpoch()
      await store.batch(
        epoch,
        ['a', 'b', 'c'].map((key) => ({ key, value: bytes(key) }))
      )
      for await (const [key] of store.range('a', 'z')) if (key === 'b') break
      assert.equal(text(await store.get('c')), 'c')
    })

    check('begins every epoch above all before it, and refuses the writes of an older one whole', async ({ store }) => {
      const first = await store.beginEpoch()
      const second = await store.beginEpoch()
      assert.ok(second > first)
      await assert.rejects(store.batch(first, [{ key: 'a', value: bytes('late') }]), (error) => error instanceof StoreError && error.code === 'stale_epoch')
      assert.equal(await store.get('a'), undefined)
      await store.batch(second, [{ key: 'a', value: bytes('new') }])
      assert.equal(text(await store.get('a')), 'new')
    })

    check('keeps records and epochs when it is opened again', async ({ store, reopen }) => {
      const epoch = await store.beginEpoch()
      await store.batch(epoch, [{ key: 'a', value: bytes('kept') }])
      await store.close()
      const again = await reopen()
      assert.equal(text(await again.get('a')), 'kept')
      assert.ok((await again.beginEpoch()) > epoch)
    })

    check('takes a large batch', async ({ store }) => {
      const epoch = await store.beginEpoch()
      await store.batch(
        epoch,
        Array.from({ length: 20_000 }, (_, index) => ({ key: `task/${String(index).padStart(9, '0')}`, value: bytes(`value ${index}`) }))
      )
      let count = 0
      for await (const _ of store.range('task/', 'task0')) count++
      assert.equal(count, 20_000)
    })
  })
}
