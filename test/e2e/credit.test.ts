import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import type { CreditRow } from '#protocol/owner/credit'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { assertDone, assertRefused, talko } from '../support/talko.ts'

let network: TestNetwork
before(async () => {
  network = await testNetwork()
})
after(() => network.close())

it('F20: nodes earn credit by work that others confirmed; the saved ledger comes to the same sums, over a crash, and is not believed when it was changed', async () => {
  const client = await network.client()
  for (const name of ['ann', 'bob']) await network.nodeProcess(name)
  const run = async (command: string): Promise<string> => {
    const policy = { minQuorum: 2, targetResults: 2, maxSuccessResults: 2, deadlineMs: 7_200_000 }
    const { id } = await client.submitTask({ engine: 'process', command: ['sh', '-c', command], policy })
    await client.wait(id)
    return (await client.task(id)).status
  }
  assert.equal(await run('i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo $i'), 'ready')
  await network.crashServer()
  assert.equal(await run('echo more'), 'ready')
  // Nobody agrees with what is different every time.
  assert.equal(await run('cat /proc/sys/kernel/random/uuid'), 'failed')

  const listed = await network.owner('credit', 'list', '-o', 'json')
  assertDone(listed)
  const rows: CreditRow[] = JSON.parse(listed.out)
  assert.deepEqual(rows.map(({ name }) => name).sort(), ['ann', 'bob'])
  for (const { credit } of rows) assert.ok(credit > 2, listed.out)
  assert.match((await network.owner('credit', 'list')).out, /NODE +CREDIT/)

  const file = join(network.dir, 'ledger.jsonl')
  assertDone(await network.owner('credit', 'save', file))
  const checked = await talko(['credit', 'check', file, '--project', network.project, '-o', 'json'])
  assertDone(checked)
  const { ok, entries, nodes } = JSON.parse(checked.out)
  assert.deepEqual([ok, entries], [true, 4])
  assert.deepEqual(
    nodes.map(({ id, credit }: CreditRow) => [id, credit]),
    rows.map(({ id, credit }) => [id, credit])
  )
  const [first = '', ...rest] = readFileSync(file, 'utf8').split('\n')
  const page: { body: string; signature: string } = JSON.parse(first)
  const body = Buffer.from(page.body, 'base64')
  body[body.length - 1] = (body.at(-1) ?? 0) ^ 1
  writeFileSync(`${file}.changed`, [JSON.stringify({ ...page, body: body.toString('base64') }), ...rest].join('\n'))
  const refused = await talko(['credit', 'check', `${file}.changed`])
  assert.equal(refused.status, 4, refused.err)
  assert.match(refused.err, /page 1.*does not match/)
  writeFileSync(`${file}.cut`, rest.join('\n'))
  assert.match((await talko(['credit', 'check', `${file}.cut`])).err, /page 1 is missing/)
  assertRefused(await talko(['credit', 'check', `${file}.none`]), 3, /there is no file/)
})

it('F23: with --commit real nodes bind themselves to their results, and agree on them', async () => {
  const ran = await network.owner('run', '--engine', 'process', '--commit', '-W', '--', 'sh', '-c', 'echo sealed')
  assertDone(ran)
  const { policy } = (await (await network.client()).batches(1))[0] ?? {}
  assert.equal(policy?.commit, true)
})
