import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DONE_PPM_MAX, PROGRESS_NOTE_CHARS_MAX } from '#protocol/control/messages'
import { figureOf } from './progress-file.ts'

const of = (text: string): ReturnType<typeof figureOf> => figureOf(new TextEncoder().encode(text))

describe('the line of a task on how far it is', () => {
  it('is a percentage, a part of a whole or a fraction, and a word or two', () => {
    const done: readonly (readonly [string, number, string])[] = [
      ['37 %', 370_000, ''],
      ['37%\n', 370_000, ''],
      ['37/100', 370_000, ''],
      [' 3 of 8 files\n', 375_000, 'files'],
      ['0.37 training, epoch 3', 370_000, 'training, epoch 3'],
      ['12.5 % of it\r\nand another line', 125_000, 'of it'],
      ['0/7', 0, ''],
      ['1.0', DONE_PPM_MAX, ''],
      ['5 % \u001b[31mred', 50_000, '[31mred']
    ]
    for (const [text, donePpm, note] of done) assert.deepEqual(of(text), { donePpm, note }, text)
  })

  it('is nothing when it could mean two things, or more than all', () => {
    for (const text of ['', '\n50 %', '1', '37', '101 %', '8/7', '0/0', '1/0', '1.5', '-1 %', '0,37', '1 % %', 'NaN', '1e3/9', 'half', '1 of many', '٣ %'])
      assert.equal(of(text), undefined, text)
  })

  it('is bounded and fit for a terminal, whatever bytes stand there', () => {
    const lines = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.tuple(fc.constantFrom('1 % ', '0.5 ', '1/3 '), fc.string({ unit: 'binary' })).map(([head, tail]) => new TextEncoder().encode(head + tail))
    )
    fc.assert(
      fc.property(lines, (bytes) => {
        const figure = figureOf(bytes)
        if (figure === undefined) return
        assert.ok(Number.isInteger(figure.donePpm) && figure.donePpm >= 0 && figure.donePpm <= DONE_PPM_MAX)
        assert.ok(figure.note.length <= PROGRESS_NOTE_CHARS_MAX)
        assert.doesNotMatch(figure.note, /[\p{Cc}\p{Cf}\p{Cs}]/u)
      })
    )
  })

  it('says of every part of a whole what it is, in millionths', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 2 ** 31 }), (part, more) => {
        const whole = part + more
        assert.equal(of(`${part}/${whole}`)?.donePpm, Math.round((part / whole) * DONE_PPM_MAX))
      })
    )
  })
})
