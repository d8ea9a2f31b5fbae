/**
 * The stack level of the simulator: 50 computers with real libp2p hosts, DHT, project server and nodes, in virtual time. How fast
 * that is beside a bare loop of pings between two such hosts, how much faster than life, and what a computer costs in memory.
 */
import { fileURLToPath } from 'node:url'
import { SIM_FLAGS } from '../../sim/flags.ts'
import type { StackMeasure } from '../../sim/stack/measure.ts'
import { child, medians } from './child.ts'
import { type BenchContext, type BenchLine, benchLine } from './runner.ts'

const COMPUTERS = 50
const PROGRAM = fileURLToPath(new URL('../../sim/stack/measure.ts', import.meta.url))

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const middle = await medians(
    context,
    () => child<StackMeasure>(PROGRAM, SIM_FLAGS, [COMPUTERS]),
    ({ rate, pingRate, speed, bytesAComputer }) => `${rate} events/s, pings ${pingRate} events/s, ${speed.toFixed(1)} times life, ${bytesAComputer} bytes`
  )
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
