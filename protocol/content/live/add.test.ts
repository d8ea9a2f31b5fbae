import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, renameSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { blockIdOf } from '../cid.ts'
import { ContentError, type ContentErrorCode, EMPTY_DIRECTORY, EMPTY_FILE } from '../content.ts'
import { openContentStore } from './store.ts'
import { inTemporaryFolder, pattern, type Store, writeFiles } from './testing.ts'

const MIB = 1024 * 1024

async function withStore(call: (store: Store, folder: string) => Promise<void>): Promise<void> {
  await inTemporaryFolder(async (folder) => {
    const store = await openContentStore(join(folder, 'store'))
    try {
      await call(store, folder)
    } finally {
      await store.close()
    }
  })
}

function code(wanted: ContentErrorCode, words?: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof ContentError && error.code === wanted && (words === undefined || words.test(error.message))
}

async function bytesOf(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const part of parts) all.push(part)
  return Buffer.concat(all)
}

describe('adding a tree', () => {
  it('gives the same id to the same tree whatever its owner, times, modes and order', async () => {
    await withStore(async (store, folder) => {
      const files = { 'a/one': 'first', 'a/b/two': pattern(MIB + 5), three: '', 'empty/': '', 'z\\back slash': 'x' }
      const first = writeFiles(join(folder, 'first'), files)
      const second = writeFiles(join(folder, 'second'), Object.fromEntries(Object.entries(files).reverse()))
      utimesSync(join(second, 'a/one'), 1, 2)
      chmodSync(join(second, 'a'), 0o700)
      chmodSync(join(second, 'a/b/two'), 0o755)
      if (process.getuid?.() === 0) chownSync(join(second, 'three'), 1234, 1234)
      const one = await store.addTree(first)
      const two = await store.addTree(second)
      assert.equal(one.root.toString(), two.root.toString())
      assert.deepEqual([one.files, one.bytes, one.skipped, one.executables], [4, MIB + 5 + 6, 0, []])
      assert.deepEqual(two.executables, ['a/b/two'])
    })
  })

  it('gives the ids that kubo gives', async () => {
    await withStore(async (store, folder) => {
      writeFiles(folder, { file: 'hello world', empty: '', 'none/': '' })
      assert.equal((await store.addTree(join(folder, 'file'))).root.toString(), 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e')
      assert.equal((await store.addTree(join(folder, 'empty'))).root.toString(), EMPTY_FILE)
      assert.equal((await store.addTree(join(folder, 'none'))).root.toString(), EMPTY_DIRECTORY)
    })
  })

  it('keeps the files where they are, and finds them again after a restart', async () => {
    await inTemporaryFolder(async (folder) => {
      const tree = writeFiles(join(folder, 'tree'), { 'a/big': pattern(3 * MIB), 'a/small': 'x' })
      const store = await openContentStore(join(folder, 'store'))
      const { root } = await store.addTree(tree, { pin: true })
      await store.close()
      const again = await openContentStore(join(folder, 'store'))
      assert.equal(again.has(root), true)
      assert.equal(again.sizeOf(root), 3 * MIB + 1)
      assert.equal(again.locate(root), tree)
      assert.equal(again.locate(root, 'a/big'), join(tree, 'a/big'))
      assert.equal(again.locate(root, 'a/none'), undefined)
      assert.ok((await bytesOf(again.read(root, 'a/big'))).equals(Buffer.from(pattern(3 * MIB))))
      const disk = execFileSync('du', ['-sk', join(folder, 'store')]).toString()
      assert.ok(Number.parseInt(disk, 10) < 1024, `the store takes ${disk}`)
      await again.close()
    })
  })

  it('lists, reads ranges, and names what is wrong with a path', async () => {
    await withStore(async (store, folder) => {
      const data = pattern(2 * MIB + 100)
      const { root } = await store.addTree(writeFiles(join(folder, 'tree'), { 'd/big': data, 'd/a': '1', 'd/e/': '' }))
      const listed = await store.list(root, 'd')
      assert.deepEqual(
        listed.map(({ name, bytes, directory }) => [name, directory ? 0 : bytes, directory]),
        [
          ['a', 1, false],
          ['big', data.length, false],
          ['e', 0, true]
        ]
      )
      const big = listed[1]?.cid
      assert.ok(big !== undefined && store.has(big) && store.locate(big) === join(folder, 'tree/d/big'))
      for (const [from, to] of [
        [0, 10],
        [MIB - 3, MIB + 3],
        [2 * MIB + 99, 2 * MIB + 200],
        [5, 5]
      ] as const)
        assert.ok((await bytesOf(store.read(root, 'd/big', { from, to }))).equals(Buffer.from(data.subarray(from, to))))
      await assert.rejects(store.list(root, 'd/a'), code('not_a_directory'))
      await assert.rejects(store.list(root, 'none'), code('not_found'))
      await assert.rejects(bytesOf(store.read(root, '../x')), code('not_found'))
      await assert.rejects(bytesOf(store.read(root, 'd/a/b')), code('not_a_directory'))
    })
  })

  it('refuses what is no file and no folder, naming it, or leaves it out and counts', async () => {
    await withStore(async (store, folder) => {
      const plain = writeFiles(join(folder, 'plain'), { 'in/file': 'x', other: 'y' })
      const wanted = await store.addTree(plain)
      const makers: Record<string, (path: string) => void> = {
        link: (path) => symlinkSync('/etc/passwd', path),
        loop: (path) => symlinkSync('..', path),
        fifo: (path) => void execFileSync('mkfifo', [path]),
        'new\nline': (path) => writeFileSync(path, ''),
        'esc\x1b[2J': (path) => writeFileSync(path, '')
      }
      for (const [name, make] of Object.entries(makers)) {
        const tree = writeFiles(join(folder, JSON.stringify(name)), { 'in/file': 'x', other: 'y' })
        make(join(tree, 'in', name))
        await assert.rejects(
          store.addTree(tree),
          (error) => code('special_file')(error) && error instanceof Error && error.message.includes(JSON.stringify(name).slice(1, 4))
        )
        const left = await store.addTree(tree, { special: 'skip' })
        assert.deepEqual([left.root.toString(), left.skipped], [wanted.root.toString(), 1])
      }
    })
  })

  it('refuses names that are not UTF-8, sockets and trees that are links', async () => {
    await withStore(async (store, folder) => {
      const tree = writeFiles(join(folder, 'tree'), { a: '' })
      writeFileSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xff, 0x66])]), '')
      await assert.rejects(store.addTree(tree), code('special_file', /not UTF-8/))
      const sockets = writeFiles(join(folder, 's'), { a: '' })
      const server = createServer().listen(join(sockets, 'sock'))
      await new Promise((resolve) => server.once('listening', resolve))
      try {
        await assert.rejects(store.addTree(sockets), code('special_file', /socket/))
      } finally {
        server.close()
      }
      await assert.rejects(store.addTree(join(folder, 'none')), code('not_found'))
      await assert.rejects(store.addTree('/dev/null'), code('special_file'))
    })
  })

  it('holds a hostile tree to its bounds', async () => {
    await withStore(async (store, folder) => {
      const tree = writeFiles(join(folder, 'tree'), Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`d/${index}`, 'xx'])))
      await assert.rejects(store.addTree(tree, { entriesMax: 50 }), code('too_large'))
      await assert.rejects(store.addTree(tree, { bytesMax: 99 }), code('too_large'))
      assert.equal((await store.addTree(tree, { entriesMax: 51, bytesMax: 100 })).files, 50)
      const deep = join(folder, 'deep')
      mkdirSync(join(deep, ...Array.from({ length: 102 }, () => 'd')), { recursive: true })
      await assert.rejects(store.addTree(deep), code('too_large'))
    })
  })

  it('does not serve a file that has changed', async () => {
    await withStore(async (store, folder) => {
      const tree = writeFiles(join(folder, 'tree'), { a: 'before', b: pattern(2 * MIB) })
      const { root } = await store.addTree(tree)
      const cids = new Map((await store.list(root)).map(({ name, cid }) => [name, cid]))
      const a = cids.get('a')
      assert.ok(a !== undefined && (await store.getBlock(a)) !== undefined)
      const { mtimeMs, atimeMs } = statSync(join(tree, 'a'))
      writeFileSync(join(tree, 'a'), 'behind')
      utimesSync(join(tree, 'a'), atimeMs / 1000 + 10, mtimeMs / 1000 + 10)
      assert.equal(await store.getBlock(a), undefined)
      assert.equal(await store.serveBlock(blockIdOf(a), Buffer.alloc), undefined)
      await assert.rejects(bytesOf(store.read(root, 'a')), code('changed', /tree\/a/))
      renameSync(join(tree, 'b'), join(tree, 'c'))
      await assert.rejects(bytesOf(store.read(root, 'b')), code('changed'))
    })
  })

  it('serves a block from another place when the first has changed', async () => {
    await withStore(async (store, folder) => {
      const first = writeFiles(join(folder, 'first'), { a: 'same' })
      const second = writeFiles(join(folder, 'second'), { a: 'same', b: 'more' })
      const one = await store.addTree(first)
      const two = await store.addTree(second)
      writeFileSync(join(first, 'a'), 'other')
      assert.equal((await bytesOf(store.read(two.root, 'a'))).toString(), 'same')
      await store.remove(one.root)
      assert.equal(store.has(one.root), false)
      assert.equal((await bytesOf(store.read(two.root, 'a'))).toString(), 'same')
      assert.equal(statSync(first).isDirectory(), true)
    })
  })

  it('cuts a file where it is told, and the file reads the same', async () => {
    await withStore(async (store, folder) => {
      const data = pattern(100_000)
      const path = join(writeFiles(join(folder, 'd'), { layer: data }), 'layer')
      const { root, bytes } = await store.addFileCut(path, [10, 512, 70_000, 100_000])
      assert.equal(bytes, 100_000)
      assert.ok((await bytesOf(store.read(root))).equals(Buffer.from(data)))
      assert.equal(store.locate(root), path)
      assert.notEqual(root.toString(), (await store.addTree(path)).root.toString())
      for (const cuts of [[10], [10, 10, 100_000], [], [100_001]]) await assert.rejects(store.addFileCut(path, cuts), code('bad_tree'))
    })
  })

  it('publishes a folder again after it has changed, without the old files', async () => {
    await withStore(async (store, folder) => {
      const tree = writeFiles(join(folder, 'tree'), { a: '1', b: '2' })
      const before = await store.addTree(tree)
      assert.equal((await store.addTree(tree)).root.toString(), before.root.toString())
      writeFileSync(join(tree, 'a'), '3')
      const after = await store.addTree(tree)
      assert.equal((await bytesOf(store.read(after.root, 'a'))).toString(), '3')
      assert.equal((await bytesOf(store.read(after.root, 'b'))).toString(), '2')
      await store.remove(before.root)
      assert.equal((await bytesOf(store.read(after.root, 'b'))).toString(), '2')
    })
  })

  it('lets one process in at a time', async () => {
    await withStore(async (_, folder) => {
      await assert.rejects(openContentStore(join(folder, 'store')), code('in_use'))
    })
  })

  it('stops when asked', async () => {
    await withStore(async (store, folder) => {
      const tree = writeFiles(join(folder, 'tree'), Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${index}`, `${index}`])))
      const controller = new AbortController()
      const adding = store.addTree(tree, { signal: controller.signal, onProgress: () => controller.abort(new Error('enough')) })
      await assert.rejects(adding, /enough/)
    })
  })
})
