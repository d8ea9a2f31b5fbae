import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Client } from '#client-cli/index'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import type { TestProcess } from '../support/process.ts'
import { type Stepper, stepper } from '../support/stepper.ts'
import { until } from '../support/until.ts'

const EVERY_MS = 1_000

let network: TestNetwork
let client: Client
const nodes = new Map<string, TestProcess>()

before(async () => {
  network = await testNetwork()
  client = await network.client()
})
after(() => network.close())

async function start(name: string): Promise<TestProcess> {
  const node = await network.nodeProcess(name)
  nodes.set(name, node)
  return node
}

async function submit({ command }: Pick<Stepper, 'command'>): Promise<string> {
  const { id } = await client.submitTask({ engine: 'process', command, policy: { minQuorum: 1, checkpointMs: EVERY_MS } })
  return id
}

async function untilStep(program: Stepper, step: number): Promise<void> {
  await until(`step ${step}`, () => program.steps().some((one) => one.step === step))
}

/** The project has the snapshot that the attempt made after this step, which the node took out of its folder before. */
async function untilKept(task: string, { node, attempt, step }: { readonly node: string; readonly attempt: number; readonly step: number }): Promise<void> {
  const taken = join(network.dir, node, 'run', `${task}.${attempt}`, 'snapshot', 'data')
  await until(`the checkpoint of step ${step}`, async () => {
    if (!existsSync(taken) || readFileSync(taken, 'utf8').trim() !== String(step)) return false
    const { replicas = [] } = await client.task(task)
    return (replicas[attempt - 1]?.checkpoint?.atMs ?? 0) >= Math.floor(statSync(taken).ctimeMs)
  })
}

function by(program: Stepper, node: string): number[] {
  return program.steps().flatMap((one) => (one.node === node ? [one.step] : []))
}

function pidOf(node: string, replica: string): number {
  return JSON.parse(readFileSync(join(network.dir, node, 'run', replica, 'pid'), 'utf8')).pid as number
}

/** kill -9 of the node and of all that it runs, as when a machine loses its power. */
async function powerLoss(name: string, task: string): Promise<void> {
  await nodes.get(name)?.kill('SIGKILL')
  process.kill(-pidOf(name, `${task}.1`), 'SIGKILL')
}

