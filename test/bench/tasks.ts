/**
 * Tasks per second end to end: submitted in bulk, leased over libp2p to 16 nodes that do nothing with them, reported, validated with
 * quorum 1, and decided; every step durable (fsync) at the server and at the nodes, as in production. Beside BullMQ, whose jobs
 * are as distinct as our bundles (a number each) and whose Redis syncs its file once a second.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from '#client-cli/index'
import { Home } from '#client-cli/live/home'
import { initProject } from '#project-server/main'
import type { BatchView } from '#protocol/owner/messages'
import { freePort } from '../support/ports.ts'
import { startProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { startBullMq } from './peers/bullmq.ts'
import { alternate, type BenchContext, type BenchLine, benchLine } from './runner.ts'

const NAME = 'tasks per second, end to end, 16 nodes, no-op'
const NODES = 16
/** Of 64, 256 and 1024, the fastest; all together are what BullMQ calls its concurrency. */
const SLOTS = 256
const TASKS = 20_000
const WARM_UP_TASKS = 20_000
/** One after another, each durable before the next is sent; BullMQ's jobs come in bulks, too. */
const TASKS_IN_BATCH = 2_000

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const talko = await startTalko(context)
  try {
    const bullMq = await startBullMq(context)
    try {
      const rate = (name: string, measure: (tasks: number) => Promise<number>) => async (): Promise<number> => {
        const value = TASKS / (await measure(TASKS))
        context.log(`${name}: ${value.toFixed(0)}/s`)
        return value
      }
      await talko.measure(WARM_UP_TASKS)
      await bullMq.measure(WARM_UP_TASKS)
      const { value, peerValue } = await alternate(context, rate('talko', talko.measure), rate('BullMQ', bullMq.measure))
      return [benchLine({ name: NAME, value, unit: 'tasks/s', peer: 'BullMQ, Redis appendfsync everysec', peerValue, must: '>= 1.0' })]
    } finally {
      await bullMq.stop()
    }
  } finally {
    await talko.stop()
  }
}

/** The project server in one process, the nodes in another, the client here. */
async function startTalko(context: BenchContext): Promise<{ measure(tasks: number): Promise<number>; stop(): Promise<void> }> {
  const home = join(context.workFolder, 'home')
  const folder = join(context.workFolder, 'project')
  const listen = `/ip4/127.0.0.1/tcp/${await freePort()}`
  const owner = await Home.at(home).signer()
  const { id: project } = await initProject(folder, { name: 'bench', owners: [owner.peerId], listen: [listen] })
  const server = startProgram(fileURLToPath(new URL('../support/server-program.ts', import.meta.url)), [folder])
  let nodes: ChildProcess | undefined
  const stop = async (): Promise<void> => {
    if (nodes !== undefined) await end(nodes)
    await server.kill('SIGTERM')
  }
  try {
    await until('the project server', () => {
      if (server.child.exitCode !== null) throw new Error(`the project server ended: ${server.errors()}`)
      return server.lines.length > 0
    })
    const args = [context.workFolder, project, `${listen}/p2p/${project}`, String(NODES), String(SLOTS)]
    nodes = fork(fileURLToPath(new URL('./tasks-nodes.ts', import.meta.url)), args)
    await once(nodes, 'message')
    const client = await connect({ home, project: `talko://${project}?a=${listen}` })
    let round = 0
    return {
      async measure(tasks) {
        const run = round++
        const environment = (index: number): Record<string, string> => ({ RUN: String(run), INDEX: String(index) })
        const specs = Array.from({ length: tasks }, (_, index) => ({ command: ['true'], engine: 'process', environment: environment(index) }) as const)
        const manifests = await client.prepare(specs)
        const started = performance.now()
        const decided: Promise<BatchView>[] = []
        for (let from = 0; from < tasks; from += TASKS_IN_BATCH) {
          const batch = await client.submit(manifests.slice(from, from + TASKS_IN_BATCH), { policy: { minQuorum: 1 } })
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
