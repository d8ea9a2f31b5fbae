import assert from 'node:assert/strict'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Resources } from '#protocol/bundle/manifest'
import { type DockerFixture, dockerFixture, manifestOf, skipWithoutDocker } from '#test/support/docker'
import { until } from '#test/support/until'
import { containerPrefix } from '../sandbox/options.ts'
import { manifestOf as processManifest } from '../testing/samples.ts'
import { type ProgramEnd, Programs } from './programs.ts'

const skip = await skipWithoutDocker()
const logger = { debug() {}, info() {}, warn() {}, error() {} }
const SMALL: Partial<Resources> = { memoryBytes: 64 * 1024 ** 2, timeMs: 30_000, diskBytes: 1024 ** 2, pids: 16 }
/** Of the words of the file `result` the second counts in whole numbers alone. */
const SECOND_WORD = 'cut -d. -f1 /in/a/result > /tmp/a; cut -d. -f1 /in/b/result > /tmp/b; cmp -s /tmp/a /tmp/b'

describe('programs on a machine that is no node', { skip }, () => {
  let fixture: DockerFixture
  let programs: Programs
  let folder: string
  before(async () => {
    fixture = await dockerFixture()
    folder = join(fixture.folder, 'programs')
    programs = new Programs({ store: fixture.store, id: fixture.nodeId, folder, engines: ['docker'], logger })
  })
  after(async () => {
    await programs.stop()
    await fixture.close()
  })

  /** An output as the store has it, and where it lies. */
  const stored = async (name: string, text: string): Promise<string> => {
    const path = join(fixture.folder, name)
    await mkdir(path, { recursive: true, mode: 0o755 })
    await writeFile(join(path, 'result'), text, { mode: 0o644 })
    const { root } = await fixture.store.addTree(path)
    return fixture.store.locate(root) ?? assert.fail('it is not here')
  }
  const compare = async (
    script: string,
    a: string,
    b: string,
    resources: Partial<Resources> = {},
    signal = new AbortController().signal
  ): Promise<ProgramEnd> => {
    const inputs = [
      { name: 'a', path: await stored('a', a) },
      { name: 'b', path: await stored('b', b) }
    ]
    return programs.run({ manifest: manifestOf(fixture.image, ['sh', '-c', script], { ...SMALL, ...resources }), inputs }, signal)
  }

  it('compares two stored outputs by a program: 0 says equal, 1 different, and nothing of it is left', async () => {
    assert.equal(await programs.trouble(), '')
    assert.deepEqual(await compare(SECOND_WORD, 'energy 12.0000001\n', 'energy 12.0000002\n'), { reason: 'exit', exitCode: 0, said: '' })
    assert.deepEqual(await compare(SECOND_WORD, 'energy 12.0000001\n', 'energy 13.0000002\n'), { reason: 'exit', exitCode: 1, said: '' })
    assert.deepEqual(await readdir(folder), [])
    const containers = await fixture.docker.listContainers({ all: true, filters: { name: [containerPrefix(fixture.nodeId)] } })
    assert.deepEqual(containers, [])
  })

  it('may write nothing to what it compares, and reaches no network', async () => {
    const { exitCode } = await compare(
      'echo x > /in/a/result || echo x > /in/b/more || ping -c 1 -W 1 127.0.0.2 2>/dev/null | grep -q "1 packets received"',
      '1',
      '2'
    )
    assert.notEqual(exitCode, 0)
    const { exitCode: links } = await compare('test "$(ls /sys/class/net)" = lo', '1', '2')
    assert.equal(links, 0)
  })

  it('tells what broke it: a limit, no such command, a word on stderr', async () => {
    assert.equal((await compare('sleep 60', '1', '2', { timeMs: 300 })).reason, 'time')
    assert.equal((await compare('x=y; while :; do x=$x$x; done', '1', '2', { memoryBytes: 16 * 1024 ** 2 })).reason, 'memory')
    assert.deepEqual(await compare('echo what is this >&2; exit 3', '1', '2'), { reason: 'exit', exitCode: 3, said: 'what is this' })
    assert.equal((await compare('exec no-such-command', '1', '2')).exitCode, 127)
  })

  it('ends with its signal, and what an earlier life left running is ended before anything new', async () => {
    const gone = new AbortController()
    const run = compare('sleep 600', '1', '2', {}, gone.signal)
    const running = () => fixture.docker.listContainers({ filters: { name: [containerPrefix(fixture.nodeId)] } })
    await until('it runs', async () => (await running()).length === 1)
    gone.abort(new Error('enough'))
    await assert.rejects(run, /enough/)
    assert.deepEqual(await running(), [])

    const executor = await fixture.executor()
    const left = await fixture.execution(['sleep', '600'], { replica: 'program.1' })
    const { ended } = await executor.start({ ...left, folder: join(folder, 'program.1') })
    ended.catch(() => undefined)
    const next = new Programs({ store: fixture.store, id: fixture.nodeId, folder, engines: ['docker'], logger })
    await next.begin()
    assert.deepEqual([await running(), await readdir(folder)], [[], []])
    await next.stop()
  })
})

describe('programs without a sandbox', () => {
  it('says what keeps it from running one', async () => {
    const programs = new Programs({ store: {} as never, id: 'p', folder: '/nowhere', engines: [], logger })
    await assert.rejects(programs.run({ manifest: processManifest(), inputs: [] }, new AbortController().signal), /process is not offered here/)
    await programs.stop()
  })
})
