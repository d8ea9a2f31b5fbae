import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CID } from 'multiformats/cid'
import { cidOfBytes, RAW } from '#protocol/content/cid'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import { decodeResult, encodeResult, type Result } from '#protocol/result/result'
import { PROJECT, replicaOf } from '../testing/samples.ts'
import { KEPT_COLLECTING_MAX, KEPT_ENTRIES_MAX, KEPT_ENTRY_BYTES, KEPT_SHARE } from './policy.ts'
import { type Parcel, parcelOf, Safekeeping } from './safekeeping.ts'

const MIB = 1024 ** 2
const DAY = 86_400_000
const SIGNATURE = new Uint8Array(64)

function rootOf(text: string): CID {
  return cidOfBytes(RAW, new TextEncoder().encode(text))
}

function parcel(
  index: number,
  { from = 'ann', text = `${index}`, bytes = MIB, network = '' }: { from?: string; text?: string; bytes?: number; network?: string } = {}
): Parcel {
  const result: Result = {
    v: 1,
    project: PROJECT,
    replica: replicaOf(index),
    bundle: CID.parse(EMPTY_FILE),
    node: from,
    reason: 'exit',
    exitCode: 0,
    output: text === '' ? CID.parse(EMPTY_DIRECTORY) : rootOf(text),
    stdout: CID.parse(EMPTY_FILE),
    stderr: CID.parse(EMPTY_FILE),
    bytes,
    startedAtMs: 0,
    endedAtMs: 1,
    cpuMs: 1,
    memoryPeakBytes: 1
  }
  const body = encodeResult(result)
  return parcelOf(decodeResult(body) ?? assert.fail(), { body, signature: SIGNATURE }, { bytes, network })
}

function keep(keeping: Safekeeping, one: Parcel, nowMs = 0): void {
  assert.equal(keeping.offer(one, false, nowMs), 'collect')
  assert.notEqual(keeping.collected(one.replica), undefined)
}

