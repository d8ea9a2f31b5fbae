/** D11: many nodes need one input at once. What the project sends of it, beside the input itself: the nodes give each other the rest. */
import { randomFillSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { askNode } from '#client-cli/live/node-control'
import { testNetwork } from '../support/network.ts'
import { until } from '../support/until.ts'
import { type BenchContext, type BenchLine, benchLine } from './runner.ts'

const LOAD = { nodes: 50, inputBytes: 64 * 1024 ** 2 }
/** A volunteer's line is not what is measured here. */
const UPLOAD_PER_SECOND = 64 * 1024 ** 2

interface Status {
  readonly connected: boolean
  readonly exchange: { readonly received: { readonly project: number; readonly direct: number } }
}

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const network = await testNetwork()
  try {
    const client = await network.client()
    const path = join(network.dir, 'input')
    await writeFile(path, randomFillSync(Buffer.alloc(LOAD.inputBytes)))
    const { root } = await client.upload(path)
    const names = Array.from({ length: LOAD.nodes }, (_, index) => `node-${index}`)
    const ids: string[] = []
    for (const name of names) {
      const node = await network.nodeProcess(name, { slots: 1, listen: ['/ip4/127.0.0.1/tcp/0'], uploadPerSecond: UPLOAD_PER_SECOND })
      ids.push(node.lines[0] ?? '')
    }
    const status = async (name: string): Promise<Status> => JSON.parse(JSON.stringify(await askNode(join(network.dir, name), 'GET', '/status')))
    await until('the nodes', async () => (await Promise.all(names.map(status))).every(({ connected }) => connected), 120_000)
    const prepared = await client.prepare([{ command: ['sh', '-c', 'cksum < "$TALKO_IN/set"'], engine: 'process', inputs: { set: root } }])
    const begun = performance.now()
    // One on each: a task would rather wait for a node that has its data.
    const policy = { minQuorum: 1, targetResults: 1, copies: 'never' as const, force: true }
    const batches = await Promise.all(ids.map((id) => client.submit(prepared, { policy: { ...policy, nodes: [id] } })))
    for (const { id } of batches) if ((await client.wait(id)).ready !== 1) throw new Error(`batch ${id} is not ready`)
    const seconds = (performance.now() - begun) / 1000
    const received = (await Promise.all(names.map(status))).map(({ exchange }) => exchange.received)
    const sum = (way: 'project' | 'direct'): number => received.reduce((all, one) => all + one[way], 0)
    const reached = received.filter(({ project, direct }) => project + direct >= LOAD.inputBytes).length
    context.log(
      `${reached} of ${LOAD.nodes} nodes fetched ${LOAD.inputBytes / 1024 ** 2} MiB in ${seconds.toFixed(1)} s: ${(sum('direct') / LOAD.inputBytes).toFixed(1)} times from each other`
    )
    return [
      benchLine({
        name: `what a project sends of one input that ${reached} nodes need at once`,
        value: sum('project') / LOAD.inputBytes,
        unit: 'times the input',
        peer: 'each node from the project',
        peerValue: reached,
        must: 'value <= 3'
      })
    ]
  } finally {
    await network.close()
  }
}
