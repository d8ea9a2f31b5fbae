import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { decodeResult } from '#protocol/result/result'
import { A, assign, grant, kinds, play, ready, sent } from '../testing/agents.ts'
import { ENDED, PUBLISHED } from '../testing/samples.ts'
import { SLOTS, World } from '../testing/world.ts'

describe('the agent', () => {
  it('prepares a lease, asks, runs when granted, publishes, reports, and forgets when released', () => {
    const agent = ready()
    assert.deepEqual(
      play(agent, assign(1, A)).prompts.map(({ kind }) => kind),
      ['prepare']
    )
    const asked = play(agent, { kind: 'prepared', replica: A })
    assert.deepEqual(sent(asked)[0]?.start?.replicas, [{ replica: A, epoch: 1 }])
    assert.deepEqual(kinds(play(agent, grant(2, [A]))), ['start', 'ack'])
    assert.deepEqual(
      play(agent, { kind: 'ended', replica: A, ended: ENDED }).prompts.map(({ kind }) => kind),
      ['publish']
    )
    const reported = play(agent, { kind: 'published', replica: A, published: PUBLISHED })
    assert.equal(decodeResult(sent(reported)[0]?.reports?.results[0] ?? new Uint8Array())?.replica, A)
    assert.equal(agent.phaseOf(A), 'reported')
    assert.deepEqual(kinds(play(agent, { kind: 'release', seq: 3, replicas: [A] })), ['release', 'ack'])
    assert.equal(agent.phaseOf(A), undefined)
  })
})

type Act = { readonly act: string; readonly pick: number; readonly crashAt: number }

const acts = fc.array(
  fc.record({
    act: fc.oneof(
      { weight: 60, arbitrary: fc.constantFrom('lease', 'deliver', 'deliver', 'deliver', 'read', 'read', 'prepared', 'prepared', 'end', 'publish') },
      { weight: 12, arbitrary: fc.constantFrom('release', 'cancel', 'cancel', 'cancel', 'refuse', 'again') },
      { weight: 8, arbitrary: fc.constantFrom('connect', 'connect', 'disconnect', 'tick') },
      { weight: 2, arbitrary: fc.constant('crash') }
    ),
    pick: fc.nat(7),
    crashAt: fc.oneof({ weight: 40, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(1, 2) })
  }),
  { minLength: 60, maxLength: 250 }
)

function perform(world: World, { act, pick, crashAt }: Act): void {
  if (act === 'lease') world.lease()
  else if (act === 'deliver' || act === 'again') world.deliver(act === 'again', crashAt)
  else if (act === 'read' || act === 'refuse') world.read(act === 'refuse')
  else if (act === 'prepared') world.prepared(pick, crashAt)
  else if (act === 'end') world.end(pick, crashAt)
  else if (act === 'publish') world.publish(pick, crashAt)
  else if (act === 'release') world.release(pick)
  else if (act === 'cancel') world.cancel(pick)
  else if (act === 'connect') world.connect()
  else if (act === 'disconnect') world.disconnect()
  else if (act === 'forget') world.forget()
  else if (act === 'tick') world.tick(pick * 500)
  else world.crash()
}

/** What must hold at every moment. */
function assertSafe(world: World): void {
  assert.equal(new Set(world.started).size, world.started.length, 'a replica was started twice')
  for (const id of world.started) {
    assert.ok(world.granted.has(id), 'ran without a grant')
    assert.ok(!world.refused.has(id), 'ran although refused')
  }
  assert.ok(world.mostRunning <= SLOTS, 'more runs than slots')
  for (const [id, answers] of world.answers) {
    assert.ok(answers.length === 1, `${id} was answered ${answers.join(', ')}`)
    if (answers[0] === 'reported') assert.ok(!world.cancelledInTime.has(id), 'a cancelled replica was reported as run')
  }
}

describe('the agent, whatever happens', () => {
  it('meets the faults it is tested against', () => {
    const seen = { crashes: 0, recovered: 0, reported: 0, cancelled: 0, killed: 0, refused: 0 }
    for (const steps of fc.sample(acts, { numRuns: 200, seed: 7 })) {
      const world = new World()
      world.connect()
      for (const step of steps) perform(world, step)
      seen.crashes += world.crashes
      seen.recovered += world.recovered
      seen.reported += [...world.answers.values()].filter(([answer]) => answer === 'reported').length
      seen.cancelled += world.cancelledInTime.size
      seen.killed += world.killedInTime.size
      seen.refused += world.refused.size
    }
    for (const [what, count] of Object.entries(seen)) assert.ok(count >= 20, `${what}: ${count} in 200 worlds`)
  })

  it('starts nothing twice, loses no result, reports nothing that was cancelled, through crashes and broken links', () => {
    fc.assert(
      fc.property(acts, (steps) => {
        const world = new World()
        world.connect()
        for (const step of steps) {
          perform(world, step)
          assertSafe(world)
        }
        world.calm()
        assertSafe(world)
        for (const id of world.killedInTime)
          if (!world.cancelledInTime.has(id) && world.started.includes(id))
            assert.deepEqual(world.answers.get(id), ['reported'], `${id} was killed and what it left is lost`)
        for (const id of world.leased) assert.ok(world.answers.has(id) || world.refused.has(id), `${id} was never answered`)
        assert.equal(world.runningNow, 0)
        const kept = world.agent.view().replicas
        assert.ok(
          kept.every(({ replica, phase }) => phase === 'reported' && !world.released.has(replica)),
          'something was left behind'
        )
        assert.deepEqual(
          [...world.folders].filter((id) => world.agent.phaseOf(id) === undefined),
          [],
          'a folder was left behind'
        )
      }),
      { numRuns: 300 }
    )
  })

  it('keeps its slots and starts nothing twice even when the coordinator forgets it', () => {
    const forgetful = fc.array(
      fc.oneof({ weight: 12, arbitrary: acts.map((steps) => steps[0]) }, { weight: 1, arbitrary: fc.constant({ act: 'forget', pick: 0, crashAt: 0 }) }),
      { minLength: 20, maxLength: 120 }
    )
    fc.assert(
      fc.property(forgetful, (steps) => {
        const world = new World()
        world.connect()
        for (const step of steps) {
          if (step !== undefined) perform(world, step)
          assert.equal(new Set(world.started).size, world.started.length)
          assert.ok(world.mostRunning <= SLOTS)
        }
        world.calm()
        assert.equal(world.runningNow, 0)
      }),
      { numRuns: 150 }
    )
  })
})
