import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { BatchView, TaskView } from '#protocol/owner/messages'
import { batchTable, taskTable } from './ps.ts'

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

it('how far tasks are is shown where one says it', () => {
  const task: TaskView = {
    id: `${MINE.id}.0`,
    name: 'sum',
    batch: MINE.id,
    index: 0,
    status: 'running',
    bundle: '',
    command: ['sum'],
    createdAtMs: 0,
    quorum: 1,
    agreeing: 0,
    replicasIssued: 1,
    numFailures: 0
  }
  assert.doesNotMatch(taskTable([task], 1_000).join('\n'), /PROGRESS/)
  const [head = '', silent = '', telling = ''] = taskTable([task, { ...task, progress: { done: 0.5, leftMs: 3_000 } }], 1_000)
  assert.match(head, /AGE +PROGRESS +COMMAND/)
  assert.match(silent, /1 s +sum$/)
  assert.match(telling, /1 s +50 %, about 3 s left +sum$/)
})
