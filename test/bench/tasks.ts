/**
 * Tasks per second end to end: submitted in bulk, leased over libp2p to nodes that do nothing with them, reported, validated with
 * quorum 1, and decided; every step durable (fsync) at the server and at the nodes, as in production. Beside BullMQ, whose jobs
 * are as distinct as our bundles (a number each) and whose Redis syncs its file once a second: 16 nodes beside BullMQ as it is
 * fastest, which is one worker with two connections; and 64 nodes beside as many workers.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { FASTEST, startBullMq, type Workers } from './peers/bullmq.ts'
import { alternate, type BenchContext, type BenchLine, benchLine } from './runner.ts'
import { type Nodes, startSystem } from './system.ts'

/** Long enough that a round is not mostly its beginning and its end. */
const TASKS = 60_000
const WARM_UP_TASKS = 20_000
const NO_OP = 'tasks per second, end to end, no-op'

interface Comparison {
  readonly nodes: Nodes
  readonly workers: Workers
  readonly must: string
}

const COMPARISONS: readonly Comparison[] = [
  { nodes: { count: 16, slots: 256 }, workers: FASTEST, must: '>= 1.0' },
  // Of 1, 4 and 16 jobs at a time for each worker, the fastest.
  { nodes: { count: 64, slots: 64 }, workers: { count: 64, concurrency: 4 }, must: '>= 1.5' }
]

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const lines: BenchLine[] = []
  for (const comparison of COMPARISONS) lines.push(await compare(context, comparison))
  return lines
}

async function compare(context: BenchContext, { nodes, workers, must }: Comparison): Promise<BenchLine> {
  const workFolder = join(context.workFolder, String(nodes.count))
  await mkdir(workFolder)
  const talko = await startSystem({ workFolder }, { with: nodes })
  try {
    const bullMq = await startBullMq({ ...context, workFolder }, workers)
    try {
      const rate = (name: string, measure: (tasks: number) => Promise<number>) => async (): Promise<number> => {
        const value = TASKS / (await measure(TASKS))
        context.log(`${name}: ${value.toFixed(0)}/s`)
        return value
      }
      await talko.measure(WARM_UP_TASKS)
      await bullMq.measure(WARM_UP_TASKS)
      const { value, peerValue } = await alternate(
        context,
        rate(`talko, ${nodes.count} nodes`, talko.measure),
        rate(`BullMQ, ${workers.count} workers`, bullMq.measure)
      )
      const peer = `BullMQ, ${workers.count === 1 ? '1 worker' : `${workers.count} workers`}, Redis appendfsync everysec`
      return benchLine({ name: `${NO_OP}, ${nodes.count} nodes`, value, unit: 'tasks/s', peer, peerValue, must })
    } finally {
      await bullMq.stop()
    }
  } finally {
    await talko.stop()
  }
}
