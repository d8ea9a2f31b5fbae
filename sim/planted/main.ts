/**
 * `npm run sim:planted [-- TEXT] [--keep]`: plants every bug (or those whose name has TEXT in it), and tells which seed caught it
 * and how. Exit status 1 when one was not caught. `--keep` writes the small cases to `sim/regressions.jsonl`, which the tests run.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BUGS } from './bugs.ts'
import { copyTree } from './plant.ts'

const SEEDS = 1_000
const SHRINK_RUNS = 150
const REGRESSIONS = join(import.meta.dirname, '../regressions.jsonl')

const args = process.argv.slice(2)
const keep = args.includes('--keep')
const [wanted = ''] = args.filter((arg) => arg !== '--keep')
const copy = await copyTree()
const cases: string[] = []
let missed = 0
try {
  for (const bug of BUGS.filter(({ name }) => name.includes(wanted))) {
    const caught = await copy.catch(bug, { seeds: SEEDS, shrink: SHRINK_RUNS })
    if (caught === undefined) missed++
    else cases.push(`{"when":${JSON.stringify(bug.name)},"case":${caught.small}}`)
    console.log(`== ${bug.name} (${bug.file})`)
    console.log(caught === undefined ? `NOT CAUGHT by ${SEEDS} seeds` : `caught by seed ${caught.seed}: ${caught.complaint.slice(0, 300)}\n\n${caught.story}\n`)
  }
} finally {
  await copy.remove()
}
if (keep) writeFileSync(REGRESSIONS, `${cases.join('\n')}\n`)
process.exitCode = missed === 0 ? 0 : 1
