import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { generateIdentity } from '#protocol/signing/keys'
import { until } from '#test/support/until'
import { cutStream } from '../split/live/cut-file.ts'
import { cutter } from '../split/split.ts'
import { Home } from './home.ts'
import { formatLog } from './logger.ts'
import { isRunning, ownProcess, signalProcess, startOf } from './process.ts'

let dir = ''
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'talko-home-'))
})
after(() => rm(dir, { recursive: true }))

describe('processes', () => {
  it('are known by pid and start time: a pid given to another is not ours', async () => {
    assert.ok(isRunning(ownProcess()))
    assert.equal(isRunning({ pid: process.pid, started: 'another time' }), false)
    assert.equal(signalProcess({ pid: process.pid, started: 'another time' }, 'SIGKILL'), false)
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    await once(child, 'spawn')
    const id = { pid: child.pid ?? 0, started: startOf(child.pid ?? 0) ?? '' }
    assert.ok(isRunning(id))
    const exited = once(child, 'exit')
    assert.ok(signalProcess(id, 'SIGKILL'))
    await exited
    await until('the process to be gone', () => !isRunning(id))
    for (const pid of [0, 1, -1, Number.NaN, 2 ** 40]) assert.equal(startOf(pid), undefined)
  })
})

describe('the home', () => {
  it('keeps one key, readable by its owner only, also when two commands begin at once', async () => {
    const home = Home.at(join(dir, 'one'))
    const signers = await Promise.all(Array.from({ length: 4 }, () => home.signer()))
    assert.equal(new Set(signers.map(({ peerId }) => peerId)).size, 1)
    assert.equal((await stat(join(home.dir, 'client.key'))).mode & 0o777, 0o600)
    await writeFile(join(home.dir, 'client.key'), 'damaged')
    await assert.rejects(home.signer(), { code: 'refused', message: /restore it from a backup/ })
  })
  it('remembers the project, and names given by many commands at once', async () => {
    const home = Home.at(join(dir, 'two'))
    await assert.rejects(home.project(), { code: 'usage', message: /talko up/ })
    const { peerId } = await generateIdentity()
    const invite = { project: peerId, addresses: ['/ip4/127.0.0.1/tcp/1'], bootstrap: [] }
    await home.choose(invite)
    assert.deepEqual(await home.project(), invite)
    assert.deepEqual(await home.project(peerId), invite)
    const root = 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'
    const entry = (name: string) => ({ name, kind: 'data' as const, root, bytes: 1, project: peerId, atMs: 1, executables: [], source: '' })
    await Promise.all(Array.from({ length: 20 }, (_, index) => home.addName(entry(`n${index}`))))
    assert.equal(new Set((await home.names()).map(({ name }) => name)).size, 20)
  })
  it('clears away what commands that were killed left', async () => {
    const home = Home.at(join(dir, 'three'))
    const mine = await home.scratch()
    const dead = mine.replace(`${process.pid}-`, '4194304-')
    await import('node:fs/promises').then(({ mkdir }) => mkdir(dead))
    await home.scratch()
    const left = await readdir(join(home.dir, 'tmp'))
    assert.ok(left.every((name) => name.startsWith(`${process.pid}-`)))
    assert.equal(left.length, 2)
  })
})

it('cuts a stream into files that are the input again when joined', async () => {
  const input = Array.from({ length: 1000 }, (_, index) => `line ${index}\n`).join('')
  const bytes = Buffer.from(input)
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 777) yield bytes.subarray(at, at + 777)
  }
  const folder = join(dir, 'parts')
  const count = await cutStream(pieces(), cutter({ kind: 'lines', lines: 300 }, bytes.length), { folder, pathOf: (index) => `x/${index}` })
  assert.equal(count, 4)
  const parts = await Promise.all(Array.from({ length: count }, (_, index) => readFile(join(folder, 'x', String(index)), 'utf8')))
  assert.equal(parts.join(''), input)
})

it('writes log lines for people, with the facts behind', () => {
  assert.match(formatLog('warn', { node: 'n', err: new Error('a\nb') }, 'lost', new Date(0)), /^\d\d:\d\d:\d\d warn: lost node=n err=a b$/)
})
