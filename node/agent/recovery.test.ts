import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A, agentWith, assignGranted, B, CONNECTED, play, returnedBy, sent, WELCOME } from '../testing/agents.ts'
import { ENDED } from '../testing/samples.ts'
import type { Agent } from './agent.ts'
import type { Step } from './events.ts'
import { CRASH_TOLD_MS } from './policy.ts'

describe('a node that starts again', () => {
  it('tells with each welcome what it logged before a crash, also after another one, until a stream has lasted', () => {
    const words = (step: Step): string[] => sent(step).flatMap((frame) => frame.crashed?.replicas.map(({ replica, log }) => `${replica} ${log}`) ?? [])
    const agent = agentWith()
    const { changes } = play(agent, { kind: 'crashed', words: [{ replica: A, log: 'first' }] })
    const [record] = changes.filter(({ value }) => value !== null)
    const next = agentWith()
    next.restore(record?.key ?? '', record?.value ?? new Uint8Array(), 0)
    next.restored()
    play(next, { kind: 'crashed', words: [{ replica: B, log: 'second' }] })
    const told = [`${B} second`, `${A} first`]
    assert.deepEqual(words(play(next, CONNECTED, WELCOME)), told)
    play(next, { kind: 'disconnected' })
    assert.deepEqual(words(play(next, CONNECTED, WELCOME)), told)
    next.apply({ kind: 'tick' }, CRASH_TOLD_MS)
    assert.deepEqual(next.take().changes, [{ key: record?.key, value: null }])
    play(next, { kind: 'disconnected' })
    assert.deepEqual(words(play(next, CONNECTED, WELCOME)), [])
  })

  it('gives back, unseen, what had begun before its machine was started again, and finds it again when only the node was', () => {
    const records = new Map<string, Uint8Array>()
    const at = (boot: string): Agent => {
      const agent = agentWith({ slots: 3, boot })
      for (const [key, value] of records) agent.restore(key, value, 0)
      agent.restored()
      return agent
    }
    const keep = ({ changes }: Step): void => {
      for (const { key, value } of changes) {
        if (value === null) records.delete(key)
        else records.set(key, value)
      }
    }
    const first = at('one')
    keep(play(first, { kind: 'engine', up: true }, { kind: 'recovered', found: new Set() }, CONNECTED, WELCOME))
    keep(play(first, assignGranted(1, A, B), { kind: 'prepared', replica: A }, { kind: 'prepared', replica: B }))
    // Failures are on record before they are published.
    keep(play(first, { kind: 'ended', replica: B, ended: { ...ENDED, exitCode: 3 } }))
    assert.deepEqual([first.phaseOf(A), first.phaseOf(B)], ['running', 'publishing'])

    const same = at('one')
    assert.deepEqual([same.unrecovered().map(({ replica }) => replica), same.take().prompts.map(({ kind }) => kind)], [[A], ['publish']])
    const other = at('two')
    assert.deepEqual([other.isAnotherBoot, other.unrecovered().map(({ replica }) => replica), other.take().prompts], [true, [A, B], []])
    const step = play(other, { kind: 'recovered', found: new Set() }, CONNECTED, WELCOME)
    keep(step)
    assert.deepEqual(returnedBy(step), [`${A} node lost`, `${B} node lost`])
    assert.deepEqual([other.isAnotherBoot, at('two').isAnotherBoot, at('').isAnotherBoot], [false, false, false])
  })
})
