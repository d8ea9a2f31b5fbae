/** Images into content: from a Docker engine, an archive on disk, or a root file system folder. */
import { createReadStream } from 'node:fs'
import { mkdir, open, rm, stat } from 'node:fs/promises'
import Docker from 'dockerode'
import type { CID } from 'multiformats/cid'
import { DAG_CBOR } from '../../content/cid.ts'
import type { ContentStore } from '../../content/content.ts'
import { ImageError } from '../errors.ts'
import { encodeImage, imageId, readConfig } from '../image.ts'
import { Archive, compressionOf, decompress } from './archive.ts'
import { FolderTar } from './folder.ts'
import { addLayer, type Layer, type LayerOptions, partialPath } from './layer-file.ts'

type ImageSource =
  | { readonly kind: 'docker'; readonly reference: string }
  | { readonly kind: 'archive'; readonly path: string; readonly reference?: string }
  | { readonly kind: 'folder'; readonly path: string }

interface ImportOptions {
  readonly signal?: AbortSignal
  /** `bytes` of plain layers so far; `totalBytes` is 0 where it is not known beforehand (folders, compressed layers). */
  readonly onProgress?: (progress: { bytes: number; totalBytes: number }) => void
  /** `linux/amd64`, ...: chooses among an archive's images; names a folder's (by default what its programs are made for). */
  readonly platform?: string
  /** Of a folder's image: owner of its files, environment and labels. */
  readonly uid?: number
  readonly gid?: number
  readonly environment?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly socketPath?: string
  /** Default true. */
  readonly pin?: boolean
}

export interface ImportedImage {
  /** What a manifest names. */
  readonly image: CID
  /** Docker's id, `sha256:<hex>`. */
  readonly id: string
  readonly platform: string
  /** Plain bytes of all layers. */
  readonly bytes: number
  readonly layers: readonly CID[]
}

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** What a person's argument means: a folder or file that exists, else a Docker reference. */
async function imageSourceOf(argument: string): Promise<ImageSource> {
  const info = await stat(argument).catch(() => undefined)
  if (info?.isDirectory()) return { kind: 'folder', path: argument }
  if (info !== undefined) return { kind: 'archive', path: argument }
  if (/^[./~]|\.(?:tar|tgz|tar\.\w+)$/.test(argument)) throw new ImageError('unknown_image', `there is no file or folder ${argument}`)
  return { kind: 'docker', reference: argument }
}

/**
 * Makes an image content. Its layers are written as plain tars into `workFolder` (which must stay: the store refers to them
 * there) and added with cuts at entry boundaries; memory holds one chunk. Throws ImageError, and ContentError from the store.
 */
export async function importImage(source: string | ImageSource, store: ContentStore, workFolder: string, options: ImportOptions = {}): Promise<ImportedImage> {
  const chosen = typeof source === 'string' ? await imageSourceOf(source) : source
  await mkdir(workFolder, { recursive: true })
  switch (chosen.kind) {
    case 'folder':
      return importFolder(chosen.path, store, workFolder, options)
    case 'archive':
      return importArchive(chosen.path, chosen.reference, store, workFolder, options)
    case 'docker':
      return importFromDocker(chosen.reference, store, workFolder, options)
  }
}

async function importFolder(folder: string, store: ContentStore, workFolder: string, options: ImportOptions): Promise<ImportedImage> {
  const tar = new FolderTar(folder, options)
  const layer = await addLayer(tar.bytes(), store, workFolder, layerOptions(options, 0, 0))
  const [os = 'linux', architecture = 'amd64', variant] = (options.platform ?? `linux/${tar.architecture ?? 'amd64'}`).split('/')
  const environment = Object.entries({ PATH: DEFAULT_PATH, ...options.environment }).sort(([a], [b]) => (a < b ? -1 : 1))
  const config = {
    architecture,
    config: {
      Env: environment.map(([name, value]) => `${name}=${value}`),
      ...(options.labels && { Labels: Object.fromEntries(Object.entries(options.labels).sort(([a], [b]) => (a < b ? -1 : 1))) })
    },
    created: '1970-01-01T00:00:00Z',
    history: [{ created: '1970-01-01T00:00:00Z', created_by: 'talko image import' }],
    os,
    rootfs: { diff_ids: [layer.diffId], type: 'layers' },
    ...(variant && { variant })
  }
  return putImage(Buffer.from(JSON.stringify(config)), [layer], store, options)
}

