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

async function submit({ command }: Stepper, minQuorum = 1): Promise<string> {
  const { id } = await client.submitTask({ engine: 'process', command, policy: { minQuorum, targetResults: minQuorum, checkpointMs: EVERY_MS } })
  return id
}

async function untilStep(program: Stepper, step: number): Promise<void> {
  await until(`step ${step}`, () => program.steps().some((one) => one.step === step))
}

/** The project has the snapshot that the attempt made after this step, which the node took out of its folder before. */
async function untilKept(task: string, { node, attempt, step }: { readonly node: string; readonly attempt: number; readonly step: number }): Promise<void> {
  const taken = join(network.dir, node, 'run', `${task}.${attempt}`, 'snapshot')
  await until(`the checkpoint of step ${step}`, async () => {
    if (!existsSync(taken) || readFileSync(taken, 'utf8').trim() !== String(step)) return false
    const { replicas = [] } = await client.task(task)
    return (replicas[attempt - 1]?.checkpoint?.atMs ?? 0) >= Math.floor(statSync(taken).ctimeMs)
  })
}

function by(program: Stepper, node: string): number[] {
  return program.steps().flatMap((one) => (one.node === node ? [one.step] : []))
}

/** kill -9 of the node and of all that it runs, as when a machine loses its power. */
async function powerLoss(name: string, task: string): Promise<void> {
  await nodes.get(name)?.kill('SIGKILL')
  const pid = JSON.parse(readFileSync(join(network.dir, name, 'run', `${task}.1`, 'pid'), 'utf8')).pid as number
  process.kill(-pid, 'SIGKILL')
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
})
