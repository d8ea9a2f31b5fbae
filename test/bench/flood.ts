/**
 * What a flooding client costs the others (Q06): tasks for each second of the server's CPU time, while another client of the
 * project asks for the list of all nodes as fast as it can on eight streams, beside the same without it. The server's CPU is
 * what others compete for; counted in it, what the flooding process itself takes of a small machine makes no difference.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Home } from '#client-cli/live/home'
import { nextMessage } from './child.ts'
import { alternate, type BenchContext, type BenchLine, benchLine } from './runner.ts'
import { cpuSeconds, startSystem } from './system.ts'

const TASKS = 20_000

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const home = join(context.workFolder, 'flood')
  const flooder = await Home.at(home).signer()
  const system = await startSystem(context, { others: [flooder.peerId] })
  try {
    await system.measure(TASKS)
    const rate = async (): Promise<number> => {
      const before = cpuSeconds(system.serverPid)
      await system.measure(TASKS)
      return TASKS / (cpuSeconds(system.serverPid) - before)
    }
    const quiet = async (): Promise<number> => {
      const value = await rate()
      context.log(`without: ${value.toFixed(0)}/s`)
      return value
    }
    const flooded = async (): Promise<number> => {
      const flood = fork(fileURLToPath(new URL('./flood-client.ts', import.meta.url)), [home, system.project, system.address])
      try {
        await nextMessage(flood)
        const value = await rate()
        const answered = nextMessage(flood)
        flood.send('how many')
        context.log(`flooded: ${value.toFixed(0)}/s, ${await answered} answers to the flood`)
        return value
      } finally {
        await end(flood)
      }
    }
    const { value, peerValue } = await alternate(context, flooded, quiet)
    return [
      benchLine({
        name: "tasks for a second of the server's CPU beside a flooding client",
        value,
        unit: 'tasks/s',
        peer: 'without it',
        peerValue,
        must: '>= 0.9'
      })
    ]
  } finally {
    await system.stop()
  }
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
