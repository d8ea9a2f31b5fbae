import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { networkOf } from './network.ts'

it('a network is /24 of IPv4 and /48 of IPv6', () => {
  assert.equal(networkOf('/ip4/203.0.113.7/tcp/4000'), '203.0.113.0/24')
  assert.equal(networkOf('/ip4/203.0.113.250/tcp/1'), networkOf('/ip4/203.0.113.7/tcp/4000'))
  assert.equal(networkOf('/ip6/2001:db8:1:2::7/tcp/4000'), '2001:db8:1::/48')
  assert.equal(networkOf('/ip6/2001:db8:0001:ffff:1:2:3:4/tcp/4000'), '2001:db8:1::/48')
  assert.equal(networkOf('/ip6/2001:db8::5/tcp/4000'), '2001:db8:0::/48')
  assert.equal(networkOf('/ip6/::ffff:203.0.113.7/tcp/4000'), '203.0.113.0/24')
})

it('is not known of the machine itself, a local network, a relay, or what is no address', () => {
  for (const local of ['127.0.0.1', '10.1.2.3', '172.17.0.1', '192.168.1.20', '169.254.1.1', '100.64.3.4']) assert.equal(networkOf(`/ip4/${local}/tcp/1`), '')
  for (const local of ['::1', '::', 'fe80::1', 'fd00::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1']) assert.equal(networkOf(`/ip6/${local}/tcp/1`), '', local)
  for (const other of ['', '/memory', '/sim/node', '/dns4/example.org/tcp/1', '/ip4/203.0.113.7/tcp/1/p2p/relay/p2p-circuit', '/ip4/203.0.113/tcp/1'])
    assert.equal(networkOf(other), '')
})

it('never throws, and says little', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.ipV4().map((ip) => `/ip4/${ip}/tcp/1`),
        fc.ipV6().map((ip) => `/ip6/${ip}/tcp/1`)
      ),
      (address) => {
        assert.ok(networkOf(address).length <= 24)
      }
    )
  )
})
