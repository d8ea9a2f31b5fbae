/**
 * A program: how long nodes that know only bootstrap peers take from their start until the project has welcomed them. Prints a
 * line of JSON. Time and dice of this whole process are the world's.
 */
import { Engine } from '../engine/engine.ts'
import { Random } from '../random.ts'
import { drawDiscovery } from './discovery-case.ts'
import { install, settle } from './virtual.ts'

export interface Discovered {
  /** Virtual milliseconds of those that found it, shortest first. */
  readonly tookMs: readonly number[]
  /** Of those that did not. */
  readonly missed: readonly string[]
  readonly keepers: number
  /** Hosts of the DHT that went away meanwhile. */
  readonly away: number
  readonly complaint: string | null
  readonly hash: string
  readonly events: number
  readonly virtualMs: number
  readonly realMs: number
  readonly memoryBytes: number
}

/** Virtual time between two looks. */
const LOOK_MS = 20

const [seed = 1, computers = 50] = process.argv.slice(2).map(Number)
const realNow = performance.now.bind(performance)
const engine = new Engine(settle)
install(engine, new Random('discovery program', seed))
// Whatever knows only the global clock and dice is loaded after they are the world's.
const { StackWorld } = await import('./world.ts')
const { case: one, endMs } = drawDiscovery(seed, computers)
const world = new StackWorld(one, engine)
process.on('unhandledRejection', (reason) => world.wrong(`nobody handles: ${reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)}`))
const began = realNow()
const tookMs: number[] = []
const waiting = new Map(world.nodes.map((node, index) => [node, one.nodes[index]?.joinsMs ?? 0]))
world.begin()
let lookAtMs = 0
await engine.run(endMs, () => {
  if (engine.nowMs < lookAtMs) return false
  lookAtMs = engine.nowMs + LOOK_MS
  for (const [node, joinsMs] of waiting) {
    if (node.service?.view().connected !== true) continue
    waiting.delete(node)
    tookMs.push(engine.nowMs - joinsMs)
    // What it does afterwards costs real time, and in virtual time nobody waits for a processor.
    node.crash(true)
  }
  return waiting.size === 0 || world.complaint !== undefined
})
const answer: Discovered = {
  tookMs: tookMs.sort((a, b) => a - b),
  missed: [...waiting.keys()].map(({ name, service }) => `${name}: ${service?.view().trouble ?? 'it is not there'}`),
  keepers: one.keepers.length,
  away: world.sometimes.counts.get('keeper_crash') ?? 0,
  complaint: world.complaint ?? null,
  hash: engine.hash,
  events: engine.events,
  virtualMs: engine.nowMs,
  realMs: Math.round(realNow() - began),
  memoryBytes: process.memoryUsage().rss
}
process.stdout.write(`${JSON.stringify(answer)}\n`, () => process.exit(0))
