/**
 * How long a fresh node that knows only bootstrap peers needs until its project has welcomed it: 30 nodes, a process each, three
 * real relays that are the DHT, of which one is gone, and a project server that is at none of them, so that only its signed
 * record says where it is. Beside nodes that know the project's address.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Home } from '#client-cli/live/home'
import { initProject } from '#project-server/main'
import { initRelay } from '#relay/main'
import { freePort } from '../support/ports.ts'
import { startProgram, type TestProcess } from '../support/process.ts'
import { until } from '../support/until.ts'
import { nextMessage } from './child.ts'
import type { Way } from './discovery-node.ts'
import { type BenchContext, type BenchLine, benchLine, quantile } from './runner.ts'

const NODES = 30
const RELAYS = 3
const WAYS: readonly Way[] = ['found', 'pinned']

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const ended: (() => unknown)[] = []
  try {
    const bootstrap: string[] = []
    const relays: TestProcess[] = []
    for (let index = 0; index < RELAYS; index++) {
      const dir = join(context.workFolder, `relay${index}`)
      await initRelay(dir, { listen: [`/ip4/127.0.0.1/tcp/${await freePort()}`], bootstrap: [...bootstrap] })
      const relay = await start('relay', dir)
      ended.push(() => relay.kill('SIGKILL'))
      relays.push(relay)
      bootstrap.push(...(JSON.parse(relay.lines[0] ?? '[]') as string[]))
    }
    const { peerId } = await Home.at(join(context.workFolder, 'home')).signer()
    const listen = `/ip4/127.0.0.1/tcp/${await freePort()}`
    const folder = join(context.workFolder, 'project')
    const dht = { bootstrap, serve: false, allowPrivate: true }
    const { id: project } = await initProject(folder, { name: 'bench', owners: [peerId], listen: [listen], dht })
    const server = await start('server', folder)
    ended.push(() => server.kill('SIGKILL'))
    const nodes: ChildProcess[] = []
    const come = async (node: ChildProcess, way: Way): Promise<number> => {
      const told = nextMessage(node)
      node.send(way)
      return Number(await told)
    }
    // The first is there when the record is.
    for (let index = 0; index < NODES; index++) {
      const node = fork(fileURLToPath(new URL('./discovery-node.ts', import.meta.url)), [project, `${listen}/p2p/${project}`, ...bootstrap])
      ended.push(() => node.kill('SIGKILL'))
      await nextMessage(node)
      if (index === 0) {
        await come(node, 'found')
        await relays[0]?.kill('SIGKILL')
      }
      nodes.push(node)
    }
    const tookMs: Record<Way, number[]> = { found: [], pinned: [] }
    for (let round = 0; round < context.rounds; round++) {
      for (const way of round % 2 === 0 ? WAYS : WAYS.toReversed()) for (const node of nodes) tookMs[way].push(await come(node, way))
      context.log(WAYS.map((way) => `${way}: p50 ${quantile(tookMs[way], 0.5).toFixed(0)} ms, p95 ${quantile(tookMs[way], 0.95).toFixed(0)} ms`).join('; '))
    }
    return [
      benchLine({
        name: `a fresh node among ${NODES} that knows only bootstrap peers, until it is welcomed, p95`,
        value: quantile(tookMs.found, 0.95) / 1000,
        unit: 's',
        peer: 'the same of one that knows the address',
        peerValue: quantile(tookMs.pinned, 0.95) / 1000,
        must: 'value <= 5'
      })
    ]
  } finally {
    for (const end of ended.toReversed()) await end()
  }
}

async function start(kind: 'relay' | 'server', dir: string): Promise<TestProcess> {
  const started = startProgram(fileURLToPath(new URL(`../support/${kind}-program.ts`, import.meta.url)), [dir])
  await until(`the ${kind} to start`, () => {
    if (started.child.exitCode !== null) throw new Error(started.errors())
    return started.lines.length > 0
  })
  return started
}
