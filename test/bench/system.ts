/** A project for benchmarks: the server in one process, nodes that do nothing with their tasks in another, the client here. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Client, connect } from '#client-cli/index'
import { Home } from '#client-cli/live/home'
import { initProject } from '#project-server/main'
import type { BatchView } from '#protocol/owner/messages'
import { freePort } from '../support/ports.ts'
import { begun, startProgram } from '../support/process.ts'
import { nextMessage } from './child.ts'
import { noOpSpec } from './no-op.ts'
import type { BenchContext } from './runner.ts'

export interface Nodes {
  readonly count: number
  readonly slots: number
}

/** Of 64, 256 and 1024 slots, the fastest; all together are what BullMQ calls its concurrency. */
const SIXTEEN: Nodes = { count: 16, slots: 256 }
/** Of /proc: USER_HZ, the same on every Linux. */
const TICKS_PER_SECOND = 100
/** One after another, each durable before the next is sent; BullMQ's jobs come in bulks, too. */
const TASKS_IN_BATCH = 2_000

export interface System {
  readonly project: string
  readonly address: string
  readonly client: Client
  readonly serverPid: number
  /** Seconds from the submission of so many distinct tasks until the last is decided. */
  measure(tasks: number): Promise<number>
  /** Manifests of so many tasks that no other has. */
  manifests(tasks: number): Promise<Uint8Array[]>
  stop(): Promise<void>
}

export interface Server {
  readonly project: string
  readonly address: string
  readonly pid: number
  stop(): Promise<void>
}

/** A project server in a process of its own, with its folder under `name`. The client in `home` administers it. */
export async function startServer(
  { workFolder }: Pick<BenchContext, 'workFolder'>,
  name: string,
  { home = join(workFolder, 'home'), others = [], env = {} }: { home?: string; others?: readonly string[]; env?: Readonly<Record<string, string>> } = {}
): Promise<Server> {
  const folder = join(workFolder, name)
  const listen = `/ip4/127.0.0.1/tcp/${await freePort()}`
  const owner = await Home.at(home).signer()
  const { id: project } = await initProject(folder, { name: 'bench', owners: [owner.peerId, ...others], listen: [listen] })
  const server = startProgram(fileURLToPath(new URL('../support/server-program.ts', import.meta.url)), [folder], env)
  await begun(server, 'the project server')
  return { project, address: listen, pid: server.child.pid ?? 0, stop: () => server.kill('SIGTERM') }
}

/** Of a process since it began, in user and system mode. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // After the name in parentheses: state is the first, user and system time the twelfth and thirteenth.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Resident bytes of a process. */
export function memoryOf(pid: number): number {
  const [, kib = '0'] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}

/** `others`: peer ids of more clients. `serverEnv`: of the server's process alone. */
export async function startSystem(
  context: Pick<BenchContext, 'workFolder'>,
  {
    others = [],
    serverEnv = {},
    with: { count, slots } = SIXTEEN
  }: { readonly others?: readonly string[]; readonly serverEnv?: Readonly<Record<string, string>>; readonly with?: Nodes } = {}
): Promise<System> {
  const home = join(context.workFolder, 'home')
  const server = await startServer(context, 'project', { home, others, env: serverEnv })
  const { project, address: listen } = server
  let nodes: ChildProcess | undefined
  const stop = async (): Promise<void> => {
    if (nodes !== undefined) await end(nodes)
    await server.stop()
  }
  try {
    const args = [context.workFolder, project, `${listen}/p2p/${project}`, String(count), String(slots)]
    nodes = fork(fileURLToPath(new URL('./tasks-nodes.ts', import.meta.url)), args)
    await nextMessage(nodes)
    const client = await connect({ home, project: `talko://${project}?a=${listen}` })
    let round = 0
    const manifests = (tasks: number): Promise<Uint8Array[]> => {
      const run = round++
      return client.prepare(Array.from({ length: tasks }, (_, index) => noOpSpec(run, index)))
    }
    return {
      project,
      address: listen,
      client,
      serverPid: server.pid,
      manifests,
      async measure(tasks) {
        const all = await manifests(tasks)
        const started = performance.now()
        const decided: Promise<BatchView>[] = []
        for (let from = 0; from < tasks; from += TASKS_IN_BATCH) {
          const batch = await client.submit(all.slice(from, from + TASKS_IN_BATCH), { policy: { minQuorum: 1 } })
          decided.push(client.wait(batch.id))
        }
        const ready = (await Promise.all(decided)).reduce((sum, view) => sum + view.ready, 0)
        const seconds = (performance.now() - started) / 1000
        if (ready !== tasks) throw new Error(`of ${tasks} tasks ${ready} were agreed`)
        return seconds
      },
      async stop() {
        await client.close()
        await stop()
      }
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
