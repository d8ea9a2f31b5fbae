/**
 * A population beside SimGrid, which models a master and workers and runs none: the same hosts and tasks in both. 100,000 hosts
 * of different speeds that are always there and come one after the other, tasks of an hour on the median host, 10 MB in over
 * the host's own line, 1 MB out. In SimGrid a worker is an actor and the master a loop that hands out tasks; here hosts are
 * rows of numbers and the real coordinator leases, grants, decides and signs off each task, with a group commit for each second.
 *
 * First each worker has a line and the master has none, so that no transfer knows of another: SimGrid is faster by what a
 * coordinator costs. No project is like that. Then all that is sent and received goes over a line of the project's own of
 * 1 Gbit/s, which transfers share max-min fairly in both. SimGrid looks at every transfer of a line whenever one begins or
 * ends; with 100,000 workers it does not come to the first result of a task within minutes. So it is ended after some seconds,
 * and compared are the tasks that were begun, that is whose input came, in a second of real time, over the virtual time that it
 * had got to by then. That is kind to it, since fewer transfers are under way then than later. How many came must be alike in
 * both. Beside it stands what it takes here to do all tasks, and what it takes both with few hosts, where SimGrid gets to the end.
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
import { alternate, type BenchContext, type BenchLine, benchLine, median, ROUNDS_MIN } from './runner.ts'

const HOSTS = 100_000
const TASKS_A_HOST = 3
/** 1 Gbit/s, each way. */
const LINE_BYTES_PER_S = 125e6
/** SimGrid with that line is ended after so much real time. */
const SIMGRID_SECONDS_MAX = 15
/** So few that it is done before, with as much of the line for each. */
const FEW_HOSTS = 2_000
/** By how much the numbers of inputs that came may differ: lines of hosts are drawn here and all alike there, and the clock has steps. */
const UNLIKE_MAX = 0.2
const HOUR_MS = 3_600_000
/** Million operations that take the mean host of 2026 an hour. */
const HOUR_OF_WORK = 3600 * 9 * 12_000 * 0.8

const OPTIONS: Omit<WorldOptions, 'workload'> = {
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
  outages: []
}

/** As in SimGrid they come one after the other within an hour: a second for each of 3,600 kinds. */
const ARRIVING = parseTrace(`node,state,start_s,end_s\n${Array.from({ length: 3600 }, (_, second) => `${second},1,${second},${1000 * 3600}\n`).join('')}`)

/** `lineBytesPerS` 0: the project has no line of its own. */
function optionsOf(hosts: number, lineBytesPerS: number): WorldOptions {
  const line = { model: { ...OPTIONS.model, trace: ARRIVING }, line: { sendsBytesPerS: lineBytesPerS, receivesBytesPerS: lineBytesPerS } }
  return {
    ...OPTIONS,
    hosts,
    workload: {
      arrives: { kind: 'saturating', waitingMin: hosts / 10 },
      batchTasks: hosts / 10,
      sizes: { medianMillionOps: HOUR_OF_WORK, sigma: 0 },
      inputBytes: 10e6,
      outputBytes: 1e6,
      policy: { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1 },
      timeMs: 7 * 24 * HOUR_MS,
      memoryBytes: 2 ** 29
    },
    ...(lineBytesPerS === 0 ? {} : line)
  }
}

export async function run(context: BenchContext): Promise<BenchLine[]> {
  await context.ensure(['g++', 'libsimgrid-dev'])
  const program = join(context.workFolder, 'simgrid')
  const source = fileURLToPath(new URL('peers/simgrid.cpp', import.meta.url))
  await promisify(execFile)('g++', ['-O2', '-std=c++17', '-o', program, source, '-lsimgrid'])
  return [...(await ownLines(context, program)), ...(await oneLine(context, program)), await few(context, program)]
}

/** What SimGrid says of a run. */
interface Said {
  readonly tasks: number
  readonly inputs: number
  readonly seconds: number
  readonly bytes: number
  readonly virtual: number
}

async function simgrid(program: string, hosts: number, ...line: readonly number[]): Promise<Said> {
  const { stdout } = await promisify(execFile)(program, [hosts, TASKS_A_HOST, ...line, '--log=root.thres:error'].map(String))
  return JSON.parse(stdout)
}

