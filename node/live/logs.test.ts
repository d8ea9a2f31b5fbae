import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { MemoryNetwork } from '#protocol/content/memory-network'
import { decodeLiveFrame, LIVE_FRAME_BYTES_MAX, LIVE_PROTOCOL, LiveOpen } from '#protocol/live/messages'
import { type LogSource, serveLogs } from './logs.ts'

const REPLICA = 'aaaaaaaaaaaaaaaaaaaaaaaaaa.0.1'
let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'talko-logs-'))
})
after(() => rmSync(folder, { recursive: true }))

function put(name: string, stdout: string): void {
  mkdirSync(join(folder, name))
  writeFileSync(join(folder, name, 'stdout'), stdout)
}

/** What the coordinator is sent of the log of `name`, and how it ends. `states` are the answers of the node to where the replica is, the last one for ever. */
async function read(name: string, states: readonly ReturnType<LogSource['stateOf']>[]): Promise<{ text: string; code: string | undefined }> {
  const network = new MemoryNetwork()
  const [node, coordinator] = [network.host('node'), network.host('coordinator')]
  let asked = 0
  const stateOf = (): ReturnType<LogSource['stateOf']> => states[Math.min(asked++, states.length - 1)]
  await serveLogs(node, 'coordinator', { stateOf, folderOf: () => join(folder, name) })
  const stream = await coordinator.open('node', LIVE_PROTOCOL, { frameBytesMax: LIVE_FRAME_BYTES_MAX })
  await stream.write(LiveOpen.encode({ replica: REPLICA, file: 'stdout', offset: 0, follow: true }))
  let text = ''
  let code: string | undefined
  for await (const bytes of stream.frames()) {
    const frame = decodeLiveFrame(bytes)
    text += Buffer.from(frame?.data ?? []).toString()
    code = frame?.code ?? code
  }
  return { text, code }
}

describe('a followed log', () => {
  it('ends when its replica is complete', async () => {
    put('whole', 'hello\n')
    assert.deepEqual(await read('whole', ['complete']), { text: 'hello\n', code: undefined })
  })

  it('is empty when a complete replica printed nothing', async () => {
    assert.deepEqual(await read('never-written', ['complete']), { text: '', code: undefined })
  })

  it('says that there may be more when its replica goes away meanwhile, instead of ending as if that were all', async () => {
    put('half', 'hel')
    assert.deepEqual(await read('half', ['running', undefined]), { text: 'hel', code: 'not_found' })
    assert.deepEqual(await read('taken-away', ['complete', 'complete', undefined]), { text: '', code: 'not_found' })
  })
})
