/**
 * X12: several runs on one node. Counting primes on one slot, on as many as there are cores, and on twice as many. Beside the
 * cores: slots beyond them only share, and what each run then has of the processors is what `talko nodes` says of it.
 */
import { availableParallelism } from 'node:os'
import { testNetwork } from '../support/network.ts'
import { until } from '../support/until.ts'
import { type BenchContext, type BenchLine, benchLine, median } from './runner.ts'

/** So many tasks for each core: the last ones, which run alone, take little of the whole. */
const TASKS_PER_CORE = 4
/** About two seconds of one processor. */
const PRIMES =
  'let count = 0; for (let n = 2; n < 3_500_000; n++) { let prime = true; for (let d = 2; d * d <= n; d++) if (n % d === 0) { prime = false; break } if (prime) count++ } console.log(count)'

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const cores = availableParallelism()
  const counts = [1, cores, 2 * cores]
  const network = await testNetwork()
  try {
    const client = await network.client()
    const ids = new Map<number, string>()
    for (const slots of counts) {
      const node = await network.nodeProcess(`with ${slots}`, { slots, cpuMillis: slots * 1000 })
      ids.set(slots, node.lines[0] ?? '')
    }
    await until('the nodes', async () => (await client.nodes()).filter(({ state }) => state === 'online').length === counts.length)
    let tasks = 0
    const perSecond = async (slots: number, count: number): Promise<number> => {
      const specs = Array.from({ length: count }, () => ({
        command: [process.execPath, '-e', PRIMES],
        engine: 'process' as const,
        environment: { TASK: String(tasks++) }
      }))
      const prepared = await client.prepare(specs)
      const begun = performance.now()
      const batch = await client.submit(prepared, { policy: { minQuorum: 1, targetResults: 1, copies: 'never', nodes: [ids.get(slots) ?? ''] } })
      if ((await client.wait(batch.id)).ready !== count) throw new Error(`on ${slots} slots not all tasks are ready`)
      return (1000 * count) / (performance.now() - begun)
    }
    const speeds = new Map<number, number[]>(counts.map((slots) => [slots, []]))
    for (let round = 0; round < context.rounds; round++)
      for (const slots of counts) {
        const speed = await perSecond(slots, TASKS_PER_CORE * Math.min(slots, cores))
        speeds.get(slots)?.push(speed)
        context.log(`${slots} slots on ${cores} cores: ${speed.toFixed(2)} tasks/s`)
      }
    const [one = Number.NaN, all = Number.NaN, twice = Number.NaN] = counts.map((slots) => median(speeds.get(slots) ?? []))
    const crowded = (await client.nodes()).find(({ id }) => id === ids.get(2 * cores))
    return [
      benchLine({
        name: `${cores} slots on ${cores} cores, counting primes`,
        value: all / one,
        unit: 'times one slot',
        peer: 'cores',
        peerValue: cores,
        must: '>= 0.9'
      }),
      benchLine({ name: `${2 * cores} slots on ${cores} cores`, value: twice / one, unit: 'times one slot', peer: 'cores', peerValue: cores, must: '>= 0.8' }),
      benchLine({
        name: 'the same: what each run has, as talko nodes tells it',
        value: crowded?.processorsEach ?? Number.NaN,
        unit: 'processors',
        peer: 'shared evenly',
        peerValue: 0.5,
        must: '<= 1.5'
      })
    ]
  } finally {
    await network.close()
  }
}
