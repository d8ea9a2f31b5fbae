import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { HINT_LIFE_MS_MAX, type Hint, type HintKind } from '#protocol/hints/hints'
import { replicaOf } from '../testing/samples.ts'
import { FRAMES_PER_MINUTE, HINT_DIALS, HINT_PEERS_MAX, HINTS_KEPT_MAX, HINTS_PER_MINUTE, LINGER_MS, REDIAL_MS, STRANDED_MS } from './policy.ts'
import { Spread, type SpreadEffect, type SpreadEvent } from './spread.ts'

const A = replicaOf(0)

function hintOf(sequence: number, kind: HintKind = 'kill', nowMs = 0): Hint {
  return { project: 'p', sequence, kind, epoch: 1, replicas: kind === 'work' ? [] : [A], issuedAtMs: nowMs, expiresAtMs: nowMs + HINT_LIFE_MS_MAX }
}

function heard(from: string | null, hint: Hint): Extract<SpreadEvent, { kind: 'hint' }> {
  return { kind: 'hint', from, id: String(hint.sequence), hint, bytes: new TextEncoder().encode(String(hint.sequence)) }
}

function record(from: string | null, sequence: number): SpreadEvent {
  return { kind: 'record', from, sequence, bytes: Uint8Array.of(sequence) }
}

const opened = (peer: string, dialled = false): SpreadEvent => ({ kind: 'opened', peer, dialled })

function told(effects: readonly SpreadEffect[]): string[] {
  return effects.map((effect) => {
    if (effect.kind === 'send') return `${effect.peer} ${effect.what.kind}`
    if (effect.kind === 'end') return `${effect.what} ${effect.replicas.join()}`
    return 'peer' in effect ? `${effect.kind} ${effect.peer}` : effect.kind
  })
}

describe('a node without its project', () => {
  it('asks a few neighbours after a moment, each now and then, beginning where it is drawn', () => {
    const spread = new Spread(0)
    const neighbours = ['a', 'b', 'c', 'd', 'e']
    spread.apply({ kind: 'neighbours', peers: neighbours }, 0)
    assert.deepEqual(spread.apply({ kind: 'tick', draw: 0.5 }, STRANDED_MS - 1), [])
    assert.deepEqual(told(spread.apply({ kind: 'tick', draw: 0.5 }, STRANDED_MS)), ['dial c', 'dial d', 'dial e'])
    assert.deepEqual(told(spread.apply({ kind: 'tick', draw: 0.5 }, STRANDED_MS + 1000)), ['dial a', 'dial b'])
    assert.deepEqual(told(spread.apply({ kind: 'tick', draw: 0 }, STRANDED_MS + 2000)), [])
    for (const peer of ['a', 'b']) spread.apply(opened(peer, true), STRANDED_MS + 2000)
    assert.deepEqual(told(spread.apply({ kind: 'tick', draw: 0.99 }, STRANDED_MS + REDIAL_MS)).length, HINT_DIALS - 2)
  })

  it('keeps a newer record and calls; an older one, or the same, is nothing to it', () => {
    const spread = new Spread(0, { sequence: 5, bytes: Uint8Array.of(5) })
    assert.deepEqual(told(spread.apply(opened('a'), 0)), ['a record'])
    for (const sequence of [3, 5]) assert.deepEqual(spread.apply(record('a', sequence), 0), [])
    spread.apply(opened('b'), 0)
    assert.deepEqual(told(spread.apply(record('a', 6), 0)), ['keep', 'wake', 'b record'])
  })

  it('ends what was killed or released, and calls when there is work; what is over is not heard', () => {
    const spread = new Spread(0)
    assert.deepEqual(told(spread.apply(heard('a', hintOf(1, 'kill')), 0)), [`kill ${A}`])
    assert.deepEqual(told(spread.apply(heard('a', hintOf(2, 'release')), 0)), [`release ${A}`])
    assert.deepEqual(told(spread.apply(heard('a', hintOf(3, 'work')), 0)), ['wake'])
    assert.deepEqual(spread.apply(heard('a', hintOf(4)), HINT_LIFE_MS_MAX), [])
  })

  it('heeds what came while its stream was dead and it did not know', () => {
    const spread = new Spread(0)
    spread.apply({ kind: 'online' }, 0)
    assert.deepEqual(spread.apply(heard('a', hintOf(1)), 0), [])
    assert.deepEqual(told(spread.apply({ kind: 'away' }, 1000)), [`kill ${A}`])
    assert.deepEqual(spread.apply({ kind: 'away' }, 1000), [])
  })
})

describe('a node with its project', () => {
  it('sends nothing and asks nobody, keeps hints for those who come, and leaves the streams that it opened after a while', () => {
    const spread = new Spread(0)
    spread.apply({ kind: 'neighbours', peers: ['a', 'b'] }, 0)
    spread.apply(opened('a', true), 0)
    spread.apply(opened('b'), 0)
    spread.apply({ kind: 'online' }, 1000)
    spread.apply({ kind: 'closed', peer: 'b' }, 1000)
    assert.deepEqual(spread.apply({ kind: 'tick', draw: 0 }, 1000), [])
    assert.deepEqual(told(spread.apply(heard(null, hintOf(1)), 2000)), ['a hint'])
    assert.deepEqual(told(spread.apply(opened('c'), 3000)), ['c hint'])
    assert.deepEqual(told(spread.apply({ kind: 'tick', draw: 0 }, 1000 + LINGER_MS)), ['close a'])
  })

  it('has no more than so many peers', () => {
    const spread = new Spread(0)
    for (let index = 0; index < HINT_PEERS_MAX; index += 1) assert.deepEqual(spread.apply(opened(`peer ${index}`), 0), [])
    assert.deepEqual(told(spread.apply(opened('one more'), 0)), ['close one more'])
    assert.deepEqual(told(spread.apply(opened('peer 0'), 0)), [])
  })
})

