import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { DEFAULT_COORDINATOR_POLICY } from './coordinator/policy.ts'
import { createProjectFolder, readProjectFolder } from './live/files.ts'
import { parseProjectFile } from './project.ts'

const FILE = { v: 1, name: 'demo', listen: ['/ip4/127.0.0.1/tcp/0'], announce: [], owners: [] } as const

describe('project.json', () => {
  it('is read with the fields that may be missing', () => {
    const { announce, ...rest } = FILE
    assert.deepEqual(parseProjectFile(JSON.stringify(rest), 'p'), { ...FILE, announce })
    const relays = ['/ip4/5.5.5.5/tcp/1/p2p/12D3KooWD8APRYqjqvLY4qrgB4NxZi75BnWMJeCL87EUdFdfxNyd']
    assert.deepEqual(parseProjectFile(JSON.stringify({ ...FILE, relays }), 'p'), { ...FILE, relays })
    for (const programs of [[], ['docker'], ['process', 'docker']])
      assert.deepEqual(parseProjectFile(JSON.stringify({ ...FILE, programs }), 'p'), { ...FILE, programs })
  })

  it("may set the coordinator's numbers, each of them, and the defaults are within their bounds", () => {
    const policy = { heartbeatMs: 10_000, missedMax: 6, stragglerFactor: 2.5, hybrid: false, idleCopies: 0 }
    assert.deepEqual(parseProjectFile(JSON.stringify({ ...FILE, policy }), 'p'), { ...FILE, policy })
    const endless = { failuresMax: null, newcomersMax: null }
    assert.deepEqual(parseProjectFile(JSON.stringify({ ...FILE, policy: endless }), 'p').policy, { failuresMax: Infinity, newcomersMax: Infinity })
    const all = DEFAULT_COORDINATOR_POLICY
    assert.deepEqual(parseProjectFile(JSON.stringify({ ...FILE, policy: all }), 'p').policy, all)
  })

  it('is refused with the field that is wrong', () => {
    const cases: readonly [object | string, RegExp][] = [
      ['{', /not JSON/],
      [[], /not a JSON object/],
      [{ ...FILE, v: 2 }, /version 1/],
      [{ ...FILE, name: 3 }, /"name"/],
      [{ ...FILE, listen: [] }, /"listen"/],
      [{ ...FILE, listen: ['127.0.0.1:4001'] }, /"listen"/],
      [{ ...FILE, owners: ['ann'] }, /"owners"/],
      [{ ...FILE, relays: ['/ip4/5.5.5.5/tcp/1'] }, /"relays"/],
      [{ ...FILE, programs: ['podman'] }, /"programs"/],
      [{ ...FILE, dht: { bootstrap: 'x' } }, /"dht"/],
      [{ ...FILE, dht: { bootstrap: [], serve: true, allowPrivate: true, port: 1 } }, /"dht" must be no more than/],
      [{ ...FILE, onwers: [] }, /p: it may not have "onwers", only v, name, .*policy; correct it/],
      [{ ...FILE, policy: [] }, /"policy" must be an object/],
      [{ ...FILE, policy: { hearbeatMs: 1 } }, /"policy" has no "hearbeatMs"; it may have heartbeatMs, missedMax/],
      [{ ...FILE, policy: { toString: 1 } }, /"policy" has no "toString"/],
      [{ ...FILE, policy: { heartbeatMs: 100 } }, /"heartbeatMs" of "policy" must be a whole number from 500 to 60000, not 100/],
      [{ ...FILE, policy: { heartbeatMs: '3s' } }, /"heartbeatMs" .* not "3s"/],
      [{ ...FILE, policy: { missedMax: 4 } }, /"missedMax" of "policy" must be a whole number from 5 to 1000/],
      [{ ...FILE, policy: { missedMax: null } }, /"missedMax" .* not null/],
      [{ ...FILE, policy: { heartbeatMs: 1_000 } }, /must be from 6000 to 3600000 milliseconds, not 1000 x 5 = 5000/],
      [{ ...FILE, policy: { heartbeatMs: 60_000, missedMax: 61 } }, /60000 x 61 = 3660000/],
      [{ ...FILE, policy: { stragglerFactor: 0.5 } }, /"stragglerFactor" .* a number from 1 to 1000, or 0 for none, not 0\.5/],
      [{ ...FILE, policy: { idleCopies: 1.5 } }, /"idleCopies" .* whole number from 0/],
      [{ ...FILE, policy: { failuresMax: 0 } }, /"failuresMax" .* or null for no limit, not 0/],
      [{ ...FILE, policy: { hybrid: 1 } }, /"hybrid" of "policy" must be true or false, not 1/]
    ]
    for (const [value, message] of cases)
      assert.throws(() => parseProjectFile(typeof value === 'string' ? value : JSON.stringify(value), 'p'), { code: 'bad_project_file', message })
  })
})

describe("a project's folder", () => {
  let dir: string
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'talko-project-'))
  })
  after(() => rm(dir, { recursive: true }))

  it('keeps its key to its owner, and is not made twice', async () => {
    const signer = await createProjectFolder(dir, FILE)
    assert.equal((await stat(join(dir, 'project.key'))).mode & 0o777, 0o600)
    const again = await readProjectFolder(dir)
    assert.equal(again.signer.peerId, signer.peerId)
    assert.deepEqual(again.file, FILE)
    await assert.rejects(createProjectFolder(dir, FILE), { code: 'exists' })
  })

  it('says what is missing', async () => {
    await assert.rejects(readProjectFolder(join(dir, 'other')), { code: 'not_a_project', message: /talko init/ })
    await writeFile(join(dir, 'project.key'), 'nonsense')
    await assert.rejects(readProjectFolder(dir), { code: 'bad_key', message: /backup/ })
    await rm(join(dir, 'project.key'))
    await assert.rejects(readProjectFolder(dir), { code: 'bad_key', message: /backup/ })
  })
})
