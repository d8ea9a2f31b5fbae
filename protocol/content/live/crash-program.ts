/** The process that crash.test.ts kills or gives too small a disk: `FOLDER BYTES` fetches FOLDER/tree and kills itself after so many bytes; `FOLDER full` fetches onto FOLDER/small. */
import { join } from 'node:path'
import { ContentError } from '../content.ts'
import { MemoryNetwork } from '../memory-network.ts'
import { serveContent } from '../serve.ts'
import { openContentStore } from './store.ts'
import { pattern, withPair, writeFiles } from './testing.ts'

async function killedAfter(folder: string, bytes: number): Promise<void> {
  await withPair(folder, async ({ provider, requester, host, network }) => {
    const { root } = await provider.addTree(join(folder, 'tree'))
    process.stdout.write(`${root}\n`)
    let passed = 0
    network.passing = (frame, from) => {
      if (from === 'provider') passed += frame.length
      if (passed > bytes) process.kill(process.pid, 'SIGKILL')
      return frame
    }
    await requester.fetch(root, { host, from: ['provider'] })
  })
}

async function onSmallDisk(folder: string): Promise<void> {
  const network = new MemoryNetwork()
  const provider = await openContentStore(join(folder, 'provider'))
  await serveContent(network.host('provider'), provider)
  const host = network.host('requester')
  const requester = await openContentStore(join(folder, 'small/store'))
  const first = await provider.addTree(writeFiles(join(folder, 'first'), { a: pattern(1024 * 1024) }))
  const large = await provider.addTree(join(folder, 'tree'))
  await requester.fetch(first.root, { host, from: ['provider'] })
  const completeBefore = requester.has(first.root)
  const code = await requester.fetch(large.root, { host, from: ['provider'] }).then(
    () => 'fetched',
    (error: unknown) => (error instanceof ContentError ? error.code : String(error))
  )
  const missing = requester.has(large.root)
  const completeAfter = requester.has(first.root) && (await requester.list(first.root)).length === 1
  await requester.remove(large.root)
  const second = await provider.addTree(writeFiles(join(folder, 'second'), { b: pattern(3 * 1024 * 1024, 5) }))
  await requester.fetch(second.root, { host, from: ['provider'] })
  process.stdout.write(JSON.stringify({ code, completeBefore, completeAfter, missing, second: requester.has(second.root) }))
  await requester.close()
  await provider.close()
}

const [folder = '', what = ''] = process.argv.slice(2)
if (what === 'full') await onSmallDisk(folder)
else await killedAfter(folder, Number(what))
