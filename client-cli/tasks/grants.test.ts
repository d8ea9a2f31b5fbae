import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type ClientView, clientSettingsFault, DEFAULT_CLIENT_SETTINGS } from '#protocol/owner/clients'
import type { Client } from '../client/client.ts'
import type { Context } from '../command.ts'
import { grant, readGrant } from './grants.ts'

const PEER = '12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp'
const KNOWN: ClientView = {
  client: PEER,
  administrator: false,
  member: true,
  settings: { ...DEFAULT_CLIENT_SETTINGS, parallel: 5 },
  used: { inputBytes: 0, outputBytes: 0, timeMs: 0, totalMs: 0, runs: 0, parallel: 0, tasks: 0, batches: 0 },
  periodEndsAtMs: 0
}

/** What is printed and what is asked of the project. */
async function tried(known: readonly ClientView[], options: Parameters<typeof grant>[2]): Promise<{ readonly lines: string[]; readonly granted: number }> {
  const lines: string[] = []
  let granted = 0
  const client: Partial<Client> = {
    clients: async () => [...known],
    async grant() {
      granted++
      return KNOWN
    }
  }
  const io = { json: false, nowMs: 0, out: (line: string) => lines.push(line), say: (line: string) => lines.push(line) }
  const context = { io, signal: new AbortController().signal, client: async () => client } as unknown as Context
  await grant(context, PEER, options)
  return { lines, granted }
}

it('what an administrator would grant is said beforehand, and nothing is changed', async () => {
  const set = await tried([KNOWN], { options: { dryRun: true }, settings: { share: 2 } })
  assert.deepEqual([set.granted, set.lines.at(-1)], [0, 'nothing was changed'])
  assert.match(set.lines[1] ?? '', /client +2 .* 0 of 5 /)
  const removed = await tried([KNOWN], { options: { dryRun: true }, member: false })
  assert.match(removed.lines[1] ?? '', / removed /)
  const added = await tried([], { options: { dryRun: true }, settings: { tasks: 7 }, member: true })
  assert.deepEqual([added.granted, added.lines[0]], [0, `${PEER} would be a client: tasks 7`])
  assert.equal((await tried([KNOWN], { options: {}, settings: { share: 2 } })).granted, 1)
})

it('S07: groups are named, replace those that there were, and none takes them all away', () => {
  assert.deepEqual(readGrant({ group: ['physics', 'maths', 'physics'] }), { groups: ['maths', 'physics'] })
  assert.deepEqual([readGrant({ group: ['none'] }), readGrant({})], [{ groups: [] }, {}])
  for (const group of [['none', 'physics'], ['two words'], ['']]) assert.throws(() => readGrant({ group }), { code: 'usage', message: /--group is a name/ })
  const fault = (groups: unknown) => clientSettingsFault({ groups })
  assert.equal(fault(['physics']), undefined)
  for (const wrong of [null, 'physics', [1], ['a', 'a'], ['-'], Array.from({ length: 33 }, (_, at) => `g${at}`)])
    assert.match(fault(wrong) ?? '', /groups of a client/)
})
