/** A sweep of a million tasks, accepted as its generator: seconds until it is durable, and the coordinator's memory then. Beside a fifth of the same tasks submitted one by one, which is as many as one may have undecided. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { child } from './child.ts'
import { alternate, type BenchContext, type BenchLine, benchLine } from './runner.ts'
import type { SweptOrNot } from './sweep-world.ts'

const TASKS = 1_000_000
const EAGER = 200_000
const MIB = 1024 ** 2

export async function run(context: BenchContext): Promise<BenchLine[]> {
  let round = 0
  const measure = async (mode: 'sweep' | 'eager', tasks: number): Promise<SweptOrNot> => {
    const folder = join(context.workFolder, `${mode}-${round++}`)
    const one = await child<SweptOrNot>(fileURLToPath(new URL('./sweep-world.ts', import.meta.url)), ['--expose-gc'], [mode, tasks, folder])
    context.log(`${mode}: ${tasks} tasks in ${one.seconds.toFixed(2)} s, ${(one.bytes / MIB).toFixed(0)} MiB`)
    return one
  }
  let mib = 0
  let eagerMib = 0
  const { value, peerValue } = await alternate(
    context,
    async () => {
      const { seconds, bytes } = await measure('sweep', TASKS)
      mib = bytes / MIB
      return seconds
    },
    async () => {
      const { seconds, bytes } = await measure('eager', EAGER)
      eagerMib = bytes / MIB
      return seconds
    }
  )
  const peer = `${EAGER} of the tasks one by one`
  return [
    benchLine({ name: `a sweep of ${TASKS} tasks accepted`, value, unit: 's', peer, peerValue, must: 'value <= 10' }),
    benchLine({ name: 'memory of the coordinator with it', value: mib, unit: 'MiB', peer, peerValue: eagerMib, must: 'value <= 1024' })
  ]
}
