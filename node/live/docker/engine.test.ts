import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ExecutorError } from '../../ports.ts'
import { Engine } from './engine.ts'

const GOOD = {
  OSType: 'linux',
  CgroupDriver: 'systemd',
  MemoryLimit: true,
  PidsLimit: true,
  CpuCfsQuota: true,
  SecurityOptions: ['name=seccomp,profile=builtin'],
  NCPU: 4
}
const isDown = (words: RegExp) => (error: unknown) => error instanceof ExecutorError && error.code === 'engine_down' && words.test(error.message)

describe('an engine that is not what it should be', () => {
  let folder: string
  let server: Server
  let answer: (response: ServerResponse) => void
  let engine: Engine
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'talko-engine-'))
    server = createServer((_, response) => answer(response)).listen(join(folder, 'sock'))
    engine = new Engine(join(folder, 'sock'), 300)
  })
  after(async () => {
    server.close()
    server.closeAllConnections()
    await rm(folder, { recursive: true })
  })
  const info = (change: object) => (response: ServerResponse) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ ...GOOD, ...change }))

  it('is taken when it can hold a hostile program', async () => {
    answer = info({})
    assert.deepEqual(await engine.check(), { cores: 4, cgroupfs: false, usernsRemap: false, rootless: false })
  })

  it('is refused without limits or filter, saying which', async () => {
    for (const [change, words] of [
      [{ CgroupDriver: 'none' }, /limit memory/],
      [{ MemoryLimit: false }, /limit memory/],
      [{ PidsLimit: false }, /limit processes/],
      [{ CpuCfsQuota: false }, /CPU time/],
      [{ SecurityOptions: [] }, /seccomp/],
      [{ OSType: 'windows' }, /Linux containers/]
    ] as const) {
      answer = info(change)
      await assert.rejects(engine.check(), isDown(words))
    }
  })

  it('is down when it hangs, also in the middle of an answer', async () => {
    answer = () => undefined
    await assert.rejects(engine.check(), isDown(/did not answer/))
    answer = (response) => response.setHeader('content-length', 1000).write('{')
    await assert.rejects(engine.inspect('x'), isDown(/did not answer/))
  })

  it('is down when the connection breaks while a container is waited for, before or after the head of the answer', async () => {
    answer = (response) => response.socket?.destroy()
    await assert.rejects(engine.wait('x', new AbortController().signal), isDown(/does not answer/))
    answer = (response) => {
      response.flushHeaders()
      setImmediate(() => response.socket?.destroy())
    }
    await assert.rejects(engine.wait('x', new AbortController().signal), isDown(/does not answer/))
  })
})
