import assert from 'node:assert/strict'
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import * as dagPb from '@ipld/dag-pb'
import fc from 'fast-check'
import { UnixFS } from 'ipfs-unixfs'
import type { CID } from 'multiformats/cid'
import { cidOfBytes, DAG_PB, RAW } from '../cid.ts'
import { ContentError } from '../content.ts'
import { TreePlan, type Want } from '../plan.ts'
import { pull } from '../pull.ts'
import { type TreeSink, TreeWork } from '../tree-work.ts'
import { inTemporaryFolder } from './testing.ts'
import { TreeWriter } from './tree-writer.ts'

const ENTRIES = 100_000
const ENTRIES_PER_TREE = 1000
/** Fewer on a disk: making and removing a file takes 100 times as long as deciding on it. */
const ENTRIES_ON_DISK = 5000

/** Names that try to leave their folder, hide, collide or break the program that reads them. */
const HOSTILE = [
  '',
  '.',
  '..',
  '/',
  '/etc/passwd',
  '../escape',
  '../../escape',
  'a/b',
  'a/../../b',
  './x',
  'nul\0l',
  'line\nfeed',
  '\x1b[31m',
  '\x7f',
  '\ufeffbom',
  '\ufffd',
  'n'.repeat(256),
  'é'.repeat(128)
]
/** Names that look so and are harmless here. */
const STRANGE = [
  '...',
  '..a',
  'a..',
  '..\\..\\escape',
  'C:\\x',
  ' ',
  '  .',
  '~',
  '-rf',
  '$(id)',
  '`id`',
  '*',
  '%2e%2e%2f',
  'con',
  '.git',
  'ｅ',
  '‮',
  'n'.repeat(255),
  '∕etc∕passwd',
  '\u2024\u2024'
]

type Blocks = Map<string, Uint8Array>

function put(blocks: Blocks, codec: number, bytes: Uint8Array): CID {
  const cid = cidOfBytes(codec, bytes)
  blocks.set(cid.toString(), bytes)
  return cid
}

function node(blocks: Blocks, unixfs: UnixFS, links: readonly { name: string; cid: CID }[]): CID {
  const Links = links.map(({ name, cid }) => ({ Name: name, Tsize: 1, Hash: cid }))
  return put(blocks, DAG_PB, dagPb.encode(dagPb.prepare({ Data: unixfs.marshal(), Links })))
}

/** A tree of about `count` entries drawn from a seed; hostile ones in about half of the trees. */
function hostileTree(seed: number, count: number): { root: CID; blocks: Blocks; entries: number } {
  let state = seed | 1
  const draw = (below: number): number => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9
    return ((state ^ (state >>> 13)) >>> 0) % below
  }
  const blocks: Blocks = new Map()
  const malice = draw(2) === 0 ? 0 : 1 + draw(20)
  let entries = 0
  const child = (depth: number): CID => {
    const kind = draw(1000)
    if (kind < malice) return hostileChild(depth)
    if (kind < 30 && depth < 12) return directory(depth + 1, draw(40))
    if (kind < 60) return file()
    return put(blocks, RAW, Buffer.from(`${draw(50)}`))
  }
  const file = (): CID => {
    const parts = Array.from({ length: 1 + draw(4) }, (_, index) => Buffer.from(`part ${index} ${draw(9)}`))
    const unixfs = new UnixFS({ type: 'file' })
    for (const part of parts) unixfs.addBlockSize(BigInt(part.length))
    return node(
      blocks,
      unixfs,
      parts.map((part) => ({ name: '', cid: put(blocks, RAW, part) }))
    )
  }
  const hostileChild = (depth: number): CID => {
    const leaf = put(blocks, RAW, Buffer.from('leaf'))
    switch (draw(7)) {
      case 0:
        return node(blocks, new UnixFS({ type: 'symlink', data: Buffer.from('../../escape') }), [])
      case 1:
        return node(blocks, new UnixFS({ type: 'metadata' }), [])
      case 2: {
        const lying = new UnixFS({ type: 'file' })
        lying.addBlockSize(BigInt(draw(2) === 0 ? 3 : 2 ** 52))
        return node(blocks, lying, [{ name: '', cid: leaf }])
      }
      case 3:
        return node(blocks, new UnixFS({ type: 'hamt-sharded-directory', fanout: 256n, hashType: 0x22n }), [
          { name: ['zz', '0', 'FF../x', 'FF..', 'FF/', '00', '01a'][draw(7)] ?? '', cid: leaf }
        ])
      case 4:
        return put(blocks, DAG_PB, Buffer.from(Array.from({ length: draw(30) }, () => draw(256))))
      case 5: {
        const file = new UnixFS({ type: 'file' })
        file.addBlockSize(0n)
        return node(blocks, file, [{ name: '', cid: directory(depth + 1, 2) }])
      }
      default:
        return node(blocks, new UnixFS({ type: 'directory' }), [
          { name: 'twice', cid: leaf },
          { name: 'twice', cid: directory(depth + 1, 1) }
        ])
    }
  }
  const directory = (depth: number, size: number): CID => {
    const names = new Map<string, CID>()
    for (let index = 0; index < size && entries < count; index++) {
      entries++
      const hostile = draw(1000) < malice
      const name = hostile ? HOSTILE[draw(HOSTILE.length)] : draw(10) === 0 ? STRANGE[draw(STRANGE.length)] : `f${draw(100_000)}`
      names.set(name ?? 'f', child(depth))
    }
    return node(
      blocks,
      new UnixFS({ type: 'directory' }),
      [...names].map(([name, cid]) => ({ name, cid }))
    )
  }
  return { root: directory(0, count), blocks, entries }
}

