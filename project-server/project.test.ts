import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
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
      [{ ...FILE, dht: { bootstrap: 'x' } }, /"dht"/]
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
