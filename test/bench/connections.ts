/**
 * What 2,000 idle nodes cost one project server: how long it takes to accept all of them at once (as after its restart), its
 * memory and share of a core while they send their heartbeats, and what another node waits for an answer meanwhile. Beside as
 * many connections of libp2p with nothing on them, and a server without nodes.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as passing } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { nextMessage } from './child.ts'
import type { Asked, Told } from './connections-nodes.ts'
import { Probe } from './probe.ts'
import { type BenchContext, type BenchLine, benchLine, quantile } from './runner.ts'
import { cpuSeconds, memoryOf, type Server, startServer } from './system.ts'

const NODES = 2_000
const IDLE_MS = 20_000
/** Until what the storm left is collected. */
const SETTLE_MS = 5_000
const PROBES = 400
const PROBE_MS = 50
const KIB = 1024

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const bare = await measure(context, 'bare')
  const nodes = await measure(context, 'nodes')
  const what = `${NODES} idle nodes`
  context.log(
    `${what}: all at once in ${nodes.seconds.toFixed(1)} s, ${(nodes.bytes / KIB).toFixed(0)} KiB each, ${(nodes.share * 100).toFixed(1)} % of a core`
  )
  const peer = 'connections alone'
  return [
    benchLine({ name: `${what} at once, until all are welcomed`, value: nodes.seconds, unit: 's', peer, peerValue: bare.seconds, must: 'value <= 60' }),
    benchLine({ name: `${what}, memory each`, value: nodes.bytes / KIB, unit: 'KiB', peer, peerValue: bare.bytes / KIB, must: 'value <= 1024' }),
    benchLine({ name: `${what}, share of a core`, value: nodes.share * 100, unit: '%', peer, peerValue: bare.share * 100, must: 'value <= 50' }),
    benchLine({
      name: `round trip of control beside ${what}, p99`,
      value: quantile(nodes.busyMs, 0.99),
      unit: 'ms',
      peer: 'without them',
      peerValue: quantile(nodes.calmMs, 0.99),
      must: 'value <= 250'
    })
  ]
}

interface Measured {
  /** Until the last of the storm was in. */
  readonly seconds: number
  /** Of the server's memory, for each. */
  readonly bytes: number
  /** Of one core, while they are idle. */
  readonly share: number
  readonly calmMs: readonly number[]
  readonly busyMs: readonly number[]
}

async function measure(context: BenchContext, kind: Exclude<Asked, number>): Promise<Measured> {
  const server = await startServer(context, `connections-${kind}`)
  let nodes: ChildProcess | undefined
  try {
    const program = fileURLToPath(new URL('./connections-nodes.ts', import.meta.url))
    nodes = fork(program, [server.project, server.address], { execArgv: ['--max-old-space-size=12288'] })
    const child = nodes
    await nextMessage(child)
    const ask = async (asked: Asked): Promise<Told> => {
      const answer = nextMessage<Told>(child)
      child.send(asked)
      return answer
    }
    await ask(NODES)
    const calmMs = await roundTrips(server)
    const before = memoryOf(server.pid)
    const told = await ask(kind)
    await passing(SETTLE_MS)
    const bytes = (memoryOf(server.pid) - before) / NODES
    const cpu = cpuSeconds(server.pid)
    const from = performance.now()
    const [busyMs] = await Promise.all([roundTrips(server), passing(IDLE_MS)])
    const share = (cpuSeconds(server.pid) - cpu) / ((performance.now() - from) / 1000)
    return { seconds: told === 'made' ? 0 : told.seconds, bytes, share, calmMs, busyMs }
  } finally {
    nodes?.kill('SIGKILL')
    await server.stop()
  }
}

/** Milliseconds of each, of one that calls now and leaves afterwards. */
async function roundTrips({ project, address }: Server): Promise<number[]> {
  const probe = await Probe.start(project, address)
  try {
    return await probe.roundTrips(PROBES, PROBE_MS)
  } finally {
    await probe.stop()
  }
}