/** Walks the tree into `sink` as a fetch does; false when it was refused. */
async function walk(root: CID, blocks: Blocks, sink: TreeSink): Promise<boolean> {
  const local = async ({ cid }: Want): Promise<Uint8Array | undefined> => blocks.get(cid.toString())
  const work = new TreeWork(new TreePlan(root), sink, local, () => undefined)
  const clock = { after: () => () => undefined }
  try {
    await pull(work, { providers: () => [], clock, signal: new AbortController().signal, onReceived: () => undefined })
    return true
  } catch (error) {
    assert.ok(error instanceof ContentError && error.code === 'bad_tree', String(error))
    return false
  }
}

/** The same onto the disk at `path`. */
async function write(root: CID, blocks: Blocks, path: string, resume = false): Promise<boolean> {
  const writer = new TreeWriter({ path, resume, mode: 0o444 })
  try {
    return await walk(root, blocks, writer)
  } finally {
    writer.close()
  }
}

/** A disk without a disk: checks that each path is new, in a folder that was made, and below the root. */
function checkingSink(): TreeSink {
  const folders = new Set<string>()
  const all = new Set<string>()
  const check = (path: string): void => {
    const full = resolve('/root', path)
    assert.ok(path === '' || (full === `/root/${path}` && full.startsWith('/root/')), path)
    assert.ok(path === '' || folders.has(dirname(full)), path)
    assert.ok(!path.includes('\0') && !path.split('/').includes('..'), path)
    if (all.has(full)) throw new ContentError('bad_tree', `${path} is in the tree twice`)
    all.add(full)
  }
  return {
    directory: (path) => {
      check(path)
      folders.add(resolve('/root', path))
    },
    file: check,
    open: ({ path }) => check(path),
    write: async () => undefined,
    finish: () => undefined,
    node: () => undefined,
    kept: () => undefined,
    turn: () => undefined
  }
}

/** Every path below `folder`; nothing in it may be a link or other than a file or folder. */
function everything(folder: string, at = ''): string[] {
  return readdirSync(join(folder, at)).flatMap((name) => {
    const path = at === '' ? name : `${at}/${name}`
    const stats = lstatSync(join(folder, path))
    assert.ok(stats.isFile() || stats.isDirectory(), path)
    return stats.isDirectory() ? [path, ...everything(folder, path)] : [path]
  })
}

