/**
 * A program for one run of the stack level: reads its case from the standard input and prints a line of JSON. Time and dice of
 * this whole process are the world's.
 */
import { text } from 'node:stream/consumers'
import { Engine } from '../engine/engine.ts'
import { Random } from '../random.ts'
import type { StackCase } from './case.ts'
import { install, settle } from './virtual.ts'

export interface StackRan {
  readonly seed: number
  /** What was wrong; null when nothing was. */
  readonly complaint: string | null
  readonly hash: string
  readonly events: number
  /** Virtual and real milliseconds. */
  readonly ms: number
  readonly realMs: number
  readonly sometimes: Readonly<Record<string, number>>
  readonly story: readonly { readonly atMs: number; readonly text: string }[]
}

const one: StackCase = JSON.parse(await text(process.stdin))
const [untilMs] = process.argv.slice(2).map(Number)
const realNow = performance.now.bind(performance)
const engine = new Engine(settle)
install(engine, new Random('stack program', one.seed))
// Whatever knows only the global clock and dice is loaded after they are the world's.
const { StackWorld } = await import('./world.ts')
const world = new StackWorld(one, engine)
process.on('unhandledRejection', (reason) => world.wrong(`nobody handles: ${reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)}`))
// What is said of a world that was stopped says nothing of it.
let stopped = false
if (untilMs !== undefined)
  engine.after(untilMs, () => {
    stopped = true
    engine.halt()
  })
const began = realNow()
const said = await world.run().catch((error: Error) => `a callback threw: ${error.stack ?? error.message}`)
const complaint = stopped ? null : (said ?? null)
const ran: StackRan = {
  seed: one.seed,
  complaint,
  hash: engine.hash,
  events: engine.events,
  ms: engine.nowMs,
  realMs: realNow() - began,
  sometimes: Object.fromEntries(world.sometimes.counts),
  story: world.story
}
process.stdout.write(`${JSON.stringify(ran)}\n`, () => process.exit(0))
