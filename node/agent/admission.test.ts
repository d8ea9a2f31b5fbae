import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A, agentWith, assign, assignGranted, B, grant, kinds, play, ready, returnedBy, sent } from '../testing/agents.ts'
import { ENDED, replicaOf } from '../testing/samples.ts'
import { REPLICAS_HELD_MAX } from './policy.ts'

describe('a lease, until it runs', () => {
  it('asks for no more than its slots, and for the next when one has ended', () => {
    const agent = ready()
    play(agent, assign(1, A, B), { kind: 'prepared', replica: A }, { kind: 'prepared', replica: B })
    assert.deepEqual([agent.phaseOf(A), agent.phaseOf(B)], ['asking', 'ready'])
    const after = play(agent, grant(2, [A]), { kind: 'ended', replica: A, ended: ENDED })
    assert.deepEqual(sent(after)[0]?.start?.replicas, [{ replica: B, epoch: 1 }])
  })

  it('runs at once what was granted with its lease, also after a crash, and asks for what it has no slot for', () => {
    const agent = ready()
    const { changes, prompts } = play(agent, assignGranted(1, A, B))
    assert.deepEqual(
      prompts.map(({ kind }) => kind),
      ['prepare', 'prepare']
    )
    const again = agentWith()
    for (const { key, value } of changes) if (value !== null) again.restore(key, value, 0)
    again.restored()
    assert.deepEqual(kinds(play(again, { kind: 'prepared', replica: A })), ['start'])
    const step = play(agent, { kind: 'prepared', replica: B }, { kind: 'prepared', replica: A })
    assert.deepEqual([kinds(step), agent.phaseOf(A), agent.phaseOf(B)], [['start'], 'running', 'ready'])
    const after = play(agent, { kind: 'ended', replica: A, ended: ENDED })
    assert.deepEqual(sent(after)[0]?.start?.replicas, [{ replica: B, epoch: 1 }])
  })

  it('drops a refused replica without running it', () => {
    const agent = ready()
    play(agent, assign(1, A), { kind: 'prepared', replica: A })
    assert.deepEqual(kinds(play(agent, grant(2, [], [A]))), ['remove', 'ack'])
    assert.equal(agent.phaseOf(A), undefined)
  })

  it('takes a lease that comes twice as one', () => {
    const agent = ready()
    play(agent, assign(1, A))
    assert.deepEqual(play(agent, assign(1, A)), { changes: [], prompts: [], effects: [{ kind: 'ack', seq: 1 }] })
    assert.deepEqual(play(agent, assign(2, A)).prompts, [])
  })

  it('ignores a grant that crosses the return of its replica', () => {
    const agent = ready()
    play(agent, assign(1, A), { kind: 'prepared', replica: A })
    play(agent, { kind: 'pause' })
    assert.deepEqual(kinds(play(agent, grant(2, [A]))), ['ack'])
  })

  it('holds a bounded number of replicas', () => {
    const agent = ready()
    const many = Array.from({ length: REPLICAS_HELD_MAX }, (_, index) => replicaOf(index))
    play(agent, assign(1, ...many))
    const step = play(agent, assign(2, replicaOf(REPLICAS_HELD_MAX)))
    assert.deepEqual(returnedBy(step), [`${replicaOf(REPLICAS_HELD_MAX)} node full`])
    assert.equal(agent.view().replicas.length, REPLICAS_HELD_MAX)
  })
})