describe('a hostile tree', { timeout: 120_000 }, () => {
  it(`names nothing outside its root, in ${ENTRIES} entries`, async () => {
    let entries = 0
    let accepted = 0
    let refused = 0
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const tree = hostileTree(seed, ENTRIES_PER_TREE)
        entries += tree.entries
        if (await walk(tree.root, tree.blocks, checkingSink())) accepted++
        else refused++
      }),
      { numRuns: ENTRIES / ENTRIES_PER_TREE, endOnFailure: true }
    )
    assert.ok(entries >= ENTRIES * 0.99, `${entries} entries`)
    assert.ok(accepted > 20 && refused > 20, `${accepted} were accepted and ${refused} refused`)
  })

  it(`puts nothing outside its root on a disk, in ${ENTRIES_ON_DISK} entries`, async () => {
    await inTemporaryFolder(async (folder) => {
      const base = join(folder, 'one', 'two')
      mkdirSync(base, { recursive: true })
      writeFileSync(join(folder, 'escape'), 'mine')
      let entries = 0
      let written = 0
      let refused = 0
      const trees = ENTRIES_ON_DISK / 100
      await fc.assert(
        fc.asyncProperty(fc.integer(), async (seed) => {
          const tree = hostileTree(seed, 100)
          entries += tree.entries
          const target = join(base, 'root')
          if (await write(tree.root, tree.blocks, target)) written++
          else refused++
          const found = everything(folder)
          assert.ok(found.length >= 3)
          for (const path of found) assert.ok(['escape', 'one', 'one/two', 'one/two/root'].includes(path) || path.startsWith('one/two/root/'), path)
          assert.equal(readFileSync(join(folder, 'escape'), 'utf8'), 'mine')
          rmSync(target, { recursive: true, force: true })
        }),
        { numRuns: trees, endOnFailure: true }
      )
      assert.ok(entries >= ENTRIES_ON_DISK * 0.99, `${entries} entries`)
      assert.ok(written > trees / 5 && refused > trees / 5, `${written} were written and ${refused} refused`)
    })
  })

  it('is refused for each hostile name by itself', async () => {
    await inTemporaryFolder(async (folder) => {
      for (const [index, name] of HOSTILE.entries()) {
        const blocks: Blocks = new Map()
        const root = node(blocks, new UnixFS({ type: 'directory' }), [{ name, cid: put(blocks, RAW, Buffer.from('x')) }])
        assert.equal(await write(root, blocks, join(folder, `${index}`)), false, JSON.stringify(name))
      }
      assert.deepEqual(readdirSync(folder), [])
      const blocks: Blocks = new Map()
      const root = node(
        blocks,
        new UnixFS({ type: 'directory' }),
        STRANGE.map((name) => ({ name, cid: put(blocks, RAW, Buffer.from('x')) }))
      )
      assert.equal(await write(root, blocks, join(folder, 'strange')), true)
      assert.deepEqual(readdirSync(join(folder, 'strange')).sort(), [...STRANGE].sort())
    })
  })

  it('is refused when a name is not UTF-8', async () => {
    await inTemporaryFolder(async (folder) => {
      const blocks: Blocks = new Map()
      const bytes = Buffer.from(
        blocks.get(node(blocks, new UnixFS({ type: 'directory' }), [{ name: 'name', cid: put(blocks, RAW, Buffer.from('x')) }]).toString()) ?? []
      )
      bytes[bytes.indexOf('name') + 1] = 0xff
      assert.equal(await write(put(blocks, DAG_PB, bytes), blocks, join(folder, 'x')), false)
    })
  })

  it('cannot lead through links that were planted where it is taken up again', async () => {
    await inTemporaryFolder(async (folder) => {
      mkdirSync(join(folder, 'outside'))
      writeFileSync(join(folder, 'outside/victim'), 'mine')
      const blocks: Blocks = new Map()
      const part = put(blocks, RAW, Buffer.from('theirs'))
      const large = new UnixFS({ type: 'file' })
      large.addBlockSize(6n)
      const file = node(blocks, large, [{ name: '', cid: part }])
      const d = node(blocks, new UnixFS({ type: 'directory' }), [{ name: 'victim', cid: part }])
      const cases = { d: { cid: d, to: 'outside' }, small: { cid: part, to: 'outside/victim' }, large: { cid: file, to: 'outside/victim' } }
      for (const [name, { cid, to }] of Object.entries(cases)) {
        const target = join(folder, `root-${name}`)
        mkdirSync(target)
        symlinkSync(join(folder, to), join(target, name))
        const root = node(blocks, new UnixFS({ type: 'directory' }), [{ name, cid }])
        await write(root, blocks, target, true)
        assert.equal(readFileSync(join(folder, 'outside/victim'), 'utf8'), 'mine')
        assert.deepEqual(readdirSync(join(folder, 'outside')), ['victim'])
      }
    })
  })

  it('is refused when it is nested too deeply', async () => {
    await inTemporaryFolder(async (folder) => {
      const blocks: Blocks = new Map()
      let at = node(blocks, new UnixFS({ type: 'directory' }), [])
      for (let depth = 0; depth < 200; depth++) at = node(blocks, new UnixFS({ type: 'directory' }), [{ name: 'd', cid: at }])
      assert.equal(await write(at, blocks, join(folder, 'deep')), false)
    })
  })
})
