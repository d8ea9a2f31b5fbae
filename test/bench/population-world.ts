/**
 * A population in a process of its own: `population-world.ts SCENARIO HOSTS WARM_HOURS HOURS`, the hours being of the virtual
 * world. Prints one line of JSON; the bare calendar is the same in another process, so that neither warms the other up.
 */
import { readFileSync } from 'node:fs'
import { parseScenario, scenarioOf } from '../../sim/population/scenario.ts'
import { World } from '../../sim/population/world.ts'

const HOUR_MS = 3_600_000

export interface Played {
  /** In the measured hours. */
  readonly events: number
  readonly seconds: number
  /** From the first host to the end. */
  readonly allSeconds: number
  readonly bytesPerHost: number
  readonly peakRssBytes: number
}

const [file = '', hosts = '', warm = '', hours = ''] = process.argv.slice(2)
const lengthMs = (Number(warm) + Number(hours)) * HOUR_MS
const changes = [
  ['hosts', hosts],
  ['length', `${lengthMs / HOUR_MS} h`]
] as const
const world = new World(scenarioOf(parseScenario(file, readFileSync(file, 'utf8'), changes), null).options)
const began = performance.now()
await world.start()
world.advance(Number(warm) * HOUR_MS)
const { events } = world.totals
const from = performance.now()
world.advance(lengthMs)
const played: Played = {
  events: world.totals.events - events,
  seconds: (performance.now() - from) / 1000,
  allSeconds: (performance.now() - began) / 1000,
  bytesPerHost: world.bytesPerHost,
  peakRssBytes: process.resourceUsage().maxRSS * 1024
}
console.log(JSON.stringify(played))
