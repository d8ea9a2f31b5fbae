/** Runs the loads of experiments on real nodes: processes of their own, whose tasks sleep for as long as they are told. */
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '#client-cli/index'
import { createProcessExecutor } from '#node/live/process-executor'
import type { CoordinatorPolicy } from '#project-server/coordinator/policy'
import type { RunManifest } from '#protocol/bundle/manifest'
import type { Costs, Load } from '../../sim/experiments/agreement.ts'
import type { PlayedTask } from '../../sim/experiments/play.ts'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { until } from '../support/until.ts'

/** Nodes that are started at once. */
const STARTS = 4
const SAMPLE_MS = 100
const RECORD_BYTES = 1024
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }
const IDLE: RunManifest = {
  kind: 'run',
  v: 1,
  engine: 'process',
  image: null,
  command: ['sleep', '0'],
  dependencies: [],
  environment: {},
  resources: { cpuMillis: 1000, memoryBytes: 1024 ** 3, timeMs: 60_000, diskBytes: 1024 ** 2, pids: 16 },
  network: 'none',
  compareStdout: true
}

export interface LiveNetwork {
  readonly client: Client
  readonly dir: string
  run(load: Pick<Load, 'quorum' | 'submissions'>): Promise<readonly PlayedTask[]>
  close(): Promise<void>
}

/** A project server and so many nodes with so many slots each, all connected. `policy`: numbers of its coordinator that are not the default ones. */
export async function liveNetwork(nodes: number, slots: number, policy?: Partial<CoordinatorPolicy>): Promise<LiveNetwork> {
  const network = await testNetwork({ policy })
  try {
    const client = await network.client()
    await startNodes(network, nodes, slots)
    await until('all nodes to be online', async () => (await client.nodes()).filter(({ state }) => state === 'online').length === nodes)
    let runs = 0
    return { client, dir: network.dir, run: (load) => runLive(client, load, runs++), close: () => network.close() }
  } catch (error) {
    await network.close()
    throw error
  }
}

async function startNodes(network: TestNetwork, nodes: number, slots: number): Promise<void> {
  for (let first = 0; first < nodes; first += STARTS) {
    const names = Array.from({ length: Math.min(STARTS, nodes - first) }, (_, index) => `node-${first + index}`)
    await Promise.all(names.map((name) => network.nodeProcess(name, { slots, memoryBytes: 2 ** 40, cpuMillis: 1_000_000 })))
  }
}

async function runLive(client: Client, { quorum, submissions }: Pick<Load, 'quorum' | 'submissions'>, run: number): Promise<readonly PlayedTask[]> {
  const prepared: Uint8Array[][] = []
  let index = 0
  for (const { runMs } of submissions)
    prepared.push(
      await client.prepare(runMs.map((ms) => ({ command: ['sleep', (ms / 1000).toFixed(3)], engine: 'process', environment: { TASK: `${run} ${index++}` } })))
    )
  const beganMs = Date.now()
  const sent: { readonly atMs: number; readonly answer: ReturnType<Client['submit']> }[] = []
  for (const [at, { atMs }] of submissions.entries()) {
    await pause(Math.max(0, beganMs + atMs - Date.now()))
    const answer = client.submit(prepared[at] ?? [], { policy: { minQuorum: quorum, targetResults: quorum } })
    answer.catch(() => undefined)
    sent.push({ atMs: Date.now(), answer })
  }
  const tasks: PlayedTask[] = []
  for (const { atMs, answer } of sent) tasks.push(...(await endsOf(client, await answer, { submittedMs: atMs - beganMs, beganMs })))
  return tasks
}

/** Waits for them. `beganMs`: of the experiment, on this machine's clock. */
export async function endsOf(
  client: Client,
  batch: { readonly id: string; readonly tasks: readonly string[] },
  { submittedMs, beganMs }: { readonly submittedMs: number; readonly beganMs: number }
): Promise<PlayedTask[]> {
  await client.wait(batch.id)
  const tasks: PlayedTask[] = []
  for (const id of batch.tasks) {
    const { status, decidedAtMs } = await client.task(id)
    tasks.push({ submittedMs, endedMs: (decidedAtMs ?? Number.NaN) - beganMs, ready: status === 'ready' })
  }
  return tasks
}

/** Measures what the machine's parts cost while `act` runs: a question and its answer, a durable record, a program that does nothing; one after the other. */
export async function withCosts<T>(
  { client, dir }: Pick<LiveNetwork, 'client' | 'dir'>,
  act: () => Promise<T>
): Promise<{ readonly value: T; readonly costs: Costs }> {
  const folder = join(dir, 'costs')
  await mkdir(join(folder, 'run'), { recursive: true })
  const disk = await open(join(folder, 'records'), 'w')
  const executor = createProcessExecutor({ logger: SILENT, folder: join(folder, 'run') })
  const [roundTrips, writes, runs]: [number[], number[], number[]] = [[], [], []]
  let over = false
  const sample = async (): Promise<void> => {
    while (!over) {
      roundTrips.push(await msOf(() => client.info()))
      writes.push(
        await msOf(async () => {
          await disk.write(new Uint8Array(RECORD_BYTES))
          await disk.datasync()
        })
      )
      const replica = `costs.${runs.length}.1`
      runs.push(await msOf(async () => (await executor.start({ replica, manifest: IDLE, inputs: [], folder: join(folder, 'run', replica) })).ended))
      await executor.remove(replica)
      await pause(SAMPLE_MS)
    }
  }
  try {
    const ran = act().finally(() => {
      over = true
    })
    const [value] = await Promise.all([ran, sample()])
    return { value, costs: { roundTrips, writes, runs } }
  } finally {
    await executor.stop()
    await disk.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function msOf(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await act()
  return performance.now() - began
}
