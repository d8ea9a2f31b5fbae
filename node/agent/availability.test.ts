import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A, agentWith, assign, B, CONNECTED, grant, kinds, play, ready, returnedBy, sent, WELCOME } from '../testing/agents.ts'
import { ENDED, PUBLISHED } from '../testing/samples.ts'
import type { AgentEvent } from './events.ts'
import { DRAIN_RELEASE_MS } from './policy.ts'

describe('whether the node takes work', () => {
  it('gives its leases back and asks for nothing while the engine is down', () => {
    const agent = ready()
    play(agent, assign(1, A))
    const step = play(agent, { kind: 'engine', up: false })
    assert.deepEqual(returnedBy(step), [`${A} node engine_down`])
    assert.equal(sent(step).find(({ demand }) => demand !== undefined)?.demand?.slots, 0)
    assert.deepEqual(returnedBy(play(agent, assign(2, B))), [`${B} node engine_down`])
    assert.equal(sent(play(agent, { kind: 'engine', up: true }))[0]?.demand?.slots, 1)
  })

  it('pauses: what runs goes on, what has not begun goes back, nothing more is asked for', () => {
    const agent = ready()
    play(agent, assign(1, A, B), { kind: 'prepared', replica: A }, grant(2, [A]))
    const step = play(agent, { kind: 'pause' })
    assert.deepEqual(returnedBy(step), [`${B} owner paused`])
    assert.equal(agent.phaseOf(A), 'running')
    assert.equal(sent(step).at(-1)?.demand?.slots, 0)
    assert.equal(sent(play(agent, { kind: 'resume' }))[0]?.demand?.slots, 1)
  })

  it('stays paused over a restart, until it is resumed', () => {
    const disk = new Map<string, Uint8Array>()
    const live = (...events: AgentEvent[]): AgentEvent['kind'] | string => {
      const agent = agentWith()
      for (const [key, value] of disk) agent.restore(key, value, 0)
      agent.restored()
      for (const { key, value } of play(agent, ...events).changes) {
        if (value === null) disk.delete(key)
        else disk.set(key, value)
      }
      return agent.view().mode
    }
    assert.equal(live({ kind: 'pause' }), 'paused')
    assert.equal(live({ kind: 'drain' }), 'draining')
    assert.equal(live(), 'paused', 'stopping a paused node does not resume it')
    assert.equal(live({ kind: 'resume' }), 'active')
    assert.equal(live(), 'active')
  })

  it('drains: reports what runs, says good-bye, and is done when that is known', () => {
    const agent = ready({ slots: 2 })
    play(agent, assign(1, A, B), { kind: 'prepared', replica: A }, grant(2, [A]))
    assert.deepEqual(returnedBy(play(agent, { kind: 'drain' })), [`${B} owner leaving`])
    play(agent, { kind: 'ended', replica: A, ended: ENDED }, { kind: 'published', replica: A, published: PUBLISHED })
    assert.deepEqual(sent(play(agent, { kind: 'acked', seq: 3 })), [], 'its output has not been taken yet')
    const bye = play(agent, { kind: 'release', seq: 3, replicas: [A] })
    assert.ok(sent(bye).some((frame) => frame.bye !== undefined))
    assert.deepEqual(kinds(play(agent, { kind: 'acked', seq: 4 })), ['done'])
  })

  it('drains in an outage too: its results wait on disk', () => {
    const agent = ready()
    play(agent, assign(1, A), { kind: 'prepared', replica: A }, grant(2, [A]), { kind: 'disconnected' }, { kind: 'drain' })
    play(agent, { kind: 'ended', replica: A, ended: ENDED }, { kind: 'published', replica: A, published: PUBLISHED })
    agent.apply({ kind: 'tick' }, DRAIN_RELEASE_MS)
    assert.deepEqual(kinds(agent.take()), ['done'])
  })

  it('quits: kills what runs, says good-bye first, and is done when all has ended', () => {
    const agent = ready()
    play(agent, assign(1, A), { kind: 'prepared', replica: A }, grant(2, [A]))
    const step = play(agent, { kind: 'quit' })
    assert.deepEqual(
      step.prompts.map(({ kind }) => kind),
      ['kill']
    )
    assert.ok(sent(step).some((frame) => frame.bye !== undefined))
    assert.deepEqual(kinds(play(agent, { kind: 'acked', seq: 2 })), [])
    const last = play(agent, { kind: 'ended', replica: A, ended: ENDED })
    assert.deepEqual(returnedBy(last), [`${A} owner leaving`])
    assert.deepEqual(kinds(play(agent, { kind: 'acked', seq: 3 })), ['done'])
  })

  it('says nobody good-bye again after its next start', () => {
    const before = ready()
    const { changes } = play(before, { kind: 'quit' })
    const after = agentWith()
    for (const { key, value } of changes) if (value !== null) after.restore(key, value, 0)
    after.restored()
    play(after, CONNECTED)
    const frames = sent(play(after, WELCOME))
    assert.deepEqual(
      frames.map(({ seq, bye }) => ({ seq, bye })),
      [{ seq: 1, bye: undefined }]
    )
  })
})
