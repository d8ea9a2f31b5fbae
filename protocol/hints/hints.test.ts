import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { generateIdentity } from '../signing/keys.ts'
import {
  decodeHintFrame,
  encodeHintFrame,
  HINT_BYTES_MAX,
  HINT_LIFE_MS_MAX,
  HINT_REPLICAS_MAX,
  HINT_SKEW_MS_MAX,
  type Hint,
  signHint,
  verifyHint
} from './hints.ts'

const project = await generateIdentity()
const other = await generateIdentity()
const REPLICA = `${'a'.repeat(26)}.999999999.9999`
const NOW = 1_000_000
const HINT: Hint = { project: project.peerId, sequence: 7, kind: 'kill', epoch: 3, replicas: [REPLICA], issuedAtMs: NOW, expiresAtMs: NOW + HINT_LIFE_MS_MAX }
const here = { project: project.peerId, nowMs: NOW }

describe('a hint', () => {
  it('is read as it was signed, and the largest fits', () => {
    assert.deepEqual(verifyHint(signHint(project, HINT), here), HINT)
    const largest = signHint(project, { ...HINT, replicas: Array.from({ length: HINT_REPLICAS_MAX }, () => REPLICA) })
    assert.ok(largest.length <= HINT_BYTES_MAX, `${largest.length}`)
    assert.notEqual(verifyHint(largest, here), undefined)
  })

  it('of somebody else, signed by somebody else, or changed on its way, is none', () => {
    assert.equal(verifyHint(signHint(other, HINT), here), undefined)
    assert.equal(verifyHint(signHint(other, { ...HINT, project: other.peerId }), here), undefined)
    const good = signHint(project, HINT)
    fc.assert(
      fc.property(fc.nat({ max: good.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const bad = Uint8Array.from(good)
        bad[at] = (bad[at] ?? 0) ^ change
        assert.equal(verifyHint(bad, here), undefined)
      })
    )
  })

  it('counts until it is over, and not when it is from the future or for longer than hints are', () => {
    const at = (change: Partial<Hint>): Hint | undefined => verifyHint(signHint(project, { ...HINT, ...change }), here)
    assert.notEqual(at({ expiresAtMs: NOW + 1 }), undefined)
    assert.equal(at({ expiresAtMs: NOW }), undefined)
    assert.notEqual(verifyHint(signHint(project, { ...HINT, expiresAtMs: NOW }), { ...here, evenOver: true }), undefined)
    assert.equal(at({ issuedAtMs: NOW + HINT_SKEW_MS_MAX + 1, expiresAtMs: NOW + HINT_LIFE_MS_MAX }), undefined)
    assert.equal(at({ expiresAtMs: NOW + HINT_LIFE_MS_MAX + 1 }), undefined)
  })

  it('names no more than so many replicas, and replicas', () => {
    for (const replicas of [Array.from({ length: HINT_REPLICAS_MAX + 1 }, () => REPLICA), ['x']])
      assert.equal(verifyHint(signHint(project, { ...HINT, replicas }), here), undefined)
  })

  it('in garbage is none, and neither is a frame', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        assert.equal(verifyHint(bytes, here), undefined)
        const frame = decodeHintFrame(bytes)
        if (frame !== undefined) assert.deepEqual(decodeHintFrame(encodeHintFrame(frame)), frame)
      })
    )
    assert.deepEqual(decodeHintFrame(encodeHintFrame({ kind: 'project', project: 'p' })), { kind: 'project', project: 'p' })
  })
})
