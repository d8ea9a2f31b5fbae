import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import fc from 'fast-check'
import { generateIdentity } from '../signing/keys.ts'
import { type ProjectRecord, RECORD_BYTES_MAX, RecordError, recordKey, selectEntry, signRecord, validateEntry, verifyRecord } from './record.ts'

const project = await generateIdentity()
const stranger = await generateIdentity()
const record = (changes: Partial<ProjectRecord> = {}): ProjectRecord => ({
  v: 1,
  project: project.peerId,
  sequence: 7,
  epoch: 3,
  coordinators: [{ peer: project.peerId, addresses: ['/ip4/203.0.113.7/tcp/4001'] }],
  issuedAtMs: 1_000,
  expiresAtMs: 2_000,
  ...changes
})
const at = { nowMs: 1_500 }

describe('the project record', () => {
  it('comes back as it was signed', () => {
    assert.deepEqual(verifyRecord(signRecord(project, record()), { ...at, project: project.peerId }), record())
  })

  it('is signed by nobody but its project', () => {
    assert.throws(() => signRecord(stranger, record()), { code: 'foreign' })
    const { body } = dagCbor.decode<{ body: Uint8Array }>(signRecord(project, record()))
    const forged = dagCbor.encode({ body, signature: stranger.sign('talko-record-1', body) })
    assert.throws(() => verifyRecord(forged, at), { code: 'unsigned' })
    const elsewhere = dagCbor.encode({ body, signature: project.sign('talko-bundle-1', body) })
    assert.throws(() => verifyRecord(elsewhere, at), { code: 'unsigned' })
  })

  it('belongs under its own key only', () => {
    const bytes = signRecord(project, record())
    validateEntry(recordKey(project.peerId), bytes, at.nowMs)
    assert.throws(() => validateEntry(recordKey(stranger.peerId), bytes, at.nowMs), { code: 'foreign' })
    assert.throws(() => validateEntry(new TextEncoder().encode('/pk/x'), bytes, at.nowMs), { code: 'foreign' })
  })

  it('ends at its time, and is not believed from far in the future', () => {
    const bytes = signRecord(project, record())
    assert.throws(() => verifyRecord(bytes, { nowMs: 2_000 }), { code: 'expired' })
    assert.throws(() => verifyRecord(signRecord(project, record({ issuedAtMs: 9e12, expiresAtMs: 9e12 + 1 })), at), { code: 'expired' })
  })

  it('is refused when it breaks its bounds', () => {
    const long = '/'.padEnd(250, 'x')
    const many = Array.from({ length: 16 }, () => ({ peer: project.peerId, addresses: Array.from({ length: 16 }, () => long) }))
    assert.throws(() => signRecord(project, record({ coordinators: many })), { code: 'too_large' })
    assert.throws(() => verifyRecord(new Uint8Array(RECORD_BYTES_MAX + 1), at), { code: 'too_large' })
    for (const broken of [
      { sequence: -1 },
      { sequence: 1.5 },
      { v: 2 as 1 },
      { extra: 1 } as object,
      { coordinators: [...many, ...many] },
      { coordinators: [{ peer: 'x', addresses: [] }] },
      { coordinators: [{ peer: project.peerId, addresses: [`/${long}xxxxxxxx`] }] }
    ])
      assert.throws(() => signRecord(project, record(broken)), { code: 'malformed' })
  })

  it('with the highest sequence wins, wherever it stands', () => {
    const old = signRecord(project, record({ sequence: 6 }))
    const latest = signRecord(project, record({ sequence: 8 }))
    const garbage = Uint8Array.of(1, 2, 3)
    assert.equal(selectEntry([old, latest]), 1)
    assert.equal(selectEntry([latest, old, garbage]), 0)
    assert.equal(selectEntry([garbage, old, latest, latest]), 2)
    assert.equal(selectEntry([garbage]), 0)
  })

  it('never throws anything but RecordError at bytes that a stranger made up or changed', () => {
    const good = signRecord(project, record())
    const changed = fc.tuple(fc.nat(good.length - 1), fc.nat(255)).map(([index, byte]) => good.map((old, i) => (i === index ? byte : old)))
    const value = fc.anything({ withNullPrototype: false, withBigInt: false }).map((object) => {
      try {
        return dagCbor.encode(object)
      } catch {
        return new Uint8Array(0)
      }
    })
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), changed, value), (bytes) => {
        try {
          assert.deepEqual(verifyRecord(bytes, at), record())
        } catch (error) {
          if (!(error instanceof RecordError)) throw error
        }
      })
    )
  })
})
