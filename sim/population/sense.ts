/** Scenarios that can be read and still ask for what cannot be. Pure. */
import { CLOCKS_DIFFER_SHARE, RUN_SLACK_MS } from '#project-server/coordinator/policy'
import { Random } from '../random.ts'
import { showTime } from './figures.ts'
import { coresMean, drawHardware, meanWhetstoneMips } from './hardware.ts'
import { drawRunMs, EXACT_RUNS, type TaskSizes, taskMillionOps, VOLUNTEER_RUNS } from './runs.ts'
import type { Written } from './scenario.ts'

/** Hosts and runs that are drawn to see what is possible. */
const DRAWN = 2_000
/** So few of the runs may end in time at the least. */
const IN_TIME_MIN = 0.01
/** Everybody has as much. */
const MEMORY_MIN_BYTES = 2 ** 29

/** What cannot be, and the keys under which it stands; undefined when all can. */
export function nonsenseOf(written: Written): { readonly keys: readonly (string | number)[]; readonly message: string } | undefined {
  return lateOf(written) ?? tooFewOf(written) ?? memoryOf(written) ?? limitOf(written)
}

/** Tasks of the mean length take the mean host that long. */
export function sizesOf({ population: { year, slots }, workload: { runtime, spread } }: Pick<Written, 'population' | 'workload'>): TaskSizes {
  return { medianMillionOps: (runtime / 1000) * meanWhetstoneMips(year) * (slots === 'one' ? coresMean(year) : 1), sigma: spread }
}

function lateOf({ length, outages, population: { crowds, exits } }: Written): ReturnType<typeof nonsenseOf> {
  const lists = [
    { keys: ['outages'], list: outages },
    { keys: ['population', 'crowds'], list: crowds },
    { keys: ['population', 'exits'], list: exits }
  ] as const
  for (const { keys, list } of lists) {
    const index = list.findIndex(({ at }) => at >= length)
    const late = list[index]
    if (late !== undefined)
      return { keys: [...keys, index, 'at'], message: `${keys.join('.')}: it begins after ${showTime(late.at)}, but all is over after ${showTime(length)}` }
  }
  return undefined
}

function tooFewOf({ hosts, policy: { quorum, target } }: Written): ReturnType<typeof nonsenseOf> {
  if (quorum > hosts) return { keys: ['policy', 'quorum'], message: `policy: a quorum of ${quorum} different hosts cannot be had of ${hosts}` }
  if (target !== null && target > hosts)
    return { keys: ['policy', 'target'], message: `policy: a target of ${target} replicas on different hosts cannot be had of ${hosts}` }
  return undefined
}

function memoryOf({ population: { year }, workload: { memory } }: Written): ReturnType<typeof nonsenseOf> {
  if (memory <= MEMORY_MIN_BYTES) return undefined
  const random = new Random('sense', 'memory')
  let most = 0
  for (let host = 0; host < DRAWN; host++) most = Math.max(most, drawHardware(random, year).memoryBytes)
  if (memory <= most) return undefined
  return {
    keys: ['workload', 'memory'],
    message: `workload.memory: of ${DRAWN} hosts none has more than ${most / 2 ** 30} GiB, so nothing would ever be leased`
  }
}

function limitOf(written: Written): ReturnType<typeof nonsenseOf> {
  const { population, workload } = written
  const givenMs = workload.limit * (1 + CLOCKS_DIFFER_SHARE) + RUN_SLACK_MS
  if (givenMs >= workload.runtime) return undefined
  const random = new Random('sense', 'limit')
  const sizes = sizesOf(written)
  const runs = workload.exact ? EXACT_RUNS : VOLUNTEER_RUNS
  const times = Array.from({ length: DRAWN }, () => {
    const { cores, whetstoneMips } = drawHardware(random, population.year)
    return drawRunMs(random, runs, taskMillionOps(random, sizes), population.slots === 'one' ? whetstoneMips * cores : whetstoneMips)
  }).sort((a, b) => a - b)
  const inTime = times.filter((ms) => ms <= givenMs).length
  if (inTime >= IN_TIME_MIN * DRAWN) return undefined
  return {
    keys: ['workload', 'limit'],
    message: `workload.limit: of ${DRAWN} runs that were drawn ${inTime} end in time; half of them take at most ${showTime(times[DRAWN / 2] ?? 0)}`
  }
}
