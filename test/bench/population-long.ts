/** The population level over its whole length, only when asked for: 100,000 hosts for 30 days, a million for 7. One round each. Beside a second of theirs: how many times as fast as the world they go. */
import { play } from './population.ts'
import { type BenchContext, type BenchLine, benchLine } from './runner.ts'

const LENGTHS = [
  { scenario: 'normal-month', hosts: 100_000, days: 30, minutesMax: 6 },
  { scenario: 'million', hosts: 1_000_000, days: 7, minutesMax: 15 }
] as const
const MEMORY_GB_MAX = 3
/** As the population's README says for a million: without a bound V8 lets garbage lie until there is as much of it as of what lives. */
const OLD_SPACE_FLAG = '--max-old-space-size=2300'

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const lines: BenchLine[] = []
  for (const { scenario, hosts, days, minutesMax } of LENGTHS) {
    const { events, allSeconds, peakRssBytes } = await play(scenario, hosts, 0, 24 * days, hosts === 1_000_000 ? [OLD_SPACE_FLAG] : [])
    context.log(`${hosts} hosts: ${events} events in ${allSeconds.toFixed(0)} s, ${Math.round(events / allSeconds)} a second`)
    const peer = 'the world itself'
    const name = `${hosts} hosts for ${days} days`
    lines.push(benchLine({ name, value: allSeconds / 60, unit: 'min', peer, peerValue: 24 * 60 * days, must: `value <= ${minutesMax}` }))
    if (hosts === 1_000_000)
      lines.push(
        benchLine({
          name: `${name}, resident`,
          value: peakRssBytes / 1e9,
          unit: 'GB',
          peer: 'the bound',
          peerValue: MEMORY_GB_MAX,
          must: `value <= ${MEMORY_GB_MAX}`
        })
      )
  }
  return lines
}
