import { createHost } from '#protocol/peer/live/host'
import { generateIdentity } from '#protocol/signing/keys'
import { hostContract } from '#test/contract/host'
import { Engine } from './engine/engine.ts'
import { Process } from './engine/process.ts'
import { identityOf } from './protocol/identities.ts'
import { Network, SimHost } from './protocol/network.ts'
import { NodePath } from './protocol/path.ts'
import { Random } from './random.ts'

hostContract('of the simulator', async () => {
  const engine = new Engine()
  const network = new Network({ onDial() {}, onFrame() {} })
  const path = new NodePath({ delayMs: 10, jitterMs: 20, loss: 0.1, patienceMs: 20_000 }, new Random('host'))
  const server = new SimHost(network, new Process(engine), identityOf('project').peerId)
  const near = new SimHost(network, new Process(engine), identityOf('node').peerId, path)
  network.server = server
  let over = false
  const flow = async (): Promise<void> => {
    while (!over) await engine.run(Number.POSITIVE_INFINITY)
  }
  const flowing = flow()
  return {
    server,
    near,
    addresses: server.addresses(),
    nobody: { peer: identityOf('nobody').peerId, addresses: ['/sim/nobody'] },
    async dispose() {
      over = true
      await flowing
    }
  }
})

hostContract('over libp2p', async () => {
  const server = await createHost({ signer: await generateIdentity(), listen: ['/ip4/127.0.0.1/tcp/0'], role: 'server' })
  const near = await createHost({ signer: await generateIdentity(), listen: [], role: 'volunteer' })
  const nobody = (await generateIdentity()).peerId
  return {
    server,
    near,
    addresses: server.addresses(),
    nobody: { peer: nobody, addresses: [`/ip4/127.0.0.1/tcp/1/p2p/${nobody}`] },
    async dispose() {
      await near.stop()
      await server.stop()
    }
  }
})
