/**
 * From a submission to the first instant of its program, by the program's own clock: warm, process executor, one node on loopback,
 * server and node processes of their own, one task after another. Beside what the same parts cannot do without: a question and
 * its answer over libp2p (the submission goes there, the lease comes back), two records on disk (the server's of the task, the
 * node's of the lease), and a shell that starts the program.
 */
import { execFile } from 'node:child_process'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Client, connect } from '#client-cli/index'
import { Home } from '#client-cli/live/home'
import { initNode } from '#node/main'
import { initProject } from '#project-server/main'
import { freePort } from '../support/ports.ts'
import { begun, startProgram, type TestProcess } from '../support/process.ts'
import { until } from '../support/until.ts'
import { type BenchContext, type BenchLine, benchLine, median, quantile, seconds } from './runner.ts'

const NAME = 'submit to start, p50, process executor'
const WARM_UP = 20
const TASKS = 300
const RECORDS = 2
const RECORD_BYTES = 1024
const NS_PER_MS = 1e6
/** Prints nanoseconds since 1970. */
const CLOCK = ['date', '+%s%N']

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const network = await startTalko(context)
  try {
    const { client } = network
    for (let index = 0; index < WARM_UP; index++) await submitToStart(client, -index)
    const disk = await open(join(context.workFolder, 'records'), 'w')
    const ours: number[] = []
    const least: number[] = []
    try {
      for (let index = 0; index < TASKS; index++) {
        ours.push(await submitToStart(client, index + 1))
        least.push(await leastMs(client, disk))
      }
    } finally {
      await disk.close()
    }
    context.log(
      `p50 ${median(ours).toFixed(2)} ms, p90 ${quantile(ours, 0.9).toFixed(2)}, p99 ${quantile(ours, 0.99).toFixed(2)}, least ${median(least).toFixed(2)}`
    )
    const peer = `a question to the server, ${RECORDS} fsyncs and the program's own start`
    return [benchLine({ name: NAME, value: median(ours), unit: 'ms', peer, peerValue: median(least), must: 'value <= 10' })]
  } finally {
    await network.stop()
  }
}

function nowMs(): number {
  return performance.timeOrigin + performance.now()
}

async function submitToStart(client: Client, index: number): Promise<number> {
  const manifests = await client.prepare([{ command: CLOCK, engine: 'process', environment: { INDEX: String(index) } }])
  const submittedMs = nowMs()
  const batch = await client.submit(manifests, { policy: { minQuorum: 1 } })
  await client.wait(batch.id)
  const result = client.result(await client.task(batch.tasks[0] ?? ''))
  if (!result.ok) throw new Error(`task ${result.task} failed: ${result.failure?.message}`)
  return Number(await result.stdout()) / NS_PER_MS - submittedMs
}

async function leastMs(client: Client, disk: { write(bytes: Uint8Array): Promise<unknown>; datasync(): Promise<void> }): Promise<number> {
  const record = new Uint8Array(RECORD_BYTES)
  const spent = await seconds(async () => {
    await client.info()
    for (let index = 0; index < RECORDS; index++) {
      await disk.write(record)
      await disk.datasync()
    }
  })
  const startedMs = nowMs()
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', '"$@"', 'sh', ...CLOCK])
  return spent * 1000 + Number(stdout) / NS_PER_MS - startedMs
}

async function startTalko(context: BenchContext): Promise<{ readonly client: Client; stop(): Promise<void> }> {
  const home = join(context.workFolder, 'home')
  const folder = join(context.workFolder, 'project')
  const nodeFolder = join(context.workFolder, 'node')
  const listen = `/ip4/127.0.0.1/tcp/${await freePort()}`
  const owner = await Home.at(home).signer()
  const { id: project } = await initProject(folder, { name: 'bench', owners: [owner.peerId], listen: [listen] })
  const processes: TestProcess[] = []
  const start = async (name: string, dir: string): Promise<void> => {
    const program = startProgram(fileURLToPath(new URL(`../support/${name}.ts`, import.meta.url)), [dir])
    processes.push(program)
    await begun(program, name)
  }
  const stopAll = async (): Promise<void> => {
    for (const program of processes.reverse()) await program.kill('SIGTERM')
  }
  try {
    await start('server-program', folder)
    await initNode(nodeFolder, { project, addresses: [`${listen}/p2p/${project}`], name: 'node', slots: 2, engines: ['process'], memoryBytes: 2 ** 40 })
    await start('node-program', nodeFolder)
    const client = await connect({ home, project: `talko://${project}?a=${listen}` })
    await until('the node to connect', async () => (await client.nodes()).some(({ state }) => state === 'online'))
    return {
      client,
      async stop() {
        await client.close()
        await stopAll()
      }
    }
  } catch (error) {
    await stopAll()
    throw error
  }
}
