import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { BatchView } from '#protocol/owner/messages'
import { batchTable } from './ps.ts'

const MINE: BatchView = {
  id: `${'a'.repeat(25)}q`,
  name: 'sum',
  createdAtMs: 0,
  tasks: 1,
  created: 0,
  running: 1,
  validating: 0,
  ready: 0,
  failed: 0,
  killed: 0,
  by: 'me'
}

it('whose a batch is, is shown where some are of others', () => {
  assert.doesNotMatch(batchTable([MINE], 1_000, 'me').join('\n'), /CLIENT/)
  const [head = '', mine = '', theirs = ''] = batchTable([MINE, { ...MINE, by: '12D3KooWother' }], 1_000, 'me')
  assert.match(head, /AGE +CLIENT +NAME/)
  assert.match(mine, / you +sum/)
  assert.match(theirs, / 12D3KooWother +sum/)
})
