/** Looking into running tasks, on real processes: O01 to O06, O10, and their stored output afterwards. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import type { Client, Task } from '#client-cli/index'
import type { LogPlace } from '#protocol/owner/messages'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { assertDone, assertRefused, talko } from '../support/talko.ts'
import { until } from '../support/until.ts'

const SECRET = 'of the host, and of nobody else'
let network: TestNetwork
let client: Client

before(async () => {
  network = await testNetwork()
  await network.nodeProcess('ann', { slots: 2 })
  await network.nodeProcess('bob', { slots: 2 })
  client = await network.client()
  writeFileSync(join(network.dir, 'secret'), SECRET)
})
after(() => network.close())

/** Starts a task whose program waits for files in `gates` to appear. */
async function start(script: string, quorum = 1): Promise<Task> {
  const gates = join(network.dir, 'gates')
  mkdirSync(gates, { recursive: true })
  const command = ['sh', '-c', `wait_for() { while [ ! -e ${gates}/$1 ]; do sleep 0.05; done; }\n${script}`]
  const task = await client.submitTask({ command, engine: 'process', resources: { cpuMillis: 200 }, policy: { minQuorum: quorum } })
  await until('it to run', async () => (await client.task(task.id)).replicas?.filter(({ state }) => state === 'running').length === quorum)
  return task
}

const open = (gate: string): void => writeFileSync(join(network.dir, 'gates', gate), '')

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += Buffer.from(piece).toString()
  return text
}

it('lists, reads and follows what a running task writes, shows links and follows none; afterwards the same from what is stored', {
  timeout: 90_000
}, async () => {
  const secret = join(network.dir, 'secret')
  const task = await start(
    `mkdir dir; ln -s ${secret} link; ln -s ${network.dir} linked; mkfifo fifo; echo one > dir/file; echo half > log; echo printed; wait_for end; echo whole >> log`
  )
  await until('its line', async () => (await textOf(client.logs(task.id))) === 'printed\n')
  const listed = await network.owner('ls', task.id)
  assertDone(listed)
  assert.match(listed.err, /^execution 1 on node /)
  assert.match(listed.out, /dir\/\n/)
  assert.match(listed.out, new RegExp(`link -> ${secret} \\(a link; not followed\\)\n`))
  assert.match(listed.out, /fifo \(fifo, socket or device\)\n/)
  assert.deepEqual(
    (await client.list(task.id, 'dir')).entries.map(({ name, kind, bytes }) => [name, kind, bytes]),
    [['file', 'file', 4]]
  )

  const read = await network.owner('cat', `${task.id}/dir/file`)
  assertDone(read)
  assert.equal(read.out, 'one\n')
  assertRefused(await network.owner('cat', `${task.id}/link`), 4, new RegExp(`is a link to ${secret}: links are shown, and never followed`))
  const reading = (path: string, attempt = 0): Promise<string> => textOf(client.logs(task.id, { path, attempt }))
  await assert.rejects(reading('linked/secret'), { code: 'refused', message: /links are never followed/ })
  await assert.rejects(client.list(task.id, 'linked'), { code: 'refused', message: /links are never followed/ })
  await assert.rejects(reading('fifo'), { code: 'refused', message: /is a fifo/ })
  await assert.rejects(reading('dir'), { code: 'refused', message: /is a folder/ })
  await assert.rejects(reading('none'), { code: 'not_found', message: /there is no "none" now/ })
  await assert.rejects(reading('log', 7), { code: 'not_found', message: /has no execution 7; there are: 1/ })
  assertRefused(await network.owner('cat', `${task.id}/../../secret`), 2, /not \. or \.\./)

  const copied = await network.owner('get', '--now', task.id, join(network.dir, 'copy'))
  assertDone(copied)
  assert.match(copied.err, /^2 files, 9 B, of execution 1 on node .*\n(left out .*\n){3}$/)
  assert.equal(readFileSync(join(network.dir, 'copy', 'dir', 'file'), 'utf8'), 'one\n')
  assert.deepEqual(readdirSync(join(network.dir, 'copy')), ['dir', 'log'])

  const places: LogPlace[] = []
  let text = ''
  const following = (async () => {
    for await (const piece of client.logs(task.id, { path: 'log', follow: true, onPlace: (place) => places.push(place) })) text += Buffer.from(piece).toString()
  })()
  await until('the half', () => text === 'half\n')
  open('end')
  await following
  assert.equal(text, 'half\nwhole\n')
  assert.deepEqual(places.map(({ attempt }) => attempt).slice(0, 1), [1])

  await client.wait(task.batch)
  assert.equal((await network.owner('cat', `${task.id}/log`)).out, 'half\nwhole\n')
  assert.equal((await network.owner('cat', task.id)).out, 'printed\n')
  assert.equal((await network.owner('tail', '-n', '1', `${task.id}/log`)).out, 'whole\n')
  const stored = await network.owner('ls', task.id)
  assert.deepEqual(
    [...stored.out.matchAll(/- +(\S+)$/gm)].map(([, name]) => name),
    ['dir/', 'log']
  )
  await assert.rejects(reading('dir'), { code: 'refused', message: /is a folder/ })
  await assert.rejects(reading('none'), { code: 'not_found', message: /there is no "none" in the output/ })
  await assert.rejects(reading('log', 1), { code: 'refused', message: /is over/ })
  await assert.rejects(client.list(task.id, 'log'), { code: 'refused', message: /is a file, and no folder/ })
})

