/** `npm run sim:planted [-- TEXT]`: plants every bug (or those whose name has TEXT in it), and tells which seed caught it and how. Exit status 1 when one was not caught. */
import { BUGS } from './bugs.ts'
import { copyTree } from './plant.ts'

const SEEDS = 1_000
const SHRINK_RUNS = 150

const [wanted = ''] = process.argv.slice(2)
const copy = await copyTree()
let missed = 0
try {
  for (const bug of BUGS.filter(({ name }) => name.includes(wanted))) {
    const caught = await copy.catch(bug, { seeds: SEEDS, shrink: SHRINK_RUNS })
    if (caught === undefined) missed++
    console.log(`== ${bug.name} (${bug.file})`)
    console.log(caught === undefined ? `NOT CAUGHT by ${SEEDS} seeds` : `caught by seed ${caught.seed}: ${caught.complaint.slice(0, 300)}\n\n${caught.story}\n`)
  }
} finally {
  await copy.remove()
}
process.exitCode = missed === 0 ? 0 : 1
