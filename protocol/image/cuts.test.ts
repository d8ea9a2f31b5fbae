import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { LEAF_BYTES_MAX, OWN_LEAF_BYTES_MIN, TarCutter } from './cuts.ts'
import { paddingOf, TAR_END, writeHeader } from './tar.ts'

interface Member {
  readonly path: string
  readonly data: Uint8Array
}

function tarOf(members: readonly Member[]): Buffer {
  return Buffer.concat([
    ...members.flatMap(({ path, data }) => [writeHeader({ path, kind: 'file', mode: 0o644, size: data.length }), data, new Uint8Array(paddingOf(data.length))]),
    TAR_END
  ])
}

function cutsOf(bytes: Uint8Array, step = bytes.length): readonly number[] {
  const cutter = new TarCutter()
  for (let at = 0; at < bytes.length; at += step) cutter.push(bytes.subarray(at, at + step))
  return cutter.end()
}

function leavesOf(bytes: Buffer): string[] {
  let last = 0
  return cutsOf(bytes).map((cut) => {
    const leaf = bytes.subarray(last, cut).toString('latin1')
    last = cut
    return leaf
  })
}

function checkCuts(cuts: readonly number[], bytes: number): void {
  let last = 0
  for (const cut of cuts) {
    assert.ok(cut > last && cut - last <= LEAF_BYTES_MAX, `${last} -> ${cut}`)
    last = cut
  }
  assert.equal(last, bytes)
}

const member = fc.record({
  path: fc.string({ minLength: 1, maxLength: 150 }).filter((path) => !path.includes('\0')),
  data: fc.oneof(
    fc.uint8Array({ maxLength: 3000 }),
    fc.integer({ min: OWN_LEAF_BYTES_MIN, max: 3_000_000 }).map((size) => new Uint8Array(size).fill(7))
  )
})

it('cuts ascend, are at most a leaf apart and end at the size, and do not depend on how the tar arrives', () => {
  fc.assert(
    fc.property(fc.array(member, { maxLength: 6 }), fc.integer({ min: 1, max: 200_000 }), (members, step) => {
      const tar = tarOf(members)
      const cuts = cutsOf(tar)
      checkCuts(cuts, tar.length)
      assert.deepEqual(cutsOf(tar, Math.max(step, Math.ceil(tar.length / 500))), cuts)
      assert.equal(Buffer.from(leavesOf(tar).join(''), 'latin1').compare(tar), 0)
    }),
    { numRuns: 60 }
  )
})

it('cuts whatever bytes it is given, also lying and broken headers', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5000 }), fc.nat({ max: 4000 }), fc.integer({ min: 1, max: 700 }), (noise, at, step) => {
      const tar = tarOf([
        { path: 'a', data: new Uint8Array(100) },
        { path: 'b', data: new Uint8Array(20_000) }
      ])
      tar.set(noise.subarray(0, Math.min(noise.length, tar.length - at)), at)
      const cuts = cutsOf(tar, step)
      checkCuts(cuts, tar.length)
      assert.deepEqual(cuts, cutsOf(tar))
    })
  )
  const liar = Buffer.from(writeHeader({ path: 'huge', kind: 'file', mode: 0o644, size: 8_000_000_000 }))
  checkCuts(cutsOf(liar), liar.length)
  assert.deepEqual(cutsOf(new Uint8Array(0)), [])
})

it('gives an equal big file equal leaves in different tars, wherever it lies', () => {
  const data = Buffer.alloc(2_500_000, 'content ')
  const alone = new Set(leavesOf(tarOf([{ path: 'lib/big', data }])))
  const later = leavesOf(
    tarOf([
      { path: 'x', data: new Uint8Array(777) },
      { path: 'usr/other', data }
    ])
  )
  for (let at = 0; at < data.length; at += LEAF_BYTES_MAX) {
    const leaf = data.subarray(at, at + LEAF_BYTES_MAX).toString('latin1')
    assert.ok(alone.has(leaf) && later.includes(leaf))
  }
})

it('keeps most leaves of many small files when one of them grows', () => {
  const files = Array.from({ length: 2000 }, (_, index) => ({ path: `usr/lib/file-${index}`, data: Buffer.alloc(900 + (index % 7) * 100, `${index} `) }))
  const before = new Set(leavesOf(tarOf(files)))
  const after = leavesOf(tarOf(files.map((file, index) => (index === 1000 ? { ...file, data: Buffer.alloc(5000, 'changed') } : file))))
  assert.ok(after.filter((leaf) => !before.has(leaf)).length <= 2)
})
