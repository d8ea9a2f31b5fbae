import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { generateIdentity } from '#protocol/signing/keys'
import { readBanTarget } from './bans.ts'

describe('who is to be banned', () => {
  it('is a node or owner by its peer id, or a network; of a name it is said where ids are shown', async () => {
    const { peerId } = await generateIdentity()
    assert.deepEqual(readBanTarget(peerId, {}), { kind: 'node', value: peerId })
    assert.deepEqual(readBanTarget(peerId, { owner: true }), { kind: 'owner', value: peerId })
    assert.deepEqual(readBanTarget('203.0.113.0/24', {}), { kind: 'network', value: '203.0.113.0/24' })
    assert.throws(() => readBanTarget('local-1', {}), { code: 'usage', message: /"local-1" is no peer id.*talko nodes shows them/ })
    assert.throws(() => readBanTarget('203.0.113.7/32', {}), { code: 'usage', message: /\/8 to \/24/ })
  })
})
