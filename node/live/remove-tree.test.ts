import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { chown } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { removeTree } from './remove-tree.ts'

const NOBODY = 65534
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
let folder = ''
/** Of Node and of what is tested: this checkout may lie where nobody may look. */
let copy = ''
before(async () => {
  copy = mkdtempSync(join(tmpdir(), 'talko-remove-copy-'))
  chmodSync(copy, 0o755)
  cpSync(process.execPath, join(copy, 'node-program'))
  for (const name of ['package.json', 'node', 'protocol']) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  folder = mkdtempSync(join(tmpdir(), 'talko-remove-'))
  if (process.getuid?.() === 0) await chown(folder, NOBODY, NOBODY)
})
after(() => {
  for (const path of [folder, copy]) rmSync(path, { recursive: true, force: true })
})

/** A small program as somebody who is not root, in the folder: what a node of most volunteers is. */
function asNobody(program: string): string {
  const who = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const { stdout, stderr, status, error } = spawnSync(join(copy, 'node-program'), ['--input-type=module', '-e', program], {
    cwd: folder,
    encoding: 'utf8',
    ...who
  })
  assert.ifError(error)
  assert.equal(status, 0, stderr)
  return stdout
}

function moduleOf(name: string): string {
  return JSON.stringify(join(copy, 'node', 'live', name))
}

describe('a tree that a hostile program left', () => {
  it('is removed though it is nested deeper than a path can name', async () => {
    const names = `${'d'.repeat(50)}/`.repeat(20)
    const script = `mkdir deep && cd deep && for i in 1 2 3 4 5 6 7 8 9 10; do mkdir -p ${names} && cd -P ${names} || exit 1; done; echo x > leaf`
    assert.equal(spawnSync('sh', ['-c', script], { cwd: folder }).status, 0)
    await removeTree(join(folder, 'deep'))
    assert.ok(!existsSync(join(folder, 'deep')))
  })

  it('is seen whole and removed by a node that is not root, though the program closed it to itself', () => {
    const seen = asNobody(`
      import { chmodSync, mkdirSync, symlinkSync, writeFileSync, readFileSync, existsSync, statSync } from 'node:fs'
      import { removeTree } from ${moduleOf('./remove-tree.ts')}
      import { diskUse } from ${moduleOf('./docker/disk.ts')}
      const make = () => {
        mkdirSync('closed/below', { recursive: true })
        writeFileSync('closed/below/file', 'x'.repeat(10_000))
        writeFileSync('closed/unread', 'y')
        symlinkSync('/etc/passwd', 'closed/link')
        for (const path of ['closed/unread', 'closed/below/file', 'closed/below', 'closed']) chmodSync(path, 0)
      }
      make()
      const before = statSync('/etc/passwd').mode
      console.log((await diskUse('.', 1e9)) > 10_000, readFileSync('closed/below/file').length, readFileSync('closed/unread', 'utf8'))
      console.log(statSync('/etc/passwd').mode === before)
      await removeTree('closed')
      make()
      await removeTree('closed')
      console.log(existsSync('closed'))
    `)
    assert.equal(seen, 'true 10000 y\ntrue\nfalse\n')
  })
})
