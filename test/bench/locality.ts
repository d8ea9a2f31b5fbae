/** CodaLab's experiment in full: 4 nodes, 4 data sets of 256 MiB, 40 runs of 2 s in random order. Beside one copy of each set, the fewest that there can be, and all runs on their data. */
import { localityFigures } from '../support/locality.ts'
import { testNetwork } from '../support/network.ts'
import { type BenchContext, type BenchLine, benchLine } from './runner.ts'

const LOAD = { nodes: 4, sets: 4, setBytes: 256 * 1024 ** 2, runs: 40, seed: 7, runSeconds: 2 }

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const network = await testNetwork()
  try {
    const { copies, localShare, wallSeconds } = await localityFigures(network, LOAD)
    context.log(`${wallSeconds.toFixed(1)} s for ${LOAD.runs} runs of ${LOAD.runSeconds} s on ${LOAD.nodes} nodes`)
    return [
      benchLine({
        name: 'copies of 4 data sets moved to 4 nodes',
        value: copies,
        unit: 'copies',
        peer: 'one of each',
        peerValue: LOAD.sets,
        must: 'value <= 8'
      }),
      benchLine({ name: 'runs where their data is', value: 100 * localShare, unit: '%', peer: 'all', peerValue: 100, must: 'value >= 80' })
    ]
  } finally {
    await network.close()
  }
}