/** Each worker has a line of its own, the master none. */
async function ownLines(context: BenchContext, program: string): Promise<BenchLine[]> {
  const bytes: number[] = []
  const peerBytes: number[] = []
  const { value, peerValue } = await alternate(
    context,
    async () => {
      const { rate, events, bytesPerHost } = await toTheEnd(HOSTS, 0)
      bytes.push(bytesPerHost)
      context.log(`talko: ${rate.toFixed(0)} tasks/s, ${events.toFixed(0)} events/s, ${bytesPerHost.toFixed(0)} bytes a host`)
      return rate
    },
    async () => {
      const said = await simgrid(program, HOSTS)
      peerBytes.push(said.bytes)
      context.log(`SimGrid: ${(said.tasks / said.seconds).toFixed(0)} tasks/s, ${said.bytes} bytes a host`)
      return said.tasks / said.seconds
    }
  )
  const peer = 'SimGrid, a master without a coordinator and without a line'
  return [
    benchLine({ name: `population of ${HOSTS} hosts, tasks through the real coordinator`, value, unit: 'tasks/s', peer, peerValue, must: 'value >= 4000' }),
    benchLine({ name: 'memory of a simulated host', value: median(bytes), unit: 'B', peer, peerValue: median(peerBytes), must: '<= 0.01' })
  ]
}

/** All share the line of the project, or the master: in the same virtual time, and here to the end. */
async function oneLine(context: BenchContext, program: string): Promise<BenchLine[]> {
  const rates: number[] = []
  const peerRates: number[] = []
  const peerBytes: number[] = []
  for (let round = 0; round < Math.max(context.rounds, ROUNDS_MIN); round++) {
    const said = await simgrid(program, HOSTS, LINE_BYTES_PER_S, SIMGRID_SECONDS_MAX)
    const { inputs, seconds } = await inVirtualTime(said.virtual)
    const rate = `${(inputs / seconds).toFixed(0)} a second`
    context.log(
      `one line, ${said.virtual.toFixed(0)} virtual s: ${inputs} tasks begun, ${rate}; SimGrid ${said.inputs}, ${(said.inputs / said.seconds).toFixed(0)} a second`
    )
    if (Math.abs(inputs / said.inputs - 1) > UNLIKE_MAX) throw new Error(`${inputs} tasks were begun, in SimGrid ${said.inputs}`)
    rates.push(inputs / seconds)
    peerBytes.push(said.bytes)
    peerRates.push(said.inputs / said.seconds)
  }
  const { rate, bytesPerHost } = await toTheEnd(HOSTS, LINE_BYTES_PER_S)
  const name = `population of ${HOSTS} hosts, one line of 1 Gbit/s`
  const peer = `SimGrid, tasks begun in its first ${SIMGRID_SECONDS_MAX} s`
  const peerValue = median(peerRates)
  return [
    benchLine({ name: `${name}, tasks begun in the same virtual time`, value: median(rates), unit: 'tasks/s', peer, peerValue, must: '>= 3' }),
    benchLine({ name: `${name}, all ${HOSTS * TASKS_A_HOST} tasks`, value: rate, unit: 'tasks/s', peer, peerValue, must: '>= 3' }),
    benchLine({ name: `${name}, memory of a host`, value: bytesPerHost, unit: 'B', peer: 'SimGrid', peerValue: median(peerBytes), must: '<= 0.01' })
  ]
}

/** Few hosts and as much less of a line: both to the end. Our code is compiled by now; in a process of its own it is little faster than SimGrid here. */
async function few(context: BenchContext, program: string): Promise<BenchLine> {
  const line = (LINE_BYTES_PER_S * FEW_HOSTS) / HOSTS
  const { value, peerValue } = await alternate(
    context,
    async () => (await toTheEnd(FEW_HOSTS, line)).rate,
    async () => {
      const { tasks, seconds } = await simgrid(program, FEW_HOSTS, line, Number.MAX_SAFE_INTEGER)
      return tasks / seconds
    }
  )
  const name = `population of ${FEW_HOSTS} hosts, one line of ${(8 * line) / 1e6} Mbit/s, all ${FEW_HOSTS * TASKS_A_HOST} tasks`
  return benchLine({ name, value, unit: 'tasks/s', peer: 'SimGrid, all tasks', peerValue, must: '>= 1' })
}

async function inVirtualTime(seconds: number): Promise<{ inputs: number; seconds: number }> {
  const world = new World(optionsOf(HOSTS, LINE_BYTES_PER_S))
  await world.start()
  const began = performance.now()
  world.advance(1000 * seconds)
  return { inputs: world.totals.inputs ?? 0, seconds: (performance.now() - began) / 1000 }
}

async function toTheEnd(hosts: number, lineBytesPerS: number): Promise<{ rate: number; events: number; bytesPerHost: number }> {
  const world = new World(optionsOf(hosts, lineBytesPerS))
  await world.start()
  const began = performance.now()
  while (world.totals.ready < hosts * TASKS_A_HOST) world.advance(world.nowMs + HOUR_MS / 4)
  const seconds = (performance.now() - began) / 1000
  const { ready, wrong, events } = world.totals
  if (wrong > ready / 100) throw new Error(`of ${ready} tasks ${wrong} were decided wrong`)
  return { rate: ready / seconds, events: events / seconds, bytesPerHost: world.bytesPerHost }
}
