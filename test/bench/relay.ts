/**
 * What one relay carries for ten pairs of volunteers that fetch from each other at once, and the memory that it takes: three
 * processes of their own, the relay as `talko relay start` runs it, all who send and all who receive. Beside the same pairs without it.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { initRelay } from '#relay/main'
import { freePort } from '../support/ports.ts'
import { startProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { nextMessage } from './child.ts'
import type { Fetch, Fetched, Place } from './relay-peers.ts'
import { alternate, type BenchContext, type BenchLine, benchLine, median } from './runner.ts'

const PAIRS = 10
/** Of a MiB, from each, in a round. */
const BLOCKS = 64
/** Of a run through the relay before its memory counts as what it takes: V8 lets the space for young objects grow for the first GBs. */
const BLOCKS_WARM = 512
const SAMPLE_MS = 200
const MIB = 1024 ** 2

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const program = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
  const dir = join(context.workFolder, 'relay')
  await initRelay(dir, { listen: [`/ip4/127.0.0.1/tcp/${await freePort()}`] })
  const relay = startProgram(program('../support/relay-program.ts'), [dir])
  const peers: ChildProcess[] = []
  try {
    await until('the relay to start', () => {
      if (relay.child.exitCode !== null) throw new Error(relay.errors())
      return relay.lines.length > 0
    })
    const [address = ''] = JSON.parse(relay.lines[0] ?? '[]') as string[]
    const idle = memoryOf(relay.child.pid)
    const sending = fork(program('relay-peers.ts'), ['serve', address, String(PAIRS)])
    peers.push(sending)
    const places = await nextMessage<readonly Place[]>(sending)
    const receiving = fork(program('relay-peers.ts'), ['fetch'])
    peers.push(receiving)
    await nextMessage(receiving)
    const rate = async (way: 'direct' | 'relayed', blocks: number): Promise<number> => {
      const told = nextMessage<Fetched>(receiving)
      const asked: Fetch = { places: places.map((place) => ({ peer: place.peer, address: place[way] })), blocks }
      receiving.send(asked)
      const { bytes, seconds } = await told
      const mbs = bytes / 1e6 / seconds
      context.log(`${way}: ${mbs.toFixed(0)} MB/s, the relay has ${(memoryOf(relay.child.pid) / MIB).toFixed(0)} MiB`)
      return mbs
    }
    await rate('direct', BLOCKS)
    await rate('relayed', BLOCKS_WARM)
    const rounds: number[] = []
    const busy = async (): Promise<number> => {
      const samples: number[] = []
      const timer = setInterval(() => samples.push(memoryOf(relay.child.pid)), SAMPLE_MS)
      const mbs = await rate('relayed', BLOCKS)
      clearInterval(timer)
      rounds.push(median(samples))
      return mbs
    }
    const { value, peerValue } = await alternate(context, busy, () => rate('direct', BLOCKS))
    const [first = 0] = rounds
    const last = rounds.at(-1) ?? 0
    const what = `${PAIRS} pairs through one relay`
    return [
      benchLine({ name: what, value, unit: 'MB/s', peer: 'the same pairs directly', peerValue, must: '>= 0.2' }),
      benchLine({
        name: `${what}, its memory in the last round`,
        value: last / MIB,
        unit: 'MiB',
        peer: 'in the first',
        peerValue: first / MIB,
        must: '<= 1.1'
      }),
      benchLine({ name: `${what}, its memory`, value: last / MIB, unit: 'MiB', peer: 'when nobody calls', peerValue: idle / MIB, must: 'value <= 640' })
    ]
  } finally {
    for (const peer of peers) peer.kill('SIGKILL')
    await relay.kill('SIGTERM')
  }
}

/** Resident bytes. */
function memoryOf(pid: number | undefined): number {
  const [, kib = '0'] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}
