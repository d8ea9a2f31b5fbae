/**
 * Tasks that come all the time, 500 a second in batches of 125, for a minute (`sustained-long`: ten): how many are decided a
 * second, how long a batch takes, and how the server's memory grows. Beside what is asked for: 300 a second.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { type BenchContext, type BenchLine, benchLine, quantile } from './runner.ts'
import { startSystem } from './system.ts'

const BATCH_TASKS = 125
const BATCH_EVERY_MS = 250
const WANTED_PER_SECOND = 300
const TURNAROUND_MS_MAX = 1_000
/** The store's caches and the young generation fill up first. */
const SETTLED_PART = 0.5
const SAMPLE_MS = 1_000
/** V8 lets garbage lie while there is memory; with so little of it, what grows is what is kept. */
const HEAP_MIB = 192
const GROWTH_MIB_MAX = 32

export function run(context: BenchContext): Promise<BenchLine[]> {
  return sustain(context, 60)
}

export async function sustain(context: BenchContext, seconds: number): Promise<BenchLine[]> {
  const system = await startSystem(context, { serverEnv: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` } })
  try {
    await system.measure(2_000)
    const samples: { readonly minutes: number; readonly mib: number }[] = []
    const turnaroundsMs: number[] = []
    const startedMs = performance.now()
    const over = (): boolean => performance.now() - startedMs >= seconds * 1000
    const watching = (async () => {
      for (; !over(); await wait(SAMPLE_MS)) samples.push({ minutes: (performance.now() - startedMs) / 60_000, mib: await residentMib(system.serverPid) })
    })()
    const pending: Promise<void>[] = []
    let decided = 0
    for (let batch = 0; !over(); batch++) {
      await wait(Math.max(0, startedMs + batch * BATCH_EVERY_MS - performance.now()))
      const manifests = await system.manifests(BATCH_TASKS)
      const sentMs = performance.now()
      const { id } = await system.client.submit(manifests, { policy: { minQuorum: 1 } })
      pending.push(
        system.client.wait(id).then(({ ready }) => {
          decided += ready
          turnaroundsMs.push(performance.now() - sentMs)
        })
      )
    }
    await Promise.all(pending)
    const tookSeconds = (performance.now() - startedMs) / 1000
    await watching
    const settled = samples.slice(Math.floor(samples.length * SETTLED_PART))
    const growth = slope(settled.map(({ minutes, mib }) => [minutes, mib]))
    context.log(
      `${decided} tasks in ${tookSeconds.toFixed(0)} s; resident ${samples[0]?.mib.toFixed(0)} MiB at first, ${samples.at(-1)?.mib.toFixed(0)} MiB at last`
    )
    const of = `tasks sustained ${seconds} s`
    return [
      benchLine({ name: of, value: decided / tookSeconds, unit: 'tasks/s', peer: 'asked for', peerValue: WANTED_PER_SECOND, must: '>= 1.0' }),
      benchLine({
        name: `${of}: a batch of ${BATCH_TASKS}, p99`,
        value: quantile(turnaroundsMs, 0.99),
        unit: 'ms',
        peer: 'median',
        peerValue: quantile(turnaroundsMs, 0.5),
        must: `value <= ${TURNAROUND_MS_MAX}`
      }),
      benchLine({
        name: `${of}: the server's memory grows, second half`,
        value: growth,
        unit: 'MiB/min',
        peer: 'resident at last',
        peerValue: samples.at(-1)?.mib ?? Number.NaN,
        must: `value <= ${GROWTH_MIB_MAX}`
      })
    ]
  } finally {
    await system.stop()
  }
}

async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024
}

/** Least squares. */
function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const squares = points.reduce((sum, [px]) => sum + (px - x) ** 2, 0)
  return points.reduce((sum, [px, py]) => sum + (px - x) * (py - y), 0) / squares
}
