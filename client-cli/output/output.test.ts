import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Io } from './io.ts'
import { advance, bar, drawDue, LINE_MS, QUIET_MS, rateOf, renderBatch, renderTransfer, startMeter } from './progress.ts'
import { formatBytes, formatCommand, formatDuration, formatTable, printable, shortId } from './text.ts'

describe('text', () => {
  it('shows amounts in few characters', () => {
    assert.deepEqual([0, 1023, 1024, 1536, 123 * 1024 ** 2, 5 * 1024 ** 4].map(formatBytes), ['0 B', '1023 B', '1.0 KiB', '1.5 KiB', '123 MiB', '5.0 TiB'])
    assert.deepEqual([400, 4_000, 185_000, 7_800_000, 273_600_000].map(formatDuration), ['0 s', '4 s', '3 min 5 s', '2 h 10 min', '3 d 4 h'])
  })
  it('aligns tables and lets no peer write to the terminal', () => {
    assert.deepEqual(
      formatTable(
        ['A', 'BB'],
        [
          ['long', 'x'],
          ['s', '\u001b[31m']
        ]
      ),
      ['A     BB', 'long  x', 's     \ufffd[31m']
    )
    assert.equal(printable('a\u0007\u009bb'), 'a\ufffd\ufffdb')
  })
  it('shows a command as one would type it', () => {
    assert.equal(formatCommand(['sh', '-c', "echo 'a b'"]), `sh -c 'echo '\\''a b'\\'''`)
    assert.equal(shortId('abcdefghijklmnopqrstuvwxyz.12'), 'abcdefghijkl.12')
  })
})

describe('progress', () => {
  it('shows bytes, rate and the time left', () => {
    let meter = startMeter('sending', 0)
    for (let second = 1; second <= 10; second++) meter = advance(meter, second * 10 * 1024 ** 2, 200 * 1024 ** 2, second * 1000)
    assert.equal(Math.round(rateOf(meter) / 1024 ** 2), 10)
    assert.equal(renderTransfer(meter), 'sending [============>           ] 100 MiB of 200 MiB, 10.0 MiB/s, 10 s left')
    assert.equal(renderTransfer(advance(startMeter('reading', 0), 2048, 0, 1000)), 'reading 2.0 KiB, 2.0 KiB/s')
  })
  it('never shows more than the width, whatever happens to the numbers, and remembers a bounded past', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(2 ** 45), fc.nat(2 ** 45), fc.nat(1000)), { minLength: 1, maxLength: 200 }),
        fc.integer({ min: 10, max: 200 }),
        (steps, columns) => {
          let meter = startMeter('x', 0)
          let now = 0
          for (const [done, total, ms] of steps) {
            now += ms
            meter = advance(meter, done, total, now)
            const line = renderTransfer(meter, columns)
            assert.ok(line.length <= columns && !/NaN|Infinity/.test(line), line)
          }
          assert.ok(meter.samples.length <= 66)
        }
      )
    )
    assert.equal(bar(7), `[${'='.repeat(24)}]`)
    assert.equal(bar(-1).length, bar(0.5).length)
  })
  it('shows a batch by the states of its tasks', () => {
    const view = { id: 'b', name: '', createdAtMs: 0, tasks: 100, created: 42, running: 12, validating: 5, ready: 39, failed: 2, killed: 0 }
    const meter = advance(startMeter('b', 0), 41, 100, 10_000)
    assert.equal(
      renderBatch(view, meter),
      '[=========>              ] 41 of 100 tasks: 39 ready, 2 failed, 5 validating, 12 running, 42 waiting, 4.1/s, 14 s left'
    )
  })
  it('is quiet for a second, then frequent on a terminal and seldom elsewhere', () => {
    const due = (nowMs: number, drawnAtMs: number | undefined, terminal: boolean) => drawDue({ startedAtMs: 0, drawnAtMs, nowMs, terminal })
    assert.equal(due(QUIET_MS - 1, undefined, true), false)
    assert.equal(due(QUIET_MS, undefined, false), true)
    assert.equal(due(QUIET_MS + 200, QUIET_MS, true), true)
    assert.equal(due(QUIET_MS + LINE_MS - 1, QUIET_MS, false), false)
    assert.equal(due(QUIET_MS + LINE_MS, QUIET_MS, false), true)
  })
})

describe('what a command writes', () => {
  function capture(terminal: boolean) {
    const written = { out: '', err: '', nowMs: 0 }
    const io = new Io({
      stdout: (text) => {
        written.out += typeof text === 'string' ? text : Buffer.from(text).toString()
      },
      stderr: (text) => {
        written.err += text
      },
      terminal,
      colour: false,
      columns: () => 60,
      nowMs: () => written.nowMs
    })
    return { io, written }
  }
  it('wipes a drawn line before other text on a terminal', () => {
    const { io, written } = capture(true)
    io.progress('x', 0, 10, () => 'line')
    written.nowMs = 2_000
    io.progress('x', 5, 10, () => 'line')
    io.out('id')
    assert.equal(written.out, 'id\n')
    assert.equal(written.err, '\r\u001b[2Kline\r\u001b[2K')
  })
  it('writes whole lines where there is no terminal', () => {
    const { io, written } = capture(false)
    for (let second = 0; second <= 12; second++) {
      written.nowMs = second * 1000
      io.progress('x', second, 12, () => `${second}`)
    }
    io.progressEnd()
    assert.equal(written.err, '1\n6\n11\n')
  })
})
