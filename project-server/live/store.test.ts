import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Level } from 'level'
import { storeContract } from '#test/contract/store'
import { logBytes, tornCopies } from '#test/support/torn-log'
import { type Store, StoreError } from '../ports.ts'
import { openStore } from './store.ts'

async function inFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'talko-store-'))
  try {
    return await body(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function hasCode(code: StoreError['code'], words: RegExp) {
  return (error: unknown): boolean => error instanceof StoreError && error.code === code && words.test(error.message)
}

storeContract('on disk', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'talko-store-'))
  let store = await openStore(folder)
  return {
    store,
    reopen: async () => {
      store = await openStore(folder)
      return store
    },
    dispose: async () => {
      await store.close()
      await rm(folder, { recursive: true, force: true })
    }
  }
})

describe('the store on disk', () => {
  it('has one owner: the second is told what to do', () =>
    inFolder(async (folder) => {
      const first = await openStore(folder)
      await assert.rejects(openStore(folder), hasCode('locked', /another project server: stop that one/))
      await first.close()
      await (await openStore(folder)).close()
    }))

  it('of an older format is read and has the newer one from then on, so that an older server refuses it; one of a newer is refused', () =>
    inFolder(async (folder) => {
      const format = async (written?: string): Promise<string | undefined> => {
        const database = new Level(folder)
        if (written !== undefined) await database.put('meta/format', written)
        const found = await database.get('meta/format')
        await database.close()
        return found
      }
      await (await openStore(folder)).close()
      const now = await format()
      await format('1')
      await (await openStore(folder)).close()
      assert.equal(await format(), now)
      await format(String(Number(now) + 1))
      await assert.rejects(openStore(folder), hasCode('corrupt', /has format \d+, .* install the newest talko$/))
    }))

  it('writes nothing on a full disk, and goes on when there is room', () =>
    inFolder(async (folder) => {
      let free = 2 ** 40
      const store = await openStore(folder, { freeBytes: async () => free, now: () => 0 })
      const epoch = await store.beginEpoch()
      free = 1024
      const big = new Uint8Array(8 * 1024 * 1024)
      await assert.rejects(store.batch(epoch, [{ key: 'a', value: big }]), hasCode('disk_full', /free some space/))
      await assert.rejects(store.batch(epoch, [{ key: 'b', value: new Uint8Array(1) }]), hasCode('disk_full', /nothing was written/))
      assert.equal(await store.get('a'), undefined)
      free = 2 ** 40
      await store.batch(epoch, [{ key: 'a', value: big }])
      assert.equal((await store.get('a'))?.length, big.length)
      await store.close()
    }))

  it('finds of many keys that are mostly not there those that are, over restarts', () =>
    inFolder(async (folder) => {
      const value = new Uint8Array([7])
      let store = await openStore(folder, { rare: 'rare/' })
      const epoch = await store.beginEpoch()
      await store.batch(epoch, [
        { key: 'rare/b', value },
        { key: 'x', value }
      ])
      const asked = ['rare/a', 'rare/b', 'rare/c', 'rare/b', 'x', 'y']
      const found = [undefined, 7, undefined, 7, 7, undefined]
      const first = (some: readonly (Uint8Array | undefined)[]): unknown[] => some.map((bytes) => bytes?.[0])
      for (let start = 0; start < 2; start++) {
        // From its start on until it knows what is there.
        for (let time = 0; time < 50; time++) assert.deepEqual(first(await store.getMany(asked)), found)
        assert.deepEqual(first(await Promise.all(asked.map((key) => store.get(key)))), found)
        assert.deepEqual(await store.getMany(['rare/d']), [undefined])
        await store.close()
        store = await openStore(folder, { rare: 'rare/' })
      }
      await store.close()
    }))

  it('opens whatever a power cut left of the last batch: without it or with all of it, and takes the next one', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'state')
      const long = new Uint8Array(40_000).fill(7)
      const store = await openStore(path)
      const epoch = await store.beginEpoch()
      await store.batch(epoch, [{ key: 'x/a', value: long }])
      const said = logBytes(path)
      await store.batch(epoch, [
        { key: 'x/b', value: long },
        { key: 'x/c', value: long }
      ])
      const found = new Set<string>()
      for (const copy of tornCopies(path, said)) {
        const left = await openStore(copy)
        const keys = (await keysOf(left, 'x')).join(' ')
        found.add(keys)
        await left.batch(await left.beginEpoch(), [{ key: 'x/d', value: long }])
        await left.close()
        const again = await openStore(copy)
        assert.deepEqual((await keysOf(again, 'x')).join(' '), `${keys} d`)
        assert.equal(await again.beginEpoch(), epoch + 2)
        await again.close()
      }
      assert.deepEqual([...found].sort(), ['a', 'a b c'])
      await store.close()
    }))

  it('has every batch it promised, and none in part, after kill -9 at any moment', () =>
    inFolder(async (folder) => {
      const random = mulberry(11)
      let promised = 0
      for (let round = 0; round < 5; round++) {
        promised = Math.max(promised, await writeUntilKilled(folder, promised + 1 + Math.floor(random() * 60)))
        const store = await openStore(folder)
        const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((part) => keysOf(store, part)))
        assert.deepEqual(a, b)
        assert.deepEqual(a, c)
        assert.deepEqual(
          a,
          a?.map((_, index) => String(index + 1).padStart(9, '0'))
        )
        assert.ok((a?.length ?? 0) >= promised, `${a?.length} batches are there, ${promised} were promised`)
        await store.close()
      }
    }))
})

/** Kills the writer as soon as it has promised this number; answers the last number that it promised. */
async function writeUntilKilled(folder: string, until: number): Promise<number> {
  const writer = spawn(process.execPath, [join(import.meta.dirname, '../../test/support/store-writer.ts'), folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  let promised = 0
  let rest = ''
  writer.stdout.on('data', (data: Buffer) => {
    const lines = (rest + data.toString()).split('\n')
    rest = lines.pop() ?? ''
    promised = Number(lines.at(-1) ?? promised)
    if (promised >= until) writer.kill('SIGKILL')
  })
  await once(writer, 'close')
  return promised
}

async function keysOf(store: Store, part: string): Promise<string[]> {
  const keys: string[] = []
  for await (const [key] of store.range(`${part}/`, `${part}0`)) keys.push(key.slice(2))
  return keys
}

function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
