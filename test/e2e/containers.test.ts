import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import Docker from 'dockerode'
import { checkReceipt } from '#protocol/result/receipt'
import { makeBusyboxRoot } from '../support/busybox-image.ts'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { until } from '../support/until.ts'

const MIB = 1024 ** 2
const docker = new Docker()
let network: TestNetwork

before(async () => {
  network = await testNetwork()
})
after(() => network.close())

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += Buffer.from(piece).toString()
  return text
}

async function containersOf(node: string): Promise<Docker.ContainerInfo[]> {
  return docker.listContainers({ all: true, filters: { label: [`talko.node=${node}`] } })
}

it('follows a running container, kills it, and moves the tasks of a node that was killed with -9', async (test) => {
  const client = await network.client()
  const root = join(network.dir, 'busybox')
  await makeBusyboxRoot(root)
  await client.importImage(root, { name: 'busybox' })
  const ann = await network.nodeProcess('ann', { engines: ['docker'], slots: 2 })
  const annId = ann.lines[0] ?? ''

  await test.test('a line printed in the container is seen within 2 s, kill ends the container within 12 s, and what it had made can be fetched', async () => {
    const command = ['sh', '-c', 'echo half > /out/part; i=0; while :; do i=$((i+1)); echo "line $i at $(date +%s)"; sleep 1; done']
    const task = await client.submitTask({ image: 'busybox', command, policy: { minQuorum: 1 } })
    let text = ''
    for await (const piece of client.logs(task.id, { follow: true })) {
      text += Buffer.from(piece).toString()
      const lines = [...text.matchAll(/line \d+ at (\d+)\n/g)]
      const printedAtMs = Number(lines.at(-1)?.[1]) * 1000
      // `date` cuts to whole seconds, so a line may seem up to 1 s older than it is.
      if (lines.length > 0) assert.ok(Date.now() - printedAtMs < 3000, `seen ${Date.now() - printedAtMs} ms after the second in which it was printed`)
      if (lines.length >= 3) break
    }
    assert.match(text, /^line 1 at \d+\nline 2 at \d+\nline 3 at /)
    assert.equal((await containersOf(annId)).length, 1)
    await client.kill(task.id)
    await until('the container to end', async () => (await containersOf(annId)).every(({ State }) => State !== 'running'), 12_000)
    const view = await until('what it left', async () => {
      const now = await client.task(task.id)
      return now.output === undefined ? undefined : now
    })
    assert.equal(view.status, 'killed')
    assert.equal(await textOf(client.read({ root: view.output ?? '', path: 'part' })), 'half\n')
    assert.match(await textOf(client.logs(task.id)), /^line 1 at \d+\nline 2 at \d+\nline 3 at /)
  })

  await test.test('the replicas of a killed node are leased elsewhere 12 to 18 s later, and its containers are gone after its restart', async () => {
    const command = ['sh', '-c', 'sleep 30; echo done']
    const batch = await client.submit(
      await client.prepare([
        { image: 'busybox', command },
        { image: 'busybox', command }
      ]),
      { policy: { minQuorum: 1 } }
    )
    const running = await until('both to run at ann', async () => {
      const views = await Promise.all(batch.tasks.map((task) => client.task(task)))
      return views.every((view) => view.replicas?.[0]?.state === 'running') ? views : undefined
    })
    assert.ok(running.every((view) => view.replicas?.[0]?.node === annId))
    const bob = await network.nodeProcess('bob', { engines: ['docker'], slots: 2 })

    await ann.kill('SIGKILL')
    const killedAtMs = Date.now()
    const moved = await until(
      'both to be leased elsewhere',
      async () => {
        const views = await Promise.all(batch.tasks.map((task) => client.task(task)))
        return views.every((view) => view.replicas?.some(({ node }) => node === bob.lines[0])) ? views : undefined
      },
      30_000
    )
    const afterMs = Date.now() - killedAtMs
    test.diagnostic(`leased elsewhere ${afterMs} ms after the kill`)
    assert.ok(afterMs >= 11_900 && afterMs <= 18_000, `${afterMs} ms`)
    for (const view of moved) assert.equal(view.replicas?.find(({ node }) => node === annId)?.state, 'lost')
    assert.equal((await containersOf(annId)).filter(({ State }) => State === 'running').length, 2, 'the containers outlive their node')

    await network.nodeProcess('ann')
    await until('the containers of ann to be gone', async () => (await containersOf(annId)).length === 0, 30_000)
    await client.kill(batch.id)
  })

  await test.test('X18: a run in a container goes on from the folder that it left', async () => {
    const script = `n=0; [ -z "$TALKO_RESUME" ] || n=$(cat "$TALKO_RESUME/count"); n=$((n + 1)); [ $n -lt 3 ] || { echo $n > result; exit 0; }
cd "$TALKO_CHECKPOINT"; mkdir next; echo $n > next/count; mv next $n; exit 85`
    const task = await client.submitTask({ image: 'busybox', command: ['sh', '-c', script], policy: { minQuorum: 1, checkpointMs: 1_000 } })
    await client.wait(task.id)
    const { status, output = '', replicas = [] } = await client.task(task.id)
    assert.equal(status, 'ready', JSON.stringify(replicas))
    assert.deepEqual(
      replicas.map(({ from }) => from),
      [undefined, 1, 2]
    )
    assert.equal(await textOf(client.read({ root: output, path: 'result' })), '3\n')
  })

  await test.test('F09: a task whose first runs have too little memory is run with more of it, and its receipt holds', async () => {
    const command = ['sh', '-c', 'echo made > /out/file; exec dd if=/dev/zero of=/dev/null bs=50000000 count=1 2> /dev/null']
    const batch = await client.submit(await client.prepare([{ image: 'busybox', command, resources: { memoryBytes: 24 * MIB } }]), {
      policy: { retryMemoryBytes: 256 * MIB }
    })
    await client.wait(batch.id)
    const view = await client.task(batch.id)
    assert.equal(view.status, 'ready', JSON.stringify(view))
    const messages = view.replicas?.map(({ reason, message = '' }) => `${reason} ${message}`) ?? []
    assert.ok(
      messages.some((message) => /^memory ended for its memory of 25165824 bytes; the next try has 268435456/.test(message)),
      messages.join()
    )
    assert.equal(await textOf(client.read({ root: view.output ?? '', path: 'file' })), 'made\n')
    assert.ok(checkReceipt(await client.receipt(batch.id), { project: network.project }).ok)
  })

  await test.test('what the containers made is agreed on and can be checked', async () => {
    const command = ['sh', '-c', 'echo made > /out/file; id -u; echo noise $$ >&2']
    const batch = await client.submit(await client.prepare([{ image: 'busybox', command }]))
    await client.wait(batch.id)
    const view = await client.task(batch.id)
    const result = client.result(view)
    assert.ok(result.ok, JSON.stringify(view))
    assert.notEqual((await result.stdout()).trim(), '0', 'the task ran as root')
    const check = checkReceipt(await client.receipt(batch.id), { project: network.project })
    assert.ok(check.ok, check.lines.at(-1))
    assert.equal(new Set(check.results?.map(({ node }) => node)).size, 2)
  })
})
