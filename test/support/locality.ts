/** CodaLab's question of data locality with real processes: nodes, data sets, and runs on them in a random order. */
import { randomFillSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { Random } from '../../sim/random.ts'
import type { TestNetwork } from './network.ts'
import { until } from './until.ts'

export interface LocalityLoad {
  readonly nodes: number
  readonly sets: number
  readonly setBytes: number
  readonly runs: number
  /** Decides the order. */
  readonly seed: number
  /** What one run takes besides reading its set. */
  readonly runSeconds: number
}

export interface LocalityFigures {
  /** Data sets that were brought to a node. */
  readonly copies: number
  readonly bytes: number
  /** Runs that found their set where they ran, of all. */
  readonly localShare: number
  readonly wallSeconds: number
}

/** Everything is submitted at once; each node runs one at a time and knows nothing at first. */
export async function localityFigures(network: TestNetwork, { nodes, sets, setBytes, runs, seed, runSeconds }: LocalityLoad): Promise<LocalityFigures> {
  const client = await network.client()
  const uploaded = await Promise.all(
    Array.from({ length: sets }, async (_, index) => {
      const path = join(network.dir, `set-${index}`)
      await writeFile(path, randomFillSync(Buffer.alloc(setBytes)))
      return (await client.upload(path)).root
    })
  )
  const names = Array.from({ length: nodes }, (_, index) => `node-${index}`)
  for (const name of names) await network.nodeProcess(name, { slots: 1 })
  await until('the nodes', async () => (await client.nodes()).length === nodes)
  const order = shuffled(
    Array.from({ length: runs }, (_, index) => index % sets),
    new Random(seed)
  )
  const specs = order.map((set, index) => ({
    command: ['sh', '-c', `cksum < "$TALKO_IN/set" && sleep ${runSeconds}`],
    engine: 'process' as const,
    inputs: { set: uploaded[set] ?? '' },
    environment: { RUN: String(index) }
  }))
  const begun = performance.now()
  const batch = await client.submit(await client.prepare(specs), { policy: { minQuorum: 1, targetResults: 1 } })
  const { ready } = await client.wait(batch.id)
  if (ready !== runs) throw new Error(`of ${runs} runs ${ready} are ready`)
  const wallSeconds = (performance.now() - begun) / 1000
  const stocks = await Promise.all(names.map((name) => stockOf(join(network.dir, name))))
  const copies = stocks.reduce((sum, { fetchedTrees }) => sum + fetchedTrees, 0)
  // A node runs one at a time, so each copy was waited for by one run.
  return { copies, bytes: stocks.reduce((sum, { fetchedBytes }) => sum + fetchedBytes, 0), localShare: (runs - copies) / runs, wallSeconds }
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, at: random.word() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

/** What a node says of the data that it keeps. */
export async function stockOf(folder: string): Promise<{ readonly fetchedTrees: number; readonly fetchedBytes: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  request({ socketPath: join(folder, 'node.sock'), path: '/status' }, (response) => {
    let body = ''
    response.setEncoding('utf8')
    response.on('data', (part: string) => {
      body += part
    })
    response.on('end', () => resolve(body))
  })
    .on('error', reject)
    .end()
  return JSON.parse(await promise).stock
}
