import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { NodeView } from '#protocol/owner/messages'
import { nodeTable } from './nodes.ts'

const NODE: NodeView = {
  id: 'id',
  name: 'ann',
  state: 'online',
  platform: 'linux/amd64',
  engines: ['docker'],
  slots: 4,
  busy: 3,
  lastSeenMs: 0,
  valid: 0,
  invalid: 0,
  errors: 0,
  lost: 0,
  row: 0,
  errorRate: 0,
  sinceMs: 0,
  credit: 0,
  tags: [],
  gpus: [],
  ownerOnly: false,
  dataTrees: 0,
  dataBytes: 0,
  availability: 100
}

it('X12: more slots than cores are told beside them, with what each run has of the processors', () => {
  const busy = (node: Partial<NodeView>): string => nodeTable([{ ...NODE, ...node }], 0)[1] ?? ''
  assert.match(busy({}), / 3\/4 {2}/)
  assert.match(busy({ cores: 4, processorsEach: 1 }), / 3\/4 {2}/)
  assert.match(busy({ cores: 2 }), / 3\/4 on 2 cores {2}/)
  assert.match(busy({ cores: 1, processorsEach: 0.25 }), / 3\/4 on 1 core, 0\.25 each {2}/)
})
