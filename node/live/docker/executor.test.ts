import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { commandOfSteps, cutSteps } from '#protocol/bundle/steps'
import { cidOfBytes, DAG_CBOR } from '#protocol/content/cid'
import { assertEnd, type DockerFixture, dockerFixture, type Finished, type ManifestChange, printed, runToEnd, skipWithoutDocker } from '#test/support/docker'
import { until } from '#test/support/until'
import { RESUME_NAME } from '../../leases.ts'
import { type Executor, ExecutorError } from '../../ports.ts'
import { FREE_BYTES_MIN } from '../../sandbox/policy.ts'
import { CHECKPOINT_FOLDER, TAKEN, takeSnapshot } from '../snapshots.ts'

const skip = await skipWithoutDocker()
const hasCode = (code: ExecutorError['code'], words: RegExp) => (error: unknown) =>
  error instanceof ExecutorError && error.code === code && words.test(error.message)

describe('Docker executor', { skip }, () => {
  let fixture: DockerFixture
  let executor: Executor
  before(async () => {
    fixture = await dockerFixture()
    executor = await fixture.executor()
    await executor.probe()
  })
  after(() => fixture.close())
  const run = async (command: readonly string[], change?: ManifestChange): Promise<Finished> => runToEnd(executor, await fixture.execution(command, change))
  const shell = (script: string, change?: ManifestChange): Promise<Finished> => run(['sh', '-c', script], change)

  it('runs a command: exit code, both outputs apart, output files, what it used', async () => {
    const execution = await fixture.execution(['sh', '-c', 'echo said; echo grumbled >&2; echo $A made > result; exit 3'], {
      manifest: { environment: { A: 'b c' } }
    })
    const ended = await runToEnd(executor, execution)
    assertEnd(ended, 'exit', 3)
    assert.deepEqual([ended.stdout, ended.stderr], ['said\n', 'grumbled\n'])
    assert.equal(await readFile(join(execution.folder, 'out/result'), 'utf8'), 'b c made\n')
    assert.ok(ended.endedAtMs >= ended.startedAtMs)
    if (process.getuid?.() === 0) assert.ok(ended.cpuMs > 0 && ended.memoryPeakBytes > 100_000, JSON.stringify(ended))
  })

  it('shows inputs at /in, files and folders', async () => {
    const path = join(fixture.folder, 'in:put,1')
    await writeFile(path, 'hello', { mode: 0o444 })
    assertEnd(await shell('[ "$(cat /in/data)" = hello ]', { inputs: [{ name: 'data', path }] }), 'exit', 0)
  })

  it('X13: runs several commands in order in one container, tells of each while it runs, and ends with the first that fails', async () => {
    const steps = [
      { name: 'make', command: ['sh', '-c', 'echo made > file; echo $$ > /tmp/mine'] },
      { name: 'wait', command: ['sh', '-c', 'cat file /tmp/mine > /dev/null && until [ -e go ]; do sleep 0.05; done; exit 7'] },
      { name: 'never', command: ['touch', 'never'] }
    ]
    const execution = await fixture.execution(commandOfSteps(steps))
    const running = await executor.start(execution)
    const logs = async () => cutSteps(steps, await printed(execution))
    await until('the second', async () => (await logs()).length === 2)
    assert.deepEqual(
      (await logs()).map(({ name, exitCode }) => [name, exitCode]),
      [
        ['make', 0],
        ['wait', undefined]
      ]
    )
    await writeFile(join(execution.folder, 'out/go'), '')
    const { reason, exitCode } = await running.ended
    assert.deepEqual([reason, exitCode], ['exit', 7])
    assert.deepEqual(
      (await logs()).map((log) => [log.name, log.exitCode]),
      [
        ['make', 0],
        ['wait', 7]
      ]
    )
    await executor.remove(execution.replica)
  })

  it('X13: tells several commands of an end that is asked for, and what they still say is kept', async () => {
    const steps = [
      { name: 'long', command: ['sh', '-c', 'trap "echo told; exit 9" TERM; echo ready; while :; do sleep 0.05; done'] },
      { name: 'never', command: ['touch', 'never'] }
    ]
    const execution = await fixture.execution(commandOfSteps(steps))
    const running = await executor.start(execution)
    await until('the first line', async () => (await printed(execution)).stdout.includes('ready'))
    await running.kill(5_000)
    assert.match((await printed(execution)).stdout, /told\n$/)
    await executor.remove(execution.replica)
  })

  it('X18: gives a run a folder for its snapshots and what it goes on from; the newest is taken out of its reach, and it is ended when they are too large', async () => {
    const path = join(fixture.folder, 'left')
    await writeFile(path, '3', { mode: 0o444 })
    const script = `n=$(cat $TALKO_RESUME)
for i in 1 2; do n=$((n + 1)); mkdir $TALKO_CHECKPOINT/next && echo $n > $TALKO_CHECKPOINT/next/count && mv $TALKO_CHECKPOINT/next $TALKO_CHECKPOINT/$i; done
mkdir $TALKO_CHECKPOINT/10x $TALKO_CHECKPOINT/next; ln -s /etc/passwd $TALKO_CHECKPOINT/9; ls /out`
    const execution = { ...(await fixture.execution(['sh', '-c', script], { inputs: [{ name: RESUME_NAME, path }] })), snapshots: true as const }
    assertEnd(await runToEnd(executor, execution), 'exit', 0)
    const { folder } = execution
    assert.equal(await takeSnapshot(folder, execution.replica), undefined, 'a link is no snapshot')
    const again = {
      ...(await fixture.execution(['sh', '-c', script.replace(/ln -s .*9;/, '')], { inputs: [{ name: RESUME_NAME, path }] })),
      snapshots: true as const
    }
    assertEnd(await runToEnd(executor, again), 'exit', 0)
    const taken = await takeSnapshot(again.folder, again.replica)
    assert.equal(taken, join(again.folder, TAKEN))
    assert.equal(await readFile(join(taken ?? '', 'data', 'count'), 'utf8'), '5\n')
    assert.deepEqual((await readdir(join(again.folder, CHECKPOINT_FOLDER))).sort(), ['10x', 'next'])
    assert.equal(await takeSnapshot(again.folder, again.replica), undefined)
    const large = await fixture.execution(['sh', '-c', 'head -c 60000000 /dev/zero > $TALKO_CHECKPOINT/next; sleep 30'])
    assertEnd(await runToEnd(executor, { ...large, snapshots: true }), 'disk')
  })

  it('delivers output while the command runs', async () => {
    const execution = await fixture.execution(['sh', '-c', 'echo first; read x'])
    const running = await executor.start({ ...execution, manifest: { ...execution.manifest, command: ['sh', '-c', 'echo first; sleep 60'] } })
    await until('the first line', async () => (await printed(execution)).stdout === 'first\n')
    await running.kill(0)
    await executor.remove(execution.replica)
  })

  it('keeps every byte of a big output', async () => {
    const ended = await shell('head -c 8000000 /dev/zero | tr "\\0" x; head -c 3000000 /dev/zero | tr "\\0" y >&2')
    assertEnd(ended, 'exit', 0)
    assert.equal(ended.stdout, 'x'.repeat(8_000_000))
    assert.equal(ended.stderr, 'y'.repeat(3_000_000))
  })

  it('ends like a shell when the command does not exist or is no program', async () => {
    const missing = await run(['no-such-program'])
    assertEnd(missing, 'exit', 127)
    assert.match(missing.stderr, /no-such-program/)
    assertEnd(await run(['/etc/passwd']), 'exit', 126)
  })

  it('ends a run at its time limit', async () => assertEnd(await run(['sleep', '60'], { resources: { timeMs: 300 } }), 'time'))

  it('F13: ends a container that gives no sign of life, and none that prints, computes or writes', async () => {
    const resources = { silenceMs: 3_000 }
    const loop = (work: string): string => `while [ ! -e stop ]; do ${work}; done`
    const scripts = [loop('echo line; sleep 0.1'), loop(':'), loop('echo half > told; sleep 0.1')]
    const lively = await Promise.all(scripts.map((script) => fixture.execution(['sh', '-c', script], { resources })))
    const runs = await Promise.all(lively.map((execution) => executor.start(execution)))
    await assert.rejects(run(['sh', '-c', 'echo begun; sleep 100'], { resources }), hasCode('hang', /nothing printed.* for 3 s/))
    for (const { folder } of lively) await writeFile(join(folder, 'out', 'stop'), '')
    for (const { ended } of runs) assert.equal((await ended).reason, 'exit')
    await Promise.all(lively.map(({ replica }) => executor.remove(replica)))
  })

  it('ends a run that takes too much memory', async () => assertEnd(await run(['tail', '/dev/zero']), 'memory', 137))

  it('ends a run that prints too much, and keeps what fits', async () => {
    const ended = await shell(`yes ${'x'.repeat(2000)}`, { resources: { diskBytes: 2_000_000 } })
    assertEnd(ended, 'disk')
    assert.equal(ended.stdout.length, 2_000_000)
  })

  it('ends a run that writes too much, in one file or in many', async () => {
    assertEnd(await shell('dd if=/dev/zero of=big bs=1M count=100'), 'disk')
    assertEnd(await shell('i=0; while :; do i=$((i+1)); dd if=/dev/zero of=file$i bs=1M count=1 2>/dev/null; done'), 'disk')
  })

  it('judges the disk when a run ended, too', async () => assertEnd(await shell('for i in 1 2 3 4; do dd if=/dev/zero of=f$i bs=1M count=10; done'), 'disk'))

  it('ends a run whose output could never become content: too deep, or only holes', async () => {
    assertEnd(await shell('i=0; while [ $i -lt 150 ]; do mkdir d; cd d; i=$((i+1)); done'), 'disk')
    assertEnd(await shell('truncate -s 30M sparse; mkfifo pipe; ln -s / root; ln -s /proc/1/mem mem'), 'exit', 0)
  })

  it('bounds /tmp', async () => {
    const ended = await shell('dd if=/dev/zero of=/tmp/big bs=1M; df -k /tmp | tail -1', { resources: { diskBytes: 8 * 1024 ** 2 } })
    assert.match(ended.stdout, /8192\s+8192\s+0\s+100%/)
  })

  it('ends fork bombs: those that give up and those that never do', async () => {
    // long enough to be seen also where no counter outlives the container
    assertEnd(await shell('(for i in $(seq 1 200); do sleep 5 & done); i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exit 4'), 'pids', 4)
    // an interactive shell does not end when it cannot fork; with little memory that may run out first
    assertEnd(await shell('yes "sleep 9 &" | sh -i 2>/dev/null', { resources: { memoryBytes: 256 * 1024 ** 2 } }), 'pids', 137)
  })

  it('kills: TERM first, KILL after the grace', async () => {
    for (const [script, exitCode] of [
      ['trap "echo bye; exit 7" TERM; echo up; while :; do sleep 0.05; done', 7],
      ['trap "" TERM; echo up; while :; do sleep 0.05; done', 137]
    ] as const) {
      const execution = await fixture.execution(['sh', '-c', script])
      const running = await executor.start(execution)
      await until('the program', async () => (await printed(execution)).stdout.startsWith('up\n'))
      await running.kill(exitCode === 7 ? 20_000 : 200)
      assertEnd({ ...(await running.ended), ...(await printed(execution)) }, 'killed', exitCode)
      await running.kill(1000) // again: nothing
      await executor.remove(execution.replica)
    }
  })

  it('takes a program that waits for a reader down without waiting for it', async () => {
    const execution = await fixture.execution(['yes', 'x'.repeat(4000)])
    const running = await executor.start(execution)
    await until('some output', async () => (await stat(join(execution.folder, 'stdout'))).size > 0)
    await running.kill(0)
    assert.ok(['killed', 'disk'].includes((await running.ended).reason))
    await executor.remove(execution.replica)
  })

  it('starts with the least a manifest may give', async () => {
    assertEnd(await run(['true'], { resources: { cpuMillis: 1, memoryBytes: 8 * 1024 ** 2, pids: 1, diskBytes: 0 } }), 'exit', 0)
    assertEnd(await shell('echo a few words', { resources: { diskBytes: 0 } }), 'exit', 0)
  })

  it('runs many at once and one after the other, and leaves no container', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, (_, index) => shell(`echo ${index}; exit ${index}`)))
    assert.deepEqual(
      all.map(({ exitCode, stdout }) => [exitCode, stdout]),
      all.map((_, index) => [index, `${index}\n`])
    )
    for (let index = 0; index < 38; index++) assertEnd(await run(['true']), 'exit', 0)
    const left = await fixture.docker.listContainers({ all: true, filters: { label: [`talko.node=${fixture.nodeId}`] } })
    assert.deepEqual(left, [])
  })

  it('replaces what is left of an earlier life under the same name', async () => {
    const execution = await fixture.execution(['sh', '-c', 'echo once'])
    await (await executor.start(execution)).ended
    const again = await runToEnd(executor, execution)
    assert.equal(again.stdout, 'once\n')
  })

  it('says which image is missing, and counts it against the replica only', async () => {
    const image = cidOfBytes(DAG_CBOR, Buffer.from('never stored'))
    const { manifest } = await fixture.execution(['true'], { manifest: { image } })
    await assert.rejects(executor.prepare(manifest, new AbortController().signal), hasCode('image', /not in this store/))
  })

  it('refuses a node that is no image', async () => {
    const image = await fixture.store.putBlock(DAG_CBOR, Buffer.from([0xa0]))
    const { manifest } = await fixture.execution(['true'], { manifest: { image } })
    await assert.rejects(executor.prepare(manifest, new AbortController().signal), hasCode('image', /no image/))
  })

  it('gives up waiting for an image when asked to', async () => {
    const other = await fixture.executor()
    const { manifest } = await fixture.execution(['true'])
    await assert.rejects(other.prepare(manifest, AbortSignal.abort(new Error('not now'))), /not now/)
    await other.prepare(manifest, new AbortController().signal)
  })

  it('says so when no engine answers', async () => {
    const lost = await fixture.executor({ socketPath: join(fixture.folder, 'no.sock') })
    await assert.rejects(lost.probe(), hasCode('engine_down', /start it/))
    await assert.rejects(lost.start(await fixture.execution(['true'])), hasCode('engine_down', /start it/))
  })

  it('keeps a reserve of disk for the volunteer', () => assert.ok(FREE_BYTES_MIN >= 100 * 1024 ** 2))
})
