import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { drawCase } from './faults/draw.ts'
import { run } from './runner/run.ts'

const MAIN = fileURLToPath(new URL('./runner/main.ts', import.meta.url))
const SEEDS = 30

it('the real coordinator and nodes keep every promise in the first drawn worlds', async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { complaint } = await run(drawCase(seed))
    assert.equal(complaint, undefined, `seed ${seed}: ${complaint}`)
  }
})

it('equal seeds give equal histories in two processes, other seeds others', () => {
  const hashes = [7, 7, 8].map((seed) => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, '--seed', String(seed)], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    return /hash (\w+)/.exec(stdout)?.[1]
  })
  assert.ok(hashes[0] !== undefined)
  assert.equal(hashes[0], hashes[1])
  assert.notEqual(hashes[1], hashes[2])
})

it('arguments that make no sense end with status 2 and the usage', () => {
  const { stderr, status } = spawnSync(process.execPath, [MAIN, '--seed', 'seven'], { encoding: 'utf8' })
  assert.equal(status, 2)
  assert.match(stderr, /--seed is a whole number, not seven\nusage: /)
})
