/**
 * A population beside SimGrid, which models a master and workers and runs none: the same hosts and tasks in both. 100,000 hosts
 * of different speeds that are always there and come one after the other, tasks of an hour on the median host, 10 MB in over
 * the host's own line, 1 MB out. In SimGrid a worker is an actor and the master a loop that hands out tasks; here hosts are
 * rows of numbers and the real coordinator leases, grants, decides and signs off each task, with a group commit for each second.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DEFAULT_COORDINATOR_POLICY } from '#project-server/coordinator/policy'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { VOLUNTEERS } from '../../sim/population/hosts.ts'
import type { WorldOptions } from '../../sim/population/options.ts'
import { VOLUNTEER_RUNS } from '../../sim/population/runs.ts'
import { parseTrace } from '../../sim/population/trace.ts'
import { World } from '../../sim/population/world.ts'
import { alternate, type BenchContext, type BenchLine, benchLine, median } from './runner.ts'

const HOSTS = 100_000
const TASKS_A_HOST = 3
const HOUR_MS = 3_600_000
/** Million operations that take the mean host of 2026 an hour. */
const HOUR_OF_WORK = 3600 * 9 * 12_000 * 0.8

const OPTIONS: WorldOptions = {
  seed: 1,
  hosts: HOSTS,
  lengthMs: 1000 * HOUR_MS,
  model: { ...VOLUNTEERS, mortal: false, trace: parseTrace(`node,state,start_s,end_s\na,1,0,${1000 * 3600}\n`) },
  runs: VOLUNTEER_RUNS,
  policy: DEFAULT_COORDINATOR_POLICY,
  arrivals: null,
  stepMs: 1000,
  sweepMs: 900_000,
  sampleMs: HOUR_MS,
  closes: 1,
  keeps: true,
  outages: [],
  workload: {
    arrives: { kind: 'saturating', waitingMin: HOSTS / 10 },
    batchTasks: HOSTS / 10,
    sizes: { medianMillionOps: HOUR_OF_WORK, sigma: 0 },
    inputBytes: 10e6,
    outputBytes: 1e6,
    policy: { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1 },
    timeMs: 7 * 24 * HOUR_MS,
    memoryBytes: 2 ** 29
  }
}

export async function run(context: BenchContext): Promise<BenchLine[]> {
  await context.ensure(['g++', 'libsimgrid-dev'])
  const program = join(context.workFolder, 'simgrid')
  const source = fileURLToPath(new URL('peers/simgrid.cpp', import.meta.url))
  await promisify(execFile)('g++', ['-O2', '-std=c++17', '-o', program, source, '-lsimgrid'])
  const bytes: number[] = []
  const peerBytes: number[] = []
  const { value, peerValue } = await alternate(
    context,
    async () => {
      const { rate, events, bytesPerHost } = await population()
      bytes.push(bytesPerHost)
      context.log(`talko: ${rate.toFixed(0)} tasks/s, ${events.toFixed(0)} events/s, ${bytesPerHost.toFixed(0)} bytes a host`)
      return rate
    },
    async () => {
      const { stdout } = await promisify(execFile)(program, [String(HOSTS), String(TASKS_A_HOST), '--log=root.thres:error'])
      const said: { tasks: number; seconds: number; bytes: number } = JSON.parse(stdout)
      peerBytes.push(said.bytes)
      context.log(`SimGrid: ${(said.tasks / said.seconds).toFixed(0)} tasks/s, ${said.bytes} bytes a host`)
      return said.tasks / said.seconds
    }
  )
  const peer = 'SimGrid, a master without a coordinator'
  return [
    benchLine({ name: `population of ${HOSTS} hosts, tasks through the real coordinator`, value, unit: 'tasks/s', peer, peerValue, must: '>= 3' }),
    benchLine({ name: 'memory of a simulated host', value: median(bytes), unit: 'B', peer, peerValue: median(peerBytes), must: '<= 0.01' })
  ]
}

async function population(): Promise<{ rate: number; events: number; bytesPerHost: number }> {
  const world = new World(OPTIONS)
  await world.start()
  const began = performance.now()
  while (world.totals.ready < HOSTS * TASKS_A_HOST) world.advance(world.nowMs + HOUR_MS / 4)
  const seconds = (performance.now() - began) / 1000
  const { ready, wrong, events } = world.totals
  if (wrong > ready / 100) throw new Error(`of ${ready} tasks ${wrong} were decided wrong`)
  return { rate: ready / seconds, events: events / seconds, bytesPerHost: world.bytesPerHost }
}
