import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { identityBelow, listBelow, openFileBelow, openSiblingBelow, readStartBelow, writeBelow } from './below.ts'

const SECRET = 'of the host'
/** Swaps a folder and a link to the host's folder as fast as it can. */
const SWAPPER = `
const { renameSync, symlinkSync } = require('node:fs')
const [folder, host] = process.argv.slice(1)
symlinkSync(host, folder + '/link')
process.send('ready')
for (;;) {
  renameSync(folder + '/out/dir', folder + '/dir')
  renameSync(folder + '/link', folder + '/out/dir')
  renameSync(folder + '/out/dir', folder + '/link')
  renameSync(folder + '/dir', folder + '/out/dir')
}`

let root = ''
let host = ''
let folder = ''
let number = 0
before(() => {
  root = mkdtempSync(join(tmpdir(), 'talko-below-'))
  host = join(root, 'host')
  mkdirSync(host)
  writeFileSync(join(host, 'file'), SECRET)
})
after(() => rmSync(root, { recursive: true }))
beforeEach(() => {
  folder = join(root, String(number++))
  mkdirSync(join(folder, 'out', 'dir'), { recursive: true })
  writeFileSync(join(folder, 'out', 'dir', 'file'), 'of the task')
})

const out = (...path: string[]): string[] => ['out', ...path]
const inOut = (...path: string[]): string => join(folder, 'out', ...path)

function textOf(path: readonly string[]): string {
  const { fd } = openFileBelow(folder, path)
  try {
    const buffer = Buffer.alloc(100)
    return buffer.toString('utf8', 0, readSync(fd, buffer))
  } finally {
    closeSync(fd)
  }
}

/** Opens many times, or until somebody stops; what was read, each once. */
function tryOften(call: () => string): Set<string> {
  const seen = new Set<string>()
  for (let round = 0; round < 5_000; round++) {
    try {
      seen.add(call())
    } catch (error) {
      seen.add(error instanceof Error && 'code' in error ? String(error.code) : 'bug')
    }
  }
  return seen
}

