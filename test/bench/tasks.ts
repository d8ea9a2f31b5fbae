/**
 * Tasks per second end to end: submitted in bulk, leased over libp2p to 16 nodes that do nothing with them, reported, validated with
 * quorum 1, and decided; every step durable (fsync) at the server and at the nodes, as in production. Beside BullMQ, whose jobs
 * are as distinct as our bundles (a number each) and whose Redis syncs its file once a second.
 */
import { startBullMq } from './peers/bullmq.ts'
import { alternate, type BenchContext, type BenchLine, benchLine } from './runner.ts'
import { startSystem } from './system.ts'

const NAME = 'tasks per second, end to end, 16 nodes, no-op'
const TASKS = 20_000
const WARM_UP_TASKS = 20_000

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const talko = await startSystem(context)
  try {
    const bullMq = await startBullMq(context)
    try {
      const rate = (name: string, measure: (tasks: number) => Promise<number>) => async (): Promise<number> => {
        const value = TASKS / (await measure(TASKS))
        context.log(`${name}: ${value.toFixed(0)}/s`)
        return value
      }
      await talko.measure(WARM_UP_TASKS)
      await bullMq.measure(WARM_UP_TASKS)
      const { value, peerValue } = await alternate(context, rate('talko', talko.measure), rate('BullMQ', bullMq.measure))
      return [benchLine({ name: NAME, value, unit: 'tasks/s', peer: 'BullMQ, Redis appendfsync everysec', peerValue, must: '>= 1.0' })]
    } finally {
      await bullMq.stop()
    }
  } finally {
    await talko.stop()
  }
}
