import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Failure, type Judged, kindOf, type Smaller, shrink } from './shrink.ts'

interface Counted extends Judged {
  readonly cost: number
}

/** A world is a list of numbers, and takes as much as it has of them. */
type World = readonly number[]

const FAILURE: Failure<World, Counted> = { world: Array.from({ length: 40 }, (_, index) => index), ran: { complaint: 'node 1 lost 40 things', cost: 40 } }

function portsFor(complaintOf: (world: World) => string | undefined, { runsMax = 1_000, costMax = 100_000, stopped = (): boolean => false } = {}) {
  const tried: World[] = []
  const run = async (world: World): Promise<Counted> => {
    tried.push(world)
    return { complaint: complaintOf(world), cost: world.length }
  }
  return { run, costOf: ({ cost }: Counted) => cost, keyOf: (world: World) => world.join(), runsMax, costMax, stopped, tried }
}

const pass = (smaller: Smaller<World, Counted>): Promise<void> => smaller.fewer(smaller.failure.world, (kept) => kept)
const needs =
  (...some: readonly number[]) =>
  (world: World): string | undefined =>
    some.every((one) => world.includes(one)) ? `node 3 lost ${world.length} things` : undefined

describe('what fails', () => {
  it('is made as small as the same complaint allows, and nothing is tried twice', async () => {
    const ports = portsFor(needs(7, 23))
    const { world, ran } = await shrink(FAILURE, ports, pass)
    assert.deepEqual([world, ran], [[7, 23], { complaint: 'node 3 lost 2 things', cost: 2 }])
    assert.equal(new Set(ports.tried.map((one) => one.join())).size, ports.tried.length)
    assert.ok(ports.tried.length < 40, `${ports.tried.length} attempts`)
  })

  it('is empty after one attempt when nothing in it matters', async () => {
    const ports = portsFor(needs())
    assert.deepEqual((await shrink(FAILURE, ports, pass)).world, [])
    assert.equal(ports.tried.length, 1)
  })

  it('keeps its complaint: another one is another failure, and what makes no sense is not tried', async () => {
    const other = portsFor(() => 'it was decided twice')
    assert.equal(await shrink(FAILURE, other, pass), FAILURE)
    const nothing = portsFor(needs())
    await shrink(FAILURE, nothing, (smaller) => smaller.fewer(FAILURE.world, async () => undefined))
    assert.equal(nothing.tried.length, 0)
  })

  it('is tried no more often than asked, costs no more, and is left when nobody waits for it', async () => {
    const [few, cheap] = [portsFor(needs(7, 23), { runsMax: 5 }), portsFor(needs(7, 23), { costMax: 60 })]
    assert.ok(needs(7, 23)((await shrink(FAILURE, few, pass)).world))
    assert.equal(few.tried.length, 5)
    await shrink(FAILURE, cheap, pass)
    // The last begins while something is left.
    const costs = cheap.tried.map(({ length }) => length)
    assert.ok(costs.slice(0, -1).reduce((sum, cost) => sum + cost, 0) < 60)
    assert.ok(costs.reduce((sum, cost) => sum + cost, 0) >= 60)
    const stopped = portsFor(needs(), { stopped: () => true })
    assert.equal(await shrink(FAILURE, stopped, pass), FAILURE)
    assert.equal(stopped.tried.length, 0)
  })

  it('is gone through again until nothing more can be left out', async () => {
    // Each number but the first can only go when no larger one is there.
    const last = portsFor((world) => (world.every((one, index) => one === index) && world.length > 0 ? 'node 9 lost 1 things' : undefined))
    const { world } = await shrink(FAILURE, last, (smaller) => smaller.first([smaller.failure.world.slice(0, -1)]).then(() => undefined))
    assert.deepEqual(world, [0])
  })

  it('is known by what was wrong, not by whom it befell', () => {
    const say = (peer: string, batch: string): string => `${peer} has ${batch}.3.1, on its disk is 7`
    assert.equal(kindOf(say('12D3KooWabc', 'a'.repeat(26))), kindOf(say('12D3KooWxyz', 'b'.repeat(26))))
    assert.equal(kindOf('keeper 1 has 2 connections open, libp2p knows of 3'), kindOf('node 4 has 1 connections open, libp2p knows of 0'))
    assert.notEqual(kindOf('it was decided twice'), kindOf('it was lost'))
  })
})
