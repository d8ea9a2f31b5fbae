/** How fast the protocol level is with many nodes and no faults, and what a node costs: nobody watches. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { NOBODY } from '../checkers/nobody.ts'
import type { Case, NodeCase, TaskCase } from '../faults/case.ts'
import { World } from '../protocol/world.ts'

/** All nodes are there after this. */
const JOIN_MS = 10_000
const LENGTH_MS = 70_000
/** Tasks of one Submit. */
const PART_TASKS = 1_000

export interface Crowd {
  readonly agents: number
  readonly events: number
  readonly seconds: number
  /** Events a second of real time, once all nodes are there. */
  readonly rate: number
  /** Of the heap, for a connected node and what the server has of it. */
  readonly bytesANode: number
  readonly receipts: number
}

/** `tasks` a node, in a minute. */
export async function crowd(agents: number, tasks: number): Promise<Crowd> {
  const collect = collector()
  const world = new World(caseOf(agents, Math.max(1, Math.round(agents * tasks))), () => NOBODY)
  collect()
  const before = process.memoryUsage().heapUsed
  world.begin()
  await world.engine.run(JOIN_MS)
  collect()
  const bytesANode = Math.round((process.memoryUsage().heapUsed - before) / agents)
  const { events } = world.engine
  const began = performance.now()
  await world.engine.run(LENGTH_MS)
  const seconds = (performance.now() - began) / 1000
  const happened = world.engine.events - events
  return { agents, events: happened, seconds, rate: Math.round(happened / seconds), bytesANode, receipts: world.disk.records.keys('receipt/').length }
}

function caseOf(agents: number, count: number): Case {
  const nodes: NodeCase[] = Array.from({ length: agents }, (_, index) => ({
    name: `node ${index}`,
    role: 'honest',
    slots: 1,
    delayMs: 20,
    jitterMs: 40,
    loss: 0,
    patienceMs: 20_000,
    clockOffsetMs: 0,
    clockPerMille: 1000,
    joinsMs: index % (JOIN_MS / 2)
  }))
  const tasks: TaskCase[] = Array.from({ length: count }, (_, index) => ({
    kind: 'silent',
    name: `${index % 50}`,
    runMs: 5_000 + ((index * 37) % 5_000),
    needsInput: false
  }))
  const batches = [{ atMs: JOIN_MS, parts: Math.ceil(count / PART_TASKS), tasks, policy: DEFAULT_POLICY }]
  return { seed: 1, nodes, hostile: 0, batches, faults: [], faultsMs: LENGTH_MS }
}

function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
