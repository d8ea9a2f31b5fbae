import assert from 'node:assert/strict'
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { CarReader } from '@ipld/car/reader'
import * as dagCbor from '@ipld/dag-cbor'
import fc from 'fast-check'
import { exporter, recursive } from 'ipfs-unixfs-exporter'
import { exportCar } from '../car.ts'
import { type BlockId, blockIdOf, DAG_CBOR, RAW } from '../cid.ts'
import { CONTENT_PROTOCOL, ContentError, type ContentErrorCode } from '../content.ts'
import { WINDOW_BYTES } from '../policy.ts'
import { allBlocks } from '../reader.ts'
import { type Room, serveContent } from '../serve.ts'
import { encodeRequest } from '../wire.ts'
import { openContentStore } from './store.ts'
import { countAsked, type Files, inTemporaryFolder, type Pair, pattern, readFiles, withPair, writeFiles } from './testing.ts'

const MIB = 1024 * 1024

function pair(call: (pair: Pair, folder: string) => Promise<void>): Promise<void> {
  return inTemporaryFolder((folder) => withPair(folder, (made) => call(made, folder)))
}

function code(wanted: ContentErrorCode, words?: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof ContentError && error.code === wanted && (words === undefined || words.test(error.message))
}

function text(files: Files): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [path, Buffer.from(content as Uint8Array).toString('latin1')]))
}

const name = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'file', '...', '..a', ' ', '-rf', '$HOME', 'back\\slash', 'ü', '名', '%2e%2e%2f', 'CON'),
  fc.string({ unit: fc.constantFrom('x', 'y', 'é', '.', ' ', '🙂'), minLength: 1, maxLength: 12 }).filter((text) => text !== '.' && text !== '..')
)
const content = fc.oneof(
  fc.constantFrom('', 'same', 'other'),
  fc.integer({ min: 0, max: 5 }).map((seed) => pattern(seed * 40_000, seed)),
  fc.integer({ min: MIB - 1, max: MIB + 1 }).map((bytes) => pattern(bytes))
)
type Tree = { [name: string]: Tree | string | Uint8Array }
const { tree } = fc.letrec<{ tree: Tree; node: Tree | string | Uint8Array }>((tie) => ({
  node: fc.oneof({ depthSize: 'small', withCrossShrink: true }, content, tie('tree')),
  tree: fc.dictionary(name, tie('node'), { maxKeys: 6 })
}))

function flatten(nested: Tree, at = ''): Record<string, string | Uint8Array> {
  const flat: Record<string, string | Uint8Array> = {}
  const entries = Object.entries(nested)
  if (entries.length === 0 && at !== '') flat[at] = ''
  for (const [key, value] of entries) {
    if (typeof value === 'string' || value instanceof Uint8Array) flat[at + key] = value
    else Object.assign(flat, flatten(value, `${at + key}/`))
  }
  return flat
}