it('follows a file over restarts of the project, rotation and cuts, without gap or repeat', { timeout: 120_000 }, async () => {
  const task = await start(
    'i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo "line $i" >> log; if [ $i = 150 ]; then mv log log.1; fi; sleep 0.02; done; wait_for followed'
  )
  let text = ''
  const following = (async () => {
    for await (const piece of client.logs(task.id, { path: 'log', follow: true })) text += Buffer.from(piece).toString()
  })()
  await until('some', () => text.includes('line 20\n'))
  await network.crashServer()
  await until('all', () => text.includes('line 300\n'), 60_000)
  open('followed')
  await following
  assert.equal(text, Array.from({ length: 300 }, (_, index) => `line ${index + 1}\n`).join(''))
})

it('writes a small file into every execution of a task; nobody else may', { timeout: 90_000 }, async () => {
  const task = await start(`ln -s ${join(network.dir, 'secret')} taken; while [ ! -e stop ]; do sleep 0.05; done; cat stop taken; echo "$(ls)"`, 2)
  const early = await network.owner('write', `${task.id}/stop`, 'x', '--dry-run')
  assertDone(early)
  assert.match(early.err, /would write 1 bytes in execution 1 on node .*\n.*execution 2/)
  assertDone(await network.owner('write', `${task.id}/taken`, 'mine '))
  const stranger = await talko(['write', `${task.id}/stop`, 'x', '--project', `talko://${network.project}?a=${network.address.replace(/\/p2p\/.*/, '')}`], {
    env: { TALKO_HOME: join(network.dir, 'stranger') }
  })
  assertRefused(stranger, 4, /is not an owner of this project/)
  assertRefused(await network.owner('write', `${task.id}/stop`, 'x'.repeat(64 * 1024 + 1)), 2, /at most 64 KiB/)
  await assert.rejects(client.write(task.id, 'no/stop', Buffer.from('x')), { code: 'refused', message: /there is no "no"/ })
  const wrote = await network.owner('write', `${task.id}/stop`, 'now ')
  assertDone(wrote)
  assert.match(wrote.err, /written in execution 1 on node .*\nwritten in execution 2 on node /)
  assert.equal((await client.wait(task.batch)).ready, 1)
  assert.equal(await textOf(client.logs(task.id)), 'now mine stop\ntaken\n')
  assert.equal(readFileSync(join(network.dir, 'secret'), 'utf8'), SECRET)
  await assert.rejects(client.write(task.id, 'stop', Buffer.from('x')), { code: 'refused', message: /is ready: what it left is not changed any more/ })
})

it('reads the execution that is named, and says which one it reads', { timeout: 60_000 }, async () => {
  const task = await start('echo $PWD; wait_for named', 2)
  const words = await Promise.all(
    ['1', '2'].map((replica) =>
      until(`execution ${replica}`, async () => {
        const said = await network.owner('logs', task.id, '--replica', replica)
        return said.out === '' ? undefined : said
      })
    )
  )
  for (const [index, said] of words.entries()) {
    assert.match(said.out, new RegExp(`\\.${index + 1}/out\n$`))
    assert.match(said.err, new RegExp(`reading execution ${index + 1} on node `))
  }
  await client.kill(task.id)
})

it('ends a task while its inputs are fetched, and while it runs', { timeout: 60_000 }, async () => {
  const idle = (): Promise<boolean> => until('all slots to be free', async () => (await client.nodes()).every(({ busy }) => busy === 0)) as Promise<boolean>
  await idle()
  const big = join(network.dir, 'big')
  writeFileSync(big, Buffer.alloc(96 * 1024 ** 2, Math.random().toString()))
  const { root } = await client.upload(big)
  const fetching = await client.submitTask({ command: ['true'], engine: 'process', inputs: { big: { root } }, policy: { minQuorum: 1 } })
  await until('it to be prepared', async () => (await client.task(fetching.id)).replicas?.some(({ state }) => state === 'preparing' || state === 'leased'))
  await client.kill(fetching.id)
  assert.equal((await client.wait(fetching.batch)).killed, 1)
  await idle()
  const running = await start('sleep 600')
  await client.kill(running.id)
  await idle()
})
