import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { gunzipSync, gzipSync, zstdCompressSync } from 'node:zlib'
import Docker from 'dockerode'
import { importBusybox } from '#test/support/busybox-image'
import { skipWithoutDocker } from '#test/support/docker'
import type { ContentStore } from '../../content/content.ts'
import { openContentStore } from '../../content/live/store.ts'
import { ImageError, type ImageErrorCode } from '../errors.ts'
import { imageTag, loadStream, readImage } from '../load.ts'
import { paddingOf, TAR_END, writeHeader } from '../tar.ts'
import { importImage } from './import.ts'

const hasCode = (code: ImageErrorCode, words: RegExp) => (error: unknown) => error instanceof ImageError && error.code === code && words.test(error.message)
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function gathered(source: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  for await (const chunk of source) chunks.push(chunk)
  return chunks
}

function tarOf(files: Readonly<Record<string, Uint8Array | string>>): Buffer {
  const parts = Object.entries(files).flatMap(([path, content]) => {
    const data = Buffer.from(content)
    return [writeHeader({ path, kind: 'file', mode: 0o644, size: data.length }), data, new Uint8Array(paddingOf(data.length))]
  })
  return Buffer.concat([...parts, TAR_END])
}

/** An OCI archive of one image per platform with these layers, each packed by `pack`. */
function ociArchive(
  layers: readonly Uint8Array[],
  pack: (layer: Uint8Array) => Uint8Array,
  platforms: readonly string[] = ['amd64'],
  change: object = {}
): Buffer {
  const blobs: Record<string, Uint8Array> = {}
  const blob = (bytes: Uint8Array): { digest: string; size: number } => {
    blobs[`blobs/sha256/${sha256(bytes)}`] = bytes
    return { digest: `sha256:${sha256(bytes)}`, size: bytes.length }
  }
  const manifests = platforms.map((architecture) => {
    const config = { architecture, os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: layers.map((layer) => `sha256:${sha256(layer)}`) }, ...change }
    const manifest = { schemaVersion: 2, config: blob(Buffer.from(JSON.stringify(config))), layers: layers.map((layer) => blob(pack(layer))) }
    return { ...blob(Buffer.from(JSON.stringify(manifest))), platform: { os: 'linux', architecture } }
  })
  return tarOf({ 'oci-layout': '{"imageLayoutVersion":"1.0.0"}', ...blobs, 'index.json': JSON.stringify({ schemaVersion: 2, manifests }) })
}

const LAYERS = [tarOf({ 'etc/one': 'first', big: Buffer.alloc(300_000, 'b') }), tarOf({ 'etc/two': 'second' })]

