import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeFrame, NEXT_MAX } from '#protocol/control/messages'
import { CONNECTED, play, ready, WELCOME } from '../testing/agents.ts'
import { leaseOf, replicaOf } from '../testing/samples.ts'
import type { AgentEvent, NextBundle, Step } from './events.ts'
import { nextUser } from './next.ts'

const bundles = (...names: string[]): NextBundle[] => names.map((bundle) => ({ bundle, manifest: leaseOf(replicaOf(0)).manifest }))
const MIB = 1024 ** 2

function promptsOf({ prompts }: Step): string[] {
  return prompts.map((prompt) => ('bundle' in prompt ? `${prompt.kind} ${prompt.bundle}` : 'root' in prompt ? `${prompt.kind} ${prompt.root}` : prompt.kind))
}

/** A tree came for what is next. */
function came(bundle: string, root: string, bytes: number): AgentEvent {
  return { kind: 'using', replica: nextUser(bundle), root, bytes, fetched: true }
}

describe('what is next at a node', () => {
  it('is asked for with the hello, as many bundles as it brings at most', () => {
    const agent = ready()
    const [hello] = play(agent, { kind: 'disconnected' }, CONNECTED).effects
    assert.equal(hello?.kind === 'hello' && hello.next, NEXT_MAX)
    play(agent, WELCOME, { kind: 'next', bundles: bundles('a', 'b', 'c', 'd', 'e', 'f') })
    assert.equal(agent.view().next, NEXT_MAX)
  })

  it('is brought once, given up when it is so no more, and neither written down nor told', () => {
    const agent = ready()
    const step = play(agent, { kind: 'next', bundles: bundles('a', 'b') })
    assert.deepEqual(promptsOf(step), ['bring a', 'bring b'])
    assert.deepEqual([step.changes, step.effects], [[], []])
    assert.deepEqual(promptsOf(play(agent, { kind: 'next', bundles: bundles('b', 'c') })), ['let_go a', 'bring c'])
    assert.deepEqual(promptsOf(play(agent, { kind: 'next', bundles: bundles('c', 'b') })), [])
    assert.deepEqual(promptsOf(play(agent, { kind: 'next', bundles: [] })), ['let_go c', 'let_go b'])
  })

  it('is given up without a word when the node pauses, leaves, loses its engine or its stream', () => {
    const ends: readonly AgentEvent[] = [{ kind: 'pause' }, { kind: 'drain' }, { kind: 'quit' }, { kind: 'engine', up: false }, { kind: 'disconnected' }]
    for (const end of ends) {
      const agent = ready()
      play(agent, { kind: 'next', bundles: bundles('a') })
      const step = play(agent, end)
      assert.deepEqual(promptsOf(step), ['let_go a'], end.kind)
      const frames = step.effects.flatMap((effect) => (effect.kind === 'send' ? [decodeFrame(effect.frame)] : []))
      assert.ok(
        frames.every((frame) => frame?.returned === undefined),
        end.kind
      )
      assert.deepEqual(promptsOf(play(agent, { kind: 'next', bundles: bundles('b') })), [], end.kind)
    }
  })

  it('takes no slot, and no grant has to wait for it', () => {
    const agent = ready()
    const replica = replicaOf(0)
    play(agent, { kind: 'next', bundles: bundles('a', 'b') })
    const step = play(agent, { kind: 'assign', seq: 1, leases: [{ ok: true, granted: true, lease: leaseOf(replica) }] }, { kind: 'prepared', replica })
    assert.ok(step.effects.some(({ kind }) => kind === 'start'))
  })

  it('stays while it is next, though what nobody uses has to go', () => {
    const agent = ready({ stockBytesMax: 10 * MIB })
    play(agent, { kind: 'next', bundles: bundles('a') }, came('a', 'tree of a', 8 * MIB))
    // A run leaves something as large: what is next stays, and that goes.
    const step = play(agent, { kind: 'kept', replica: replicaOf(3), root: 'left', bytes: 8 * MIB })
    assert.deepEqual(promptsOf(step), ['evict left'])
    assert.deepEqual(promptsOf(play(agent, { kind: 'next', bundles: [] }, { kind: 'kept', replica: replicaOf(4), root: 'later', bytes: 8 * MIB })), [
      'let_go a',
      'evict tree of a'
    ])
  })

  it('makes the stock no larger than it may be', () => {
    const agent = ready({ stockBytesMax: 10 * MIB })
    play(agent, { kind: 'next', bundles: bundles('a', 'b') }, came('a', 'tree of a', 8 * MIB))
    assert.deepEqual(promptsOf(play(agent, came('b', 'tree of b', 8 * MIB))), ['evict tree of b'])
    assert.equal(agent.view().stock.bytes, 8 * MIB)
  })

  it('is no news for a tree that comes when it is next no more', () => {
    const agent = ready({ stockBytesMax: 10 * MIB })
    play(agent, { kind: 'next', bundles: bundles('a') }, { kind: 'next', bundles: [] }, came('a', 'tree of a', 8 * MIB))
    assert.deepEqual(promptsOf(play(agent, { kind: 'kept', replica: replicaOf(4), root: 'later', bytes: 8 * MIB })), ['evict tree of a'])
  })
})
