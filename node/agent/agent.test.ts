import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { decodeFrame, Frame } from '#protocol/control/messages'
import { decodeResult, RESULT_DOMAIN } from '#protocol/result/result'
import { inclusions, leavesOf, verifyInBatch } from '#protocol/signing/batch'
import { generateIdentity } from '#protocol/signing/keys'
import { ENDED, leaseOf, PROJECT, PUBLISHED, replicaOf } from '../testing/samples.ts'
import { SLOTS, World } from '../testing/world.ts'
import { Agent } from './agent.ts'
import type { AgentEvent, Step } from './events.ts'
import {
  CRASH_TOLD_MS,
  DRAIN_RELEASE_MS,
  FIGURE_AGAIN_MS,
  KILL_GRACE_MS,
  PARK_AFTER_MS,
  PARK_QUIT_MS,
  PROGRESS_AFTER_MS,
  PROGRESS_AGAIN_MS,
  REPLICAS_HELD_MAX
} from './policy.ts'
import { resultOf } from './report.ts'

const A = replicaOf(0)
const B = replicaOf(1)
const C = replicaOf(2)
const SPARE = new Uint8Array(16).fill(9)
const CONNECTED: AgentEvent = { kind: 'connected', spare: SPARE }
const WELCOME: AgentEvent = { kind: 'welcome', resumed: true, received: 0, unknown: [] }

function assign(seq: number, ...replicas: string[]): AgentEvent {
  return { kind: 'assign', seq, leases: replicas.map((replica) => ({ ok: true, granted: false, lease: leaseOf(replica) })) }
}

/** With the leave to run. */
function assignGranted(seq: number, ...replicas: string[]): AgentEvent {
  return { kind: 'assign', seq, leases: replicas.map((replica) => ({ ok: true, granted: true, lease: leaseOf(replica) })) }
}

function grant(seq: number, granted: string[], refused: string[] = []): AgentEvent {
  return { kind: 'grant', seq, granted, refused }
}

function agentWith(slots = 1, boot = ''): Agent {
  const signer = { peerId: PROJECT, sign: () => new Uint8Array(64) }
  return new Agent({ project: PROJECT, slots, stockBytesMax: 2 ** 40, boot }, signer, new Uint8Array(16))
}

/** A connected agent with an engine that works; what that said is taken away. */
function ready(slots = 1): Agent {
  const agent = agentWith(slots)
  play(agent, { kind: 'engine', up: true }, CONNECTED, WELCOME)
  return agent
}

function play(agent: Agent, ...events: AgentEvent[]): Step {
  for (const event of events) agent.apply(event, 0)
  return agent.take()
}

function sent({ effects }: Step): Frame[] {
  return effects.flatMap((effect) => (effect.kind === 'send' ? [decodeFrame(effect.frame) ?? Frame.decode(effect.frame)] : []))
}

function kinds({ effects }: Step): string[] {
  return effects.map(({ kind }) => kind)
}

function bodyOf(replica: string, node: string): Uint8Array {
  return resultOf({ project: PROJECT, node, lease: leaseOf(replica), ended: ENDED, published: PUBLISHED })
}

