/** Looking into a hostile container: it changes what is looked at, and sees nothing of what looks. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import type { Client } from '#client-cli/index'
import { makeBusyboxRoot } from '../support/busybox-image.ts'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { until } from '../support/until.ts'

const SECRET = 'of the host, and of nobody else'
/** Swaps a folder and a link to the host's folder for as long as it is let, and prints each second what stands in `said`. */
const HOSTILE = (host: string): string => `
mkdir /out/d; echo mine > /out/d/secret; ln -s ${host} /out/l; mkfifo /out/fifo; echo ready
while [ ! -e /out/stop ]; do mv /out/d /out/x; mv /out/l /out/d; mv /out/d /out/l; mv /out/x /out/d; done
cat /out/stop; ls -ln /out/stop | awk '{print $1, $3, $4}'; id -u`

let network: TestNetwork
let client: Client

before(async () => {
  network = await testNetwork()
  client = await network.client()
  const root = join(network.dir, 'busybox')
  await makeBusyboxRoot(root)
  await client.importImage(root, { name: 'busybox' })
  await network.nodeProcess('ann', { engines: ['docker'] })
})
after(() => network.close())

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += Buffer.from(piece).toString()
  return text
}

it('reads nothing of the host through links that change places, and writes a file that is the task’s own', { timeout: 60_000 }, async () => {
  writeFileSync(join(network.dir, 'secret'), SECRET)
  const task = await client.submitTask({ image: 'busybox', command: ['sh', '-c', HOSTILE(network.dir)], policy: { minQuorum: 1 } })
  await until('it to run', async () => (await textOf(client.logs(task.id)).catch(() => '')).startsWith('ready\n'))
  const seen = new Set<string>()
  for (let round = 0; round < 60; round++) {
    seen.add(await textOf(client.logs(task.id, { path: 'd/secret' })).catch(({ code }: { code?: string }) => `${code}`))
    const listed = await client.list(task.id, 'd').catch(() => undefined)
    assert.ok(listed === undefined || listed.entries.every(({ name }) => name === 'secret'), JSON.stringify(listed))
  }
  assert.ok(!seen.has(SECRET) && seen.has('mine\n'), `${[...seen]}`)
  await assert.rejects(textOf(client.logs(task.id, { path: 'fifo' })), { code: 'refused', message: /is a fifo/ })
  await client.write(task.id, 'stop', Buffer.from('enough\n'))
  await client.wait(task.batch)
  const [, said, owner, uid] = (await textOf(client.logs(task.id))).split('\n')
  assert.deepEqual([said, owner], ['enough', `-rw-r--r-- ${uid} ${uid}`])
})
