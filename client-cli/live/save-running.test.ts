import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { FilesView, FileView } from '#protocol/owner/messages'
import type { Client } from '../client/client.ts'
import { ClientError } from '../errors.ts'
import { saveRunning } from './save-running.ts'

let root = ''
before(() => {
  root = mkdtempSync(join(tmpdir(), 'talko-save-'))
})
after(() => rmSync(root, { recursive: true }))

const PLACE = { of: 't', path: '', attempt: 0, signal: new AbortController().signal }
const file = (name: string): FileView => ({ name, kind: 'file', bytes: 1 })

/** A project that says these of its folders, and of each file its path; what `broken` holds is refused so often. */
function says(
  folders: Readonly<Record<string, readonly FileView[]>>,
  broken: Map<string, { code: 'refused' | 'not_found'; times: number }> = new Map()
): Client {
  const refused = (path: string): void => {
    const fault = broken.get(path)
    if (fault !== undefined && fault.times-- > 0) throw new ClientError(fault.code, `${path} cannot be had`)
  }
  return {
    async list(_of: string, path = ''): Promise<FilesView> {
      refused(path)
      const entries = folders[path]
      if (entries === undefined) throw new ClientError('refused', 'it is a file')
      return { task: 't', attempt: 2, node: 'n', entries, more: false }
    },
    async *logs(_of: string, { path = '' }: { path?: string }) {
      yield Buffer.from(path.slice(0, 1))
      refused(path)
      yield Buffer.from(path.slice(1))
    }
  } as unknown as Client
}

describe('a copy of what a running task has written', () => {
  it('is of its folders and files; what else there is, is told', async () => {
    const link: FileView = { name: 'link', kind: 'link', bytes: 0, target: '/etc/passwd' }
    const client = says({ '': [file('a'), { name: 'dir', kind: 'directory', bytes: 0 }, link, { name: 'fifo', kind: 'special', bytes: 0 }], dir: [file('b')] })
    const to = join(root, 'whole')
    const saved = await saveRunning(client, PLACE, to)
    assert.deepEqual([saved.attempt, saved.node, saved.files, saved.bytes], [2, 'n', 2, 6])
    assert.deepEqual(
      saved.left.map(({ path }) => path),
      ['link', 'fifo']
    )
    assert.deepEqual([readFileSync(join(to, 'a'), 'utf8'), readFileSync(join(to, 'dir', 'b'), 'utf8')], ['a', 'dir/b'])
    await assert.rejects(saveRunning(client, PLACE, to), { code: 'refused', message: /exists already/ })
  })

  it('has nothing outside of its place, whatever its files are called', async () => {
    const names = ['..', '.', '', '../out', '/tmp/x', 'a/b', 'x\0', 'fine']
    const saved = await saveRunning(says({ '': names.map(file) }), PLACE, join(root, 'inside', '..', 'names'))
    assert.deepEqual(readdirSync(join(root, 'names')), ['fine'])
    assert.equal(saved.left.length, names.length - 1)
    assert.deepEqual(readdirSync(root).toSorted(), ['names', 'whole'])
  })

  it('reads a file again that was rewritten meanwhile, and leaves out what is gone', async () => {
    const broken = new Map([
      ['twice', { code: 'refused' as const, times: 2 }],
      ['gone', { code: 'not_found' as const, times: 1 }]
    ])
    const to = join(root, 'again')
    const saved = await saveRunning(says({ '': [file('twice'), file('gone')] }, broken), PLACE, to)
    assert.equal(readFileSync(join(to, 'twice'), 'utf8'), 'twice')
    assert.deepEqual(readdirSync(to), ['twice'])
    assert.deepEqual(
      saved.left.map(({ path }) => path),
      ['gone']
    )
  })

  it('may be of one file', async () => {
    const to = join(root, 'one')
    await saveRunning(says({}), { ...PLACE, path: 'file' }, to)
    assert.equal(readFileSync(to, 'utf8'), 'file')
  })
})