describe('what is kept for others', () => {
  const options = { bytesMax: 100 * MIB, msMax: 7 * DAY }

  it('is collected once, told of from then on, and goes when it is released, with what no other result names', () => {
    const keeping = new Safekeeping(options)
    const [one, two] = [parcel(0, { text: 'same' }), parcel(1, { text: 'same' })]
    assert.equal(keeping.offer(one, false, 0), 'collect')
    assert.deepEqual([keeping.results(), keeping.offer(one, false, 0)], [[], 'busy'])
    keeping.collected(one.replica)
    assert.deepEqual([keeping.results().length, keeping.offer(one, false, 0)], [1, 'kept'])
    keep(keeping, two)
    assert.deepEqual(keeping.drop(one.replica), { from: 'ann', content: [] })
    assert.deepEqual(keeping.drop(two.replica), { from: 'ann', content: [rootOf('same').toString()] })
    assert.equal(keeping.drop(two.replica), undefined)
    assert.deepEqual(keeping.view(), { results: 0, bytes: 0, bytesMax: options.bytesMax })
  })

  it('is nothing when it is switched off, nothing of a task that runs here, and no second result of a replica', () => {
    assert.equal(new Safekeeping({ bytesMax: 0, msMax: 1 }).offer(parcel(0), false, 0), 'off')
    const keeping = new Safekeeping(options)
    assert.equal(keeping.offer(parcel(0), true, 0), 'refused')
    keep(keeping, parcel(0))
    assert.equal(keeping.offer(parcel(0, { text: 'else' }), false, 0), 'refused')
  })

  it('is never more than is lent: of one node, of all, in bytes, in number and at once', () => {
    const share = new Safekeeping(options)
    const most = options.bytesMax * KEPT_SHARE - KEPT_ENTRY_BYTES
    assert.equal(share.offer(parcel(0, { bytes: most + 1 }), false, 0), 'full')
    keep(share, parcel(0, { bytes: most }))
    assert.equal(share.offer(parcel(1, { bytes: 0 }), false, 0), 'full')
    for (const [index, from] of ['bob', 'cid', 'dee'].entries()) keep(share, parcel(10 + index, { from, bytes: most }))
    assert.equal(share.offer(parcel(20, { from: 'eve', bytes: 0 }), false, 0), 'full')

    const many = new Safekeeping({ ...options, bytesMax: 2 ** 40 })
    const each = KEPT_ENTRIES_MAX * KEPT_SHARE
    for (let index = 0; index < KEPT_ENTRIES_MAX; index++) {
      keep(many, parcel(index, { from: `${Math.floor(index / each)}`, bytes: 0 }))
      if (index % each === each - 1) assert.equal(many.offer(parcel(9_999, { from: `${Math.floor(index / each)}`, bytes: 0 }), false, 0), 'full')
    }
    assert.equal(many.offer(parcel(KEPT_ENTRIES_MAX, { from: 'new' }), false, 0), 'full')

    const places = new Safekeeping(options)
    keep(places, parcel(0, { bytes: most, network: 'here' }))
    assert.equal(places.offer(parcel(1, { from: 'another', bytes: 0, network: 'here' }), false, 0), 'full')
    keep(places, parcel(2, { from: 'third', bytes: 0, network: 'there' }))
    keep(places, parcel(3, { from: 'fourth', bytes: most }))
    keep(places, parcel(4, { from: 'fifth', bytes: 0 }))

    const busy = new Safekeeping(options)
    for (let index = 0; index < KEPT_COLLECTING_MAX; index++) assert.equal(busy.offer(parcel(index, { from: `${index}` }), false, 0), 'collect')
    assert.equal(busy.offer(parcel(99), false, 0), 'busy')
  })

  it('is there after a restart as it was; what was half collected is not', () => {
    const keeping = new Safekeeping(options)
    keep(keeping, parcel(0), 5)
    keeping.offer(parcel(1), false, 6)
    const again = new Safekeeping(options)
    for (const { key, value } of keeping.takeChanges()) again.restore(key, value ?? assert.fail())
    assert.deepEqual(
      again.restored().map(({ replica }) => replica),
      [replicaOf(1)]
    )
    assert.deepEqual(again.results(), keeping.results())
    assert.deepEqual(again.old(5 + options.msMax), [replicaOf(0)])
    assert.deepEqual(again.old(4 + options.msMax), [])
    assert.throws(() => again.restore('parked/x', new Uint8Array(1)))
  })

  it('whatever is offered, fetched, released and restarted: the bounds hold, what was said to be kept is kept, and records are what is in memory', () => {
    const act = fc.record({
      what: fc.constantFrom('offer', 'offer', 'offer', 'collected', 'drop', 'restart'),
      index: fc.nat(12),
      from: fc.constantFrom('ann', 'bob', 'cid'),
      bytes: fc.nat(40 * MIB)
    })
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
        let keeping = new Safekeeping(options)
        const disk = new Map<string, Uint8Array>()
        const kept = new Map<string, number>()
        for (const { what, index, from, bytes } of acts) {
          const id = replicaOf(index)
          if (what === 'offer') keeping.offer(parcel(index, { from, bytes, text: `${index % 3}` }), false, 0)
          else if (what === 'collected') {
            const got = keeping.collected(id)
            if (got !== undefined) kept.set(id, got.bytes)
          } else if (what === 'drop') {
            keeping.drop(id)
            kept.delete(id)
          }
          for (const { key, value } of keeping.takeChanges()) {
            if (value === null) disk.delete(key)
            else disk.set(key, value)
          }
          if (what === 'restart') {
            keeping = new Safekeeping(options)
            for (const [key, value] of disk) keeping.restore(key, value)
            for (const half of keeping.restored()) keeping.drop(half.replica)
          }
          const view = keeping.view()
          assert.ok(view.bytes <= options.bytesMax)
          assert.equal(
            view.bytes,
            [...keeping.all()].reduce((sum, one) => sum + one.bytes + KEPT_ENTRY_BYTES, 0)
          )
          assert.equal(keeping.results().length, kept.size)
          for (const name of ['ann', 'bob', 'cid']) {
            const own = [...keeping.all()].filter((one) => one.from === name).reduce((sum, one) => sum + one.bytes + KEPT_ENTRY_BYTES, 0)
            assert.ok(own <= options.bytesMax * KEPT_SHARE)
          }
        }
      })
    )
  })
})
