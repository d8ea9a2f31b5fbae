import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { type Ended, type Execution, ExecutorError } from '../ports.ts'
import { until } from '../testing/live/until.ts'
import { manifestOf, replicaOf } from '../testing/samples.ts'
import { createProcessExecutor } from './process-executor.ts'

const root = mkdtempSync(join(tmpdir(), 'talko-process-'))
after(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }))
const logger = { debug() {}, info() {}, warn() {}, error() {} }
const executor = createProcessExecutor({ logger, folder: root })
after(() => executor.stop())
let count = 0

function execution(overrides: Parameters<typeof manifestOf>[0], inputs: Execution['inputs'] = []): Execution {
  const replica = replicaOf(count++)
  const folder = join(root, replica)
  mkdirSync(folder)
  return { replica, folder, inputs, manifest: manifestOf(overrides) }
}

async function run(
  overrides: Parameters<typeof manifestOf>[0],
  inputs: Execution['inputs'] = []
): Promise<{ ended: Ended; stdout: string; stderr: string; folder: string }> {
  const one = execution(overrides, inputs)
  const ended = await (await executor.start(one)).ended
  const text = (name: string): string => readFileSync(join(one.folder, name), 'utf8')
  return { ended, stdout: text('stdout'), stderr: text('stderr'), folder: one.folder }
}

