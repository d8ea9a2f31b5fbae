/** From content back to what Docker takes: the smallest archive `docker load` reads (from 20.10 on), streamed. */
import { decode as decodePb } from '@ipld/dag-pb'
import { UnixFS } from 'ipfs-unixfs'
import type { CID } from 'multiformats/cid'
import { RAW } from '../content/cid.ts'
import type { ContentStore } from '../content/content.ts'
import { ImageError } from './errors.ts'
import { decodeImage, type ImageNode, imageId } from './image.ts'
import { paddingOf, TAR_END, writeHeader } from './tar.ts'

/** What loading needs of the content store. */
export type ImageContent = Pick<ContentStore, 'getBlock' | 'read'>

/** The name an image has in Docker: found again by whoever looks at `docker images`, and never pulled from anywhere. */
export function imageTag(image: Pick<ImageNode, 'config'>): string {
  return `talko/image:${imageId(image).slice('sha256:'.length, 'sha256:'.length + 32)}`
}

/** The image node from the store; throws ImageError `unknown_image` when it is not there and `malformed` when it is none. */
export async function readImage(image: CID, store: Pick<ContentStore, 'getBlock'>): Promise<ImageNode> {
  const bytes = await store.getBlock(image)
  if (bytes === undefined) throw new ImageError('unknown_image', `image ${image} is not in this store; import it with: talko image import`)
  return decodeImage(bytes)
}

/**
 * The bytes `docker load` takes, verified block by block as they are read; memory holds one block. The image is tagged
 * with `imageTag`. Throws ImageError; what the store throws (a block that is missing or has changed) passes through.
 */
export async function* loadStream(image: CID, store: ImageContent): AsyncGenerator<Uint8Array, void, undefined> {
  const node = await readImage(image, store)
  const config = `${imageId(node).slice('sha256:'.length)}.json`
  const layers = node.layers.map((_, index) => `${index}.tar`)
  yield* member('manifest.json', Buffer.from(JSON.stringify([{ Config: config, RepoTags: [imageTag(node)], Layers: layers }])))
  yield* member(config, node.config)
  for (const [index, layer] of node.layers.entries()) {
    const size = await fileBytes(layer, store)
    yield writeHeader({ path: `${index}.tar`, kind: 'file', mode: 0o644, size })
    let sent = 0
    for await (const chunk of store.read(layer)) {
      sent += chunk.length
      if (sent > size) break
      yield chunk
    }
    if (sent !== size) throw new ImageError('layer_mismatch', `layer ${layer} of image ${image} does not have the ${size} bytes it claims`)
    yield new Uint8Array(paddingOf(size))
  }
  yield TAR_END
}

function* member(path: string, bytes: Uint8Array): Generator<Uint8Array> {
  yield writeHeader({ path, kind: 'file', mode: 0o644, size: bytes.length })
  yield bytes
  yield new Uint8Array(paddingOf(bytes.length))
}

/** Bytes of a UnixFS file by its root block. */
async function fileBytes(file: CID, store: Pick<ContentStore, 'getBlock'>): Promise<number> {
  const block = await store.getBlock(file)
  if (block === undefined) throw new ImageError('unknown_image', `layer ${file} is not in this store; fetch the image again`)
  if (file.code === RAW) return block.length
  try {
    const data = decodePb(block).Data
    if (data !== undefined) {
      const entry = UnixFS.unmarshal(data)
      const size = Number(entry.fileSize())
      if (entry.type === 'file' && Number.isSafeInteger(size)) return size
    }
  } catch (cause) {
    throw new ImageError('malformed', `layer ${file} is no file`, { cause })
  }
  throw new ImageError('malformed', `layer ${file} is no file`)
}
