/**
 * X12: several runs on one node. Counting primes on one slot, on as many as there are cores, and on twice as many. Beside them
 * the same program in as many plain processes at once, since other load takes its part of the cores from both. Slots beyond the
 * cores only share; what each run then has of the processors is what `talko nodes` says of it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { testNetwork } from '../support/network.ts'
import { until } from '../support/until.ts'
import { type BenchContext, type BenchLine, benchLine, median } from './runner.ts'

/** So many tasks for each core: the last ones, which run alone, take little of the whole. */
const TASKS_PER_CORE = 6
/** About a second of one processor. */
const PRIMES =
  'let count = 0; for (let n = 2; n < 2_200_000; n++) { let prime = true; for (let d = 2; d * d <= n; d++) if (n % d === 0) { prime = false; break } if (prime) count++ } console.log(count)'

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const cores = availableParallelism()
  const counts = [1, cores, 2 * cores]
  const network = await testNetwork()
  try {
    const client = await network.client()
    const ids = new Map<number, string>()
    for (const slots of counts) {
      const node = await network.nodeProcess(`with ${slots}`, { slots, cpuMillis: slots * 1000 })
      ids.set(slots, node.lines[0] ?? '')
    }
    await until('the nodes', async () => (await client.nodes()).filter(({ state }) => state === 'online').length === counts.length)
    let tasks = 0
    const onNode = async (slots: number, count: number): Promise<void> => {
      const specs = Array.from({ length: count }, () => ({
        command: [process.execPath, '-e', PRIMES],
        engine: 'process' as const,
        environment: { TASK: String(tasks++) }
      }))
      const batch = await client.submit(await client.prepare(specs), {
        policy: { minQuorum: 1, targetResults: 1, copies: 'never', nodes: [ids.get(slots) ?? ''] }
      })
      if ((await client.wait(batch.id)).ready !== count) throw new Error(`on ${slots} slots not all tasks are ready`)
    }
    const plain = async (atOnce: number, count: number): Promise<void> => {
      let left = count
      const one = async (): Promise<void> => {
        // In a session of its own, as the process engine runs it: the kernel shares processors out by sessions.
        while (left-- > 0) await once(spawn(process.execPath, ['-e', PRIMES], { detached: true, stdio: 'ignore' }), 'exit')
      }
      await Promise.all(Array.from({ length: atOnce }, one))
    }
    const speeds = new Map<string, number[]>()
    const measure = async (name: string, slots: number, act: (slots: number, count: number) => Promise<void>): Promise<void> => {
      const count = TASKS_PER_CORE * Math.min(slots, cores)
      const begun = performance.now()
      await act(slots, count)
      const speed = (1000 * count) / (performance.now() - begun)
      speeds.set(name, [...(speeds.get(name) ?? []), speed])
      context.log(`${name}: ${speed.toFixed(2)} tasks/s`)
    }
    for (let round = 0; round < context.rounds; round++)
      for (const slots of counts) {
        if (round % 2 === 0) await measure(`${slots} plain`, slots, plain)
        await measure(`${slots} slots`, slots, onNode)
        if (round % 2 === 1) await measure(`${slots} plain`, slots, plain)
      }
    const speedOf = (name: string): number => median(speeds.get(name) ?? [])
    const crowded = (await client.nodes()).find(({ id }) => id === ids.get(2 * cores))
    return [
      ...counts.map((slots) =>
        benchLine({
          name: `primes on ${slots} of one node's slots, ${cores} cores`,
          value: speedOf(`${slots} slots`),
          unit: 'tasks/s',
          peer: 'as many plain processes',
          peerValue: speedOf(`${slots} plain`),
          must: '>= 0.8'
        })
      ),
      benchLine({
        name: `${cores} slots beside one`,
        value: speedOf(`${cores} slots`) / speedOf('1 slots'),
        unit: 'times',
        peer: 'plain processes',
        peerValue: speedOf(`${cores} plain`) / speedOf('1 plain'),
        must: '>= 0.9'
      }),
      benchLine({
        name: `a run's part, ${2 * cores} slots on ${cores} cores, as talko nodes tells it`,
        value: crowded?.processorsEach ?? Number.NaN,
        unit: 'processors',
        peer: 'shared evenly by nobody else',
        peerValue: cores / (2 * cores),
        must: '<= 1.1'
      })
    ]
  } finally {
    await network.close()
  }
}
