import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseBytes, parseCpus, parseDuration, parsePairs, parseWhole } from './units.ts'

describe('amounts', () => {
  it('are read as people write them', () => {
    assert.equal(parseBytes('512M', '--memory'), 512 * 1024 ** 2)
    assert.equal(parseBytes('1.5GiB', '--memory'), 1.5 * 1024 ** 3)
    assert.equal(parseBytes('2gb', '--memory'), 2 * 1024 ** 3)
    assert.equal(parseBytes('4096', '--memory'), 4096)
    assert.equal(parseDuration('90s', '--time'), 90_000)
    assert.equal(parseDuration('1h30m', '--time'), 5_400_000)
    assert.equal(parseDuration('2d', '--time'), 172_800_000)
    assert.equal(parseDuration('1.5', '--time'), 1500)
    assert.equal(parseCpus('0.5', '--cpus'), 500)
    assert.equal(parseWhole('-3', '--priority', -5, 5), -3)
    assert.deepEqual(parsePairs(['a=1', 'b=c=d', 'e='], '-e'), { a: '1', b: 'c=d', e: '' })
  })
  it('are refused with the option and an example', () => {
    const wrong: readonly (() => unknown)[] = [
      () => parseBytes('lots', '--memory'),
      () => parseBytes('-1', '--memory'),
      () => parseBytes('9'.repeat(16), '--memory'),
      () => parseDuration('soon', '--time'),
      () => parseDuration('5 m', '--time'),
      () => parseCpus('0', '--cpus'),
      () => parseCpus('two', '--cpus'),
      () => parseWhole('1.5', '--quorum', 1, 64),
      () => parseWhole('65', '--quorum', 1, 64),
      () => parsePairs(['novalue'], '-e'),
      () => parsePairs(['=x'], '-e'),
      () => parsePairs(['a=1', 'a=2'], '-e')
    ]
    for (const call of wrong) assert.throws(call, { code: 'usage', message: /^-/ })
  })
})
