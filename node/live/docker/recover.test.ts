import assert from 'node:assert/strict'
import { once } from 'node:events'
import { stat, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { assertEnd, type DockerFixture, dockerFixture, printed, skipWithoutDocker } from '#test/support/docker'
import { startProgram } from '#test/support/process'
import { until } from '#test/support/until'
import { type Executor, ExecutorError, type Running } from '../../ports.ts'
import { containerName } from '../../sandbox/options.ts'

const PROGRAM = fileURLToPath(new URL('../../../test/support/docker-program.ts', import.meta.url))
const hasCode = (code: ExecutorError['code']) => (error: unknown) => error instanceof ExecutorError && error.code === code
/** Prints numbered lines on both outputs until the file /out/stop... is made by the test in its folder. */
const COUNT = 'i=0; while [ ! -e /out/stop ]; do i=$((i+1)); echo line $i; echo error $i >&2; sleep 0.02; done; echo done $i; exit 5'

describe('a node that comes back', { skip: await skipWithoutDocker() }, () => {
  let fixture: DockerFixture
  before(async () => {
    fixture = await dockerFixture()
  })
  after(() => fixture.close())

  const found = (runs: ReadonlyMap<string, Running>, replica: string): Running => {
    const run = runs.get(replica)
    assert.ok(run, `${replica} was not found`)
    return run
  }
  /** Every line once, in order, from 1 to the last. */
  const assertComplete = ({ stdout, stderr }: { stdout: string; stderr: string }): void => {
    const count = Number(/done (\d+)\n$/.exec(stdout)?.[1])
    assert.ok(count > 0, stdout)
    const lines = Array.from({ length: count }, (_, index) => index + 1)
    assert.equal(stdout, `${lines.map((line) => `line ${line}\n`).join('')}done ${count}\n`)
    assert.equal(stderr, lines.map((line) => `error ${line}\n`).join(''))
  }
  const removeAll = async (executor: Executor): Promise<void> => {
    await executor.sweep(new Set())
    const left = await fixture.docker.listContainers({ all: true, filters: { label: [`talko.node=${fixture.nodeId}`] } })
    assert.deepEqual(left, [])
  }

  it('finds a running replica again and loses not a byte of its output', async () => {
    const execution = await fixture.execution(['sh', '-c', COUNT])
    const first = await fixture.executor()
    const abandoned = await first.start(execution)
    await until('some lines', async () => (await printed(execution)).stdout.length > 50)
    await first.stop()
    await assert.rejects(abandoned.ended, hasCode('failed'))

    const second = await fixture.executor()
    const run = found(await second.recover([execution, await fixture.execution(['true'])]), execution.replica)
    const before = (await printed(execution)).stdout.length
    await until('more lines', async () => (await printed(execution)).stdout.length > before + 50)
    await writeFile(join(execution.folder, 'out/stop'), '')
    assertEnd({ ...(await run.ended), ...(await printed(execution)) }, 'exit', 5)
    assertComplete(await printed(execution))
    await removeAll(second)
  })

  it('survives kill -9: one replica goes on, one ended unseen, one is ended, one is unwanted', async () => {
    const scripts = [COUNT, `${COUNT.replace('; exit 5', '')}; exit 9`, 'sleep 600', 'sleep 600']
    const child = startProgram(PROGRAM, [fixture.nodeId, fixture.folder, ...scripts])
    try {
      await until(`four replicas ${child.errors()}`, () => child.lines.length === 4)
    } finally {
      await child.kill('SIGKILL')
    }
    const executions = await Promise.all(
      scripts.map((script, index) =>
        fixture.execution(['sh', '-c', script], { replica: `bbbbbbbbbbbbbbbbbbbbbbbbbb.${index}.1`, resources: { memoryBytes: 2 ** 31, diskBytes: 2 ** 32 } })
      )
    )
    const [goesOn, endedUnseen, ended, stale] = executions
    assert.ok(goesOn && endedUnseen && ended && stale)
    await writeFile(join(endedUnseen.folder, 'out/stop'), '')
    await fixture.docker.getContainer(containerName(fixture.nodeId, endedUnseen.replica)).wait()

    const executor = await fixture.executor()
    const runs = await executor.recover([goesOn, endedUnseen, ended])
    assert.deepEqual([...runs.keys()].sort(), [goesOn.replica, endedUnseen.replica, ended.replica])
    await executor.sweep(new Set(runs.keys()))
    await assert.rejects(fixture.docker.getContainer(containerName(fixture.nodeId, stale.replica)).inspect(), /no such container/i)

    assertEnd({ ...(await found(runs, endedUnseen.replica).ended), ...(await printed(endedUnseen)) }, 'exit', 9)
    assertComplete(await printed(endedUnseen))
    await found(runs, ended.replica).kill(100)
    assert.equal((await found(runs, ended.replica).ended).reason, 'killed')
    await writeFile(join(goesOn.folder, 'out/stop'), '')
    assertEnd({ ...(await found(runs, goesOn.replica).ended), ...(await printed(goesOn)) }, 'exit', 5)
    assertComplete(await printed(goesOn))
    await removeAll(executor)
  })

  it('counts the time limit from the start, also when nobody watched', async () => {
    const execution = await fixture.execution(['sleep', '600'], { resources: { timeMs: 600 } })
    const first = await fixture.executor()
    await first.start(execution)
    await first.stop()
    const second = await fixture.executor()
    const run = found(await second.recover([execution]), execution.replica)
    assert.equal((await run.ended).reason, 'time')
    await removeAll(second)
  })

  it('says that the time limit ended a run, also when a life before ended it and could not say so', async () => {
    const execution = await fixture.execution(['sleep', '600'], { resources: { timeMs: 300 } })
    const first = await fixture.executor()
    await (await first.start(execution)).ended
    await first.stop()
    const second = await fixture.executor()
    const run = found(await second.recover([execution]), execution.replica)
    assert.equal((await run.ended).reason, 'time')
    await removeAll(second)
  })

  it('forgets a container that was made and never started', async () => {
    const execution = await fixture.execution(['true'])
    const executor = await fixture.executor()
    await executor.prepare(execution.manifest, new AbortController().signal)
    await (await executor.start(execution)).ended
    await executor.remove(execution.replica)
    const { docker, nodeId } = fixture
    const image = (await docker.listImages()).find(({ RepoTags }) => RepoTags?.some((tag) => tag.startsWith('talko/image:')))
    await docker.createContainer({
      name: containerName(nodeId, execution.replica),
      Image: image?.Id ?? '',
      Cmd: ['true'],
      Labels: { 'talko.node': nodeId, 'talko.replica': execution.replica, 'talko.test': '1' }
    })
    assert.equal((await executor.recover([execution])).size, 0)
    await removeAll(executor)
  })

  it('never passes a gap in the output off as the whole', async () => {
    for (const compareStdout of [true, false]) {
      const execution = await fixture.execution(['sh', '-c', COUNT], { manifest: { compareStdout } })
      const first = await fixture.executor()
      await first.start(execution)
      await until('some lines', async () => (await printed(execution)).stdout.length > 50)
      await first.stop()
      await writeFile(join(execution.folder, 'stdout'), 'something the log does not hold\n')

      const warnings: string[] = []
      const second = await fixture.executor({ logger: { warn: (text) => warnings.push(text) } })
      const run = found(await second.recover([execution]), execution.replica)
      await writeFile(join(execution.folder, 'out/stop'), '')
      if (compareStdout) await assert.rejects(run.ended, hasCode('failed'))
      else {
        assertEnd({ ...(await run.ended), ...(await printed(execution)) }, 'exit', 5)
        assert.match(warnings.join(), /lost/)
      }
      await removeAll(second)
    }
  })

  it('tells the node when the engine goes away in the middle of a run', async () => {
    const socketPath = join(fixture.folder, 'proxy.sock')
    const engine = (process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock').replace(/^unix:\/\//, '')
    const sockets = new Set<Socket>()
    const proxy = createServer((near) => {
      const far = connect(engine)
      for (const [from, to] of [
        [near, far],
        [far, near]
      ] as const) {
        sockets.add(from)
        from.on('error', () => to.destroy())
        from.on('close', () => to.destroy())
        from.pipe(to)
      }
    }).listen(socketPath)
    await once(proxy, 'listening')

    const execution = await fixture.execution(['sh', '-c', 'echo up; sleep 600'])
    const executor = await fixture.executor({ socketPath })
    await executor.probe()
    const running = await executor.start(execution)
    await until('the program', async () => (await stat(join(execution.folder, 'stdout'))).size > 0)
    proxy.close()
    for (const socket of sockets) socket.destroy()
    await assert.rejects(running.ended, hasCode('engine_down'))
    await assert.rejects(executor.probe(), hasCode('engine_down'))

    const again = await fixture.executor()
    const run = found(await again.recover([execution]), execution.replica)
    await run.kill(0)
    assert.equal((await run.ended).reason, 'killed')
    assert.equal((await printed(execution)).stdout, 'up\n')
    await removeAll(again)
  })
})