describe('importing images', () => {
  let folder: string
  let store: ContentStore
  let work: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'talko-import-'))
    work = join(folder, 'images')
    store = await openContentStore(join(folder, 'content'))
  })
  after(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })
  const archive = async (name: string, bytes: Uint8Array): Promise<string> => {
    await writeFile(join(folder, name), bytes)
    return join(folder, name)
  }
  const plainLayers = async (image: Parameters<typeof readImage>[0]): Promise<Buffer[]> => {
    const { layers } = await readImage(image, store)
    return Promise.all(layers.map(async (layer) => Buffer.concat(await gathered(store.read(layer)))))
  }

  it('makes the same image of the same folder, whatever its times, owners and order of making', async () => {
    const ids: string[] = []
    for (const [index, names] of [
      ['a', 'b', 'c'],
      ['c', 'b', 'a']
    ].entries()) {
      const root = join(folder, `root${index}`)
      await mkdir(join(root, 'usr/lib'), { recursive: true })
      for (const name of names) await writeFile(join(root, 'usr/lib', name), name.repeat(100))
      await symlink('usr/lib', join(root, 'lib'))
      await chmod(join(root, 'usr/lib/a'), 0o4755)
      for (const path of ['usr/lib/b', 'usr/lib/c']) await chmod(join(root, path), 0o644)
      for (const path of ['usr', 'usr/lib']) await chmod(join(root, path), 0o755)
      await utimes(join(root, 'usr/lib/b'), index * 1000, index * 1000)
      const { image, id, layers, platform } = await importImage(root, store, work)
      assert.equal(layers.length, 1)
      assert.equal(platform, 'linux/amd64')
      ids.push(`${image} ${id}`)
    }
    assert.equal(ids[0], ids[1])
  })

  it('tells what machine a folder is made for by its programs', async () => {
    const root = join(folder, 'arm')
    await mkdir(root)
    const program = Buffer.alloc(64)
    program.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
    program.writeUInt16LE(183, 18)
    await writeFile(join(root, 'program'), program)
    assert.equal((await importImage(root, store, work)).platform, 'linux/arm64')
    assert.equal((await importImage(root, store, work, { platform: 'linux/riscv64' })).platform, 'linux/riscv64')
  })

  it('refuses what a tar cannot carry, naming it', async () => {
    const root = join(folder, 'special')
    await mkdir(root)
    spawnSync('mkfifo', [join(root, 'pipe')])
    await assert.rejects(importImage(root, store, work), hasCode('unsupported', /pipe/))
    await rm(join(root, 'pipe'))
    await writeFile(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe])]), '')
    await assert.rejects(importImage(root, store, work), hasCode('unsupported', /UTF-8/))
  })

  it('unpacks OCI archives with plain, gzip and zstd layers to the same layers and id', async () => {
    const images = []
    for (const [name, pack] of [
      ['plain.tar', (layer: Uint8Array) => layer],
      ['gzip.tar', (layer: Uint8Array) => gzipSync(layer)],
      ['zstd.tar', (layer: Uint8Array) => zstdCompressSync(layer)]
    ] as const) {
      const { image, bytes } = await importImage(await archive(name, ociArchive(LAYERS, pack)), store, work)
      assert.equal(
        bytes,
        LAYERS.reduce((sum, { length }) => sum + length, 0)
      )
      images.push(image.toString())
      assert.deepEqual(await plainLayers(image), LAYERS)
    }
    assert.equal(new Set(images).size, 1)
  })

  it('takes an archive that is packed as a whole', async () => {
    const plain = ociArchive(LAYERS, (layer) => layer)
    const { image } = await importImage(await archive('whole.tar.gz', gzipSync(plain)), store, work)
    assert.deepEqual(await plainLayers(image), LAYERS)
    assert.deepEqual(
      (await readdir(work)).filter((name) => name.endsWith('.partial')),
      []
    )
  })

  it('chooses the platform', async () => {
    const path = await archive(
      'two.tar',
      ociArchive(LAYERS, (layer) => layer, ['amd64', 'arm64'])
    )
    assert.equal((await importImage(path, store, work, { platform: 'linux/arm64' })).platform, 'linux/arm64')
    await assert.rejects(importImage(path, store, work, { platform: 'linux/s390x' }), hasCode('unknown_image', /s390x/))
  })

  it('says what is wrong with an archive', async () => {
    const good = ociArchive(LAYERS, (layer) => gzipSync(layer))
    const refusals: readonly (readonly [string, Uint8Array, ImageErrorCode, RegExp])[] = [
      ['text', Buffer.from('just text, and a lot of it '.repeat(100)), 'not_an_archive', /not an image archive/],
      ['empty', Buffer.alloc(0), 'not_an_archive', /not an image archive/],
      ['other.tar', tarOf({ 'a file': 'x' }), 'not_an_archive', /holds no image/],
      ['short.tar', good.subarray(0, good.length - 3000), 'not_an_archive', /cut short|does not hold|no image/],
      ['bad.tar.gz', gzipSync(good).subarray(0, 400), 'not_an_archive', /unpacked/],
      ['xz.tar', Buffer.from('fd377a585a0000', 'hex'), 'unsupported', /xz/],
      [
        'wrong.tar',
        ociArchive(LAYERS, (layer) => layer, ['amd64'], { rootfs: { type: 'layers', diff_ids: LAYERS.map(() => `sha256:${'0'.repeat(64)}`) } }),
        'layer_mismatch',
        /config says/
      ],
      ['fewer.tar', ociArchive(LAYERS, (layer) => layer, ['amd64'], { rootfs: { type: 'layers', diff_ids: [] } }), 'layer_mismatch', /2 layers/],
      ['windows.tar', ociArchive(LAYERS, (layer) => layer, ['amd64'], { os: 'windows' }), 'unsupported', /Linux/],
      ['json.tar', tarOf({ 'manifest.json': '{' }), 'not_an_archive', /not JSON/]
    ]
    for (const [name, bytes, code, words] of refusals) await assert.rejects(importImage(await archive(name, bytes), store, work), hasCode(code, words), name)
    await assert.rejects(importImage('./nowhere.tar', store, work), hasCode('unknown_image', /nowhere/))
    assert.deepEqual(
      (await readdir(work)).filter((name) => name.endsWith('.partial')),
      []
    )
  })

  it('uses constant memory for a big folder', async () => {
    const root = join(folder, 'big')
    await mkdir(root)
    await writeFile(join(root, 'zeros'), '')
    await truncate(join(root, 'zeros'), 200 * 1024 ** 2)
    const before = process.memoryUsage.rss()
    let most = 0
    await importImage(root, store, work, { onProgress: () => (most = Math.max(most, process.memoryUsage.rss())) })
    assert.ok(most - before < 100 * 1024 ** 2, `${Math.round((most - before) / 1024 ** 2)} MiB`)
  })
})

describe('images and a Docker engine', { skip: await skipWithoutDocker() }, () => {
  let folder: string
  let store: ContentStore
  const docker = new Docker()
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'talko-import-'))
    store = await openContentStore(join(folder, 'content'))
  })
  after(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('gives Docker what it knows by the same id, and takes the same image back from it', async () => {
    const busybox = await importBusybox(store, join(folder, 'images'))
    const source = Readable.from(loadStream(busybox.image, store), { objectMode: false })
    for await (const _ of await docker.loadImage(source, { quiet: true }));
    assert.equal((await docker.getImage(busybox.id).inspect()).Id, busybox.id)
    const tag = imageTag(await readImage(busybox.image, store))

    const again = await importImage({ kind: 'docker', reference: tag }, store, join(folder, 'again'))
    assert.equal(again.image.toString(), busybox.image.toString())

    const saved = Buffer.concat(await gathered((await docker.getImage(tag).get()) as AsyncIterable<Uint8Array>))
    await writeFile(join(folder, 'saved.tar.gz'), gzipSync(saved, { level: 1 }))
    const unpacked = await importImage(join(folder, 'saved.tar.gz'), store, join(folder, 'saved'))
    assert.equal(unpacked.id, busybox.id)
    assert.equal(unpacked.image.toString(), busybox.image.toString())
    assert.deepEqual(gunzipSync(await readFile(join(folder, 'saved.tar.gz'))), saved)
  })

  it('says how to get an image that Docker does not have', async () => {
    await assert.rejects(importImage('talko.invalid/no/such:image', store, folder), hasCode('unknown_image', /docker pull/))
  })
})
