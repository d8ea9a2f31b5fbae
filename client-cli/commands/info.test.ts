import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { BatchView } from '#protocol/owner/messages'
import { batchLines } from './info.ts'

const HEAD = { id: `${'a'.repeat(25)}q`, name: '', createdAtMs: 0, tasks: 2, created: 2, running: 0, validating: 0, ready: 0, failed: 0, killed: 0 }

it('what was asked for beyond what is usual is shown with a batch', () => {
  const shown = (policy: BatchView['policy']): string | undefined =>
    batchLines(policy === undefined ? HEAD : { ...HEAD, policy }, 1_000).find((line) => line.startsWith('policy'))
  assert.equal(shown({ minQuorum: 3, tags: ['big'], sameClass: 'cpu' })?.replace(/ +/, ' '), 'policy minQuorum 3, tags ["big"], sameClass cpu')
  assert.equal(shown({}), undefined)
  assert.equal(shown(undefined), undefined)
})
