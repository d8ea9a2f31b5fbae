/**
 * `tasks-nodes.ts FOLDER PROJECT ADDRESS COUNT SLOTS`: so many nodes of the tasks benchmark in one process, each with a connection,
 * a key and a store of its own, and with an executor that does nothing and leaves no file. Says when all are connected.
 */
import { join } from 'node:path'
import { initNode, type StartedNode, startNode } from '#node/main'
import type { Executor } from '#node/ports'
import { until } from '../support/until.ts'
import { noOpEnd } from './no-op.ts'

const [folder = '', project = '', address = '', count, slots] = process.argv.slice(2)

const idle: Executor = {
  engine: 'process',
  async probe() {},
  async prepare() {},
  async start() {
    return { ended: Promise.resolve(noOpEnd()), async kill() {} }
  },
  async recover() {
    return new Map()
  },
  async sweep() {},
  async remove() {},
  async stop() {}
}

const nodes: StartedNode[] = []
for (let index = 0; index < Number(count); index++) {
  const dir = join(folder, `node-${index}`)
  await initNode(dir, {
    project,
    addresses: [address],
    name: `node-${index}`,
    slots: Number(slots),
    engines: ['process'],
    memoryBytes: 2 ** 40,
    cpuMillis: 1_000_000
  })
  nodes.push(await startNode({ dir, executors: [idle] }))
}
await until('the nodes to connect', () => nodes.every((node) => node.status().connected))
process.on('SIGTERM', () => void Promise.all(nodes.map((node) => node.stop('now'))).then(() => process.exit(0)))
// The benchmark was stopped.
process.on('disconnect', () => process.exit(0))
process.send?.('ready')
