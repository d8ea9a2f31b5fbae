import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A, agentWith, assign, B, C, CONNECTED, grant, play, ready, SPARE, sent, WELCOME } from '../testing/agents.ts'
import { ENDED } from '../testing/samples.ts'
import { FIGURE_AGAIN_MS, PROGRESS_AFTER_MS, PROGRESS_AGAIN_MS } from './policy.ts'

describe('the stream to the coordinator', () => {
  it('makes a lease durable before it is acknowledged, in the same step', () => {
    const { changes, effects } = play(ready(), assign(1, A))
    assert.ok(changes.some(({ key, value }) => key === `replica/${A}` && value !== null))
    assert.ok(changes.some(({ key }) => key === 'link'))
    assert.deepEqual(effects, [{ kind: 'ack', seq: 1 }])
  })

  it('breaks the stream on a gap and applies nothing of it', () => {
    const agent = ready()
    assert.deepEqual(
      play(agent, assign(2, A)).prompts.map(({ kind }) => kind),
      ['disconnect']
    )
    assert.equal(agent.phaseOf(A), undefined)
  })

  it('drops everything when the coordinator does not know its link, and numbers anew', () => {
    const agent = ready()
    play(agent, assign(1, A, B), { kind: 'prepared', replica: A }, grant(2, [A]), { kind: 'disconnected' }, CONNECTED)
    const step = play(agent, { ...WELCOME, resumed: false })
    assert.deepEqual(
      step.prompts.filter(({ kind }) => kind === 'kill'),
      [{ kind: 'kill', replica: A, graceMs: 10_000 }]
    )
    assert.deepEqual(sent(step), [])
    assert.deepEqual(sent(play(agent, { kind: 'ended', replica: A, ended: ENDED })), [], 'nobody wants to hear of it')
    assert.deepEqual(
      play(agent, assign(1, C)).prompts.map(({ kind }) => kind),
      ['prepare']
    )
  })

  it('starts a new link when the coordinator knows more of it than the node', () => {
    const agent = agentWith()
    play(agent, CONNECTED)
    const step = play(agent, { ...WELCOME, received: 7 })
    assert.deepEqual(
      step.prompts.map(({ kind }) => kind),
      ['disconnect']
    )
    const [hello] = play(agent, { kind: 'disconnected' }, CONNECTED).effects
    assert.deepEqual(hello?.kind === 'hello' && hello.link, SPARE)
  })

  it('replays what was not acknowledged after a reconnect', () => {
    const agent = ready()
    const first = sent(play(agent, assign(1, A), { kind: 'prepared', replica: A }))
    play(agent, { kind: 'disconnected' }, CONNECTED)
    assert.deepEqual(sent(play(agent, WELCOME)), first)
    play(agent, { kind: 'disconnected' }, CONNECTED)
    assert.deepEqual(sent(play(agent, { ...WELCOME, received: 1 })), [])
  })

  it('tells of long phases only, and again as long as something moves in them (F12)', () => {
    const agent = ready()
    play(agent, assign(1, A))
    assert.deepEqual(sent(play(agent, { kind: 'tick' })), [])
    agent.apply({ kind: 'tick' }, PROGRESS_AFTER_MS)
    const told = { replica: A, state: 'preparing', again: true }
    assert.deepEqual(sent(agent.take())[0]?.progress?.replicas, [told])
    agent.apply({ kind: 'tick', moved: [A, B] }, 2 * PROGRESS_AFTER_MS)
    agent.apply({ kind: 'tick' }, PROGRESS_AGAIN_MS)
    assert.deepEqual(sent(agent.take()), [])
    agent.apply({ kind: 'tick' }, PROGRESS_AFTER_MS + PROGRESS_AGAIN_MS)
    assert.deepEqual(sent(agent.take())[0]?.progress?.replicas, [told])
    agent.apply({ kind: 'tick' }, 10 * PROGRESS_AGAIN_MS)
    assert.deepEqual(sent(agent.take()), [], 'nothing moved since')
    play(agent, { kind: 'disconnected' }, CONNECTED, WELCOME)
    agent.take()
    agent.apply({ kind: 'tick' }, 10 * PROGRESS_AGAIN_MS)
    assert.deepEqual(sent(agent.take())[0]?.progress?.replicas, [told], 'a coordinator that was started anew knows nothing of it')
  })

  it('O08: tells how far a run says that it is, the last figure of ten seconds, and again to a coordinator that was started anew', () => {
    const agent = ready()
    const at = (nowMs: number, ...figures: readonly { replica: string; donePpm: number; note: string }[]): unknown[] => {
      agent.apply({ kind: 'tick', figures }, nowMs)
      return sent(agent.take()).flatMap(({ progress }) => progress?.replicas ?? [])
    }
    play(agent, assign(1, A))
    const half = { replica: A, donePpm: 500_000, note: 'training' }
    assert.deepEqual(at(0, half), [], 'it does not run yet')
    play(agent, { kind: 'prepared', replica: A }, grant(2, [A]))
    assert.deepEqual(at(1, half, { ...half, replica: B }), [{ ...half, state: 'running' }])
    assert.deepEqual(at(2, { ...half, donePpm: 510_000 }), [])
    assert.deepEqual(at(3, { ...half, donePpm: 520_000, note: '' }), [])
    assert.deepEqual(at(1 + FIGURE_AGAIN_MS), [{ replica: A, state: 'running', donePpm: 520_000 }])
    assert.deepEqual(at(10 * FIGURE_AGAIN_MS), [], 'it has not changed')
    play(agent, { kind: 'disconnected' }, CONNECTED, WELCOME)
    agent.take()
    assert.deepEqual(at(10 * FIGURE_AGAIN_MS), [{ replica: A, state: 'running', donePpm: 520_000 }])
    play(agent, { kind: 'ended', replica: A, ended: ENDED })
    assert.deepEqual(at(20 * FIGURE_AGAIN_MS, half), [{ replica: A, state: 'uploading', again: true }])
  })
})
