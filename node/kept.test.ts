import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { acceptCid } from '#protocol/content/cid'
import { type ContentStore, EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import { openContentStore } from '#protocol/content/live/store'
import { KeptContent } from './kept.ts'
import { makeRunFolder, openWorkspace } from './live/workspace.ts'
import { replicaOf } from './testing/samples.ts'

const root = mkdtempSync(join(tmpdir(), 'talko-kept-'))
const store = await openContentStore(join(root, 'content'))
const workspace = await openWorkspace(join(root, 'run'))
after(async () => {
  await store.close()
  rmSync(root, { recursive: true, force: true })
})
const signal = new AbortController().signal
let count = 0

/** What a run left: files of `out/`, and stdout. */
async function left(files: Record<string, string>, stdout = ''): Promise<string> {
  const replica = replicaOf(count++)
  const folder = workspace.pathOf(replica)
  makeRunFolder(folder)
  mkdirSync(join(folder, 'out'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'out', name), text)
  writeFileSync(join(folder, 'stdout'), stdout)
  writeFileSync(join(folder, 'stderr'), '')
  return replica
}

async function read(from: ContentStore, text: string, path?: string): Promise<string> {
  const cid = acceptCid(text) ?? assert.fail(`${text} is no CID`)
  const pieces: Uint8Array[] = []
  for await (const piece of from.read(cid, path)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

async function release(kept: KeptContent, replica: string): Promise<void> {
  await workspace.remove(replica)
  await kept.forget(replica)
}

describe('what a node keeps for the coordinator', () => {
  it('names nothing by the well-known ids of nothing', async () => {
    const kept = new KeptContent(store, workspace, () => false)
    const published = await kept.publish(await left({}), { diskBytes: 1000, signal })
    assert.deepEqual(published, { output: EMPTY_DIRECTORY, stdout: EMPTY_FILE, stderr: EMPTY_FILE, bytes: 0, overDisk: false })
    const never = await kept.publish(replicaOf(count++), { diskBytes: 1000, signal })
    assert.deepEqual(never, published)
  })

  it('serves equal outputs for as long as one replica is not released, in any order of releases', async () => {
    const kept = new KeptContent(store, workspace, () => false)
    const replicas = await Promise.all(Array.from({ length: 7 }, () => left({ answer: 'equal' }, 'said\n')))
    const all = []
    for (const replica of replicas) all.push(await kept.publish(replica, { diskBytes: 1000, signal }))
    const [{ output, stdout }] = all as [(typeof all)[0]]
    assert.ok(all.every((published) => published.output === output && published.stdout === stdout))
    const order = [6, 0, 5, 4, 3, 1]
    for (const index of order) {
      await release(kept, replicas[index] ?? '')
      assert.equal(await read(store, output, 'answer'), 'equal')
      assert.equal(await read(store, stdout), 'said\n')
    }
    await release(kept, replicas[2] ?? '')
    assert.equal(store.has(acceptCid(output) ?? assert.fail()), false)
    assert.equal(store.has(acceptCid(stdout) ?? assert.fail()), false)
  })

  it('knows after a restart what is still needed', async () => {
    const before = new KeptContent(store, workspace, () => false)
    const [first, second] = [await left({ answer: 'again' }), await left({ answer: 'again' })]
    for (const replica of [first, second]) await before.publish(replica, { diskBytes: 1000, signal })
    const { output, stdout, stderr } = await before.publish(second, { diskBytes: 1000, signal })
    const later = new KeptContent(store, workspace, () => false)
    for (const replica of [first, second]) later.remember(replica, [output, stdout, stderr])
    await release(later, second)
    assert.equal(await read(store, output, 'answer'), 'again')
    await release(later, first)
    assert.equal(store.has(acceptCid(output) ?? assert.fail()), false)
  })

  it('leaves out links, and keeps no tree that is too large', async () => {
    const kept = new KeptContent(store, workspace, () => false)
    const replica = await left({ fine: 'yes' })
    symlinkSync('/etc/passwd', join(workspace.pathOf(replica), 'out', 'link'))
    const { output } = await kept.publish(replica, { diskBytes: 1000, signal })
    assert.deepEqual(
      (await store.list(acceptCid(output) ?? assert.fail())).map(({ name }) => name),
      ['fine']
    )
    const large = await kept.publish(await left({ large: 'x'.repeat(1001) }), { diskBytes: 1000, signal })
    assert.equal(large.overDisk, true)
    assert.equal(large.output, EMPTY_DIRECTORY)
  })
})