describe('whatever is said', () => {
  it('a peer is heard so often in a minute, and whoever comes then not more of them than are counted', () => {
    const spread = new Spread(0)
    const heardOf = (peer: string, nowMs: number, times: number): number =>
      Array.from({ length: times }, () => spread.mayHear(peer, nowMs)).filter(Boolean).length
    assert.equal(heardOf('a', 0, 10_000), FRAMES_PER_MINUTE)
    assert.equal(heardOf('b', 0, 10_000), FRAMES_PER_MINUTE)
    assert.equal(heardOf('a', 30_000, 10_000), FRAMES_PER_MINUTE / 2)
    for (let index = 0; index < 10_000; index += 1) spread.mayHear(`peer ${index}`, 30_000)
    assert.equal(heardOf('a new one', 30_000, 1), 0)
    spread.apply({ kind: 'tick', draw: 0 }, 120_000)
    assert.equal(heardOf('a new one', 120_000, 1), 1)
  })

  it('is passed on once at most, with its bounds, however often it is said again, in whatever order', () => {
    const said = fc.array(fc.record({ from: fc.constantFrom('a', 'b', 'c'), sequence: fc.nat({ max: 400 }), afterMs: fc.nat({ max: 3_000 }) }), {
      maxLength: 600
    })
    fc.assert(
      fc.property(said, (all) => {
        const spread = new Spread(0)
        for (const peer of ['a', 'b', 'c']) spread.apply(opened(peer), 0)
        const passed = new Set<string>()
        let nowMs = 0
        let ended = 0
        for (const { from, sequence, afterMs } of all) {
          nowMs += afterMs
          const effects = spread.apply(heard(from, hintOf(sequence)), nowMs)
          for (const effect of effects) {
            if (effect.kind === 'end') ended += 1
            if (effect.kind !== 'send') continue
            assert.notEqual(effect.peer, from)
            const once = `${effect.peer} ${sequence}`
            assert.ok(!passed.has(once), `${once} twice`)
            passed.add(once)
          }
          assert.ok(spread.view().kept <= HINTS_KEPT_MAX)
        }
        assert.ok(ended <= HINTS_PER_MINUTE * (1 + nowMs / 60_000))
      }),
      { numRuns: 200 }
    )
  })

  it('what was forgotten for want of room is not believed again', () => {
    const spread = new Spread(0)
    let nowMs = 0
    for (let sequence = 0; sequence < 3 * HINTS_KEPT_MAX; sequence += 1) {
      nowMs += 1_000
      spread.apply(heard('a', hintOf(sequence, 'kill', nowMs)), nowMs)
    }
    for (let sequence = 0; sequence < 2 * HINTS_KEPT_MAX; sequence += 1) {
      nowMs += 1_000
      assert.deepEqual(spread.apply(heard('a', hintOf(sequence, 'kill', nowMs)), nowMs), [], String(sequence))
    }
  })
})

describe('a network of them', () => {
  /** Who has a stream to whom. */
  const links = fc.uniqueArray(fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 })), { maxLength: 30, selector: ([a, b]) => `${Math.min(a, b)} ${Math.max(a, b)}` })

  it('hears all that the project told one of them, each frame over each stream once, whoever is linked with whom and in whatever order frames come', () => {
    fc.assert(
      fc.property(links, fc.integer({ min: 1, max: 20 }), fc.array(fc.nat(), { minLength: 400, maxLength: 400 }), (pairs, hints, order) => {
        const nodes = Array.from({ length: 10 }, () => new Spread(0))
        const wire: { readonly from: number; readonly to: number; readonly sequence: number }[] = []
        const overEach = new Map<string, number>()
        const carry = (from: number, effects: readonly SpreadEffect[]): void => {
          for (const effect of effects) {
            if (effect.kind !== 'send') continue
            const frame = { from, to: Number(effect.peer), sequence: Number(new TextDecoder().decode(effect.what.bytes)) }
            const key = `${frame.from} ${frame.to} ${frame.sequence}`
            overEach.set(key, (overEach.get(key) ?? 0) + 1)
            wire.push(frame)
          }
        }
        const linked = new Map<number, Set<number>>()
        for (const [a, b] of pairs) {
          if (a === b) continue
          carry(a, nodes[a]?.apply(opened(String(b)), 0) ?? [])
          carry(b, nodes[b]?.apply(opened(String(a)), 0) ?? [])
          linked.set(a, (linked.get(a) ?? new Set()).add(b))
          linked.set(b, (linked.get(b) ?? new Set()).add(a))
        }
        for (let sequence = 0; sequence < hints; sequence += 1) carry(0, nodes[0]?.apply(heard(null, hintOf(sequence)), 0) ?? [])
        for (let step = 0; wire.length > 0; step += 1) {
          const [frame] = wire.splice((order[step % order.length] ?? 0) % wire.length, 1)
          if (frame !== undefined) carry(frame.to, nodes[frame.to]?.apply(heard(String(frame.from), hintOf(frame.sequence)), 0) ?? [])
        }
        const reached = new Set([0])
        for (const node of reached) for (const next of linked.get(node) ?? []) reached.add(next)
        for (const [index, node] of nodes.entries()) assert.equal(node.view().kept, reached.has(index) ? hints : 0)
        for (const [key, times] of overEach) assert.equal(times, 1, key)
      }),
      { numRuns: 200 }
    )
  })
})
