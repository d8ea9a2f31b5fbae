/**
 * What one peer that means ill costs the others (Q06): the round trip of control of an honest node beside it, at the 99th
 * percentile (of the rounds the median), and the server's memory. It floods, drips bytes on streams that it never ends,
 * announces frames that are too large, sends garbage, and does all of that at once; and it calls again and again. Beside the
 * same without it, in turns.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ABUSES, type Asked, type Told } from './abuses.ts'
import { nextMessage } from './child.ts'
import { Probe } from './probe.ts'
import { type BenchContext, type BenchLine, benchLine, median, quantile } from './runner.ts'
import { memoryOf, startServer } from './system.ts'

const PROBES = 400
const PROBE_MS = 20
const MIB = 1024 ** 2

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const server = await startServer(context, 'abuse')
  // It runs when nobody else wants to: what it takes of a small machine is not what it costs the server's peers.
  const idle = { execPath: 'chrt', execArgv: ['--idle', '0', process.execPath] }
  const peer = fork(fileURLToPath(new URL('./abuse-peer.ts', import.meta.url)), [server.project, server.address], idle)
  try {
    await nextMessage(peer)
    const probe = await Probe.start(server.project, server.address)
    try {
      await probe.roundTrips(PROBES, 0)
      const kinds = [...ABUSES, 'all'] as const
      /** The 99th percentile of each round. */
      const worsts = new Map<Asked, number[]>()
      const memory: number[] = []
      for (let round = 0; round < context.rounds; round++) {
        for (const kind of ['rest', ...kinds] as const) {
          await ask(peer, kind)
          const some = await probe.roundTrips(PROBES, PROBE_MS)
          const { calls, streams, bytes } = await ask(peer, 'rest')
          const worst = quantile(some, 0.99)
          worsts.set(kind, [...(worsts.get(kind) ?? []), worst])
          context.log(`${kind}: p99 ${worst.toFixed(1)} ms, ${calls} calls, ${streams} streams, ${(bytes / MIB).toFixed(0)} MiB`)
        }
        memory.push(memoryOf(server.pid))
        context.log(`the server has ${((memory.at(-1) ?? 0) / MIB).toFixed(0)} MiB`)
      }
      const p99 = (kind: Asked): number => median(worsts.get(kind) ?? [])
      return [
        ...kinds.map((kind) =>
          benchLine({
            name: `round trip of control, p99, beside a peer: ${kind === 'all' ? 'all of it at once, calls apart' : kind}`,
            value: p99(kind),
            unit: 'ms',
            peer: 'without it',
            peerValue: p99('rest'),
            // Each call costs a handshake of some milliseconds on the thread that answers: so many are let in that whole universities can come back at once.
            must: kind === 'calls' ? 'value <= 250' : '<= 2'
          })
        ),
        benchLine({
          name: "the server's memory after the last of them",
          value: (memory.at(-1) ?? 0) / MIB,
          unit: 'MiB',
          // V8 takes the space that it wants for young objects in the first.
          peer: 'after the second round',
          peerValue: (memory[1] ?? 0) / MIB,
          must: '<= 1.2'
        })
      ]
    } finally {
      await probe.stop()
    }
  } finally {
    peer.kill('SIGKILL')
    await server.stop()
  }
}

/** What it did of the kind before. */
async function ask(peer: ChildProcess, kind: Asked): Promise<Told> {
  const answered = nextMessage<Told>(peer)
  peer.send(kind)
  return answered
}
