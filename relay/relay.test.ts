import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { initRelay, startRelay } from './main.ts'
import { DEFAULT_RELAY_LISTEN, isLocal } from './settings.ts'

const SETTINGS = { listen: ['/ip4/127.0.0.1/tcp/0'], limits: { bytesPerHour: 1_000_000 } }

describe('a relay of a folder', { timeout: 60_000 }, () => {
  let dir = ''
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'talko-relay-'))
  })
  after(() => rm(dir, { recursive: true }))

  it('is made once, with a key that only its owner reads, and keeps it', async () => {
    const folder = join(dir, 'kept')
    const { peerId } = await initRelay(folder, SETTINGS)
    assert.equal((await stat(join(folder, 'relay.key'))).mode & 0o777, 0o600)
    await assert.rejects(initRelay(folder, SETTINGS), { code: 'exists' })
    for (let life = 0; life < 2; life += 1) {
      const relay = await startRelay({ dir: folder })
      assert.equal(relay.peerId, peerId)
      assert.match(relay.addresses()[0] ?? '', new RegExp(`^/ip4/127\\.0\\.0\\.1/tcp/\\d+/p2p/${peerId}$`))
      const { limits, reservations, bytesLeft, bytes } = relay.status()
      assert.deepEqual([limits.bytesPerHour, reservations, bytes, bytesLeft], [1_000_000, 0, 0, 1_000_000])
      await assert.rejects(startRelay({ dir: folder }), { code: 'in_use' })
      // Also when it would listen where that one does.
      const taken = (relay.addresses()[0] ?? '').replace(/\/p2p\/.*/, '')
      const path = join(folder, 'relay.json')
      const text = await readFile(path, 'utf8')
      await writeFile(path, text.replace('/ip4/127.0.0.1/tcp/0', taken))
      await assert.rejects(startRelay({ dir: folder }), { code: 'in_use' })
      await writeFile(path, text)
      await Promise.all([relay.stop(), relay.stop(), relay.stopped])
    }
  })

  it('says what is wrong with its folder', async () => {
    await assert.rejects(startRelay({ dir: join(dir, 'nowhere') }), { code: 'not_a_relay_folder' })
    await assert.rejects(initRelay(join(dir, 'bad'), { ...SETTINGS, listen: ['localhost'] }), { code: 'bad_settings', message: /localhost/ })
    await assert.rejects(initRelay(join(dir, 'bad'), { ...SETTINGS, bootstrap: ['/ip4/127.0.0.1/tcp/1'] }), { code: 'bad_settings', message: /\/p2p\// })
    const folder = join(dir, 'damaged')
    await initRelay(folder, SETTINGS)
    const path = join(folder, 'relay.json')
    const text = await readFile(path, 'utf8')
    for (const [from, to, says] of [
      ['"bytesPerHour": 1000000', '"bytesPerHour": -1', /bytesPerHour/],
      ['"v": 1', '"v": 2', /version/],
      ['{', '[', /JSON/]
    ] as const) {
      await writeFile(path, text.replace(from, to))
      await assert.rejects(startRelay({ dir: folder }), { code: 'bad_settings', message: says })
    }
    await writeFile(path, text)
    await rm(join(folder, 'relay.key'))
    await assert.rejects(startRelay({ dir: folder }), { code: 'bad_key' })
  })

  it('keeps private addresses for others in a local network only', () => {
    const [vps, home] = [
      ['/ip4/127.0.0.1/', '/ip4/203.0.113.7/', '/ip4/172.17.0.1/'],
      ['/ip4/127.0.0.1/', '/ip4/192.168.1.7/', '/ip6/fe80::1/']
    ]
    const listen = [DEFAULT_RELAY_LISTEN]
    assert.equal(isLocal({ listen }, vps), false)
    assert.equal(isLocal({ listen }, home), true)
    assert.equal(isLocal({ listen, announce: ['/dns4/relay.example/tcp/4610'] }, home), false)
    assert.equal(isLocal({ listen: ['/ip4/203.0.113.7/tcp/1'] }, vps), false)
    assert.equal(isLocal({ listen: ['/ip4/127.0.0.1/tcp/1'] }, vps), true)
    assert.equal(isLocal({ listen, bootstrap: ['/ip4/192.168.1.8/tcp/1/p2p/Rel'] }, vps), true)
  })
})
