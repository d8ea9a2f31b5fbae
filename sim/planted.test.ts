import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { BUGS } from './planted/bugs.ts'
import { type Copy, copyTree } from './planted/plant.ts'

/** These two here; `npm run sim:planted` plants them all. */
const HERE = ['the server speaks before its commit is on disk', 'one vote counts twice']
const SEEDS = 20

let copy: Copy
before(async () => {
  copy = await copyTree()
})
after(() => copy.remove())

for (const bug of BUGS.filter(({ name }) => HERE.includes(name)))
  it(`the simulator finds that ${bug.name}`, async () => {
    const caught = await copy.catch(bug, { seeds: SEEDS, shrink: 0 })
    assert.ok(caught !== undefined, `${SEEDS} seeds saw nothing`)
  })

it('there are planted bugs in scheduler, validator, lease, store and control stream, ten at least', () => {
  assert.ok(BUGS.length >= 10)
})
