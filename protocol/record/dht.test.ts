/** R09: who knows only a bootstrap address and the project's id finds the project, over real libp2p on loopback. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startHost } from '#test/support/hosts'
import type { Host } from '../peer/host.ts'
import { generateIdentity, type Signer } from '../signing/keys.ts'
import { type ProjectRecord, signRecord, verifyRecord } from './record.ts'

interface Known {
  readonly role: 'server' | 'volunteer'
  readonly bootstrap?: readonly string[]
  readonly serve?: boolean
  readonly signer?: Signer
}

const start = ({ bootstrap = [], serve = true, ...options }: Known): Promise<Host> => startHost({ ...options, dht: { bootstrap, serve, allowPrivate: true } })

function recordOf(signer: Signer, server: Host, sequence: number): Uint8Array {
  const issuedAtMs = Date.now()
  const record: ProjectRecord = {
    v: 1,
    project: signer.peerId,
    sequence,
    epoch: 1,
    coordinators: [{ peer: server.peerId, addresses: server.addresses() }],
    issuedAtMs,
    expiresAtMs: issuedAtMs + 3_600_000
  }
  return signRecord(signer, record)
}

it('five nodes that know one bootstrap peer find the project and connect to it; a newer record replaces the older', { timeout: 60_000 }, async () => {
  const bootstrap = await start({ role: 'server' })
  const at = bootstrap.addresses()
  const project = await generateIdentity()
  const server = await start({ role: 'server', bootstrap: at, signer: project })
  await server.publishRecord(recordOf(project, server, 1))

  const nodes = await Promise.all([true, true, true, false, false].map((serve) => start({ role: 'volunteer', bootstrap: at, serve })))
  for (const node of nodes) {
    const bytes = await node.findRecord(project.peerId)
    assert.ok(bytes !== undefined)
    const record = verifyRecord(bytes, { project: project.peerId, nowMs: Date.now() })
    assert.equal(record.sequence, 1)
    const [coordinator] = record.coordinators
    assert.ok(coordinator !== undefined)
    await node.connect(coordinator.peer, coordinator.addresses)
    assert.ok(node.isConnected(server.peerId))
  }

  await server.publishRecord(recordOf(project, server, 2))
  for (const node of nodes) {
    const bytes = await node.findRecord(project.peerId)
    assert.equal(bytes === undefined ? 0 : verifyRecord(bytes, { nowMs: Date.now() }).sequence, 2)
  }

  // An old record, still valid, offered again, does not bring the old addresses back.
  await nodes[0]?.publishRecord(recordOf(project, server, 1)).catch(() => {})
  assert.equal(verifyRecord((await nodes[4]?.findRecord(project.peerId)) ?? new Uint8Array(0), { nowMs: Date.now() }).sequence, 2)

  const unknown = await generateIdentity()
  assert.equal(await nodes[0]?.findRecord(unknown.peerId), undefined)
})

it('a record that its project did not sign is not taken', { timeout: 30_000 }, async () => {
  const bootstrap = await start({ role: 'server' })
  const liar = await start({ role: 'volunteer', bootstrap: bootstrap.addresses() })
  const project = await generateIdentity()
  const bytes = recordOf(project, liar, 9)
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  await assert.rejects(liar.publishRecord(bytes), { code: 'unsigned' })
})

it('without a DHT both say so', async () => {
  const host = await startHost({ listen: [], role: 'client' })
  await assert.rejects(host.findRecord(host.peerId), { code: 'dht_unavailable' })
  await assert.rejects(host.publishRecord(new Uint8Array(1)), { code: 'dht_unavailable' })
})
