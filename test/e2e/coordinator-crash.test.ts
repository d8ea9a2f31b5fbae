import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { parseReplicaId } from '#protocol/ids'
import { checkReceipt } from '#protocol/result/receipt'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { scriptedExecutor } from '../support/scripted-executor.ts'
import { until } from '../support/until.ts'

const TASKS = 200
const CRASHES = 20

let network: TestNetwork
before(async () => {
  network = await testNetwork()
})
after(() => network.close())

it('ends every accepted task exactly once though the coordinator is killed at 20 random instants, and runs nothing twice', async (test) => {
  const witness = join(network.dir, 'witness')
  const script = (seed: string): { answer: string; ms: number } => ({ answer: seed, ms: 100 + (Number(seed) % 10) * 20 })
  for (const name of ['ann', 'bob', 'cid', 'dee']) {
    const executor = scriptedExecutor({ witness, script: ({ manifest }) => script(manifest.environment.SEED ?? '') })
    await network.node(name, [executor], { slots: 3 })
  }
  const client = await network.client()
  const specs = Array.from({ length: TASKS }, (_, index) => ({ command: ['answer'], engine: 'process' as const, environment: { SEED: String(index) } }))
  const batch = await client.submit(await client.prepare(specs))
  assert.equal(batch.tasks.length, TASKS)

  const instants: number[] = []
  for (let crash = 0; crash < CRASHES; crash += 1) {
    const ms = Math.floor(Math.random() * 400)
    instants.push(ms)
    // The instant is what varies here, not a guess at when something is done.
    await pause(ms)
    await network.crashServer()
  }
  test.diagnostic(`killed after ${instants.join(', ')} ms of service`)

  const state = await until(
    'all tasks to be decided',
    async () => {
      const view = await client.wait(batch.id)
      return view.ready + view.failed + view.killed === TASKS ? view : undefined
    },
    120_000
  )
  assert.equal(state.ready, TASKS)

  const starts = readFileSync(witness, 'utf8').trim().split('\n')
  assert.equal(new Set(starts).size, starts.length, 'a replica was started twice')
  const perTask = new Map<string, number>()
  for (const replica of starts) {
    const task = parseReplicaId(replica)?.task ?? ''
    perTask.set(task, (perTask.get(task) ?? 0) + 1)
  }
  assert.deepEqual([...perTask.keys()].sort(), [...batch.tasks].sort())
  for (const [task, runs] of perTask) assert.equal(runs, 2, `task ${task} was run ${runs} times for a quorum of 2`)

  for (const task of batch.tasks) {
    const check = checkReceipt(await client.receipt(task), { project: network.project })
    assert.ok(check.ok, `${task}: ${check.lines.at(-1)}`)
  }
})
