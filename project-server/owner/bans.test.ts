import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Ban } from '#protocol/owner/messages'
import { generateIdentity } from '#protocol/signing/keys'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, offer, plainBundle } from '#test/support/coordinator-parts'
import { ban } from './bans.ts'

const node = (await generateIdentity()).peerId

async function setUp() {
  const at = await new CoordinatorWorld().start()
  at.join(node, offer(2))
  at.submit(batchId(1), [plainBundle('1')])
  const ports = {
    members: { isAdministrator: (client: string) => client === 'admin' },
    committer: { commit: async (event: Parameters<typeof at.apply>[0]) => at.apply(event) },
    coordinator: at.coordinator
  }
  const ask = (change: Partial<Ban>, client = 'admin') =>
    ban({ kind: 'node', value: node, reason: '', lift: false, dryRun: false, ...change }, { client }, ports)
  return { at, ask }
}

describe('a ban that is asked for', () => {
  it('says what it hits, and in a dry run changes nothing', async () => {
    const { at, ask } = await setUp()
    const target = { kind: 'node', value: node }
    const nodes = [{ id: node, name: 'a node', runs: 1, results: 0 }]
    assert.deepEqual(await ask({ dryRun: true }), { target, banned: true, nodes, more: 0 })
    assert.deepEqual(at.coordinator.bans(), [])
    assert.deepEqual((await ask({ reason: 'it\nlies' })).nodes, nodes)
    assert.deepEqual(
      at.coordinator.bans().map(({ kind, by, reason }) => [kind, by, reason]),
      [['node', 'admin', 'it lies']]
    )
    assert.equal((await ask({ lift: true, dryRun: true })).banned, false)
    assert.equal(at.coordinator.bans().length, 1)
    await ask({ lift: true })
    assert.deepEqual(at.coordinator.bans(), [])
  })

  it('is refused of others than the administrator, of what is no peer or network, and lifted only where there is one', async () => {
    const { ask } = await setUp()
    await assert.rejects(ask({}, 'somebody'), { code: 'not_owner' })
    await assert.rejects(ask({ value: 'somebody' }), { code: 'malformed' })
    await assert.rejects(ask({ kind: 'network', value: '203.0.113.7' }), { code: 'malformed' })
    await assert.rejects(ask({ lift: true }), { code: 'not_found' })
  })

  it('of a network is one ban, whichever of its addresses names it', async () => {
    const { at, ask } = await setUp()
    for (const value of ['203.0.113.7/24', '203.0.113.0/24', '2001:DB8:0:1::/32', '2001:db8::/32', '172.31.9.9/12']) await ask({ kind: 'network', value })
    assert.deepEqual(
      at.coordinator.bans().map(({ value }) => value),
      ['203.0.113.0/24', '2001:db8::/32', '172.16.0.0/12']
    )
    await ask({ kind: 'network', value: '203.0.113.200/24', lift: true })
    assert.equal(at.coordinator.bans().length, 2)
  })
})
