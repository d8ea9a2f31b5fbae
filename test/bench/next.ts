/**
 * How long a node's one slot is empty between two tasks while others wait, each with an input of its own that nobody had
 * before: from the end of a run to the start of the next, by the node's own clock, as the signed results say. Real processes
 * on loopback, in turns with a server that says nothing of what is next.
 */
import { randomFillSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Client, connect } from '#client-cli/index'
import { Home } from '#client-cli/live/home'
import { initNode } from '#node/main'
import { DEFAULT_COORDINATOR_POLICY } from '#project-server/coordinator/policy'
import { SILENT } from '#project-server/logger'
import { initProject, startProjectServer } from '#project-server/main'
import { decodeReceipt } from '#protocol/result/receipt'
import { decodeResult, type Result } from '#protocol/result/result'
import { freePort } from '../support/ports.ts'
import { begun, startProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { alternate, type BenchContext, type BenchLine, benchLine, median } from './runner.ts'

const TASKS = 6
const INPUT_BYTES = 96 * 1024 ** 2
const RUN_SECONDS = 2

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const { value, peerValue } = await alternate(
    context,
    (round) => gapMs(context, join(context.workFolder, `ahead-${round}`), DEFAULT_COORDINATOR_POLICY.nextMax),
    (round) => gapMs(context, join(context.workFolder, `bare-${round}`), 0)
  )
  const name = `a slot is empty between two tasks with ${INPUT_BYTES / 1024 ** 2} MiB each of their own, p50`
  return [benchLine({ name, value, unit: 'ms', peer: 'nothing is brought ahead', peerValue, must: 'value <= 1000' })]
}

async function gapMs(context: BenchContext, work: string, nextMax: number): Promise<number> {
  const home = join(work, 'home')
  const [projectDir, nodeDir] = [join(work, 'project'), join(work, 'node')]
  const listen = `/ip4/127.0.0.1/tcp/${await freePort()}`
  const owner = await Home.at(home).signer()
  const { id: project } = await initProject(projectDir, { name: 'bench', owners: [owner.peerId], listen: [listen] })
  await using opened = new AsyncDisposableStack()
  const server = await startProjectServer({ dir: projectDir, logger: SILENT, hooks: { policy: { ...DEFAULT_COORDINATOR_POLICY, nextMax } } })
  opened.defer(() => server.stop())
  const client = await connect({ home, project: `talko://${project}?a=${listen}` })
  opened.defer(() => client.close())
  const specs = []
  for (let index = 0; index < TASKS; index++) {
    const path = join(work, `input-${index}`)
    await writeFile(path, randomFillSync(Buffer.alloc(INPUT_BYTES)))
    specs.push({ command: ['sleep', String(RUN_SECONDS)], engine: 'process' as const, inputs: { data: (await client.upload(path)).root } })
  }
  await initNode(nodeDir, { project, addresses: [`${listen}/p2p/${project}`], name: 'node', slots: 1, engines: ['process'] })
  const node = startProgram(fileURLToPath(new URL('../support/node-program.ts', import.meta.url)), [nodeDir])
  opened.defer(() => node.kill('SIGTERM'))
  await begun(node, 'the node')
  await until('the node to connect', async () => (await client.nodes()).some(({ state }) => state === 'online'))
  const batch = await client.submit(await client.prepare(specs), { policy: { minQuorum: 1, targetResults: 1 } })
  const { ready } = await client.wait(batch.id)
  if (ready !== TASKS) throw new Error(`of ${TASKS} tasks ${ready} are ready`)
  const gaps = await gapsOf(client, batch.id)
  context.log(`next ${nextMax}: gaps of ${gaps.map((ms) => ms.toFixed(0)).join(', ')} ms`)
  return median(gaps)
}

async function gapsOf(client: Client, batch: string): Promise<number[]> {
  const runs: Result[] = []
  for (let index = 0; index < TASKS; index++) {
    const { body: receipt } = await client.receipt(`${batch}.${index}`)
    const [body] = decodeReceipt(receipt)?.results ?? []
    const result = body === undefined ? undefined : decodeResult(body)
    if (result === undefined) throw new Error(`the receipt of task ${index} has no result`)
    runs.push(result)
  }
  runs.sort((a, b) => a.startedAtMs - b.startedAtMs)
  return runs.slice(1).map((run, at) => run.startedAtMs - (runs[at]?.endedAtMs ?? 0))
}