describe('a run that leaves checkpoints', () => {
  it('X19, X18: goes on where it was on another node, when its own dies at 70 % of the work', { timeout: 120_000 }, async (test) => {
    await start('ann')
    const program = stepper(network.dir, 'power', { steps: 20 })
    const task = await submit(program)
    program.allow(13)
    await untilStep(program, 13)
    await untilKept(task, { node: 'ann', attempt: 1, step: 13 })
    program.allow(14)
    await untilStep(program, 14)
    await powerLoss('ann', task)
    await start('bob')
    program.allow(20)
    await client.wait(task)
    const view = await client.task(task)
    assert.equal(view.status, 'ready')
    assert.equal(view.replicas?.[1]?.from, 1)
    const computed = by(program, 'bob')
    test.diagnostic(`ann computed steps 1 to 14 of 20, bob ${computed[0]} to ${computed.at(-1)}`)
    assert.ok(computed.length <= 0.35 * 20, `bob computed ${computed.length} of 20 steps`)
    await network.owner('get', `${task}/result`, join(network.dir, 'result'))
    assert.equal(readFileSync(join(network.dir, 'result'), 'utf8'), 'all 20 steps\n')
  })

  it('X18: kill -9 of the node loses nothing, and of the run no more than since its last checkpoint; talko why and info tell of it', {
    timeout: 120_000
  }, async () => {
    const program = stepper(network.dir, 'killed', { steps: 10 })
    const task = await submit(program)
    program.allow(4)
    await untilStep(program, 4)
    await untilKept(task, { node: 'bob', attempt: 1, step: 4 })
    assert.match((await network.owner('why', task)).out, /its last checkpoint is .* old, after .* of work/)
    await nodes.get('bob')?.kill('SIGKILL')
    program.allow(5)
    await untilStep(program, 5)
    await start('bob')
    await untilKept(task, { node: 'bob', attempt: 1, step: 5 })
    program.allow(6)
    await untilStep(program, 6)
    process.kill(-pidOf('bob', `${task}.1`), 'SIGKILL')
    // Its node has failed at the task, and is not given it again.
    await start('cid')
    program.allow(10)
    await client.wait(task)
    const { replicas = [] } = await client.task(task)
    assert.deepEqual([replicas.length, replicas[1]?.from], [2, 1])
    const steps = program.steps().map(({ step }) => step)
    assert.deepEqual(steps, [1, 2, 3, 4, 5, 6, ...steps.slice(6)])
    assert.ok([6, 7].includes(steps[6] ?? 0) && steps.at(-1) === 10, `it went on with step ${steps[6]}`)
    assert.match((await network.owner('info', task)).out, /goes on from attempt 1/)
  })

  it('X18: a run that ends with status 85 goes on from what it left; one that never left anything has failed', { timeout: 120_000 }, async () => {
    const script = `n=0; [ -n "$TALKO_RESUME" ] && n=$(cat "$TALKO_RESUME"); n=$((n + 1)); [ $n -lt 4 ] || { echo $n > result; exit 0; }
echo $n > "$TALKO_CHECKPOINT/next"; mv "$TALKO_CHECKPOINT/next" "$TALKO_CHECKPOINT/$n"; exit 85`
    const task = await submit({ command: ['sh', '-c', script] })
    await client.wait(task)
    const { status, replicas = [] } = await client.task(task)
    assert.equal(status, 'ready')
    assert.deepEqual(
      replicas.map(({ state, from }) => [state, from]),
      [
        ['returned', undefined],
        ['returned', 1],
        ['returned', 2],
        ['reported', 3]
      ]
    )
    assert.match(
      (await network.owner('run', '--engine', 'process', '--checkpoint', '100ms', '--', 'true')).err,
      /from one checkpoint to the next are a second to a day/
    )
    const failing = await submit({ command: ['sh', '-c', 'exit 85'] })
    await client.wait(failing)
    assert.equal((await client.task(failing)).exitCode, 85)
  })

  for (const [how, stop] of [
    ['talko node pause --now', (name: string) => network.owner('node', 'pause', '--now', join(network.dir, name))],
    ['talko node stop --now', (name: string) => network.owner('node', 'stop', '--now', join(network.dir, name))]
  ] as const)
    it(`F14: ${how} ends the run, takes the snapshot that it leaves when it is told to end, and requeues it at once`, { timeout: 120_000 }, async () => {
      const evicted = how.includes('pause') ? 'dan' : 'eve'
      const other = how.includes('pause') ? 'eve' : 'fay'
      for (const [name, node] of nodes) {
        await node.kill('SIGTERM')
        nodes.delete(name)
      }
      await start(evicted)
      const onTerm = 'echo $step > "$TALKO_CHECKPOINT/next"; mv "$TALKO_CHECKPOINT/next" "$TALKO_CHECKPOINT/100"; exit 1'
      const program = stepper(network.dir, evicted, { steps: 6, onTerm })
      const task = await submit(program)
      program.allow(4)
      await untilStep(program, 4)
      await stop(evicted)
      const view = await until('the task to be given back', async () => {
        const now = await client.task(task)
        return now.replicas?.[0]?.state === 'returned' ? now : undefined
      })
      assert.ok(view.replicas?.[0]?.checkpoint !== undefined, JSON.stringify(view.replicas))
      await start(other)
      program.allow(6)
      await client.wait(task)
      assert.deepEqual(by(program, other), [5, 6], 'nothing is computed twice')
      await nodes.get(evicted)?.kill('SIGTERM')
    })
})
