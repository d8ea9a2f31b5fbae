import { hostContract } from '#test/contract/host'
import { Engine } from '../engine/engine.ts'
import { Random } from '../random.ts'
import { StackProcess } from './process.ts'
import { install, settle } from './virtual.ts'

const engine = new Engine(settle)
install(engine, new Random('host test'))
const { createHost } = await import('#protocol/peer/live/host')
const { identityOf } = await import('../protocol/identities.ts')
const { NodePath } = await import('../protocol/path.ts')
const { Internet } = await import('./internet.ts')
const { wireOf } = await import('./transport.ts')

hostContract('over libp2p on the simulated internet', async () => {
  const internet = new Internet(engine, new Random('internet'))
  let over = false
  const flow = async (): Promise<void> => {
    while (!over) await engine.run(Number.POSITIVE_INFINITY, () => over)
  }
  const flowing = flow()
  const make = (name: string, ip: string, listen: readonly string[]) => {
    const way = { delayMs: 5, jitterMs: 10, loss: 0.05, patienceMs: 20_000, upBytesPerMs: undefined, downBytesPerMs: undefined }
    const station = internet.join(ip, new NodePath(way, new Random(ip)))
    station.up = true
    const process = new StackProcess(name, engine, new Random(name))
    return process.run(() =>
      createHost(
        { role: 'server', listen, signer: identityOf(name) },
        wireOf(station, () => undefined)
      )
    )
  }
  const server = await make('project', '5.1.0.1', ['/ip4/5.1.0.1/tcp/4600'])
  const near = await make('node', '5.1.0.2', [])
  return {
    server,
    near,
    addresses: server.addresses(),
    nobody: { peer: identityOf('nobody').peerId, addresses: ['/ip4/5.1.0.9/tcp/4600'] },
    async dispose() {
      await near.stop()
      await server.stop()
      over = true
      await flowing
    }
  }
})
