/**
 * Tasks per second end to end: submitted in bulk, leased over libp2p to nodes that do nothing with them, reported, validated with
 * quorum 1, and decided; every step durable (fsync) at the server and at the nodes, as in production. Beside BullMQ, whose Redis
 * syncs its file once a second: 16 nodes beside BullMQ as it is fastest, one worker with two connections and bare jobs; 64 nodes
 * beside as many workers, once with jobs that do what our tasks do, once with bare ones (peers/bullmq.ts).
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { FASTEST, startBullMq, type Workers } from './peers/bullmq.ts'
import { alternateAll, type BenchContext, type BenchLine, benchLine, median } from './runner.ts'
import { type Nodes, startSystem } from './system.ts'

/** Long enough that a round is not mostly its beginning and its end. */
const TASKS = 60_000
/** Single rounds differ by a third. */
const ROUNDS = 9
const WARM_UP_TASKS = 20_000
const NO_OP = 'tasks per second, end to end, no-op'

interface Comparison {
  readonly nodes: Nodes
  readonly peers: readonly { readonly workers: Workers; readonly must: string }[]
}

// Of 1, 4 and 16 jobs at a time for each worker, the fastest.
const SIXTY_FOUR = { count: 64, concurrency: 4 } as const

const COMPARISONS: readonly Comparison[] = [
  { nodes: { count: 16, slots: 256 }, peers: [{ workers: FASTEST, must: '>= 1.0' }] },
  {
    nodes: { count: 64, slots: 64 },
    peers: [
      { workers: { ...SIXTY_FOUR, jobs: 'whole' }, must: '>= 1.5' },
      { workers: { ...SIXTY_FOUR, jobs: 'bare' }, must: '>= 1.0' }
    ]
  }
]

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const lines: BenchLine[] = []
  for (const comparison of COMPARISONS) lines.push(...(await compare(context, comparison)))
  return lines
}

async function compare(context: BenchContext, { nodes, peers }: Comparison): Promise<BenchLine[]> {
  const folder = async (name: string): Promise<string> => {
    const path = join(context.workFolder, `${nodes.count}-${name}`)
    await mkdir(path)
    return path
  }
  const rate = async (name: string, measure: (tasks: number) => Promise<number>): Promise<number> => {
    const value = TASKS / (await measure(TASKS))
    context.log(`${name}: ${value.toFixed(0)}/s`)
    return value
  }
  await using stops = new AsyncDisposableStack()
  const talko = await startSystem({ workFolder: await folder('talko') }, { with: nodes })
  stops.defer(() => talko.stop())
  await talko.measure(WARM_UP_TASKS)
  const others: { readonly name: string; readonly must: string; measure(): Promise<number> }[] = []
  for (const { workers, must } of peers) {
    const bullMq = await startBullMq({ ...context, workFolder: await folder(workers.jobs) }, workers)
    stops.defer(() => bullMq.stop())
    await bullMq.measure(WARM_UP_TASKS)
    const name = `BullMQ, ${workers.count === 1 ? '1 worker' : `${workers.count} workers`}, ${workers.jobs} jobs`
    others.push({ name, must, measure: () => rate(name, bullMq.measure) })
  }
  const rounds = Math.max(context.rounds, ROUNDS)
  const measured = await alternateAll(
    { rounds },
    () => rate(`talko, ${nodes.count} nodes`, talko.measure),
    others.map(({ measure }) => measure)
  )
  return others.map(({ name, must }, index) =>
    benchLine({
      name: `${NO_OP}, ${nodes.count} nodes`,
      value: median(measured.values),
      unit: 'tasks/s',
      peer: `${name}, Redis appendfsync everysec`,
      peerValue: median(measured.peers[index] ?? []),
      must
    })
  )
}
