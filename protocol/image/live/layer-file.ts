/** Layers as files: written once in plain form, hashed and cut while they pass, then added to the content store where they lie. */
import { createHash, randomBytes } from 'node:crypto'
import { chmod, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { CID } from 'multiformats/cid'
import type { ContentStore } from '../../content/content.ts'
import { TarCutter } from '../cuts.ts'
import { ImageError } from '../errors.ts'

export interface Layer {
  readonly cid: CID
  readonly diffId: string
  readonly bytes: number
}

export interface LayerOptions {
  readonly signal?: AbortSignal
  readonly onBytes?: (bytes: number) => void
  readonly pin?: boolean
  /** Refuses (`layer_mismatch`) a tar with another digest. */
  readonly diffId?: string
}

/** A file name nobody else uses, in the same folder as what it will become. */
export function partialPath(folder: string): string {
  return join(folder, `.${randomBytes(9).toString('hex')}.partial`)
}

/**
 * Writes a plain tar to `<workFolder>/<sha256>.tar` and adds it with cuts at entry boundaries. Memory holds one chunk.
 * A layer that is there already is used as it is.
 */
export async function addLayer(tar: AsyncIterable<Uint8Array>, store: ContentStore, workFolder: string, options: LayerOptions = {}): Promise<Layer> {
  await mkdir(workFolder, { recursive: true })
  const partial = partialPath(workFolder)
  try {
    const { hex, bytes, cuts } = await writeTar(tar, partial, options)
    const diffId = `sha256:${hex}`
    if (options.diffId !== undefined && options.diffId !== diffId)
      throw new ImageError('layer_mismatch', `a layer is ${diffId}, but the image's config says ${options.diffId}; the archive is damaged: make it again`)
    const path = join(workFolder, `${hex}.tar`)
    const present = await stat(path).catch(() => undefined)
    if (present?.size === bytes) await rm(partial)
    else {
      await chmod(partial, 0o444)
      await rename(partial, path)
    }
    const { root } = await store.addFileCut(path, cuts, { ...(options.signal && { signal: options.signal }), pin: options.pin ?? true })
    return { cid: root, diffId, bytes }
  } finally {
    await rm(partial, { force: true })
  }
}

async function writeTar(tar: AsyncIterable<Uint8Array>, path: string, options: LayerOptions): Promise<{ hex: string; bytes: number; cuts: readonly number[] }> {
  const digest = createHash('sha256')
  const cutter = new TarCutter()
  let bytes = 0
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of tar) {
      options.signal?.throwIfAborted()
      digest.update(chunk)
      cutter.push(chunk)
      for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten
      bytes += chunk.length
      options.onBytes?.(bytes)
    }
  } finally {
    await file.close()
  }
  return { hex: digest.digest('hex'), bytes, cuts: cutter.end() }
}
