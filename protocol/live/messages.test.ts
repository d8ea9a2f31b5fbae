import assert from 'node:assert/strict'
import { posix } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { decodeLiveFrame, decodeLiveOpen, LIVE_FRAME_BYTES_MAX, LIVE_TAIL_BYTES_MAX, LiveOpen } from './messages.ts'
import { parseLivePath } from './path.ts'
import { tailOffset } from './tail.ts'

const REPLICA = 'aaaaaaaaaaaaaaaaaaaaaaaaaa.0.1'
const OPEN = {
  replica: REPLICA,
  file: 'out',
  verb: 'read',
  path: 'a/b.log',
  offset: 7,
  until: 9,
  lines: 3,
  follow: true,
  identity: 'x-1',
  seen: new Uint8Array([1, 2]),
  data: new Uint8Array([3])
}

describe('live messages', () => {
  it('reads what it wrote', () => {
    assert.deepEqual(decodeLiveOpen(LiveOpen.encode(OPEN)), { ...OPEN, path: ['a', 'b.log'] })
  })

  it('of an older opener ask for a log to be read', () => {
    // replica "r", file "stdout", offset 7, follow: what a coordinator sends that knows four fields.
    const open = decodeLiveOpen(Uint8Array.from(Buffer.from('0a017212067374646f757418072001', 'hex')))
    assert.deepEqual(
      [open?.replica, open?.file, open?.offset, open?.follow, open?.verb, open?.path, open?.until, open?.lines],
      ['r', 'stdout', 7, true, 'read', [], 0, 0]
    )
  })

  it('knows three files, sane offsets, short ids and small writes only', () => {
    const none = { path: '', data: new Uint8Array() }
    const wrong: readonly Partial<LiveOpen>[] = [
      { file: '../stdout' },
      { file: '' },
      { replica: 'x'.repeat(100) },
      { verb: 'run' },
      { file: 'stdout' },
      { ...none, file: 'stdout', verb: 'write' },
      { identity: 'x'.repeat(65) },
      { offset: 1 },
      { offset: 100, seen: new Uint8Array(65) },
      { lines: 100_001 },
      { data: new Uint8Array(64 * 1024 + 1) }
    ]
    for (const change of wrong) assert.equal(decodeLiveOpen(LiveOpen.encode({ ...OPEN, ...change })), undefined, JSON.stringify(change))
    assert.notEqual(decodeLiveOpen(LiveOpen.encode({ ...OPEN, ...none, file: 'stdout' })), undefined)
  })

  it('name what stands below the output folder, and nothing else', () => {
    for (const path of ['..', 'a/../b', '/etc/passwd', 'a//b', 'a/', './a', 'a\0b', 'x'.repeat(256), 'a/'.repeat(101), '\ud800'])
      assert.equal(parseLivePath(path), undefined, path)
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        const path = parseLivePath(text)
        if (path === undefined) return
        assert.equal(path.join('/'), text)
        assert.ok(posix.normalize(`/out/${text}`).startsWith('/out/'))
      })
    )
  })

  it('never throws on hostile bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        decodeLiveOpen(bytes)
        decodeLiveFrame(bytes)
      })
    )
    assert.equal(decodeLiveFrame(new Uint8Array(LIVE_FRAME_BYTES_MAX + 1)), undefined)
  })
})

describe('the last lines', () => {
  it('are those that splitting the text gives, however long they are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('\n', 'a', 'bb\n', 'c'.repeat(70_000))), fc.integer({ min: 0, max: 5 }), async (parts, lines) => {
        const text = parts.join('')
        const bytes = Buffer.from(text)
        const offset = await tailOffset(bytes.length, lines, async (from, to) => bytes.subarray(from, to))
        const all = text.split(/(?<=\n)/).filter((line) => line !== '')
        const expected = lines === 0 ? '' : all.slice(-lines).join('')
        assert.equal(text.slice(offset), expected.slice(-LIVE_TAIL_BYTES_MAX))
      })
    )
  })
})
