import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { BUGS } from './planted/bugs.ts'
import { type Copy, copyTree, look, withBug } from './planted/plant.ts'

/** These two here, and the first on real libp2p hosts, too; `npm run sim:planted` plants them all. */
const HERE = ['the server speaks before its commit is on disk', 'one vote counts twice']
const SEEDS = 20
const [ON_STACK] = HERE
const SHRINK_RUNS = 12

let copy: Copy
before(async () => {
  copy = await copyTree()
})
after(() => copy.remove())

for (const bug of BUGS.filter(({ name }) => HERE.includes(name)))
  it(`the simulator finds that ${bug.name}`, async () => {
    const caught = await copy.with(bug, (simulate) => look(simulate, bug, { seeds: SEEDS, shrink: 0 }))
    assert.ok(caught !== undefined, `${SEEDS} seeds saw nothing`)
  })

it('the stack level makes what it finds small, and prints the lines that repeat it', { timeout: 240_000 }, async () => {
  const bug = BUGS.find(({ name }) => name === ON_STACK) ?? assert.fail()
  await copy.with(bug, async (simulate) => {
    const caught = (await look(simulate, { ...bug, level: 'stack' }, { seeds: 2, shrink: SHRINK_RUNS })) ?? assert.fail('2 seeds saw nothing')
    const [, nodes, faults] = /^(\d+) nodes .*, 3 keepers of the DHT, \d+ tasks, (\d+) faults/.exec(caught.story) ?? []
    assert.ok(Number(nodes) <= 1, caught.story)
    assert.equal(faults, '0', caught.story)
    assert.ok(caught.story.split('\n').length <= 40, caught.story)
    assert.ok(caught.story.includes('in the end: '))
    const [again, small] = await Promise.all([simulate([...caught.repeat, '--shrink', '0']), simulate(caught.repeatSmall)])
    assert.equal(again.status, 3)
    assert.ok(again.errors.includes(`seed ${caught.seed} failed: ${caught.complaint}`), again.errors)
    assert.equal(small.status, 3)
    assert.ok(caught.story.startsWith(small.output.split('\nhash ')[0] ?? assert.fail()), small.output)
  })
})

it('every planted bug changes a line that is there', () => {
  for (const bug of BUGS) assert.notEqual(withBug(readFileSync(join(import.meta.dirname, '..', bug.file), 'utf8'), bug), '')
  assert.equal(new Set(BUGS.map(({ name }) => name)).size, BUGS.length)
  assert.ok(BUGS.every(({ seed = 1 }) => seed >= 1 && seed <= 1_000))
})
