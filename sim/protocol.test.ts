import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { makeJudge as judge } from './checkers/judge.ts'
import { NOBODY } from './checkers/nobody.ts'
import { type Case, nodeCase } from './faults/case.ts'
import { drawCase } from './faults/draw.ts'
import { PROFILES } from './faults/profiles.ts'
import { World } from './protocol/world.ts'
import { type Ran, run } from './runner/run.ts'
import { Sometimes } from './sometimes.ts'

const MAIN = fileURLToPath(new URL('./runner/main.ts', import.meta.url))
const SEEDS = 15
/** Run here and by a process of its own. */
const TWICE = { from: 7, seeds: 8 }
const UNRULY_SEEDS = 12

const ran = new Map<number, Promise<Pick<Ran, 'complaint' | 'hash'>>>()
/** The drawn world of this seed, which is run once for all tests. */
function drawn(seed: number): Promise<Pick<Ran, 'complaint' | 'hash'>> {
  const known = ran.get(seed) ?? run(drawCase(seed)).then(({ complaint, hash }) => ({ complaint, hash }))
  ran.set(seed, known)
  return known
}

it('the real coordinator and nodes keep every promise in the first drawn worlds', async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { complaint } = await drawn(seed)
    assert.equal(complaint, undefined, `seed ${seed}: ${complaint}`)
  }
})

/** A fifth each. Without anything else that goes wrong, so that what is lost on the way is all that can be lost. */
it('no change of state is lost or doubled when frames of control streams are lost, come twice and come late', async () => {
  const sometimes = new Sometimes()
  const { draw, expected = [] } = PROFILES['control-loss'] ?? assert.fail()
  for (let seed = 1; seed <= UNRULY_SEEDS; seed++) {
    const ran = await run(draw(seed))
    assert.equal(ran.complaint, undefined, `seed ${seed}: ${ran.complaint}`)
    sometimes.add(ran.sometimes)
  }
  assert.deepEqual(
    expected.filter((name) => !sometimes.counts.has(name)),
    []
  )
})

it('equal seeds give equal histories in two processes, other seeds others', async () => {
  const { from, seeds } = TWICE
  const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, '--from', String(from), '--seeds', String(seeds)], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const here: string[] = []
  for (let seed = from; seed < from + seeds; seed++) here.push((await drawn(seed)).hash)
  const history = createHash('sha256')
  for (const hash of here) history.update(hash)
  assert.equal(/hash (\w+)/.exec(stdout)?.[1], history.digest('hex').slice(0, 16))
  assert.equal(new Set(here).size, here.length)
})

it('those who watch change nothing', async () => {
  const one = drawCase(5)
  const hashes: string[] = []
  for (const makeJudge of [judge, () => NOBODY]) {
    const world = new World(one, makeJudge)
    world.begin()
    await world.engine.run(one.faultsMs)
    hashes.push(world.engine.hash)
  }
  assert.equal(hashes[0], hashes[1])
})

it('F23: a node that says what it overheard of another is caught, and nobody is decided by it', async () => {
  const task = { kind: 'plain' as const, runMs: 8_000, needsInput: false }
  const tasks = Array.from({ length: 6 }, (_, index) => ({ ...task, name: `task ${index}` }))
  const { complaint, sometimes } = await run({
    seed: 1,
    nodes: ['ann', 'bob', 'cid'].map((name) => nodeCase(name, { slots: 2, delayMs: 20 })),
    hostile: 1,
    batches: [{ atMs: 4_000, parts: 1, tasks, policy: { ...DEFAULT_POLICY, targetResults: 3, commit: true } }],
    faults: [{ atMs: 1, kind: 'copy', target: 0, forMs: 0, amount: 0 }],
    faultsMs: 60_000
  })
  assert.equal(complaint, undefined)
  for (const what of ['a hostile node copied an answer', 'a copied answer was caught']) assert.ok((sometimes.counts.get(what) ?? 0) > 0, `never: ${what}`)
})

/** [28] */
it('clocks of nodes that are a day wrong change nothing at all', async () => {
  for (const seed of [3, 4]) {
    const one = drawCase(seed)
    const clock = (offsetMs: number): Case => ({
      ...one,
      nodes: one.nodes.map((node, index) => ({ ...node, clockPerMille: 1000, clockOffsetMs: index % 2 === 0 ? offsetMs : -offsetMs })),
      faults: one.faults.filter(({ kind }) => kind !== 'clock')
    })
    assert.equal((await run(clock(86_400_000))).hash, (await run(clock(0))).hash)
  }
})

it('arguments that make no sense end with status 2 and the usage', () => {
  const complaints: readonly [readonly string[], RegExp][] = [
    [['--seed', 'seven'], /--seed is a whole number from 0, not seven\nusage: /],
    [['--case', MAIN], /main\.ts is not a case: /],
    [['--faults', 'rain'], /--faults is one of drawn, control-loss, floods, not rain/],
    [['--sead', '7'], /Unknown option '--sead'/]
  ]
  for (const [args, complaint] of complaints) {
    const { stderr, status } = spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' })
    assert.equal(status, 2)
    assert.match(stderr, complaint)
  }
})
