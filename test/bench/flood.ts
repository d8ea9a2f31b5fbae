/**
 * What a flooding client costs the others (Q06): tasks for each second of the server's CPU time, while another client of the
 * project asks for the list of all nodes as fast as it can on eight streams, beside the same without it. The server's CPU is
 * what others compete for; counted in it, what the flooding process itself takes of a small machine makes no difference.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Home } from '#client-cli/live/home'
import { alternate, type BenchContext, type BenchLine, benchLine } from './runner.ts'
import { startSystem } from './system.ts'

const TASKS = 20_000
/** Of /proc: USER_HZ, the same on every Linux. */
const TICKS_PER_SECOND = 100

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const home = join(context.workFolder, 'flood')
  const flooder = await Home.at(home).signer()
  const system = await startSystem(context, { others: [flooder.peerId] })
  try {
    await system.measure(TASKS)
    const rate = async (): Promise<number> => {
      const before = await cpuSeconds(system.serverPid)
      await system.measure(TASKS)
      return TASKS / ((await cpuSeconds(system.serverPid)) - before)
    }
    const quiet = async (): Promise<number> => {
      const value = await rate()
      context.log(`without: ${value.toFixed(0)}/s`)
      return value
    }
    const flooded = async (): Promise<number> => {
      const flood = fork(fileURLToPath(new URL('./flood-client.ts', import.meta.url)), [home, system.project, system.address])
      try {
        await once(flood, 'message')
        const value = await rate()
        const answered = once(flood, 'message')
        flood.send('how many')
        context.log(`flooded: ${value.toFixed(0)}/s, ${(await answered)[0]} answers to the flood`)
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

async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  // After the name in parentheses: state is the first, user and system time the twelfth and thirteenth.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
