import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { decodeLateRecord, encodeLateRecord } from './trust-records.ts'

it('a result that may come late is read as it was written', () => {
  const whole = fc.maxSafeNat()
  const late = fc.record(
    {
      node: fc.string(),
      vote: fc.string(),
      atMs: whole,
      exact: fc.boolean(),
      alone: fc.option(fc.string()),
      credit: whole,
      bound: fc.option(fc.string()),
      tied: fc.boolean()
    },
    { noNullPrototype: true }
  )
  fc.assert(fc.property(late, (record) => assert.deepEqual(decodeLateRecord(encodeLateRecord(record)), record)))
})
