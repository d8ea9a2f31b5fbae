/**
 * What a population is measured beside: `population-bare.ts HOSTS EVENTS` gives out so many timers of so many hosts from the
 * simulator's own calendar, each set again when it is due, with nothing behind them. And one object a host, with what the
 * columns hold. Prints one line of JSON.
 */

import { Wheel } from '../../sim/population/wheel.ts'
import { Random } from '../../sim/random.ts'

export interface Bare {
  readonly events: number
  readonly seconds: number
  readonly bytesPerObject: number
}

/** As long as the hosts of a normal month wait between two events. */
const WAIT_STEPS = 2_500

const [hosts = 0, wanted = 0] = process.argv.slice(2).map(Number)
const random = new Random(1)
const wheel = new Wheel(hosts)
for (let host = 0; host < hosts; host++) wheel.set(host, 1 + random.below(2 * WAIT_STEPS))
let step = 0
let events = 0
const again = (host: number): void => {
  events++
  wheel.set(host, step + 1 + random.below(2 * WAIT_STEPS))
}
const from = performance.now()
while (events < wanted) wheel.give(++step, again)
const seconds = (performance.now() - from) / 1000

function host(number: number): object {
  const about = { id: `host-${number}`, flags: 0, mips: 0.5, downBytesPerS: 0.5, upBytesPerS: 0.5, sent: 0, received: 0, runs: 0, draws: 0 }
  const times = { untilMs: 0.5 + number, diesMs: 0.5 + number, spans: 0, errorRate: 0.5, moodUntilMs: 0.5 + number, kind: 0, zone: 0, offer: 0 }
  return { ...about, ...times, dueMs: 0.5 + number, leases: [{ batch: 0, index: number, attempt: 1, state: 0, leftMs: 0.5 + number }] }
}

globalThis.gc?.()
const before = process.memoryUsage().heapUsed
const objects = Array.from({ length: hosts }, (_, number) => host(number))
globalThis.gc?.()
const bytesPerObject = (process.memoryUsage().heapUsed - before) / objects.length
console.log(JSON.stringify({ events, seconds, bytesPerObject } satisfies Bare))
