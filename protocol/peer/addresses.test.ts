import assert from 'node:assert/strict'
import { it } from 'node:test'
import { isPrivateAddress, isRelayed, networkOf, peerIn, throughRelay } from './addresses.ts'

it('reads off an address whether it is private, relayed, whose, and of which network', () => {
  for (const address of [
    '/ip4/127.0.0.1/tcp/1',
    '/ip4/10.1.2.3/tcp/1',
    '/ip4/192.168.1.2/tcp/1',
    '/ip4/172.31.0.1/tcp/1',
    '/ip4/100.64.0.2/tcp/1',
    '/ip6/::1/tcp/1',
    '/ip6/fe80::1/tcp/1',
    '/ip6/fd00::1/tcp/1',
    '/dns4/localhost/tcp/1',
    '/dns4/192.168.1.1/tcp/80/ws',
    '/dns/127.0.0.1/tcp/1',
    '/ip6/::ffff:10.0.0.1/tcp/1',
    '/ip6/::ffff:7f00:1/tcp/1',
    '/ip6/0:0:0:0:0:ffff:c0a8:101/tcp/1'
  ])
    assert.equal(isPrivateAddress(address), true, address)
  for (const address of [
    '/ip4/5.5.5.10/tcp/1',
    '/ip4/172.32.0.1/tcp/1',
    '/ip4/100.128.0.1/tcp/1',
    '/ip6/2001:db8::1/tcp/1',
    '/ip6/::ffff:5.5.5.10/tcp/1',
    '/dns4/5.5.5.10/tcp/1',
    '/dns4/relay.example/tcp/443/ws'
  ])
    assert.equal(isPrivateAddress(address), false, address)
  const relay = '/ip4/5.5.5.10/tcp/1/p2p/Rel'
  assert.equal(throughRelay(relay, 'Me'), '/ip4/5.5.5.10/tcp/1/p2p/Rel/p2p-circuit/p2p/Me')
  assert.deepEqual([isRelayed(relay), isRelayed(throughRelay(relay, 'Me'))], [false, true])
  assert.deepEqual([peerIn(relay), peerIn(throughRelay(relay, 'Me')), peerIn('/ip4/5.5.5.10/tcp/1')], ['Rel', 'Me', undefined])
  assert.equal(networkOf('/ip4/5.5.5.10/tcp/1'), '5.5.5.10')
  assert.equal(networkOf('/ip6/2001:db8:1::7/tcp/1'), networkOf('/ip6/2001:DB8:1:0:9::8/tcp/2'))
  assert.equal(networkOf('/ip6/::ffff:5.5.5.10/tcp/1'), '5.5.5.10')
  assert.notEqual(networkOf('/ip6/2001:db8:1::7/tcp/1'), networkOf('/ip6/2001:db8:2::7/tcp/1'))
})