async function swapping(call: () => void): Promise<void> {
  const child = spawn(process.execPath, ['-e', SWAPPER, folder, host], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  try {
    await once(child, 'message')
    call()
    assert.equal(child.exitCode, null, 'the swapper ended early')
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

describe('the beginning of a small file', () => {
  it('is read, and of anything else than a plain file nothing', () => {
    const path = out('.progress')
    const start = (): string | undefined => {
      const bytes = readStartBelow(folder, path, 8)
      return bytes === undefined ? undefined : Buffer.from(bytes).toString()
    }
    const there = (make: () => void): void => {
      rmSync(inOut('.progress'), { recursive: true, force: true })
      make()
    }
    assert.equal(start(), undefined)
    there(() => writeFileSync(inOut('.progress'), '37 %'))
    assert.equal(start(), '37 %')
    there(() => writeFileSync(inOut('.progress'), '37 % of very much'))
    assert.equal(start(), '37 % of ')
    there(() => symlinkSync(join(host, 'file'), inOut('.progress')))
    assert.equal(start(), undefined)
    there(() => mkdirSync(inOut('.progress')))
    assert.equal(start(), undefined)
    there(() => execFileSync('mkfifo', [inOut('.progress')]))
    assert.equal(start(), undefined)
    rmSync(inOut(), { recursive: true })
    mkdirSync(join(root, 'elsewhere'))
    writeFileSync(join(root, 'elsewhere', '.progress'), '99 %')
    symlinkSync(join(root, 'elsewhere'), inOut())
    assert.equal(start(), undefined)
  })
})

describe('a file below a hostile folder', () => {
  it('is read where it stands', () => {
    assert.equal(textOf(out('dir', 'file')), 'of the task')
    assert.throws(() => textOf(out('none')), { code: 'no_file' })
    assert.throws(() => textOf(out('dir')), { code: 'is_directory' })
    assert.throws(() => textOf(out('dir', 'file', 'x')), { code: 'not_a_directory' })
  })

  it('is never reached through a link, of which only the target is told', () => {
    symlinkSync(join(host, 'file'), inOut('link'))
    symlinkSync(host, inOut('linked'))
    assert.throws(
      () => textOf(out('link')),
      (error: Error & { code?: string }) => error.code === 'link' && error.message.includes(join(host, 'file'))
    )
    assert.throws(() => textOf(out('linked', 'file')), { code: 'not_a_directory' })
    assert.throws(() => writeBelow(join(folder, 'out'), ['linked', 'new'], Buffer.from('x'), folder), { code: 'not_a_directory' })
    assert.deepEqual(readdirSync(host), ['file'])
  })

  it('is never the one that a link leads to, however fast folder and link change places', { skip: process.platform !== 'linux' }, async () => {
    let read = new Set<string>()
    await swapping(() => {
      read = tryOften(() => textOf(out('dir', 'file')))
    })
    assert.ok(read.has('of the task') && (read.has('not_a_directory') || read.has('no_file')), `${[...read]}: there was no race`)
    assert.ok(!read.has(SECRET) && !read.has('bug'), `${[...read]}`)
  })

  it('is never written where a link leads to, however fast folder and link change places', { skip: process.platform !== 'linux' }, async () => {
    let wrote = new Set<string>()
    await swapping(() => {
      wrote = tryOften(() => {
        writeBelow(join(folder, 'out'), ['dir', 'file'], Buffer.from('of the owner'), folder)
        return 'written'
      })
    })
    assert.ok(wrote.has('written') && !wrote.has('bug'), `${[...wrote]}`)
    assert.equal(readFileSync(join(host, 'file'), 'utf8'), SECRET)
  })

  it('is not opened when it is a fifo: nobody waits for a writer', { timeout: 5_000 }, () => {
    execFileSync('mkfifo', [inOut('fifo')])
    assert.throws(() => textOf(out('fifo')), { code: 'special' })
  })

  it('is found again under another name, and is not the one that got its place or its inode', () => {
    writeFileSync(inOut('log'), 'one')
    const identity = identityBelow(folder, out('log')) ?? ''
    renameSync(inOut('log'), inOut('log.1'))
    writeFileSync(inOut('log'), 'two')
    assert.notEqual(identityBelow(folder, out('log')), identity)
    const old = openSiblingBelow(folder, out('log'), identity)
    assert.equal(old?.identity, identity)
    closeSync(old?.fd ?? -1)
    rmSync(inOut('log.1'))
    writeFileSync(inOut('log.2'), 'three')
    assert.equal(openSiblingBelow(folder, out('log'), identity), undefined)
  })
})

describe('a listing', () => {
  it('tells what everything is, without following or opening it', async () => {
    symlinkSync('/etc/passwd', inOut('a-link'))
    execFileSync('mkfifo', [inOut('b-fifo')])
    writeFileSync(inOut('huge'), '')
    truncateSync(inOut('huge'), 2 ** 40)
    const { entries, more } = await listBelow(folder, out())
    assert.deepEqual(
      entries.map(({ name, kind, target }) => [name, kind, target]),
      [
        ['a-link', 'link', '/etc/passwd'],
        ['b-fifo', 'special', ''],
        ['dir', 'directory', ''],
        ['huge', 'file', '']
      ]
    )
    assert.equal(entries[3]?.bytes, 2 ** 40)
    assert.equal(more, false)
    await assert.rejects(listBelow(folder, out('a-link')), { code: 'not_a_directory' })
    await assert.rejects(listBelow(folder, out('none')), { code: 'no_file' })
  })

  it('is bounded, and says that there is more', async () => {
    mkdirSync(inOut('many'))
    for (let index = 0; index <= 20; index++) writeFileSync(inOut('many', String(index)), '')
    const { entries, more } = await listBelow(folder, out('many'), 20)
    assert.deepEqual([entries.length, more], [20, true])
  })
})

describe('a file that is put there', () => {
  const write = (path: string[], text: string): void => writeBelow(join(folder, 'out'), path, Buffer.from(text), folder)

  it('is whole and in place of what stood there, a link too; a folder stays', () => {
    write(['new'], 'x')
    write(['dir', 'file'], 'y')
    symlinkSync(join(host, 'file'), inOut('link'))
    write(['link'], 'z')
    assert.deepEqual(
      ['new', 'dir/file', 'link'].map((path) => readFileSync(inOut(path), 'utf8')),
      ['x', 'y', 'z']
    )
    assert.equal(readFileSync(join(host, 'file'), 'utf8'), SECRET)
    assert.throws(() => write(['dir'], 'x'), { code: 'is_directory' })
    assert.throws(() => write([], 'x'), { code: 'is_directory' })
    assert.throws(() => write(['none', 'x'], 'x'), { code: 'no_file' })
    assert.deepEqual(readdirSync(folder), ['out'], 'nothing is left beside')
  })

  it("is its task's, to read and to change", () => {
    write(['mine'], 'x')
    const [file, task] = [lstatSync(inOut('mine')), lstatSync(inOut())]
    assert.deepEqual([file.mode & 0o777, file.uid, file.gid], [0o644, task.uid, task.gid])
  })
})
