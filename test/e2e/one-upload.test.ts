/** F23: an output that three nodes agree on is carried to the project once. */
import assert from 'node:assert/strict'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { after, before, it } from 'node:test'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'

const MIB = 1024 ** 2
const OUTPUT_BYTES = 100 * MIB

/** Carries every connection to the project, and counts what nodes send to it. */
interface Counted {
  readonly port: number
  bytes(): number
  close(): void
}

let network: TestNetwork
let line: Counted
before(async () => {
  network = await testNetwork()
  line = await counted(Number(network.address.split('/')[4]))
})
after(async () => {
  await network.close()
  line.close()
})

it('F23: 3 replicas of a 100 MiB output move at most 101 MiB to the project', { timeout: 240_000 }, async (test) => {
  const address = network.address.replace(/\/tcp\/\d+\//, `/tcp/${line.port}/`)
  for (const name of ['ann', 'bob', 'cid']) await network.nodeProcess(name, { addresses: [address] })
  const client = await network.client()
  await until('the nodes', async () => (await client.nodes()).filter(({ state }) => state === 'online').length === 3)
  const command = ['sh', '-c', `seq 20000000 | head -c ${OUTPUT_BYTES} > answer`]
  const policy = { minQuorum: 3, targetResults: 3, copies: 'never' as const }
  const batch = await client.submit(await client.prepare([{ command, engine: 'process' }]), { policy })
  assert.equal((await client.wait(batch.id)).ready, 1)
  const [task = ''] = batch.tasks
  const { replicas = [] } = await client.task(task)
  assert.deepEqual(
    replicas.map(({ state, verdict }) => [state, verdict]),
    Array.from({ length: 3 }, () => ['reported', 'valid'])
  )
  // What the others have is dropped: nothing comes after the decision either.
  await until('the nodes to be idle', async () => (await client.nodes()).every(({ busy }) => busy === 0))
  const moved = line.bytes()
  test.diagnostic(`${(moved / MIB).toFixed(2)} MiB came from three nodes for an output of ${OUTPUT_BYTES / MIB} MiB`)
  assert.ok(moved >= OUTPUT_BYTES, 'it came over this line')
  assert.ok(moved <= 101 * MIB, `${moved} bytes`)
})

async function counted(target: number): Promise<Counted> {
  const port = await freePort()
  const open = new Set<Socket>()
  let bytes = 0
  const server: Server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (data) => {
      bytes += data.length
    })
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening))
  return {
    port,
    bytes: () => bytes,
    close: () => {
      server.close()
      for (const socket of open) socket.destroy()
    }
  }
}