async function importArchive(
  path: string,
  reference: string | undefined,
  store: ContentStore,
  workFolder: string,
  options: ImportOptions
): Promise<ImportedImage> {
  const start = await firstBytes(path)
  const compression = compressionOf(start)
  if (compression === 'none') return importPlainArchive(path, reference, store, workFolder, options)
  const plain = partialPath(workFolder)
  try {
    await writeAll(decompress(createReadStream(path), compression), plain, options.signal).catch((cause) => {
      if (options.signal?.aborted || cause.code === 'ENOSPC') throw cause
      throw new ImageError('not_an_archive', `${path} cannot be unpacked (${cause.message}); make or fetch it again`, { cause })
    })
    return await importPlainArchive(plain, reference, store, workFolder, options)
  } finally {
    await rm(plain, { force: true })
  }
}

async function importPlainArchive(
  path: string,
  reference: string | undefined,
  store: ContentStore,
  workFolder: string,
  options: ImportOptions
): Promise<ImportedImage> {
  const archive = await Archive.open(path)
  try {
    const platform = options.platform ?? `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`
    const image = await archive.image({ platform, ...(reference !== undefined && { reference }) })
    const { diffIds } = readConfig(image.config)
    if (diffIds.length !== image.layers)
      throw new ImageError('layer_mismatch', `the image has ${image.layers} layers but its config names ${diffIds.length}; make the archive again`)
    const layers: Layer[] = []
    let bytes = 0
    for (const [index, diffId] of diffIds.entries()) {
      const layer = await addLayer(image.layer(index), store, workFolder, { ...layerOptions(options, bytes, image.storedBytes), diffId })
      layers.push(layer)
      bytes += layer.bytes
    }
    return await putImage(image.config, layers, store, options)
  } finally {
    await archive.close()
  }
}

async function importFromDocker(reference: string, store: ContentStore, workFolder: string, options: ImportOptions): Promise<ImportedImage> {
  const docker = new Docker(options.socketPath === undefined ? undefined : { socketPath: options.socketPath })
  const image = docker.getImage(reference)
  const name = await image.inspect().then(
    ({ Id }) => Id,
    (cause: { statusCode?: number; message: string }) => {
      if (cause.statusCode === undefined)
        throw new ImageError(
          'unavailable',
          `Docker does not answer (${cause.message.trim()}), so nobody knows image ${reference}; start Docker, or import a file or folder`,
          { cause }
        )
      throw new ImageError('unknown_image', `Docker has no image ${reference}; get it with: docker pull ${reference}`, { cause })
    }
  )
  const plain = partialPath(workFolder)
  try {
    await writeAll((await docker.getImage(name).get()) as AsyncIterable<Uint8Array>, plain, options.signal)
    return await importPlainArchive(plain, undefined, store, workFolder, options)
  } finally {
    await rm(plain, { force: true })
  }
}

async function putImage(config: Uint8Array, layers: readonly Layer[], store: ContentStore, options: ImportOptions): Promise<ImportedImage> {
  const { platform, diffIds } = readConfig(config)
  const cids = layers.map(({ cid }) => cid)
  const image = await store.putBlock(DAG_CBOR, encodeImage({ kind: 'image', v: 1, config, layers: cids, diffIds, platform }))
  if (options.pin ?? true) await store.pin(image)
  return { image, id: imageId({ config }), platform, bytes: layers.reduce((sum, { bytes }) => sum + bytes, 0), layers: cids }
}

function layerOptions(options: ImportOptions, before: number, totalBytes: number): LayerOptions {
  const { signal, onProgress } = options
  return {
    ...(signal && { signal }),
    ...(onProgress && { onBytes: (bytes: number) => onProgress({ bytes: before + bytes, totalBytes: Math.max(totalBytes, 0) }) }),
    pin: options.pin ?? true
  }
}

async function firstBytes(path: string): Promise<Uint8Array> {
  const file = await open(path, 'r')
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(6), 0, 6, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

async function writeAll(source: AsyncIterable<Uint8Array>, path: string, signal: AbortSignal | undefined): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of source) {
      signal?.throwIfAborted()
      for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten
    }
  } finally {
    await file.close()
  }
}
