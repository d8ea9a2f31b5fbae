/**
 * As `discovery`, for a thousand hosts of an internet in memory and in virtual time, with real libp2p and DHT (sim/stack/discovery.ts).
 * A fresh node leaves when it has been welcomed: what it does afterwards costs real time, and changes nothing for others,
 * since only the eight hosts of a hundred that have public addresses keep the DHT.
 */
import { fileURLToPath } from 'node:url'
import { SIM_FLAGS } from '../../sim/flags.ts'
import type { Discovered } from '../../sim/stack/discovery.ts'
import { child } from './child.ts'
import { type BenchContext, type BenchLine, benchLine, quantile } from './runner.ts'

const COMPUTERS = 1_000
const SEED = 1
const PROGRAM = fileURLToPath(new URL('../../sim/stack/discovery.ts', import.meta.url))

export async function run({ log }: BenchContext): Promise<BenchLine[]> {
  const { tookMs, missed, keepers, away, complaint, events, realMs, memoryBytes } = await child<Discovered>(
    PROGRAM,
    [...SIM_FLAGS, '--max-old-space-size=12288'],
    [SEED, COMPUTERS]
  )
  if (complaint !== null) throw new Error(complaint)
  const at = (part: number): number => quantile(tookMs, part) / 1000
  log(`${tookMs.length} nodes and ${keepers} hosts of the DHT, which went away ${away} times: p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)} virtual s`)
  log(`${events} events in ${(realMs / 1000).toFixed(0)} s, ${(memoryBytes / 2 ** 30).toFixed(1)} GiB; ${missed.length} never found it`)
  const all = [...tookMs, ...missed.map(() => Number.MAX_SAFE_INTEGER)]
  return [
    benchLine({
      name: `a fresh node among ${COMPUTERS} simulated hosts that knows only bootstrap peers, until it is welcomed, p95`,
      value: quantile(all, 0.95) / 1000,
      unit: 'virtual s',
      peer: 'half of them',
      peerValue: at(0.5),
      must: 'value <= 5'
    })
  ]
}
