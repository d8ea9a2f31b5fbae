import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import type { Host } from '../peer/host.ts'
import { createHost } from '../peer/live/host.ts'
import { generateIdentity } from '../signing/keys.ts'
import { askOnce } from './ask-once.ts'

const OPTIONS = { frameBytesMax: 64, streamsMax: 2 }
const hosts: Host[] = []
after(() => Promise.all(hosts.map((host) => host.stop())))

async function start(listen: readonly string[]): Promise<Host> {
  const host = await createHost({ role: 'server', listen, signer: await generateIdentity() })
  hosts.push(host)
  return host
}

it('a question has one answer, the lack of one is said, and giving up leaves no stream behind', async () => {
  const [from, to] = [await start([]), await start(['/ip4/127.0.0.1/tcp/0'])]
  await to.handle('/twice', OPTIONS, async (stream) => {
    for await (const [number = 0] of stream.frames()) for (const answer of [2 * number, 0]) await stream.write(Uint8Array.of(answer))
  })
  await to.handle('/nothing', OPTIONS, async () => undefined)
  await to.handle('/never', OPTIONS, (stream) => new Promise((resolve) => stream.gone.addEventListener('abort', () => resolve())))
  await from.connect(to.peerId, to.addresses())
  const ask = (protocol: string, signal = new AbortController().signal): Promise<Uint8Array> =>
    askOnce(from, to.peerId, protocol, { ...OPTIONS, question: Uint8Array.of(21), signal })
  for (let time = 0; time < 5; time++) assert.deepEqual([...(await ask('/twice'))], [42])
  await assert.rejects(ask('/nothing'), { code: 'closed' })
  for (let time = 0; time < 5; time++) await assert.rejects(ask('/never', AbortSignal.timeout(1)))
  assert.deepEqual([...(await ask('/twice'))], [42])
})
