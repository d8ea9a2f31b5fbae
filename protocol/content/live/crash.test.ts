import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ContentError } from '../content.ts'
import { openContentStore } from './store.ts'
import { inTemporaryFolder, pattern, readFiles, withPair, writeFiles } from './testing.ts'

const MIB = 1024 * 1024
const FILES = {
  big: pattern(48 * MIB),
  'd/e/f': 'x',
  ...Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`many/${index}`, pattern(2000, index + 2)]))
}
const TEXT = Object.fromEntries(Object.entries(FILES).map(([path, content]) => [path, Buffer.from(content).toString('latin1')]))
const PROGRAM = fileURLToPath(new URL('./crash-program.ts', import.meta.url))

describe('a content store', { timeout: 120_000 }, () => {
  it('killed in the middle of a fetch has nothing complete, and fetches only the rest afterwards', async () => {
    await inTemporaryFolder(async (folder) => {
      writeFiles(join(folder, 'tree'), FILES)
      let root = ''
      for (const killAfterBytes of [1 * MIB, 20 * MIB, 20 * MIB]) {
        const child = spawn(process.execPath, [PROGRAM, folder, String(killAfterBytes)], { stdio: ['ignore', 'pipe', 'inherit'] })
        child.stdout.on('data', (data: Buffer) => {
          root = data.toString().trim()
        })
        const [, signal] = await once(child, 'exit')
        assert.equal(signal, 'SIGKILL')
      }
      await withPair(folder, async ({ provider, requester, host, asked }) => {
        const added = await provider.addTree(join(folder, 'tree'))
        assert.equal(added.root.toString(), root)
        assert.equal(requester.has(added.root), false)
        assert.equal(requester.locate(added.root), undefined)
        assert.equal(existsSync(join(folder, 'requester/trees', root)), true)
        const { bytes } = await requester.fetch(added.root, { host, from: ['provider'] })
        assert.ok(asked.length > 0 && bytes < (49 - 41 + 3 * 5) * MIB, `${bytes} bytes after 41 MiB had passed`)
        assert.deepEqual(readFiles(requester.locate(added.root) ?? ''), TEXT)
      })
    })
  })

  it('on a full disk says so, loses nothing, and goes on when there is room', async () => {
    await inTemporaryFolder(async (folder) => {
      mkdirSync(join(folder, 'small'))
      // a mount of its own needs root, or a user namespace where one may be made
      const shell = `mount -t tmpfs -o size=72m tmpfs "$1" && exec "$2" "$3" "$4" full`
      const namespace = process.getuid?.() === 0 ? ['-m'] : ['-rm']
      writeFiles(join(folder, 'tree'), { ...FILES, z: pattern(2 * MIB) })
      const answer = execFileSync('unshare', [...namespace, 'sh', '-c', shell, 'sh', join(folder, 'small'), process.execPath, PROGRAM, folder]).toString()
      assert.deepEqual(JSON.parse(answer), { code: 'disk_full', completeBefore: true, completeAfter: true, missing: false, second: true })
    })
  })

  it('finishes a removal that a kill interrupted', async () => {
    await inTemporaryFolder(async (folder) => {
      const store = await openContentStore(join(folder, 'store'))
      const { root } = await store.addTree(writeFiles(join(folder, 'tree'), { a: 'x' }))
      await store.remove(root)
      await store.close()
      const again = await openContentStore(join(folder, 'store'))
      assert.equal(again.has(root), false)
      await assert.rejects(
        (async () => {
          for await (const _ of again.read(root));
        })(),
        (error) => error instanceof ContentError && error.code === 'not_found'
      )
      await again.close()
    })
  })
})
