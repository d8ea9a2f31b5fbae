import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { RecentLog } from './recent-log.ts'

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

it("a node's last words outlive a line that a crash cut off anywhere: it is lost, and no other", async () => {
  const dir = mkdtempSync(join(tmpdir(), 'talko-recent-'))
  try {
    const path = join(dir, 'recent.log')
    const first = (await RecentLog.open(dir)).beside(SILENT)
    first.warn({}, 'before')
    const whole = readFileSync(path).length
    first.warn({}, 'torn')
    const all = readFileSync(path).length
    for (let bytes = all; bytes >= whole; bytes -= 7) {
      truncateSync(path, Math.max(bytes, whole))
      ;(await RecentLog.open(dir)).beside(SILENT).warn({}, 'after')
      const texts = (await RecentLog.open(dir)).before.map(({ text }) => text)
      assert.deepEqual(texts, bytes === all ? ['before', 'torn', 'after'] : ['before', 'after'], `cut to ${bytes} of ${all} bytes`)
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})

it('the error that ends a process is in the log of each of its nodes that goes on, and in no other', async () => {
  const dirs = Array.from({ length: 3 }, () => mkdtempSync(join(tmpdir(), 'talko-recent-')))
  try {
    const program = `
      import { RecentLog } from ${JSON.stringify(new URL('./recent-log.ts', import.meta.url).href)}
      const logs = await Promise.all(${JSON.stringify(dirs)}.map((dir) => RecentLog.open(dir)))
      for (const log of logs) log.watch(() => 0)
      logs[1].close()
      setImmediate(() => { throw new Error('the end') })`
    const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', program])
    assert.notEqual(status, 0)
    const texts = await Promise.all(dirs.map(async (dir) => (await RecentLog.open(dir)).before.map(({ text }) => text).join()))
    assert.deepEqual(
      texts.map((text) => /an error ends the node.*the end/.test(text)),
      [true, false, true],
      texts.join('; ')
    )
  } finally {
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true })
  }
})
