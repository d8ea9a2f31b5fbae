import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { logBytes, tornCopies } from '#test/support/torn-log'
import type { NodeStore } from '../ports.ts'
import { openLevelStore } from './level-store.ts'

const LONG = new Uint8Array(40_000).fill(7)

async function keysOf(store: NodeStore): Promise<string> {
  const keys: string[] = []
  for await (const [key, value] of store.range('')) {
    assert.deepEqual(Buffer.from(value), Buffer.from(LONG))
    keys.push(key)
  }
  return keys.sort().join(' ')
}

describe("a node's store on disk", () => {
  it('opens whatever a power cut left of the last write: without it or with all of it, and takes the next one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'talko-level-'))
    try {
      const store = await openLevelStore(join(folder, 'state'))
      await store.batch([{ key: 'a', value: LONG }])
      const said = logBytes(join(folder, 'state'))
      await store.batch([
        { key: 'b', value: LONG },
        { key: 'c', value: LONG }
      ])
      const found = new Set<string>()
      for (const copy of tornCopies(join(folder, 'state'), said)) {
        const left = await openLevelStore(copy)
        const keys = await keysOf(left)
        found.add(keys)
        await left.batch([{ key: 'd', value: LONG }])
        await left.close()
        const again = await openLevelStore(copy)
        assert.equal(await keysOf(again), `${keys} d`)
        await again.close()
      }
      assert.deepEqual([...found].sort(), ['a', 'a b c'])
      await store.close()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
