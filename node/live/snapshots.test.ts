import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import fc from 'fast-check'
import { CHECKPOINT_FOLDER, TAKEN, takenIn, takeSnapshot } from './snapshots.ts'

const root = mkdtempSync(join(tmpdir(), 'talko-snapshots-'))
after(() => rmSync(root, { recursive: true, force: true }))
let count = 0

function folder(): string {
  const made = join(root, `${count++}`)
  mkdirSync(join(made, CHECKPOINT_FOLDER), { recursive: true })
  return made
}

it('takes the highest whole number, whatever else is there and in whatever order it came, and leaves nothing older behind', async () => {
  const names = fc.uniqueArray(fc.oneof(fc.nat(1_000_000).map(String), fc.constantFrom('next', '12x', '-1', '1.5', '9'.repeat(16))), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(names, async (all) => {
      const run = folder()
      for (const name of all) writeFileSync(join(run, CHECKPOINT_FOLDER, name), name)
      const numbers = all.filter((name) => /^\d{1,15}$/.test(name)).map(Number)
      const taken = await takeSnapshot(run, 'a.0.1')
      assert.equal(taken === undefined ? undefined : Number(readFileSync(join(taken, 'data'), 'utf8')), numbers.length === 0 ? undefined : Math.max(...numbers))
      assert.ok(readdirSync(join(run, CHECKPOINT_FOLDER)).every((name) => !/^\d{1,15}$/.test(name)))
      assert.equal(await takeSnapshot(run, 'a.0.1'), undefined)
      assert.equal(takenIn(run), taken)
    })
  )
})

it('takes folders whole, in place of the one before; a link is none, and nothing is looked for outside of it', async () => {
  const run = folder()
  const outside = join(root, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'secret'), 'secret')
  mkdirSync(join(run, CHECKPOINT_FOLDER, '1', 'deep'), { recursive: true })
  writeFileSync(join(run, CHECKPOINT_FOLDER, '1', 'deep', 'file'), 'one')
  assert.equal(await takeSnapshot(run, 'a.0.1'), join(run, TAKEN))
  assert.equal(readFileSync(join(run, TAKEN, 'of'), 'utf8'), 'a.0.1\n')
  assert.equal(readFileSync(join(run, TAKEN, 'data', 'deep', 'file'), 'utf8'), 'one')
  writeFileSync(join(run, CHECKPOINT_FOLDER, '2'), 'two')
  symlinkSync(outside, join(run, CHECKPOINT_FOLDER, '1'))
  assert.equal(readFileSync(join((await takeSnapshot(run, 'a.0.1')) ?? '', 'data'), 'utf8'), 'two')
  symlinkSync(outside, join(run, CHECKPOINT_FOLDER, '3'))
  assert.equal(await takeSnapshot(run, 'a.0.1'), undefined)
  assert.equal(takenIn(run), undefined)
  assert.deepEqual(readdirSync(outside), ['secret'])
  assert.equal(await takeSnapshot(join(root, 'nothing'), 'a.0.1'), undefined)
})
