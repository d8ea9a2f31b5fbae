/**
 * A program that measures the stack level without faults, beside a bare loop of pings between two of its hosts: prints a line
 * of JSON. Time and dice of this whole process are the world's.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import type { Host } from '#protocol/peer/host'
import { countReceipts } from '../checkers/receipts.ts'
import { Engine } from '../engine/engine.ts'
import { type NodeCase, nodeCase } from '../faults/case.ts'
import { Random } from '../random.ts'
import { BOOTSTRAPS, type StackCase } from './case.ts'
import { StackProcess } from './process.ts'
import { install, settle } from './virtual.ts'

export interface StackMeasure {
  /** Events a second of real time. */
  readonly rate: number
  readonly pingRate: number
  /** Virtual seconds in a real one. */
  readonly speed: number
  /** Of the heap, for a connected computer with its program. */
  readonly bytesAComputer: number
  /** The same of a host that does nothing. */
  readonly bytesAHost: number
  readonly receipts: number
}

const PINGS_WARM = 1_000
const PINGS = 5_000
const IDLE_HOSTS = 20
/** All are there and know each other. */
const JOINED_MS = 60_000
const LENGTH_MS = 180_000
const TASKS_A_COMPUTER = 4

const [computers = 50] = process.argv.slice(2).map(Number)
const realNow = performance.now.bind(performance)
const engine = new Engine(settle)
install(engine, new Random('stack measure'))
const { createHost } = await import('#protocol/peer/live/host')
const { identityOf } = await import('../protocol/identities.ts')
const { NodePath } = await import('../protocol/path.ts')
const { Internet } = await import('./internet.ts')
const { wireOf } = await import('./transport.ts')
const { StackWorld } = await import('./world.ts')

const collect = collector()
const internet = new Internet(engine, new Random('bare internet'))
const pingRate = await measurePings()
const bytesAHost = await measureIdle()
process.stdout.write(`${JSON.stringify({ ...(await measureWorld()), pingRate, bytesAHost } satisfies StackMeasure)}\n`, () => process.exit(0))

async function measureWorld(): Promise<Omit<StackMeasure, 'pingRate' | 'bytesAHost'>> {
  collect()
  const before = process.memoryUsage().heapUsed
  const startMs = engine.nowMs
  const world = new StackWorld(steadyCase(), engine)
  world.begin()
  await engine.run(startMs + JOINED_MS)
  collect()
  const bytesAComputer = Math.round((process.memoryUsage().heapUsed - before) / computers)
  const { events } = engine
  const began = realNow()
  await engine.run(startMs + JOINED_MS + LENGTH_MS)
  const seconds = (realNow() - began) / 1000
  if (world.complaint !== undefined) throw new Error(world.complaint)
  const receipts = countReceipts(world.disk.records)
  return { rate: Math.round((engine.events - events) / seconds), speed: LENGTH_MS / 1000 / seconds, bytesAComputer, receipts }
}

/** A host on a computer of its own. */
async function bareHost(name: string, ip: string): Promise<{ readonly process: StackProcess; readonly host: Host }> {
  const station = internet.join(ip, new NodePath(lineOf(name), new Random('bare line', ip)))
  station.up = true
  const owner = new StackProcess(name, engine, new Random('bare', name))
  const listen = [`/ip4/${ip}/tcp/4600`]
  const host = await flowing(
    owner.run(() =>
      createHost(
        { role: 'server', listen, signer: identityOf(name) },
        wireOf(station, () => undefined)
      )
    )
  )
  return { process: owner, host }
}

/** Bytes of the heap for each of some hosts that nobody dials. */
async function measureIdle(): Promise<number> {
  collect()
  const before = process.memoryUsage().heapUsed
  const hosts: Awaited<ReturnType<typeof bareHost>>[] = []
  for (let index = 0; index < IDLE_HOSTS; index++) hosts.push(await bareHost(`idle ${index}`, `5.9.1.${index + 1}`))
  collect()
  const bytes = Math.round((process.memoryUsage().heapUsed - before) / IDLE_HOSTS)
  for (const { process: owner, host } of hosts) await flowing(owner.run(() => host.stop()))
  return bytes
}

/** Two hosts, one stream, a small frame there and back, one after the other. */
async function measurePings(): Promise<number> {
  const far = await bareHost('far', '5.9.0.1')
  const near = await bareHost('near', '5.9.0.2')
  await flowing(
    far.process.run(() =>
      far.host.handle('/ping', { frameBytesMax: 64 }, async (stream) => {
        for await (const frame of stream.frames()) await stream.write(frame)
      })
    )
  )
  const stream = await flowing(
    near.process.run(async () => {
      await near.host.connect(far.host.peerId, far.host.addresses())
      return near.host.open(far.host.peerId, '/ping', { frameBytesMax: 64 })
    })
  )
  const frames = stream.frames()
  const ping = (times: number): Promise<void> =>
    flowing(
      near.process.run(async () => {
        for (let time = 0; time < times; time++) {
          await stream.write(new Uint8Array(32))
          await frames.next()
        }
      })
    )
  await ping(PINGS_WARM)
  const { events } = engine
  const began = realNow()
  await ping(PINGS)
  const rate = Math.round((engine.events - events) / ((realNow() - began) / 1000))
  await flowing(near.process.run(() => near.host.stop()))
  await flowing(far.process.run(() => far.host.stop()))
  return rate
}

/** Lets time pass until it settles. */
async function flowing<T>(work: Promise<T>): Promise<T> {
  let over = false
  const settled = work.finally(() => {
    over = true
  })
  await engine.run(Number.POSITIVE_INFINITY, () => over)
  return settled
}

function lineOf(name: string): NodeCase {
  return nodeCase(name, { delayMs: 10, jitterMs: 20, joinsMs: 2_000 })
}

function steadyCase(): StackCase {
  const keepers = Math.max(BOOTSTRAPS, Math.floor(computers / 8))
  const nodes = computers - 1 - keepers
  const tasks = Array.from({ length: computers * TASKS_A_COMPUTER }, (_, index) => ({
    kind: 'plain' as const,
    name: String(index),
    runMs: 5_000 + ((index * 37) % 5_000),
    needsInput: false
  }))
  return {
    seed: 0,
    keepers: Array.from({ length: keepers }, (_, index) => lineOf(`keeper ${index}`)),
    server: lineOf('the server'),
    nodes: Array.from({ length: nodes }, (_, index) => ({ ...lineOf(`node ${index}`), joinsMs: 5_000 + index * 100 })),
    pinned: [],
    batches: [{ atMs: JOINED_MS, parts: 1, tasks, policy: DEFAULT_POLICY }],
    faults: [],
    faultsMs: JOINED_MS + LENGTH_MS
  }
}

function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