function returnedBy(step: Step): string[] {
  return sent(step).flatMap((frame) => frame.returned?.replicas.map(({ replica, class: whose, code }) => `${replica} ${whose} ${code}`) ?? [])
}

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
      const agent = agentWith(3, boot)
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

  it('ends what a hint says was killed or is wanted no more while it has no connection, and leaves what has ended', () => {
    const agent = ready(3)
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

  it('makes a lease durable before it is acknowledged, in the same step', () => {
    const { changes, effects } = play(ready(), assign(1, A))
    assert.ok(changes.some(({ key, value }) => key === `replica/${A}` && value !== null))
    assert.ok(changes.some(({ key }) => key === 'link'))
    assert.deepEqual(effects, [{ kind: 'ack', seq: 1 }])
  })

  it('asks for no more than its slots, and for the next when one has ended', () => {
    const agent = ready(1)
    play(agent, assign(1, A, B), { kind: 'prepared', replica: A }, { kind: 'prepared', replica: B })
    assert.deepEqual([agent.phaseOf(A), agent.phaseOf(B)], ['asking', 'ready'])
    const after = play(agent, grant(2, [A]), { kind: 'ended', replica: A, ended: ENDED })
    assert.deepEqual(sent(after)[0]?.start?.replicas, [{ replica: B, epoch: 1 }])
  })

  it('runs at once what was granted with its lease, also after a crash, and asks for what it has no slot for', () => {
    const agent = ready(1)
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

  it('breaks the stream on a gap and applies nothing of it', () => {
    const agent = ready()
    assert.deepEqual(
      play(agent, assign(2, A)).prompts.map(({ kind }) => kind),
      ['disconnect']
    )
    assert.equal(agent.phaseOf(A), undefined)
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

  it('signs results that end together as one batch in one frame', async () => {
    const signer = await generateIdentity()
    const agent = new Agent({ project: PROJECT, slots: 3, stockBytesMax: 2 ** 40 }, signer, new Uint8Array(16))
    play(agent, { kind: 'engine', up: true }, CONNECTED, WELCOME, assign(1, A, B, C))
    for (const replica of [A, B, C]) agent.apply({ kind: 'prepared', replica }, 0)
    play(agent, grant(2, [A, B, C]))
    for (const replica of [A, B, C]) {
      agent.apply({ kind: 'ended', replica, ended: ENDED }, 0)
      agent.apply({ kind: 'published', replica, published: PUBLISHED }, 0)
    }
    const frames = sent(agent.take())
    assert.equal(frames.length, 1)
    const { results, signature } = frames[0]?.reports ?? assert.fail('no report')
    assert.equal(results.length, 3)
    for (const [index, proof] of inclusions({ leaves: leavesOf(results), signature }).entries())
      assert.ok(verifyInBatch(signer.peerId, RESULT_DOMAIN, results[index] ?? new Uint8Array(), proof))
  })

  it('says a tree that was too large ended by disk', () => {
    const agent = ready()
    play(agent, assign(1, A), { kind: 'prepared', replica: A }, grant(2, [A]), { kind: 'ended', replica: A, ended: ENDED })
    const step = play(agent, { kind: 'published', replica: A, published: { ...PUBLISHED, overDisk: true } })
    assert.equal(decodeResult(sent(step)[0]?.reports?.results[0] ?? new Uint8Array())?.reason, 'disk')
  })

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
    const agent = ready(1)
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

  it('ignores a grant that crosses the return of its replica', () => {
    const agent = ready()
    play(agent, assign(1, A), { kind: 'prepared', replica: A })
    play(agent, { kind: 'pause' })
    assert.deepEqual(kinds(play(agent, grant(2, [A]))), ['ack'])
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

  it('kills and drops what the coordinator no longer wants', () => {
    const agent = ready(2)
    play(agent, assign(1, A, B), { kind: 'prepared', replica: A }, grant(2, [A]), { kind: 'disconnected' }, CONNECTED)
    const step = play(agent, { ...WELCOME, received: 1, unknown: [A, B] })
    assert.deepEqual(
      step.prompts.map(({ kind }) => kind),
      ['kill', 'abandon']
    )
    assert.deepEqual(kinds(play(agent, { kind: 'ended', replica: A, ended: ENDED })), ['remove'])
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
      const options = { project: PROJECT, slots: 1, stockBytesMax: 2 ** 40, keep: KEEP }
      const agent = new Agent(options, { peerId: PROJECT, sign: () => new Uint8Array(64) }, new Uint8Array(16))
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

  it('drains: reports what runs, says good-bye, and is done when that is known', () => {
    const agent = ready(2)
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

  it('holds a bounded number of replicas', () => {
    const agent = ready()
    const many = Array.from({ length: REPLICAS_HELD_MAX }, (_, index) => replicaOf(index))
    play(agent, assign(1, ...many))
    const step = play(agent, assign(2, replicaOf(REPLICAS_HELD_MAX)))
    assert.deepEqual(returnedBy(step), [`${replicaOf(REPLICAS_HELD_MAX)} node full`])
    assert.equal(agent.view().replicas.length, REPLICAS_HELD_MAX)
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
