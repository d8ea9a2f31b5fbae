import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A, agentWith, assign, assignGranted, B, bodyOf, CONNECTED, kinds, play, ready, sent, WELCOME } from '../testing/agents.ts'
import { ENDED, leaseOf, PUBLISHED, replicaOf } from '../testing/samples.ts'
import type { Agent } from './agent.ts'
import type { Step } from './events.ts'
import { PARK_AFTER_MS, PARK_QUIT_MS } from './policy.ts'

describe('F22: without its project', () => {
  const neighbours = [
    { peer: 'x', network: '1' },
    { peer: 'y', network: '2' }
  ]
  /** One that has a result which the project does not have, and no connection. */
  function stranded(): Agent {
    const agent = ready()
    play(agent, { kind: 'neighbours', neighbours }, assignGranted(1, A), { kind: 'prepared', replica: A }, { kind: 'ended', replica: A, ended: ENDED })
    play(agent, { kind: 'published', replica: A, published: PUBLISHED }, { kind: 'disconnected' })
    return agent
  }
  function parks(agent: Agent, nowMs: number): string[] {
    agent.apply({ kind: 'tick' }, nowMs)
    return agent.take().prompts.flatMap((prompt) => (prompt.kind === 'park' ? [`${prompt.replica} ${prompt.peer}`] : []))
  }

  it('leaves what it finished with two others after a minute, and is told of nothing when the project is back in time', () => {
    const agent = stranded()
    assert.deepEqual([parks(agent, PARK_AFTER_MS - 1), parks(agent, PARK_AFTER_MS)], [[], [`${A} x`, `${A} y`]])
    play(agent, { kind: 'answered', replica: A, peer: 'x', code: 'kept' })
    assert.equal(agent.view().parked, 1)
    const back = stranded()
    play(back, CONNECTED, WELCOME)
    assert.deepEqual(parks(back, 2 * PARK_AFTER_MS), [])
  })

  it('leaves at once when it is to leave, as soon as two have it, or nobody takes it in its time', () => {
    const agent = stranded()
    agent.apply({ kind: 'drain' }, 10)
    assert.equal(agent.take().prompts.filter(({ kind }) => kind === 'park').length, 2)
    for (const peer of ['x', 'y']) agent.apply({ kind: 'answered', replica: A, peer, code: 'kept' }, 20)
    assert.ok(kinds(agent.take()).includes('done'))
    const unlucky = stranded()
    unlucky.apply({ kind: 'quit' }, 10)
    unlucky.apply({ kind: 'tick' }, 10 + PARK_QUIT_MS - 1)
    assert.ok(!kinds(unlucky.take()).includes('done'))
    unlucky.apply({ kind: 'tick' }, 10 + PARK_QUIT_MS)
    assert.ok(kinds(unlucky.take()).includes('done'))
    const alone = stranded()
    play(alone, { kind: 'neighbours', neighbours: [] })
    alone.apply({ kind: 'quit' }, 10)
    assert.ok(kinds(alone.take()).includes('done'))
  })

  it('leaves it with others after a restart too, as long as the project has not taken it', () => {
    const agent = ready()
    const records = new Map<string, Uint8Array>()
    const written = (step: Step): void => {
      for (const { key, value } of step.changes) {
        if (value === null) records.delete(key)
        else records.set(key, value)
      }
    }
    written(play(agent, assignGranted(1, A), { kind: 'prepared', replica: A }, { kind: 'ended', replica: A, ended: ENDED }))
    written(play(agent, { kind: 'published', replica: A, published: PUBLISHED }))
    const again = agentWith()
    for (const [key, value] of records) again.restore(key, value, 0)
    again.restored()
    play(again, { kind: 'neighbours', neighbours })
    assert.deepEqual(parks(again, PARK_AFTER_MS), [`${A} x`, `${A} y`])
  })

  it('keeps a sealed result to itself until it may be said', () => {
    const agent = ready()
    const lease = { ...leaseOf(A), sealed: true as const }
    play(agent, { kind: 'neighbours', neighbours }, { kind: 'assign', seq: 1, leases: [{ ok: true, granted: true, lease }] })
    play(agent, { kind: 'prepared', replica: A }, { kind: 'ended', replica: A, ended: ENDED }, { kind: 'published', replica: A, published: PUBLISHED })
    play(agent, { kind: 'disconnected' })
    assert.deepEqual(parks(agent, PARK_AFTER_MS), [])
    play(agent, CONNECTED, WELCOME, { kind: 'reveal', seq: 2, replicas: [A] }, { kind: 'disconnected' })
    assert.deepEqual(parks(agent, PARK_AFTER_MS), [`${A} x`, `${A} y`])
  })
})

