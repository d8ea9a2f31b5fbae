/** A small real network for end-to-end tests: a project server as a process that can be killed, nodes, and a client; all in one temporary folder. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Client, connect } from '#client-cli/index'
import { Home } from '#client-cli/live/home'
import { initNode, type NodeSettings, type StartedNode, startNode } from '#node/main'
import type { Executor } from '#node/ports'
import type { CoordinatorPolicy } from '#project-server/coordinator/policy'
import { initProject } from '#project-server/main'
import { freePort } from './ports.ts'
import { begun, startProgram, type TestProcess } from './process.ts'
import { type Said, TalkoShell } from './talko.ts'

export interface TestNetwork {
  readonly dir: string
  readonly project: string
  readonly address: string
  server(): TestProcess
  /** kill -9, then a new process on the same folder and port. */
  crashServer(): Promise<void>
  stopServer(): Promise<void>
  startServer(): Promise<void>
  /** A node in this process. */
  node(name: string, executors: readonly Executor[], settings?: Partial<NodeSettings>): Promise<StartedNode>
  /** A node folder, to start as a process with `nodeProcess`. */
  nodeProcess(name: string, settings?: Partial<NodeSettings>): Promise<TestProcess>
  client(): Promise<Client>
  /** A command line of the project's owner, in one process with all others. */
  owner(...argv: readonly string[]): Promise<Said>
  close(): Promise<void>
}

const program = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url))

/** `policy`: numbers of the coordinator that are not to be the default ones. */
export async function testNetwork({ policy }: { readonly policy?: Partial<CoordinatorPolicy> } = {}): Promise<TestNetwork> {
  const dir = await mkdtemp(join(tmpdir(), 'talko-e2e-'))
  const home = join(dir, 'home')
  const folder = join(dir, 'project')
  const listen = `/ip4/127.0.0.1/tcp/${await freePort()}`
  const owner = await Home.at(home).signer()
  const { id: project } = await initProject(folder, { name: 'test', owners: [owner.peerId], listen: [listen] })
  if (policy !== undefined) {
    const file = join(folder, 'project.json')
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), policy }))
  }
  const address = `${listen}/p2p/${project}`
  const closers: (() => Promise<void>)[] = []
  const processes: TestProcess[] = []
  let server: TestProcess | undefined
  let shell: TalkoShell | undefined

  const startServer = async (): Promise<void> => {
    server = startProgram(program('server-program.ts'), [folder])
    await begun(server, 'the project server')
  }
  const settingsOf = (name: string, settings: Partial<NodeSettings>): NodeSettings => ({
    project,
    addresses: [address],
    name,
    slots: 1,
    engines: ['process'],
    ...settings
  })
  await startServer()

  return {
    dir,
    project,
    address,
    server: () => server as TestProcess,
    startServer,
    async stopServer() {
      await server?.kill('SIGTERM')
    },
    async crashServer() {
      await server?.kill('SIGKILL')
      await startServer()
    },
    async node(name, executors, settings = {}) {
      const nodeDir = join(dir, name)
      await initNode(nodeDir, settingsOf(name, settings))
      const node = await startNode({ dir: nodeDir, executors })
      closers.push(() => node.stop('now'))
      return node
    },
    async nodeProcess(name, settings = {}) {
      const nodeDir = join(dir, name)
      await initNode(nodeDir, settingsOf(name, settings)).catch((error) => {
        if (error.code !== 'exists') throw error
      })
      const process = startProgram(program('node-program.ts'), [nodeDir])
      processes.push(process)
      await begun(process, `node ${name}`)
      return process
    },
    async client() {
      const client = await connect({ home, project: `talko://${project}?a=${listen}` })
      closers.push(() => client.close())
      return client
    },
    owner(...argv) {
      if (shell === undefined) {
        shell = new TalkoShell({ TALKO_HOME: home, TALKO_PROJECT: `talko://${project}?a=${listen}` })
        processes.push(shell.process)
      }
      return shell.run(...argv)
    },
    async close() {
      for (const process of processes) await process.kill('SIGTERM')
      await Promise.allSettled(closers.reverse().map((close) => close()))
      await server?.kill('SIGKILL')
      await rm(dir, { recursive: true, force: true })
    }
  }
}
