import assert from 'node:assert/strict'
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
