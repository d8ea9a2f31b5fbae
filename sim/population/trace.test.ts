import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { parseTrace, readTrace, TraceError } from './trace.ts'

const HEAD = 'node,state,start_s,end_s,cause\n'

describe('a trace', () => {
  it('says when a host is up and until when', () => {
    const trace = parseTrace(`${HEAD}a,1,1000,1010,0\na,0,1010,1015,7\na,1,1015,1020,0\nb,0,1000,1001,1\nb,1,1002,1003,0\n`)
    assert.deepEqual(trace.names, ['a', 'b'])
    assert.equal(trace.lengthMs, 20_000)
    assert.deepEqual(trace.at(0, 0), { up: true, untilMs: 10_000 })
    assert.deepEqual(trace.at(0, 9_999), { up: true, untilMs: 10_000 })
    assert.deepEqual(trace.at(0, 10_000), { up: false, untilMs: 15_000 })
    assert.deepEqual(trace.at(0, 20_000), { up: false, untilMs: Number.POSITIVE_INFINITY })
    assert.deepEqual(trace.at(1, 0), { up: false, untilMs: 2_000 })
    assert.throws(() => trace.at(2, 0), RangeError)
  })

  it('gives back any intervals that were written', () => {
    const hosts = fc.array(fc.array(fc.record({ gap: fc.integer({ min: 1, max: 50 }), up: fc.integer({ min: 1, max: 50 }) }), { minLength: 1 }), {
      minLength: 1,
      maxLength: 5
    })
    fc.assert(
      fc.property(hosts, (intervals) => {
        const rows: string[] = []
        const expected: { host: number; from: number; to: number }[] = []
        for (const [host, list] of intervals.entries()) {
          let at = 0
          rows.push(`h${host},0,0,0`)
          for (const { gap, up } of list) {
            expected.push({ host, from: at + gap, to: at + gap + up })
            rows.push(`h${host},0,${at},${at + gap}`, `h${host},1,${at + gap},${at + gap + up}`)
            at += gap + up
          }
        }
        const trace = parseTrace(`${HEAD.replace(',cause', '')}${rows.join('\n')}`)
        for (const { host, from, to } of expected) {
          assert.deepEqual(trace.at(host, from * 1000), { up: true, untilMs: to * 1000 })
          assert.equal(trace.at(host, from * 1000 - 1).up, false)
        }
      })
    )
  })

  it('is read from a file, and says which line is wrong', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trace-'))
    try {
      await writeFile(join(folder, 'good.csv'), `${HEAD}a,1,0,5,0\r\n`)
      assert.deepEqual((await readTrace(join(folder, 'good.csv'))).names, ['a'])
      await writeFile(join(folder, 'good.csv.gz'), gzipSync(`${HEAD}a,1,0,5,0\nb,1,0,5,0\n`))
      assert.deepEqual((await readTrace(join(folder, 'good.csv.gz'))).names, ['a', 'b'])
      await writeFile(join(folder, 'bad.csv.gz'), 'not packed')
      await assert.rejects(readTrace(join(folder, 'bad.csv.gz')), /incorrect header check/)
      await assert.rejects(readTrace(join(folder, 'none.csv.gz')), /ENOENT/)
      await writeFile(join(folder, 'bad.csv'), `${HEAD}a,1,0,5,0\na,up,5,6,0\n`)
      await assert.rejects(readTrace(join(folder, 'bad.csv')), /^TraceError: line 3: the state is "up"; 1 is up, 0 is down$/)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('is refused with a line and a reason', () => {
    const refusals: readonly (readonly [string, string, number])[] = [
      ['', 'empty', 1],
      [HEAD, 'empty', 2],
      ['node,state,start_s\n', 'header', 1],
      [`${HEAD}a,1,0,x`, 'row', 2],
      [`${HEAD}a,1,9,3`, 'row', 2],
      [`${HEAD},1,0,3`, 'row', 2],
      [`${HEAD}a,1,0,9\na,0,5,12`, 'order', 3],
      [`${HEAD}a,1,0,9\n${'x'.repeat(2000)}`, 'too_large', 3]
    ]
    for (const [text, code, line] of refusals)
      assert.throws(
        () => parseTrace(text),
        (error) => error instanceof TraceError && error.code === code && error.line === line
      )
  })
})
