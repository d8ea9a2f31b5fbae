import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EMPTY_FILE } from '#protocol/content/content'
import { RESUME_NAME } from '../leases.ts'
import { A, CONNECTED, play, playAt, ready, sent, WELCOME } from '../testing/agents.ts'
import { ENDED, leaseOf } from '../testing/samples.ts'
import type { Agent } from './agent.ts'
import type { AgentEvent, CheckedLease, Step } from './events.ts'
import { QUIT_GRACE_MS, SAVE_MS_MAX, SAVE_QUIT_MS_MAX } from './policy.ts'
import { decodeReplica, encodeReplica } from './records.ts'

const CHECKPOINT = { everyMs: 60_000 }
const CHECKPOINTED = { ...ENDED, exitCode: 85 }
const KILLED = { ...ENDED, reason: 'killed' as const, exitCode: 143 }

/** It runs A, which may leave snapshots. */
function running(lease: Partial<CheckedLease> = { checkpoint: CHECKPOINT }): Agent {
  const agent = ready()
  const leases = [{ ok: true as const, granted: true, lease: { ...leaseOf(A), ...lease } }]
  play(agent, { kind: 'assign', seq: 1, leases }, { kind: 'prepared', replica: A })
  assert.equal(agent.phaseOf(A), 'running')
  return agent
}

function offered(step: Step): unknown[] {
  return sent(step).flatMap((frame) => frame.checkpoints?.replicas.map(({ root, last = false }) => [root, last]) ?? [])
}

function returned(step: Step): unknown[] {
  return sent(step).flatMap((frame) => frame.returned?.replicas.map((one) => [one.class, one.code]) ?? [])
}

function snapshot(root: string, last = false): AgentEvent {
  return { kind: 'snapshot', replica: A, root, bytes: 1, last }
}

function taken(root: string): AgentEvent {
  return { kind: 'taken', replicas: [{ replica: A, root }] }
}

function prompts({ prompts: all }: Step): string[] {
  return all.map(({ kind }) => kind)
}

describe('checkpoints of runs', () => {
  it('are offered at once and with every welcome, until the project has them, and only then is the next one made', () => {
    const agent = running()
    assert.deepEqual(offered(play(agent, snapshot('one'))), [['one', false]])
    assert.deepEqual(offered(play(agent, { kind: 'disconnected' }, CONNECTED)), [])
    assert.deepEqual(offered(play(agent, WELCOME)), [['one', false]])
    assert.deepEqual(prompts(play(agent, taken('another'))), [])
    assert.deepEqual(prompts(play(agent, taken('one'))), ['saved'])
    assert.deepEqual(offered(play(agent, { kind: 'disconnected' }, CONNECTED, WELCOME)), [])
  })

  it('X18: status 85 gives the run back when the project has its last one; without any it is its result', () => {
    const agent = running()
    assert.deepEqual(prompts(play(agent, { kind: 'ended', replica: A, ended: CHECKPOINTED })), ['save'])
    assert.deepEqual(returned(play(agent, snapshot('one', true))), [])
    assert.deepEqual(returned(play(agent, taken('one'))), [['owner', 'checkpoint']])
    assert.equal(agent.phaseOf(A), undefined)

    const never = running()
    play(never, { kind: 'ended', replica: A, ended: CHECKPOINTED })
    assert.deepEqual(prompts(play(never, { kind: 'unsaved', replica: A })), ['publish'])
    const plain = running({})
    assert.deepEqual(prompts(play(plain, { kind: 'ended', replica: A, ended: CHECKPOINTED })), ['publish'], 'nobody offered to take it up')
  })

  it('F14: a pause that is meant now ends the run and gives it back with what it left; one that is not lets it go on', () => {
    const agent = running()
    play(agent, { kind: 'pause' })
    assert.equal(agent.phaseOf(A), 'running')
    assert.deepEqual(prompts(play(agent, { kind: 'pause', now: true })), ['kill'])
    assert.deepEqual(prompts(play(agent, { kind: 'ended', replica: A, ended: KILLED })), ['save'])
    play(agent, snapshot('one', true))
    assert.deepEqual(returned(play(agent, taken('one'))), [['owner', 'paused']])
    const plain = running({})
    play(plain, { kind: 'pause', now: true })
    assert.deepEqual(returned(play(plain, { kind: 'ended', replica: A, ended: KILLED })), [['owner', 'paused']])
  })

  it('F14: a node that stops now says good-bye when the project has them, and waits for that no longer than it may', () => {
    const agent = running()
    assert.ok(sent(play(agent, { kind: 'quit' })).every(({ bye }) => bye === undefined))
    play(agent, { kind: 'ended', replica: A, ended: KILLED }, snapshot('one', true))
    const frames = sent(play(agent, taken('one')))
    assert.ok(frames.findIndex((frame) => frame.returned !== undefined) < frames.findIndex(({ bye }) => bye !== undefined))

    const slow = running()
    play(slow, { kind: 'quit' }, { kind: 'ended', replica: A, ended: KILLED }, snapshot('one', true))
    assert.equal(slow.phaseOf(A), 'saving')
    playAt(slow, SAVE_QUIT_MS_MAX, { kind: 'tick' })
    assert.equal(slow.phaseOf(A), undefined)
    const silent = running()
    play(silent, { kind: 'quit' })
    assert.ok(sent(playAt(silent, QUIT_GRACE_MS + SAVE_QUIT_MS_MAX, { kind: 'tick' })).some(({ bye }) => bye !== undefined))
  })

  it('are waited for ten minutes at most; what hung, or nobody wants, is given back without', () => {
    const agent = running()
    play(agent, { kind: 'failed', replica: A, fault: { class: 'node', code: 'failed', message: '' } })
    assert.equal(agent.phaseOf(A), 'saving')
    assert.deepEqual(returned(playAt(agent, SAVE_MS_MAX, { kind: 'tick' })), [['node', 'failed']])
    const hung = running()
    assert.deepEqual(returned(play(hung, { kind: 'failed', replica: A, fault: { class: 'task', code: 'hang', message: '' } })), [['task', 'hang']])
    const killed = running()
    play(killed, { kind: 'cancel', seq: 2, replicas: [A], reason: 'lost' })
    assert.deepEqual(returned(play(killed, { kind: 'ended', replica: A, ended: KILLED })), [['cancelled', 'lost']])
    const held = running()
    play(held, { kind: 'cancel', seq: 2, replicas: [A], reason: 'held' })
    assert.deepEqual(prompts(play(held, { kind: 'ended', replica: A, ended: KILLED })), ['save'])
  })

  it('a lease keeps over a restart what it goes on from; one that was to be given back still is', () => {
    const checkpoint = { ...CHECKPOINT, root: EMPTY_FILE }
    const lease = { ...leaseOf(A), checkpoint }
    const read = decodeReplica(A, encodeReplica({ phase: 'running', lease }))
    assert.ok(read.phase === 'running')
    assert.deepEqual(read.lease.checkpoint, checkpoint)
    assert.deepEqual(
      read.lease.manifest.dependencies.filter(({ name }) => name === RESUME_NAME).map(({ root }) => root.toString()),
      [EMPTY_FILE]
    )
    const fault = { class: 'owner', code: 'checkpoint', message: '' } as const
    const saving = decodeReplica(A, encodeReplica({ phase: 'saving', lease, fault }))
    assert.deepEqual(saving.phase === 'killing' && [saving.fault, saving.publish], [fault, false])
    const sealed = decodeReplica(A, encodeReplica({ phase: 'running', lease: { ...lease, sealed: true } }))
    assert.equal(sealed.phase === 'running' && sealed.lease.sealed, true)
  })
})
