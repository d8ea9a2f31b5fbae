/**
 * The stack level of the simulator: 50 computers with real libp2p hosts, DHT, project server and nodes, in virtual time. How fast
 * that is beside a bare loop of pings between two such hosts, how much faster than life, and what a computer costs in memory.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { StackMeasure } from '../../sim/stack/measure.ts'
import { type BenchContext, type BenchLine, benchLine, median, ROUNDS_MIN } from './runner.ts'

const COMPUTERS = 50
const PROGRAM = fileURLToPath(new URL('../../sim/stack/measure.ts', import.meta.url))
const program = promisify(execFile)

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const rounds: StackMeasure[] = []
  for (let round = 0; round < Math.max(context.rounds, ROUNDS_MIN); round++) {
    const { stdout } = await program(process.execPath, ['--max-semi-space-size=64', PROGRAM, String(COMPUTERS)])
    const measured: StackMeasure = JSON.parse(stdout)
    context.log(`${measured.rate} events/s, pings ${measured.pingRate} events/s, ${measured.speed.toFixed(1)} times life, ${measured.bytesAComputer} bytes`)
    rounds.push(measured)
  }
  const middle = (of: (one: StackMeasure) => number): number => median(rounds.map(of))
  return [
    benchLine({
      name: `simulated stack, ${COMPUTERS} computers, events`,
      value: middle(({ rate }) => rate),
      unit: 'events/s',
      peer: 'a bare loop of pings between two of its hosts',
      peerValue: middle(({ pingRate }) => pingRate),
      must: '>= 0.3'
    }),
    benchLine({
      name: `simulated stack, ${COMPUTERS} computers, speed`,
      value: middle(({ speed }) => speed),
      unit: 'virtual s/s',
      peer: 'life',
      peerValue: 1,
      must: '>= 10'
    }),
    benchLine({
      name: `simulated stack, ${COMPUTERS} computers, heap`,
      value: middle(({ bytesAComputer }) => bytesAComputer),
      unit: 'bytes/computer',
      peer: 'a libp2p host that does nothing',
      peerValue: middle(({ bytesAHost }) => bytesAHost),
      must: '<= 10'
    })
  ]
}
