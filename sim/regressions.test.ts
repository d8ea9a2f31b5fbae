import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import type { Case } from './faults/case.ts'
import { run } from './runner/run.ts'

/** Small cases in which something was wrong once: `when` says what, in the words of planted/bugs.ts where a bug was planted. */
interface Regression {
  readonly when: string
  readonly case: Case
}

const lines = readFileSync(new URL('./regressions.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')

it('nothing is wrong any more in the small cases of what went wrong once', async () => {
  for (const line of lines) {
    const { when, case: one }: Regression = JSON.parse(line)
    const { complaint } = await run(one)
    assert.equal(complaint, undefined, `when ${when}: ${complaint}`)
  }
})
