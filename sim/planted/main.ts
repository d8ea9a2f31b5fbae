/**
 * `npm run sim:planted [-- TEXT] [--keep]`: plants every bug (or those whose name has TEXT in it), as many at once as there are
 * cores, and tells which seed caught it and how. Exit status 1 when one was not caught. `--keep` writes the small cases to
 * `sim/regressions.jsonl`, which the tests run; those of the stack level, each a process of its own, not.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '#protocol/message-of'
import { BUGS, type Bug } from './bugs.ts'
import { type Copy, copyTree, look } from './plant.ts'

const SEEDS = 1_000
const SHRINK_RUNS = 100
/** Each is a process of its own. */
const STACK_SHRINK_RUNS = 40
const REGRESSIONS = join(import.meta.dirname, '../regressions.jsonl')

const args = process.argv.slice(2)
const keep = args.includes('--keep')
const [wanted = ''] = args.filter((arg) => arg !== '--keep')
const began = performance.now()
const bugs = BUGS.filter(({ name }) => name.includes(wanted))
// Those that take longest first: who begins last keeps everybody waiting.
const waiting = bugs.toSorted((a, b) => Number(b.level === 'stack') - Number(a.level === 'stack'))
const cases = new Map<Bug, string>()
let missed = 0

await Promise.all(Array.from({ length: Math.min(availableParallelism(), bugs.length) }, lane))
console.log(`${bugs.length - missed} of ${bugs.length} caught, in ${seconds(performance.now() - began)} s`)
if (keep) writeFileSync(REGRESSIONS, bugs.flatMap((bug) => cases.get(bug) ?? []).join(''))
process.exitCode = missed === 0 ? 0 : 1

/** One bug after the other, in a copy of its own. */
async function lane(): Promise<void> {
  const copy = await copyTree()
  try {
    for (let bug = waiting.shift(); bug !== undefined; bug = waiting.shift()) {
      const said = await plant(copy, bug)
      console.log(`== ${bug.name} (${bug.file})\n${said}\n`)
    }
  } finally {
    await copy.remove()
  }
}

/** What came of it, in words. */
async function plant(copy: Copy, bug: Bug): Promise<string> {
  try {
    const effort = { seeds: SEEDS, shrink: bug.level === 'stack' ? STACK_SHRINK_RUNS : SHRINK_RUNS }
    const caught = await copy.with(bug, (simulate) => look(simulate, bug, effort))
    if (caught !== undefined) {
      const { seed, complaint, story, small, caughtMs, smallMs } = caught
      if (bug.level !== 'stack') cases.set(bug, `{"when":${JSON.stringify(bug.name)},"case":${small}}\n`)
      return `caught by seed ${seed} after ${seconds(caughtMs)} s, small after ${seconds(smallMs)} s: ${complaint.slice(0, 300)}\n\n${story}`
    }
    missed++
    return `NOT CAUGHT by ${SEEDS} seeds`
  } catch (error) {
    missed++
    return `NOT CAUGHT: ${messageOf(error)}`
  }
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
