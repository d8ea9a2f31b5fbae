import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import type { TaskView } from '#protocol/owner/messages'
import { ClientError } from '../errors.ts'
import { findContent, type ResolvePorts } from './resolve.ts'

const BATCH = `${'a'.repeat(25)}q`
const TASK: TaskView = {
  id: `${BATCH}.0`,
  batch: BATCH,
  index: 0,
  name: '',
  status: 'failed',
  bundle: 'a bundle',
  command: ['work'],
  agreeing: 2,
  quorum: 2,
  createdAtMs: 1,
  numFailures: 0,
  replicasIssued: 2
}

/** A project that knows this one task and nothing else. */
function project(task: TaskView): ResolvePorts {
  const ask: ResolvePorts['link']['ask'] = async ({ query }) => {
    if (query?.of !== task.id) throw new ClientError('not_found', `nothing is known as ${query?.of}`)
    return dagCbor.encode(query.what === 'resolve' ? { kind: 'task', id: task.id, name: '' } : task)
  }
  return { link: { ask }, project: 'a project', names: async () => [] }
}

describe('what is asked for by the id of a task', () => {
  it('that has no output is told why, and not that nobody knows it', async () => {
    await assert.rejects(findContent(project(TASK), `${BATCH}.0`), /^ClientError: task a+q\.0 has no output: it is failed; see `talko info a+q\.0`/)
    await assert.rejects(findContent(project({ ...TASK, status: 'running' }), `${BATCH}.0/a/b`), /has no output: it is running; wait for it/)
    await assert.rejects(findContent(project(TASK), 'nothing'), /no data, image or task is known as "nothing"/)
  })
})
