import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { it } from 'node:test'
import { signRecord } from '../../record/record.ts'
import { generateIdentity } from '../../signing/keys.ts'
import { LAN_GROUP, LAN_PORT, lanAnswer } from '../messages.ts'
import { findOnLan, serveLan } from './lan.ts'

it('finds the signed record, though a neighbour answers first with one that is not', { timeout: 30_000 }, async () => {
  const signer = await generateIdentity()
  const nowMs = Date.now()
  const record = signRecord(signer, {
    v: 1,
    project: signer.peerId,
    sequence: 1,
    epoch: 1,
    coordinators: [{ peer: signer.peerId, addresses: ['/ip4/192.168.1.2/tcp/1'] }],
    issuedAtMs: nowMs,
    expiresAtMs: nowMs + 600_000
  })
  let stop: (() => void) | undefined
  const liar = createSocket({ type: 'udp4', reuseAddr: true })
  liar.on('message', (ask, { address, port }) => {
    const answer = lanAnswer(ask, signer.peerId, new Uint8Array(40))
    if (answer === undefined) return
    // The project comes once the lie is told: the question is asked again.
    liar.send(answer, port, address, () => {
      stop ??= serveLan(signer.peerId, () => record)
    })
  })
  liar.bind(LAN_PORT)
  await once(liar, 'listening')
  for (const { address } of Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .filter(({ family }) => family === 'IPv4'))
    liar.addMembership(LAN_GROUP, address)
  try {
    let found: Uint8Array | undefined
    for (let tries = 0; tries < 10 && found === undefined; tries += 1) found = await findOnLan(signer.peerId, AbortSignal.timeout(20_000))
    assert.deepEqual(found, record)
    assert.ok(stop !== undefined)
  } finally {
    stop?.()
    liar.close()
  }
})
