import assert from 'node:assert/strict'
import { chmodSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { MemoryNetwork } from '../memory-network.ts'
import { serveContent } from '../serve.ts'
import { openContentStore } from './store.ts'
import { countAsked, inTemporaryFolder, pattern, readFiles, writeFiles } from './testing.ts'

const MIB = 1024 * 1024
const FILES = { a: pattern(3000, 2), b: pattern(3000, 3), c: pattern(3000, 4), large: pattern(5 * MIB, 5) }
const TEXT = Object.fromEntries(Object.entries(FILES).map(([path, content]) => [path, Buffer.from(content).toString('latin1')]))

/** As a disk that had no time leaves them: with their size and time, and zeros in place of what was written last. */
function zero(path: string, from = 0): void {
  const { size, mtime, atime } = statSync(path)
  const bytes = readFileSync(path)
  chmodSync(path, 0o600)
  writeFileSync(path, bytes.fill(0, from))
  chmodSync(path, 0o444)
  utimesSync(path, atime, mtime)
  assert.equal(statSync(path).size, size)
}

function cut(path: string, bytes: number): void {
  chmodSync(path, 0o600)
  truncateSync(path, bytes)
  chmodSync(path, 0o444)
}

describe('content after a power cut', { timeout: 60_000 }, () => {
  it('is compared when it is needed: what is torn is fetched again, and no more', async () => {
    await inTemporaryFolder(async (folder) => {
      const network = new MemoryNetwork()
      const asked: string[] = []
      network.passing = countAsked(asked)
      const provider = await openContentStore(join(folder, 'provider'))
      await serveContent(network.host('provider'), provider)
      const { root } = await provider.addTree(writeFiles(join(folder, 'tree'), FILES))
      const fetching = { host: network.host('requester'), from: ['provider'] }
      const before = await openContentStore(join(folder, 'requester'), { boot: 'first' })
      await before.fetch(root, fetching)
      const at = before.locate(root) ?? ''
      await before.close()
      const same = await openContentStore(join(folder, 'requester'), { boot: 'first' })
      assert.equal(same.has(root), true)
      await same.close()
      zero(join(at, 'a'))
      cut(join(at, 'b'), 0)
      zero(join(at, 'large'), 4 * MIB)
      const after = await openContentStore(join(folder, 'requester'), { boot: 'second' })
      assert.deepEqual([after.has(root), after.locate(root)], [false, undefined])
      asked.length = 0
      await after.fetch(root, fetching)
      assert.equal(asked.length, 3, 'a, b and the last leaf of the large one')
      assert.deepEqual(readFiles(after.locate(root) ?? ''), TEXT)
      await after.close()
      await provider.close()
    })
  })

  it('is never served torn', async () => {
    await inTemporaryFolder(async (folder) => {
      const before = await openContentStore(join(folder, 'node'), { publishedPasses: true, boot: 'first' })
      const tree = writeFiles(join(folder, 'out'), FILES)
      const { root } = await before.addTree(tree)
      const a = before.resolve(root, 'a')
      const c = before.resolve(root, 'c')
      await before.close()
      zero(join(tree, 'a'))
      const after = await openContentStore(join(folder, 'node'), { publishedPasses: true, boot: 'second' })
      const served = new MemoryNetwork()
      await serveContent(served.host('node'), after)
      const requester = await openContentStore(join(folder, 'project'))
      const from = { host: served.host('project'), from: ['node'] }
      assert.ok(a && c)
      await requester.fetch(c, from)
      await assert.rejects(requester.fetch(a, from), { code: 'not_found' })
      await requester.close()
      await after.close()
    })
  })

  it('is on disk before it is here, where that was asked for', async () => {
    await inTemporaryFolder(async (folder) => {
      const network = new MemoryNetwork()
      const provider = await openContentStore(join(folder, 'provider'))
      await serveContent(network.host('provider'), provider)
      const { root } = await provider.addTree(writeFiles(join(folder, 'tree'), { ...FILES, 'd/e': 'x' }))
      const before = await openContentStore(join(folder, 'project'), { durable: true, boot: 'first' })
      await before.fetch(root, { host: network.host('project'), from: ['provider'] })
      await before.close()
      const after = await openContentStore(join(folder, 'project'), { durable: true, boot: 'second' })
      assert.equal(after.has(root), true)
      await after.close()
      await provider.close()
    })
  })
})
