/**
 * Whether the simulator tells the truth: 20 real nodes, processes of their own, run tasks of known lengths, and the same load is
 * simulated with what the machine's parts cost meanwhile. Twice: all tasks at once, and tasks that come by chance and run twice.
 */
import { burst, type Costs, type Load, type Measures, measuresOf, simulate, stream } from '../../sim/experiments/agreement.ts'
import { liveNetwork, withCosts } from '../experiments/live.ts'
import { type BenchContext, type BenchLine, benchLine, median, ROUNDS_MIN } from './runner.ts'

const NODES = 20
const SEED = 1
const LOADS: readonly Load[] = [burst(SEED, NODES, 400), stream(SEED, NODES, 190, 0.75)]

interface Round {
  readonly live: Measures
  readonly simulated: Measures
}

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const rounds = LOADS.map((load) => ({ load, played: [] as Round[] }))
  const network = await liveNetwork(NODES, 1)
  try {
    for (let round = 0; round < Math.max(context.rounds, ROUNDS_MIN); round++) {
      for (const { load, played } of rounds) {
        const { value, costs } = await withCosts(network, () => network.run(load))
        const both = { live: measuresOf(value), simulated: measuresOf(await simulate(load, costs)) }
        played.push(both)
        context.log(`${load.name}: ${textOf(costs)}`)
        context.log(`${load.name}: live ${wordsOf(both.live)}; simulated ${wordsOf(both.simulated)}`)
      }
    }
  } finally {
    await network.close()
  }
  return rounds.flatMap(({ load, played }) => [
    lineOf(load, 'throughput', 'tasks/s', 'within 5 %', played, ({ throughput }) => throughput),
    lineOf(load, 'p95 turnaround', 'ms', 'within 10 %', played, ({ p95Ms }) => p95Ms)
  ])
}

function lineOf({ name }: Load, what: string, unit: string, must: string, played: readonly Round[], of: (measures: Measures) => number): BenchLine {
  const [value, peerValue] = [median(played.map(({ simulated }) => of(simulated))), median(played.map(({ live }) => of(live)))]
  return benchLine({ name: `${what}, simulated, ${NODES} nodes, ${name}`, value, unit, peer: 'the same run live', peerValue, must })
}

function textOf({ roundTrips, writes, runs }: Costs): string {
  return `a round trip ${median(roundTrips).toFixed(2)} ms, a record ${median(writes).toFixed(2)} ms, a run beyond its own time ${median(runs).toFixed(2)} ms`
}

function wordsOf({ throughput, p95Ms }: Measures): string {
  return `${throughput.toFixed(2)} tasks/s, p95 ${p95Ms.toFixed(0)} ms`
}
