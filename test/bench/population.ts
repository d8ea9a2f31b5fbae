/**
 * The population level of the simulator: events a second at 100,000 volunteers around the real coordinator, beside the
 * simulator's calendar with nothing behind it, which is what is left when the coordinator and the hosts cost nothing; and
 * bytes a host, beside one object a host. `population-long` is the whole month, and a million hosts for a week.
 */
import { fileURLToPath } from 'node:url'
import { SIM_FLAGS } from '../../sim/flags.ts'
import { child } from './child.ts'
import type { Bare } from './population-bare.ts'
import type { Played } from './population-world.ts'
import { alternate, type BenchContext, type BenchLine, benchLine } from './runner.ts'

const HOSTS = 100_000
/** Until all have said hello and most run something. */
const WARM_HOURS = 3
const HOURS = 4
const BARE_EVENTS = 4_000_000

export async function run(context: BenchContext): Promise<BenchLine[]> {
  let bytes = 0
  let bytesPerObject = 0
  const { value, peerValue } = await alternate(
    context,
    async () => {
      const { events, seconds, bytesPerHost } = await play('normal-month', HOSTS, WARM_HOURS, HOURS)
      context.log(`${events} events in ${seconds.toFixed(1)} s`)
      bytes = bytesPerHost
      return events / seconds
    },
    async () => {
      const bare = await child<Bare>(program('population-bare'), ['--expose-gc'], [HOSTS, BARE_EVENTS])
      bytesPerObject = bare.bytesPerObject
      return bare.events / bare.seconds
    }
  )
  return [
    benchLine({
      name: `population of ${HOSTS} with the real coordinator`,
      value,
      unit: 'events/s',
      peer: 'the calendar alone',
      peerValue,
      must: 'value >= 200000'
    }),
    benchLine({ name: 'a host of a population', value: bytes, unit: 'bytes', peer: 'one object a host', peerValue: bytesPerObject, must: 'value <= 200' })
  ]
}

/** A scenario of those that are shipped, at another size and length. `flags`: of V8, beside the simulator's. */
export async function play(scenario: string, hosts: number, warmHours: number, hours: number, flags: readonly string[] = []): Promise<Played> {
  const file = fileURLToPath(new URL(`../../sim/population/scenarios/${scenario}.yaml`, import.meta.url))
  return await child<Played>(program('population-world'), [...SIM_FLAGS, ...flags], [file, hosts, warmHours, hours])
}

function program(name: string): string {
  return fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
}
