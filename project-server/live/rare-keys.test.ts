import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Level } from 'level'
import { RareKeys } from './rare-keys.ts'

const one = new Uint8Array(1)

async function withDatabase(body: (database: Level<string, Uint8Array>) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'talko-rare-'))
  const database = new Level<string, Uint8Array>(folder, { valueEncoding: 'view' })
  try {
    await body(database)
  } finally {
    await database.close()
    await rm(folder, { recursive: true, force: true })
  }
}

describe('keys that are mostly asked for in vain', () => {
  it('are absent when all that are there are known, and they are not among them', () =>
    withDatabase(async (database) => {
      await database.batch(Array.from({ length: 2_500 }, (_, key) => ({ type: 'put' as const, key: `rare/${key}`, value: one })))
      const rare = new RareKeys('rare/')
      const learning = rare.learn(database)
      assert.equal(rare.isAbsent('rare/another'), false)
      await learning
      assert.equal(rare.isAbsent('rare/another'), true)
      for (let key = 0; key < 2_500; key++) assert.equal(rare.isAbsent(`rare/${key}`), false)
      assert.equal(rare.isAbsent('other/another'), false)
    }))

  it('are not absent from before they are written on', () =>
    withDatabase(async (database) => {
      const rare = new RareKeys('rare/')
      await rare.learn(database)
      rare.write([{ key: 'rare/new', value: one }])
      rare.write([{ key: 'rare/gone', value: null }])
      assert.equal(rare.isAbsent('rare/new'), false)
      assert.equal(rare.isAbsent('rare/gone'), true)
    }))

  it('are not absent while it is not known whether they are, and may be learnt of later', () =>
    withDatabase(async (database) => {
      await database.put('rare/old', one)
      const rare = new RareKeys('rare/')
      const learning = rare.learn(database)
      await database.close()
      await learning
      assert.equal(rare.isAbsent('rare/another'), false)
      await database.open()
      await rare.learn(database)
      assert.equal(rare.isAbsent('rare/another'), true)
      assert.equal(rare.isAbsent('rare/old'), false)
    }))
})
