import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { generateIdentity } from '#protocol/signing/keys'
import { formatInvite, parseInvite, shareable } from './invite.ts'

const { peerId } = await generateIdentity()
const address = fc.tuple(fc.ipV4(), fc.integer({ min: 1, max: 65_535 })).map(([ip, port]) => `/ip4/${ip}/tcp/${port}`)
const dns = fc.constantFrom('/dns4/a-b.example.org/tcp/443', '/ip6/::1/tcp/4001', '/dns/x/tcp/1/p2p/QmA?b=c&d')

describe('invites', () => {
  it('say what they were made of', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(address, dns), { maxLength: 5 }), fc.array(address, { maxLength: 3 }), (addresses, bootstrap) => {
        const invite = { project: peerId, addresses, bootstrap }
        assert.deepEqual(parseInvite(formatInvite(invite)), invite)
      })
    )
  })
  it('are refused with what they should look like', () => {
    for (const bad of [
      '',
      'talko://',
      'http://x',
      `talko://${peerId.slice(0, -1)}`,
      `talko://${peerId}?a=nonsense`,
      `talko://${peerId}?${'a=/ip4/1.2.3.4/tcp/1&'.repeat(40)}`,
      `talko://${'x'.repeat(9000)}`
    ])
      assert.throws(() => parseInvite(bad), { code: 'usage' })
  })
  it('give others no address of the machine itself when there is a better one', () => {
    const own = `/ip4/127.0.0.1/tcp/4001/p2p/${peerId}`
    assert.deepEqual(shareable([own, `/ip4/203.0.113.7/tcp/4001/p2p/${peerId}`]), ['/ip4/203.0.113.7/tcp/4001'])
    assert.deepEqual(shareable([own]), ['/ip4/127.0.0.1/tcp/4001'])
    assert.deepEqual(shareable([`/ip4/5.5.5.5/tcp/1/p2p/${peerId}/p2p-circuit/p2p/${peerId}`, own]), ['/ip4/127.0.0.1/tcp/4001'])
  })
})