describe('F22: for others', () => {
  const KEEP = { bytesMax: 2 ** 30, msMax: 86_400_000 }
  const parcel = { replica: B, from: 'v', network: '', content: ['root'], bytes: 10, body: bodyOf(B, 'v'), signature: new Uint8Array(64) }
  function keeper(): Agent {
    const agent = agentWith({ keep: KEEP })
    play(agent, { kind: 'engine', up: true })
    return agent
  }

  it('says that it has a result in the step that makes it durable, tells the project with each welcome, and drops it when it is released', () => {
    const agent = keeper()
    // It is fetched only when that is on record: see what is left of it after a crash.
    const offered = play(agent, { kind: 'offered', parcel })
    assert.deepEqual([offered.prompts, offered.changes.map(({ key }) => key), offered.effects], [[], [`parked/${B}`], [{ kind: 'collect', parcel }]])
    const step = play(agent, { kind: 'collected', replica: B })
    assert.deepEqual(
      [step.changes.map(({ key, value }) => [key, value !== null]), step.effects],
      [[[`parked/${B}`, true]], [{ kind: 'answer', peer: 'v', replica: B, code: 'kept' }]]
    )
    for (let times = 0; times < 2; times++) {
      const bodies: Uint8Array[] = sent(play(agent, CONNECTED, WELCOME)).flatMap((frame) => frame.parked?.results.map(({ result }) => result) ?? [])
      assert.deepEqual([bodies.length, Buffer.compare(bodies[0] ?? new Uint8Array(0), parcel.body)], [1, 0])
      play(agent, { kind: 'disconnected' })
    }
    const gone = play(agent, CONNECTED, WELCOME, { kind: 'release', seq: 1, replicas: [B] })
    assert.deepEqual([gone.prompts, agent.view().keeping.results], [[{ kind: 'unkeep', content: ['root'] }], 0])
    assert.ok(gone.changes.some(({ key, value }) => key === `parked/${B}` && value === null))
  })

  it('answers that it has none when it cannot be fetched, and keeps nothing of a task that it runs itself', () => {
    const agent = keeper()
    play(agent, { kind: 'offered', parcel })
    assert.deepEqual(play(agent, { kind: 'uncollected', replica: B }).effects, [{ kind: 'answer', peer: 'v', replica: B, code: 'busy' }])
    play(agent, CONNECTED, WELCOME, assign(1, replicaOf(1, 2)))
    assert.deepEqual(
      play(agent, { kind: 'offered', parcel }).effects.filter(({ kind }) => kind === 'answer'),
      [{ kind: 'answer', peer: 'v', replica: B, code: 'refused' }]
    )
  })

  it('tells the project at once of what comes while it is there', () => {
    const agent = keeper()
    play(agent, CONNECTED, WELCOME, { kind: 'offered', parcel })
    assert.equal(sent(play(agent, { kind: 'collected', replica: B })).filter((frame) => frame.parked !== undefined).length, 1)
  })

  it('drops what the project never asked for', () => {
    const agent = keeper()
    play(agent, { kind: 'offered', parcel }, { kind: 'collected', replica: B })
    agent.apply({ kind: 'tick' }, KEEP.msMax)
    assert.deepEqual(agent.take().prompts, [{ kind: 'unkeep', content: ['root'] }])
  })
})
