/** How fast the protocol level is with many nodes and no faults, and what a node costs: nobody watches. */
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { NOBODY } from '../checkers/nobody.ts'
import { countReceipts } from '../checkers/receipts.ts'
import type { Case, NodeCase, TaskCase } from '../faults/case.ts'
import { World } from '../protocol/world.ts'
import { serverBytesANode } from './alone.ts'
import { bytesUsed } from './memory.ts'

/** All nodes are there after this. */
const JOIN_MS = 10_000
const LENGTH_MS = 70_000
/** Until the time limits of connecting, which were met, are over. */
const SETTLE_MS = 15_000
const WARM_UP = 100
/** Tasks of one Submit. */
const PART_TASKS = 1_000

export interface Crowd {
  readonly agents: number
  readonly events: number
  readonly seconds: number
  /** Events a second of real time, once all nodes are there. */
  readonly rate: number
  readonly receipts: number
}

/** Of heap and buffers for each node, when all are connected and idle. */
export interface CrowdBytes {
  /** Everything that the world holds for it. */
  readonly all: number
  /** What the project server itself has of it: its record in the coordinator, its link, the handler of its stream; measured without any node or network. */
  readonly server: number
  /** The rest: its case, machine and disk, the real agent with all around it, timers, and both ends of its connection. */
  readonly node: number
}

/** `tasks` a node, in a minute. */
export async function crowd(agents: number, tasks: number): Promise<Crowd> {
  const world = made('node', agents, tasks)
  await world.engine.run(JOIN_MS)
  const { events } = world.engine
  const began = performance.now()
  await world.engine.run(LENGTH_MS)
  const seconds = (performance.now() - began) / 1000
  const happened = world.engine.events - events
  const rate = Math.round(happened / seconds)
  return { agents, events: happened, seconds, rate, receipts: countReceipts(world.disk.records) }
}

/** In a process that has not made these nodes' identities before: they count. */
export async function crowdBytes(agents: number): Promise<CrowdBytes> {
  // What is compiled and kept once for all.
  await serverBytesANode(WARM_UP)
  const warm = made('warm', WARM_UP, 0)
  await warm.engine.run(JOIN_MS)
  warm.end()
  const before = bytesUsed()
  const world = made('node', agents, 0)
  await world.engine.run(JOIN_MS + SETTLE_MS)
  const all = Math.round((bytesUsed() - before) / agents)
  world.end()
  const server = Math.round(await serverBytesANode(agents))
  return { all, server, node: all - server }
}

function made(name: string, agents: number, tasks: number): World {
  const world = new World(caseOf(name, agents, Math.round(agents * tasks)), () => NOBODY)
  world.begin()
  return world
}

function caseOf(name: string, agents: number, count: number): Case {
  const nodes: NodeCase[] = Array.from({ length: agents }, (_, index) => ({
    name: `${name} ${index}`,
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
  const batches = count === 0 ? [] : [{ atMs: JOIN_MS, parts: Math.ceil(count / PART_TASKS), tasks, policy: DEFAULT_POLICY }]
  return { seed: 1, nodes, hostile: 0, batches, faults: [], faultsMs: LENGTH_MS }
}
