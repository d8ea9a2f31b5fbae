/** S20 with real processes: what a node needs for its next task comes while it runs another. */
import assert from 'node:assert/strict'
import { randomFillSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import type { Client } from '#client-cli/index'
import { stockOf } from '../support/locality.ts'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { until } from '../support/until.ts'

let network: TestNetwork
let client: Client
before(async () => {
  network = await testNetwork()
  client = await network.client()
})
after(() => network.close())

const MIB = 1024 ** 2

/** Tasks that each have an input of their own, and run until their own file is there. */
async function submit(name: string, count: number): Promise<string> {
  const specs = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const path = join(network.dir, `${name}-${index}`)
      await writeFile(path, randomFillSync(Buffer.alloc(4 * MIB)))
      const go = JSON.stringify(goFile(name, index))
      return {
        command: ['sh', '-c', `until [ -e ${go} ]; do sleep 0.1; done; cksum < "$TALKO_IN/set"`],
        engine: 'process' as const,
        inputs: { set: (await client.upload(path)).root }
      }
    })
  )
  return (await client.submit(await client.prepare(specs), { policy: { minQuorum: 1, targetResults: 1 } })).id
}

const goFile = (name: string, index: number): string => join(network.dir, `${name}-${index}.go`)
const go = (name: string, index: number): Promise<void> => writeFile(goFile(name, index), '')

async function isNext(task: string, node: string): Promise<void> {
  await until(
    `${task} to be next on ${node}, with its content there`,
    async () => (await client.why(task)).next?.some((where) => where.name === node && where.here) === true
  )
}

it('the content of the second task is there before the first has ended, and moves once', { timeout: 120_000 }, async () => {
  await network.nodeProcess('ann', { slots: 1 })
  const batch = await submit('a', 2)
  await isNext(`${batch}.1`, 'ann')
  const first = await client.task(`${batch}.0`)
  const second = await client.task(`${batch}.1`)
  assert.deepEqual([first.status, second.status, second.replicasIssued], ['running', 'staged', 0])
  assert.equal((await stockOf(join(network.dir, 'ann'))).fetchedBytes >= 8 * MIB, true)
  assert.equal((await client.nodes()).find(({ name }) => name === 'ann')?.next, 1)
  await go('a', 0)
  await until('the second task to run', async () => (await client.task(`${batch}.1`)).replicas?.[0]?.state === 'running')
  await go('a', 1)
  assert.equal((await client.wait(batch)).ready, 2)
  assert.equal((await stockOf(join(network.dir, 'ann'))).fetchedTrees, 2)
})

it('a server that is killed and started again says what is next anew; another node that comes takes it at once; nothing runs twice', {
  timeout: 120_000
}, async () => {
  const batch = await submit('b', 2)
  await isNext(`${batch}.1`, 'ann')
  await network.crashServer()
  await isNext(`${batch}.1`, 'ann')
  await network.nodeProcess('bob', { slots: 1 })
  const taken = await until('bob to have the second task', async () => {
    const { replicas } = await client.task(`${batch}.1`)
    return replicas?.[0]?.state === 'running' ? replicas : undefined
  })
  assert.equal(taken.length, 1)
  const nodes = await client.nodes()
  assert.equal(nodes.find(({ id }) => id === taken[0]?.node)?.name, 'bob')
  assert.deepEqual(
    nodes.map(({ next, errors, lost }) => [next, errors, lost]),
    nodes.map(() => [undefined, 0, 0])
  )
  await go('b', 0)
  await go('b', 1)
  const { ready } = await client.wait(batch)
  assert.equal(ready, 2)
  for (const index of [0, 1]) assert.equal((await client.task(`${batch}.${index}`)).replicasIssued, 1)
})
