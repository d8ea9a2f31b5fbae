/** What the coordinator holds in memory of an idle node, beyond its connection, and of a task that waits and shares its manifest with no other. Beside the same as records in the store. */
import { fileURLToPath } from 'node:url'
import { child, medians } from './child.ts'
import type { Held } from './memory-world.ts'
import { type BenchContext, type BenchLine, benchLine } from './runner.ts'

const NODES = 50_000
const TASKS = 100_000

interface Measured {
  readonly node: Held
  readonly task: Held
}

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const program = fileURLToPath(new URL('./memory-world.ts', import.meta.url))
  const of = await medians(
    context,
    () => child<Measured>(program, ['--expose-gc'], [NODES, TASKS]),
    ({ node, task }) => `${node.memory.toFixed(0)} bytes a node, ${task.memory.toFixed(0)} bytes a task`
  )
  const line = (name: string, what: (one: Measured) => Held, must: string): BenchLine =>
    benchLine({ name, value: of((one) => what(one).memory), unit: 'bytes', peer: 'its records', peerValue: of((one) => what(one).records), must })
  return [line('memory of an idle node', ({ node }) => node, 'value <= 2048'), line('memory of a waiting task', ({ task }) => task, 'value <= 1024')]
}
