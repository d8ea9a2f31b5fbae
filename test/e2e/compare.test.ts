import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { until } from '../support/until.ts'

/** What a program leaves whose last digits depend on the machine. */
const NOISY = 'case $HOME in */ann/*) x=1.00000001;; *) x=1.00000002;; esac; mkdir -p d; echo "t,$x" > d/a.csv; echo same > b.txt'

describe('outputs that differ', { timeout: 120_000 }, () => {
  let network: TestNetwork
  before(async () => {
    network = await testNetwork()
    await network.nodeProcess('ann')
    await network.nodeProcess('bob')
  })
  after(() => network.close())

  const submit = async (rules: readonly { readonly rel: number }[]) => {
    const client = await network.client()
    await until('the nodes', async () => (await client.nodes()).length === 2)
    const files = rules.map(({ rel }) => ({ files: '*.csv', ignore: false, abs: 0, rel, format: '' as const }))
    const spec = { command: ['sh', '-c', NOISY], engine: 'process' as const }
    const policy = { compare: files.length === 0 ? null : { kind: 'tolerance' as const, rules: { abs: 0, rel: 0, files } } }
    return { client, batch: await client.submit(await client.prepare([spec]), { policy }) }
  }

  it('agree within the tolerances that were given, and the receipt can be checked', async () => {
    const { client, batch } = await submit([{ rel: 1e-6 }])
    assert.equal((await client.wait(batch.id)).ready, 1)
    const { replicas = [], agreeing } = await client.task(`${batch.id}.0`)
    assert.equal(new Set(replicas.map(({ vote }) => vote)).size, 2)
    assert.equal(agreeing, 2)
    const { checkReceipt } = await import('#protocol/result/receipt')
    const { ok, lines } = checkReceipt(await client.receipt(`${batch.id}.0`), { project: network.project })
    assert.ok(ok, lines.join('\n'))
    assert.ok(
      lines.some((line) => /agree under its rules/.test(line)),
      lines.join('\n')
    )
  })

  it('do not agree without, and the difference is named with a rule under which they do', async () => {
    const { client, batch } = await submit([])
    await until('two results', async () => (await client.task(`${batch.id}.0`)).replicas?.filter(({ state }) => state === 'reported').length === 2)
    assert.equal((await client.why(batch.id)).waitsFor, 'node')
    await client.kill(batch.id)
    const nodes = (await client.nodes()).map(({ id }) => id)
    const [manifest] = await client.prepare([{ command: ['sh', '-c', NOISY], engine: 'process' }])
    const tasks = await Promise.all(
      nodes.map(async (node) => {
        const { id } = await client.submit(manifest === undefined ? [] : [manifest], { policy: { minQuorum: 1, nodes: [node], force: true } })
        await client.wait(id)
        return `${id}.0`
      })
    )
    const { files, stdout } = await client.difference(tasks[0] ?? '', tasks[1] ?? '')
    assert.equal(stdout, undefined)
    assert.deepEqual(
      files.map(({ path, what, hint }) => [path, what, hint?.kind, hint?.rule?.split(':')[0]]),
      [['d/a.csv', 'differs', 'numbers', '*.csv']]
    )
  })
})