describe('the process engine', () => {
  it('gives back exit status, output and both logs', async () => {
    const { ended, stdout, stderr, folder } = await run({ command: ['sh', '-c', 'echo out; echo err >&2; echo file > f; exit 5'] })
    assert.deepEqual([ended.reason, ended.exitCode], ['exit', 5])
    assert.deepEqual([stdout, stderr], ['out\n', 'err\n'])
    assert.equal(readFileSync(join(folder, 'out', 'f'), 'utf8'), 'file\n')
    assert.ok(ended.endedAtMs >= ended.startedAtMs)
  })

  it('gives a command its environment as it is, whatever its folder is called', async () => {
    const environment = { UID: '7', IFS: 'x', PPID: "it's", ENV: '/nowhere', QUOTES: `'"\n$HOME` }
    const folder = join(root, 'a=b')
    mkdirSync(folder)
    writeFileSync(join(folder, 'show'), '#!/bin/sh\nprintf "%s|%s|%s" "$1" "$QUOTES" "$ENV"\n', { mode: 0o755 })
    const { stdout } = await run({ command: [join(folder, 'show'), 'a b'], environment })
    assert.equal(stdout, `a b|${environment.QUOTES}|/nowhere`)
    const seen = await run({ command: ['env'], environment: { UID: '7', PPID: '1' } })
    const names = seen.stdout.split('\n').map((line) => line.split('=')[0])
    assert.deepEqual(names.filter(Boolean).sort(), ['HOME', 'LANG', 'PATH', 'PPID', 'TALKO_IN', 'TZ', 'UID'])
  })

  it('never lets a shell read an argument', async () => {
    const hostile = [
      '$(touch pwned)',
      '`touch pwned`',
      '; touch pwned',
      '| touch pwned',
      '&& touch pwned',
      '> pwned',
      '"; touch pwned; "',
      "'; touch pwned; '",
      '$IFS',
      '*',
      '~',
      '\n touch pwned',
      '-c',
      '--',
      '\\',
      '#',
      '!',
      '$$',
      ''
    ]
    const { stdout, folder } = await run({ command: ['printf', '%s\\0', ...hostile] })
    assert.deepEqual(stdout.split('\0').slice(0, -1), hostile)
    assert.ok(!existsSync(join(folder, 'out', 'pwned')))
  })

  it('takes no word of the shell for a program', async () => {
    for (const command of [
      ['eval', 'touch pwned'],
      ['exec', 'true'],
      ['cd', '/'],
      ['.', '/etc/profile'],
      ['trap', '', 'TERM'],
      [''],
      ['nowhere'],
      ['./nowhere']
    ]) {
      const { ended, folder } = await run({ command })
      assert.equal(ended.exitCode, 127, command.join(' '))
      assert.ok(!existsSync(join(folder, 'out', 'pwned')))
    }
    assert.equal((await run({ command: ['/etc/passwd'] })).ended.exitCode, 126)
  })

  it('shows the manifest its environment and inputs, and nothing of ours', async () => {
    writeFileSync(join(root, 'input'), 'an input')
    process.env.TALKO_SECRET = 'of the node'
    const { stdout, folder } = await run({ command: ['sh', '-c', 'cat "$TALKO_IN/data"; echo; env'], environment: { MINE: 'yes' } }, [
      { name: 'data', path: join(root, 'input') }
    ])
    delete process.env.TALKO_SECRET
    const [first, ...lines] = stdout.trim().split('\n')
    assert.equal(first, 'an input')
    const ours = lines.filter((line) => !line.startsWith('_=') && !line.startsWith('SHLVL=')).map((line) => line.split('=')[0])
    assert.deepEqual(ours.sort(), ['HOME', 'LANG', 'MINE', 'PATH', 'PWD', 'TALKO_IN', 'TZ'])
    assert.ok(lines.includes(`HOME=${folder}`))
  })

  it('ends a run at its time limit, also one that does not heed TERM', async () => {
    const { ended } = await run({ command: ['sh', '-c', "trap '' TERM; while :; do sleep 0.1; done"], resources: { timeMs: 100 } })
    assert.equal(ended.reason, 'time')
    assert.notEqual(ended.exitCode, 0)
  })

  it('F13: ends a run that gives no sign of life, and none that prints, computes or writes', async () => {
    const resources = { silenceMs: 2_500 }
    const loop = (work: string): string => `while [ ! -e stop ]; do ${work}; done`
    const scripts = [loop('echo line; sleep 0.1'), loop(':'), loop('echo half > told; sleep 0.1')]
    const lively = scripts.map((script) => execution({ command: ['sh', '-c', script], resources }))
    const runs = await Promise.all(lively.map((one) => executor.start(one)))
    await assert.rejects(
      run({ command: ['sh', '-c', 'echo begun; sleep 100'], resources }),
      (error: unknown) => error instanceof ExecutorError && error.code === 'hang' && /nothing printed.* for 2.5 s/.test(error.message)
    )
    for (const { folder } of lively) writeFileSync(join(folder, 'out', 'stop'), '')
    for (const { ended } of runs) assert.equal((await ended).reason, 'exit')
  })

  it('lets a run end nicely when it is killed, and takes its children along', async () => {
    const one = execution({ command: ['sh', '-c', "trap 'echo nicely; exit 9' TERM; sleep 100 & echo $!; touch started; wait"] })
    const running = await executor.start(one)
    await until('the run', () => existsSync(join(one.folder, 'out', 'started')))
    await running.kill(5_000)
    const ended = await running.ended
    assert.deepEqual([ended.reason, ended.exitCode], ['killed', 9])
    const [child, word] = readFileSync(join(one.folder, 'stdout'), 'utf8').trim().split('\n')
    assert.equal(word, 'nicely')
    await until('its child to end', () => !isAlive(Number(child)))
  })

  it('ends a run that prints without end', async () => {
    // Until somebody looks it may have printed more than fits a string: that is not read.
    const { ended } = await executor.start(execution({ command: ['yes'], resources: { diskBytes: 1024 } }))
    assert.equal((await ended).reason, 'disk')
  })

  it('says what a run has used', async () => {
    const { ended } = await run({ command: ['sh', '-c', 'end=$(($(date +%s%N) + 800000000)); while [ $(date +%s%N) -lt $end ]; do :; done'] })
    assert.ok(ended.cpuMs > 0 && ended.memoryPeakBytes > 0)
  })

  it('finds its runs again, tells a strange process from its own, and sweeps the rest', async () => {
    const going = execution({ command: ['sh', '-c', 'touch started; while [ ! -e go ]; do sleep 0.05; done; exit 4'] })
    const unwanted = execution({ command: ['sleep', '100'] })
    const strange = execution({})
    for (const one of [going, unwanted]) await executor.start(one)
    await executor.stop()
    writeFileSync(join(strange.folder, 'pid'), JSON.stringify({ pid: process.pid, startTicks: 1, startedAtMs: Date.now() }))
    const next = createProcessExecutor({ logger, folder: root })
    const found = await next.recover([going, strange])
    assert.deepEqual([...found.keys()], [going.replica])
    const { pid } = JSON.parse(readFileSync(join(unwanted.folder, 'pid'), 'utf8'))
    await next.sweep(new Set([going.replica]))
    await until('the unwanted run to end', () => !isAlive(pid))
    writeFileSync(join(going.folder, 'out', 'go'), '')
    assert.deepEqual(await found.get(going.replica)?.ended.then(({ reason, exitCode }) => [reason, exitCode]), ['exit', 4])
    await next.stop()
  })

  it('says so when something else ended a run', async () => {
    const one = execution({ command: ['sleep', '100'] })
    const running = await executor.start(one)
    process.kill(-JSON.parse(readFileSync(join(one.folder, 'pid'), 'utf8')).pid, 'SIGKILL')
    await assert.rejects(running.ended, (error: unknown) => error instanceof ExecutorError && error.code === 'failed')
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
