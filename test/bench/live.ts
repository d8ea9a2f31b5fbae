/**
 * From a line that a program prints in a container to whoever follows it: through the node, the project's server and the client
 * with `client.logs(follow)`, beside `docker logs -f` of the same container, which reads the same lines from the engine. Each
 * line says when it was printed, by the clock of the machine. Then what a client that opens and closes readings of a running
 * task as fast as it can costs another one's lines (Must show 6 of the live streams).
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Docker from 'dockerode'
import { type Client, connect } from '#client-cli/index'
import { Home } from '#client-cli/live/home'
import { initNode } from '#node/main'
import { initProject } from '#project-server/main'
import { makeBusyboxRoot } from '../support/busybox-image.ts'
import { freePort } from '../support/ports.ts'
import { begun, startProgram, type TestProcess } from '../support/process.ts'
import { until } from '../support/until.ts'
import { nextMessage } from './child.ts'
import { alternate, type BenchContext, type BenchLine, benchLine, median, quantile } from './runner.ts'

const NAME = 'a line printed in a container, until `logs -f` shows it, p50'
const LINES = 150
/** Busybox's `date` knows whole seconds only; the kernel's uptime has hundredths, which is what a line is measured in. */
const PRINT = 'while :; do read up rest < /proc/uptime; echo "$up"; sleep 0.05; done'

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const network = await startNetwork(context)
  try {
    const { client } = network
    const task = await client.submitTask({ image: 'busybox', command: ['sh', '-c', PRINT], resources: { timeMs: 600_000 }, policy: { minQuorum: 1 } })
    const container = await until('the container', () => network.containerOf(task.id))
    const ours = followOurs(client, task.id)
    const docker = followDocker(container)
    const round = async (name: string): Promise<number> => {
      const from = ours.delays.length
      await until('lines', () => ours.delays.length >= from + LINES && docker.delays.length >= from + LINES, 120_000)
      const delays = ours.delays.slice(from, from + LINES)
      context.log(`${name}: p50 ${median(delays).toFixed(0)} ms, p90 ${quantile(delays, 0.9).toFixed(0)}, p99 ${quantile(delays, 0.99).toFixed(0)}`)
      return quantile(delays, 0.99)
    }
    // What was printed before they followed comes at once, and late.
    await round('warm-up')
    const calm: number[] = []
    const peer: number[] = []
    const quiet = async (): Promise<number> => {
      const [mine, theirs] = [ours.delays.length, docker.delays.length]
      const p99 = await round('without a flood')
      calm.push(...ours.delays.slice(mine))
      peer.push(...docker.delays.slice(theirs))
      return p99
    }
    const flooded = async (): Promise<number> => {
      const flood = fork(fileURLToPath(new URL('./live-flood.ts', import.meta.url)), [network.floodHome, network.project, network.address, network.floodTask])
      try {
        await nextMessage(flood)
        const p99 = await round('beside a flood')
        const answered = nextMessage(flood)
        flood.send('how many')
        context.log(`of the flood: ${JSON.stringify(await answered)}`)
        return p99
      } finally {
        await end(flood)
      }
    }
    const { value, peerValue } = await alternate(context, flooded, quiet)
    ours.stop()
    docker.stop()
    await client.kill(task.id)
    context.log(`docker logs -f: p50 ${median(peer).toFixed(0)} ms, p90 ${quantile(peer, 0.9).toFixed(0)}, p99 ${quantile(peer, 0.99).toFixed(0)}`)
    const line = (name: string, mine: number, what: string, theirs: number, must: string): BenchLine =>
      benchLine({ name, value: mine, unit: 'ms', peer: what, peerValue: theirs, must })
    return [
      line(NAME, median(calm), 'docker logs -f of the same lines', median(peer), 'value <= 250'),
      line('the same, p99, while another client floods with live requests', value, 'without it', peerValue, '<= 2')
    ]
  } finally {
    await network.stop()
  }
}

interface Following {
  readonly delays: number[]
  stop(): void
}

/** Milliseconds since a line was printed: it holds the uptime of that moment, in hundredths of a second. */
class Delays {
  readonly delays: number[] = []
  #rest = ''

  take(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) if (/^\d+\.\d\d$/.test(line)) this.delays.push(uptimeMs() - Number(line) * 1000)
  }
}

function followOurs(client: Client, task: string): Following {
  const taken = new Delays()
  const stop = new AbortController()
  const reading = async (): Promise<void> => {
    for await (const piece of client.logs(task, { follow: true, signal: stop.signal })) taken.take(Buffer.from(piece).toString())
  }
  reading().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  return { delays: taken.delays, stop: () => stop.abort(new Error('enough')) }
}

function followDocker(container: string): Following {
  const taken = new Delays()
  const child = spawn('docker', ['logs', '-f', container], { stdio: ['ignore', 'pipe', 'ignore'] })
  child.stdout.setEncoding('utf8').on('data', (text: string) => taken.take(text))
  return { delays: taken.delays, stop: () => child.kill('SIGKILL') }
}

/** As /proc/uptime has it, finer. */
function uptimeMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

async function startNetwork(context: BenchContext): Promise<{
  readonly client: Client
  readonly project: string
  readonly address: string
  readonly floodHome: string
  readonly floodTask: string
  containerOf(task: string): Promise<string | undefined>
  stop(): Promise<void>
}> {
  const [home, floodHome, folder, nodeFolder] = ['home', 'flood', 'project', 'node'].map((name) => join(context.workFolder, name)) as [
    string,
    string,
    string,
    string
  ]
  const address = `/ip4/127.0.0.1/tcp/${await freePort()}`
  const owners = [(await Home.at(home).signer()).peerId, (await Home.at(floodHome).signer()).peerId]
  const { id: project } = await initProject(folder, { name: 'bench', owners, listen: [address] })
  const processes: TestProcess[] = []
  const clients: Client[] = []
  const stop = async (): Promise<void> => {
    for (const client of clients) await client.close()
    for (const program of processes.reverse()) await program.kill('SIGTERM')
  }
  const start = async (name: string, dir: string): Promise<TestProcess> => {
    const program = startProgram(fileURLToPath(new URL(`../support/${name}.ts`, import.meta.url)), [dir])
    processes.push(program)
    return begun(program, name)
  }
  try {
    await start('server-program', folder)
    await initNode(nodeFolder, { project, addresses: [`${address}/p2p/${project}`], name: 'node', slots: 2, engines: ['docker', 'process'] })
    const node = await start('node-program', nodeFolder)
    const client = await connect({ home, project: `talko://${project}?a=${address}` })
    clients.push(client)
    const flooder = await connect({ home: floodHome, project: `talko://${project}?a=${address}` })
    clients.push(flooder)
    const root = join(context.workFolder, 'busybox')
    await makeBusyboxRoot(root)
    await client.importImage(root, { name: 'busybox' })
    // The flooded task runs on the same node as the one that is measured.
    const floodTask = await flooder.submitTask({ command: ['sh', '-c', 'echo x > file; sleep 600'], engine: 'process', policy: { minQuorum: 1 } })
    const docker = new Docker()
    return {
      client,
      project,
      address,
      floodHome,
      floodTask: floodTask.id,
      async containerOf(task) {
        const found = await docker.listContainers({ filters: { label: [`talko.node=${node.lines[0]}`] } })
        return found.find(({ Labels }) => Labels['talko.replica']?.startsWith(`${task}.`))?.Id
      },
      stop
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
