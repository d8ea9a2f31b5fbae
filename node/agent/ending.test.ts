import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeResult } from '#protocol/result/result'
import { A, agentWith, assign, assignGranted, B, C, CONNECTED, grant, kinds, play, ready, returnedBy, sent, WELCOME } from '../testing/agents.ts'
import { ENDED, PUBLISHED, replicaOf } from '../testing/samples.ts'
import type { AgentEvent } from './events.ts'
import { KILL_GRACE_MS } from './policy.ts'

describe('how a run ends', () => {
  it('ends what a hint says was killed or is wanted no more while it has no connection, and leaves what has ended', () => {
    const agent = ready({ slots: 3 })
    play(agent, assignGranted(1, A, B, C))
    for (const replica of [A, B, C]) play(agent, { kind: 'prepared', replica })
    play(agent, { kind: 'ended', replica: C, ended: ENDED })
    const kill: AgentEvent = { kind: 'hinted', what: 'kill', replicas: [A, C, replicaOf(9)] }
    assert.deepEqual(play(agent, kill).prompts, [], 'who is connected is told')
    play(agent, { kind: 'disconnected' })
    assert.deepEqual(play(agent, kill).prompts, [{ kind: 'kill', replica: A, graceMs: KILL_GRACE_MS }])
    assert.deepEqual(play(agent, kill).prompts, [])
    assert.deepEqual(play(agent, { kind: 'hinted', what: 'release', replicas: [B, C] }).prompts, [{ kind: 'kill', replica: B, graceMs: KILL_GRACE_MS }])
    assert.deepEqual(
      play(agent, { kind: 'ended', replica: A, ended: ENDED }).prompts.map(({ kind }) => kind),
      ['publish'],
      'what a killed run left is kept for its owner'
    )
    play(agent, { kind: 'ended', replica: B, ended: ENDED })
    assert.deepEqual(
      [A, B, C].map((replica) => agent.phaseOf(replica)),
      ['publishing', undefined, 'publishing']
    )
  })

  it('kills what was decided without it and gives it back, never as a result, even if it ended by itself meanwhile', () => {
    const agent = ready()
    play(agent, assign(1, A), { kind: 'prepared', replica: A }, grant(2, [A]))
    const killing = play(agent, { kind: 'cancel', seq: 3, replicas: [A], reason: 'decided' })
    assert.deepEqual(killing.prompts, [{ kind: 'kill', replica: A, graceMs: 10_000 }])
    assert.deepEqual(returnedBy(play(agent, { kind: 'ended', replica: A, ended: ENDED })), [`${A} cancelled decided`])
  })

  it('ends a run that its owner killed and reports what it left, also when it was restarted in between', () => {
    const agent = ready()
    const disk = new Map<string, Uint8Array>()
    const steps = [
      play(agent, assign(1, A), { kind: 'prepared', replica: A }, grant(2, [A])),
      play(agent, { kind: 'cancel', seq: 3, replicas: [A], reason: 'killed' })
    ]
    assert.deepEqual(steps[1]?.prompts, [{ kind: 'kill', replica: A, graceMs: 10_000 }])
    for (const { key, value } of steps.flatMap(({ changes }) => changes)) if (value !== null) disk.set(key, value)
    const again = agentWith()
    for (const [key, value] of disk) again.restore(key, value, 0)
    again.restored()
    for (const survivor of [agent, again]) {
      if (survivor === again) play(again, { kind: 'recovered', found: new Set([A]) }, CONNECTED, { ...WELCOME, received: 1 })
      const ended = play(survivor, { kind: 'ended', replica: A, ended: { ...ENDED, reason: 'killed', exitCode: 143 } })
      assert.deepEqual(
        ended.prompts.map(({ kind }) => kind),
        ['publish']
      )
      const [report] = sent(play(survivor, { kind: 'published', replica: A, published: PUBLISHED })).flatMap(({ reports }) => reports?.results ?? [])
      const result = decodeResult(report ?? new Uint8Array())
      assert.deepEqual([result?.reason, result?.exitCode, result?.output.toString()], ['killed', 143, PUBLISHED.output])
      assert.equal(survivor.phaseOf(A), 'reported')
    }
  })

  it('keeps what an ended run left when its owner kills the task just then, until it is released', () => {
    const agent = ready()
    play(agent, assign(1, A), { kind: 'prepared', replica: A }, grant(2, [A]), { kind: 'ended', replica: A, ended: ENDED })
    play(agent, { kind: 'cancel', seq: 3, replicas: [A], reason: 'killed' })
    assert.equal(agent.phaseOf(A), 'publishing')
    play(agent, { kind: 'published', replica: A, published: PUBLISHED }, { kind: 'cancel', seq: 4, replicas: [A], reason: 'killed' })
    assert.equal(agent.phaseOf(A), 'reported')
    assert.deepEqual(kinds(play(agent, { kind: 'release', seq: 5, replicas: [A] })), ['release', 'ack'])
  })

  it('stops a download at once when its replica is cancelled', () => {
    const agent = ready()
    play(agent, assign(1, A))
    const step = play(agent, { kind: 'cancel', seq: 2, replicas: [A], reason: 'decided' })
    assert.deepEqual(step.prompts, [{ kind: 'abandon', replica: A }])
    assert.deepEqual(returnedBy(step), [`${A} cancelled decided`])
  })

  it('kills and drops what the coordinator no longer wants', () => {
    const agent = ready({ slots: 2 })
    play(agent, assign(1, A, B), { kind: 'prepared', replica: A }, grant(2, [A]), { kind: 'disconnected' }, CONNECTED)
    const step = play(agent, { ...WELCOME, received: 1, unknown: [A, B] })
    assert.deepEqual(
      step.prompts.map(({ kind }) => kind),
      ['kill', 'abandon']
    )
    assert.deepEqual(kinds(play(agent, { kind: 'ended', replica: A, ended: ENDED })), ['remove'])
  })
})