describe('fetching a tree', { timeout: 120_000 }, () => {
  it('brings any tree over unchanged, to be listed, read, mounted, served on and copied out', async () => {
    await pair(async ({ provider, requester, host }, folder) => {
      let run = 0
      await fc.assert(
        fc.asyncProperty(tree, async (nested) => {
          const files = flatten(nested)
          const here = writeFiles(join(folder, `tree-${++run}`), files)
          const { root, bytes } = await provider.addTree(here)
          await requester.fetch(root, { host, from: ['provider'] })
          assert.equal(requester.has(root), true)
          assert.equal(requester.sizeOf(root), bytes)
          const there = requester.locate(root)
          assert.ok(there !== undefined)
          assert.deepEqual(readFiles(there), text(files))
          const out = join(folder, `out-${run}`)
          await requester.restore(root, out)
          assert.deepEqual(readFiles(out), text(files))
          assert.equal((await requester.addTree(out)).root.toString(), root.toString())
        }),
        { numRuns: 25 }
      )
    })
  })

  it('brings a sharded folder over, and one file of it with the nodes on its path only', async () => {
    await pair(async ({ provider, requester, host, asked }, folder) => {
      const files = Object.fromEntries(Array.from({ length: 1300 }, (_, index) => [`${'a long name '.repeat(18)}${index}`, `${index}`]))
      const { root } = await provider.addTree(writeFiles(join(folder, 'tree'), { 'x/y': '1' }))
      writeFiles(join(folder, 'tree/big'), files)
      const whole = await provider.addTree(join(folder, 'tree'))
      assert.notEqual(whole.root.toString(), root.toString())
      const wanted = `${'a long name '.repeat(18)}1210`
      await requester.fetch(whole.root, { host, from: ['provider'], path: `big/${wanted}` })
      assert.ok(asked.length <= 6, `${asked.length} blocks for one file`)
      const at = requester.locate(whole.root, `big/${wanted}`)
      assert.ok(at !== undefined && statSync(at).size === 4)
      assert.equal(requester.has(whole.root), false)
      assert.equal(requester.locate(whole.root), undefined)
      await requester.fetch(whole.root, { host, from: ['provider'] })
      assert.equal(requester.has(whole.root), true)
      assert.equal((await requester.list(whole.root, 'big')).length, 1300)
      assert.deepEqual(readFiles(requester.locate(whole.root, 'big') ?? ''), files)
      assert.equal(new Set(asked).size, asked.length, 'nothing is asked for twice')
    })
  })

  it('asks for nothing it has: neither blocks of other trees nor overlapping paths', async () => {
    await pair(async ({ provider, requester, host, asked }, folder) => {
      const first = await provider.addTree(writeFiles(join(folder, 'one'), { 'd/e/big': pattern(3 * MIB), 'd/small': 'x', other: pattern(5000, 9) }))
      const second = await provider.addTree(writeFiles(join(folder, 'two'), { 'd/e/big': pattern(3 * MIB), 'd/small': 'x', other: pattern(5000, 8) }))
      const from = ['provider']
      await Promise.all([
        requester.fetch(first.root, { host, from, path: 'd/e' }),
        requester.fetch(first.root, { host, from, path: 'd' }),
        requester.fetch(first.root, { host, from, path: 'd/e/big' }),
        requester.fetch(first.root, { host, from })
      ])
      assert.equal(new Set(asked).size, asked.length, 'overlapping paths')
      const before = asked.length
      const { bytes } = await requester.fetch(second.root, { host, from })
      assert.equal(asked.length - before, 2, 'the new root and the new file')
      assert.ok(bytes < 6000)
      assert.deepEqual(await requester.fetch(second.root, { host, from }), { bytes: 0 })
    })
  })

  it('fetches paths beside each other at the same time, and the way to them once', async () => {
    await pair(async ({ provider, requester, host, asked, network }, folder) => {
      const { root } = await provider.addTree(writeFiles(join(folder, 'tree'), { 'd/one': pattern(5000, 1), 'd/two': pattern(5000, 2) }))
      const both = Promise.withResolvers<void>()
      let streams = 0
      const gate = network.host('gate')
      // The root and the folder come over streams of their own; neither file comes before both are asked for.
      await serveContent(
        {
          handle: (protocol, options, serve) =>
            gate.handle(protocol, options, async (stream) => {
              if (++streams === 4) both.resolve()
              if (streams > 2) await both.promise
              await serve(stream)
            })
        },
        provider
      )
      await Promise.all(['d/one', 'd/two'].map((path) => requester.fetch(root, { host, from: ['gate'], path })))
      assert.equal(streams, 4)
      assert.equal(new Set(asked).size, asked.length)
    })
  })

  it('copies out of what is published where that soon goes, and asks nobody for it', async () => {
    await pair(async ({ provider, network }, folder) => {
      const asked: string[] = []
      network.passing = countAsked(asked, 'node')
      const input = await provider.addTree(writeFiles(join(folder, 'input'), { 'part/9': '9\n' }))
      const node = await openContentStore(join(folder, 'node'), { publishedPasses: true })
      const host = network.host('node')
      const here = () => node.locate(input.root, 'part/9')
      try {
        const left = await node.addTree(writeFiles(join(folder, 'replica'), { square: '9\n' }))
        await node.fetch(input.root, { host, from: ['provider'], path: 'part/9' })
        assert.ok(here()?.startsWith(join(folder, 'node')), 'not in the folder of a replica')
        assert.equal(asked.length, 2, 'two folders, and no file')
        await node.remove(left.root)
        assert.equal(readFileSync(here() ?? '', 'utf8'), '9\n')
      } finally {
        await node.close()
      }
    })
  })

  it('shares one transfer among all who wait; the first to give up stops nobody', async () => {
    await pair(async ({ provider, requester, host, asked, network }, folder) => {
      const { root } = await provider.addTree(writeFiles(join(folder, 'tree'), { big: pattern(12 * MIB), small: 'x' }))
      const first = new AbortController()
      const counted = network.passing
      network.passing = (frame, from) => {
        if (asked.length > 3) first.abort(new Error('I give up'))
        return counted(frame, from)
      }
      const waiting = Array.from({ length: 10 }, (_, index) =>
        requester.fetch(root, { host, from: ['provider'], ...(index === 0 ? { signal: first.signal } : {}) })
      )
      const [gaveUp, ...others] = await Promise.allSettled(waiting)
      assert.ok(gaveUp?.status === 'rejected' && gaveUp.reason === first.signal.reason)
      for (const other of others) assert.equal(other.status, 'fulfilled')
      assert.equal(new Set(asked).size, asked.length)
      assert.equal(network.streamsOpened, 1)
    })
  })

  it('stops when all have given up, and keeps what had arrived', async () => {
    await pair(async ({ provider, requester, host, asked, network }, folder) => {
      const { root } = await provider.addTree(writeFiles(join(folder, 'tree'), { big: pattern(24 * MIB) }))
      const controller = new AbortController()
      const served = countAsked(asked)
      let replies = 0
      network.passing = (frame, from) => {
        if (from === 'provider' && ++replies === 14) controller.abort(new Error('enough'))
        return served(frame, from)
      }
      await assert.rejects(requester.fetch(root, { host, from: ['provider'], signal: controller.signal }), /enough/)
      assert.equal(requester.has(root), false)
      assert.equal(requester.locate(root), undefined)
      const before = asked.length
      assert.ok(before < 25)
      network.passing = served
      await requester.fetch(root, { host, from: ['provider'] })
      assert.ok(asked.length - before <= 16, `${asked.length - before} blocks after 11 or more had arrived`)
      assert.deepEqual(readFiles(requester.locate(root) ?? ''), text({ big: pattern(24 * MIB) }))
    })
  })

  it('takes up a transfer that was cut in the middle, sending no verified block again', async () => {
    await pair(async ({ provider, requester, host, asked, network }, folder) => {
      const files = { big: pattern(20 * MIB), ...Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`d/${index}`, pattern(3000, index + 2)])) }
      const { root } = await provider.addTree(writeFiles(join(folder, 'tree'), files))
      const served = countAsked(asked)
      let passed = 0
      let blocks = 0
      network.passing = (frame, from) => {
        if (from === 'provider') passed += frame.length
        if (passed > 10 * MIB) throw new Error('the cable is cut')
        return served(frame, from)
      }
      await assert.rejects(
        requester.fetch(root, { host, from: ['provider'], onProgress: (progress) => (blocks = progress.blocks) }),
        code('unreachable', /provider/)
      )
      asked.length = 0
      network.passing = served
      await requester.fetch(root, { host, from: ['provider'] })
      assert.ok(asked.length <= 322 + 3 - blocks + 1, `${asked.length} asked after ${blocks} had arrived`)
      assert.deepEqual(readFiles(requester.locate(root) ?? ''), text(files))
    })
  })

  it('asks the next provider for what the first lacks, breaks, floods or closes on, and names who was at fault', async () => {
    await pair(async ({ provider, requester, host, network }, folder) => {
      const { root } = await provider.addTree(writeFiles(join(folder, 'tree'), { big: pattern(6 * MIB), small: 'x' }))
      const faults: Record<string, (reply: Uint8Array) => Uint8Array> = {
        garbage: () => Buffer.from('garbage'),
        wrong: (reply) => reply.map((byte, index) => (index > 4 && index < 8 ? byte ^ 1 : byte)),
        oversized: () => new Uint8Array(4 * MIB),
        short: (reply) => reply.subarray(0, reply.length - 1),
        cut: () => {
          throw new Error('cut')
        },
        more: () => Buffer.concat(Array.from({ length: 50 }, (_, index) => (index === 0 ? Buffer.from([2]) : Buffer.from([1, 0, 0, 0, 7]))))
      }
      const empty = await openContentStore(join(folder, 'empty'))
      try {
        await serveContent(network.host('empty'), empty)
        for (const fault of Object.keys(faults)) await serveContent(network.host(fault), provider)
        network.passing = (frame, from) => faults[from]?.(frame) ?? frame
        for (const fault of [...Object.keys(faults), 'empty', 'nobody']) {
          const wanted = fault === 'empty' ? 'not_found' : ['cut', 'nobody', 'oversized'].includes(fault) ? 'unreachable' : 'corrupt'
          await assert.rejects(requester.fetch(root, { host, from: [fault] }), code(wanted, new RegExp(fault)))
          assert.equal(requester.has(root), false)
        }
        await requester.fetch(root, { host, from: [...Object.keys(faults), 'empty', 'nobody', 'provider'] })
        assert.deepEqual(readFiles(requester.locate(root) ?? ''), text({ big: pattern(6 * MIB), small: 'x' }))
      } finally {
        await empty.close()
      }
    })
  })

  it('leaves a provider that stalls for the next one', async () => {
    await inTemporaryFolder((folder) =>
      withPair(folder, async ({ provider, network }) => {
        const { root } = await provider.addTree(writeFiles(join(folder, 'tree'), { a: 'x' }))
        const clock = {
          after: (_ms: number, call: () => void) => {
            setImmediate(() => setImmediate(call))
            return () => undefined
          }
        }
        const impatient = await openContentStore(join(folder, 'impatient'), { clock })
        try {
          await network.host('silent').handle(CONTENT_PROTOCOL, { frameBytesMax: MIB }, async (stream) => {
            for await (const _ of stream.frames());
          })
          await assert.rejects(impatient.fetch(root, { host: network.host('impatient'), from: ['silent'] }), code('unreachable', /silent.*nothing came/))
        } finally {
          await impatient.close()
        }
      })
    )
  })

  it('fetches a node with all it links to, each file then known by its own id', async () => {
    await pair(async ({ provider, requester, host, asked }, folder) => {
      const at = writeFiles(join(folder, 'layers'), { one: pattern(2 * MIB), two: pattern(70_000, 3) })
      const one = await provider.addFileCut(join(at, 'one'), [1000, MIB, 2 * MIB])
      const two = await provider.addTree(join(at, 'two'))
      const config = await provider.putBlock(RAW, Buffer.from('{}'))
      const image = await provider.putBlock(DAG_CBOR, dagCbor.encode({ v: 1, config, layers: [one.root, two.root, one.root] }))
      assert.equal(provider.has(image), true)
      await Promise.all([requester.fetch(image, { host, from: ['provider'] }), requester.fetch(two.root, { host, from: ['provider'] })])
      assert.equal(requester.has(image), true)
      assert.equal(new Set(asked).size, asked.length)
      for (const [layer, bytes] of [
        [one, pattern(2 * MIB)],
        [two, pattern(70_000, 3)]
      ] as const) {
        const path = requester.locate(layer.root)
        assert.ok(path !== undefined && statSync(path).size === bytes.length)
        assert.equal(requester.sizeOf(layer.root), bytes.length)
      }
      await requester.remove(image)
      assert.equal(requester.has(image), false)
      assert.equal(requester.has(one.root), false)
      assert.equal(requester.has(two.root), true, 'it was asked for by itself too')
    })
  })

  it('marks executables, keeps all else read-only, and holds to the bound on bytes', async () => {
    await pair(async ({ provider, requester, host }, folder) => {
      const { root } = await provider.addTree(writeFiles(join(folder, 'tree'), { 'bin/run': '#!', 'bin/data': pattern(MIB + 1) }))
      await assert.rejects(requester.fetch(root, { host, from: ['provider'], bytesMax: MIB }), code('too_large'))
      assert.equal(requester.locate(root), undefined)
      await requester.fetch(root, { host, from: ['provider'], bytesMax: 2 * MIB, executables: ['bin/run', 'bin/none'] })
      const at = requester.locate(root) ?? ''
      assert.equal(statSync(join(at, 'bin/run')).mode & 0o777, 0o555)
      assert.equal(statSync(join(at, 'bin/data')).mode & 0o777, 0o444)
      assert.ok((await requester.getBlock((await requester.list(root, 'bin'))[1]?.cid ?? root)) !== undefined)
      const out = join(folder, 'out')
      await requester.restore(root, out, { path: 'bin', executables: ['bin/run'] })
      assert.equal(statSync(join(out, 'run')).mode & 0o777, 0o755)
      await assert.rejects(requester.restore(root, out), code('exists'))
    })
  })

  it('does not serve a published file that has changed, and says so to the one who asks', async () => {
    await pair(async ({ provider, requester, host }, folder) => {
      const tree = writeFiles(join(folder, 'tree'), { a: 'x', b: 'y' })
      const { root } = await provider.addTree(tree)
      appendFileSync(join(tree, 'a'), 'more')
      await assert.rejects(requester.fetch(root, { host, from: ['provider'] }), code('not_found', /provider does not have/))
    })
  })

  it('notices a file that is gone, and brings back that alone', async () => {
    await pair(async ({ provider, requester, host }, folder) => {
      const files = { 'd/a': pattern(MIB * 2 + 1), 'd/b': pattern(3000, 2), 'e/c': pattern(3000, 3), empty: '', 'd/same': 'same', same: 'same' }
      const { root } = await provider.addTree(writeFiles(join(folder, 'tree'), files))
      await requester.fetch(root, { host, from: ['provider'], pin: true })
      const at = requester.locate(root) ?? ''
      for (const path of Object.keys(files)) {
        assert.ok(await requester.check(root))
        rmSync(join(at, path))
        assert.ok(requester.has(root), 'nobody looked')
        assert.equal(await requester.check(root), false, path)
        assert.equal(requester.has(root), false)
        assert.equal(requester.locate(root), undefined)
        const { bytes } = await requester.fetch(root, { host, from: ['provider'] })
        assert.ok(bytes < MIB * 3 && (path === 'd/a' || bytes < MIB), `${bytes} bytes came for ${path}`)
        assert.deepEqual(readFiles(requester.locate(root) ?? ''), text(files))
      }
      rmSync(at, { recursive: true })
      assert.equal(await requester.check(root, 'e'), false)
    })
  })

  it('looks at the part that is asked for, and at what a made folder holds', async () => {
    await pair(async ({ provider, requester, host }, folder) => {
      const { root } = await provider.addTree(writeFiles(join(folder, 'tree'), { 'd/a': 'a', 'e/b': 'b' }))
      await requester.fetch(root, { host, from: ['provider'], path: 'd' })
      assert.equal(await requester.check(root), false)
      assert.ok(await requester.check(root, 'd'))
      const part = requester.resolve(root, 'd') as typeof root
      const made = await requester.putBlock(DAG_CBOR, dagCbor.encode([part]))
      assert.ok(await requester.check(made))
      writeFileSync(join(requester.locate(part) ?? '', 'c'), 'of somebody')
      assert.ok(await requester.check(made))
      rmSync(join(requester.locate(part) ?? '', 'a'))
      assert.equal(await requester.check(made), false)
      assert.equal(await requester.check(root, 'd'), false)
      assert.equal(await requester.check(root, 'nothing'), false)
    })
  })

  it('knows that a tree is not whole once a block of it could not be served', async () => {
    await pair(async ({ provider, host, requester }, folder) => {
      const { root } = await provider.addTree(writeFiles(join(folder, 'tree'), { a: pattern(3000), b: 'y' }))
      rmSync(join(folder, 'tree/a'))
      assert.ok(provider.has(root))
      await assert.rejects(requester.fetch(root, { host, from: ['provider'] }), code('not_found'))
      assert.equal(provider.has(root), false)
    })
  })

  it('forgets a tree with its files, and nothing that others share', async () => {
    await pair(async ({ provider, requester, host }, folder) => {
      const one = await provider.addTree(writeFiles(join(folder, 'one'), { 'd/a': 'same', b: 'one' }))
      const two = await provider.addTree(writeFiles(join(folder, 'two'), { 'd/a': 'same', b: 'two' }))
      for (const { root } of [one, two]) await requester.fetch(root, { host, from: ['provider'] })
      await requester.remove(one.root)
      assert.equal(requester.has(one.root), false)
      assert.equal(existsSync(join(folder, 'requester/trees', one.root.toString())), false)
      assert.deepEqual(readFiles(requester.locate(two.root) ?? ''), { 'd/a': 'same', b: 'two' })
      for (const { cid } of await requester.list(two.root, 'd')) assert.ok((await requester.getBlock(cid)) !== undefined)
      assert.deepEqual(readdirSync(join(folder, 'requester/trash')), [])
    })
  })

  it('serves a reader that does not read without gathering blocks', async () => {
    await pair(async ({ provider, host }, folder) => {
      const { root } = await provider.addTree(writeFiles(join(folder, 'tree'), { big: pattern(40 * MIB) }))
      const file = (await provider.list(root))[0]?.cid
      assert.ok(file !== undefined)
      const ids: BlockId[] = []
      for await (const { cid } of allBlocks(file, async (cid) => (await provider.getBlock(cid)) ?? new Uint8Array())) ids.push(blockIdOf(cid))
      let served = 0
      const counting = {
        ...provider,
        serveBlock: (id: BlockId, room: Room) => {
          served++
          return provider.serveBlock(id, room)
        },
        getBlock: provider.getBlock.bind(provider)
      }
      const slow = host
      await serveContent(slow, counting as typeof provider)
      const stream = await slow.open(slow.peerId, CONTENT_PROTOCOL, { frameBytesMax: 4 * MIB })
      await stream.write(encodeRequest(ids))
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
      assert.ok(served <= 5 + WINDOW_BYTES / MIB, `${served} blocks were read for a peer that reads none`)
      stream.abort(new Error('done'))
    })
  })
})

describe('a CAR file', () => {
  it('holds the tree, as other IPFS programs read it', async () => {
    await pair(async ({ provider }, folder) => {
      const files = { 'a/big': pattern(2 * MIB + 1), 'a/b': 'text', same: 'text', empty: '' }
      const { root } = await provider.addTree(writeFiles(join(folder, 'tree'), files))
      const car = await CarReader.fromIterable(exportCar(provider, root))
      assert.deepEqual((await car.getRoots()).map(String), [root.toString()])
      const blockstore = {
        async *get(cid: Parameters<typeof car.get>[0]) {
          const block = await car.get(cid)
          if (block === undefined) throw new Error(`${cid} is not in the CAR`)
          yield block.bytes
        }
      }
      const found: Record<string, string> = {}
      for await (const entry of recursive(root, blockstore as Parameters<typeof recursive>[1])) {
        const file = await exporter(entry.cid, blockstore as Parameters<typeof exporter>[1])
        if (file.type !== 'file' && file.type !== 'raw') continue
        const parts: Uint8Array[] = []
        for await (const part of file.content()) parts.push(part)
        found[entry.path.slice(root.toString().length + 1)] = Buffer.concat(parts).toString('latin1')
      }
      assert.deepEqual(found, text(files))
    })
  })
})
