/**
 * An image as content: a small dag-cbor node that names the plain layer tars. Layers are never stored compressed (they could
 * neither share blocks nor be rebuilt bit by bit), and Docker's own id of the image stays what it was.
 */
import * as dagCbor from '@ipld/dag-cbor'
import { CID } from 'multiformats/cid'
import { acceptCid, DAG_PB, RAW, sha256 } from '../content/cid.ts'
import { ImageError } from './errors.ts'

export const CONFIG_BYTES_MAX = 512 * 1024
/** Docker itself stops at 125 to 127. */
export const LAYERS_MAX = 128
export const IMAGE_BYTES_MAX = CONFIG_BYTES_MAX + LAYERS_MAX * 160 + 1024
/** Volumes a config may name; each becomes a mount. */
const VOLUMES_MAX = 32

export interface ImageNode {
  readonly kind: 'image'
  readonly v: 1
  /** The config's JSON as it is: its sha256 is the image's id in Docker. */
  readonly config: Uint8Array
  /** Plain tars as UnixFS files, bottom first. */
  readonly layers: readonly CID[]
  /** `sha256:<hex>` of each plain tar, as in the config. */
  readonly diffIds: readonly string[]
  /** `linux/amd64`, `linux/arm64`, ... */
  readonly platform: string
}

/** What of a config concerns us. */
interface ImageConfig {
  readonly platform: string
  readonly diffIds: readonly string[]
  /** Paths the image declares as volumes. */
  readonly volumes: readonly string[]
}

/** Canonical bytes of an image node; throws ImageError `malformed` when it breaks its schema. */
export function encodeImage(image: ImageNode): Uint8Array {
  checkImage(image)
  return dagCbor.encode(image)
}

/** Decodes and checks hostile bytes; throws ImageError `malformed`, or `unsupported` for a newer version. */
export function decodeImage(bytes: Uint8Array): ImageNode {
  if (bytes.length > IMAGE_BYTES_MAX) malformed(`the image node has ${bytes.length} bytes, at most ${IMAGE_BYTES_MAX} are allowed`)
  let value: unknown
  try {
    value = dagCbor.decode(bytes)
  } catch (cause) {
    throw new ImageError('malformed', 'the image node is not dag-cbor', { cause })
  }
  checkImage(value)
  return { ...value, layers: value.layers.map((layer) => CID.asCID(layer) ?? layer) } // the decoder's CIDs are not of our class
}

/** The id Docker gives the image: `sha256:<hex>` of its config. */
export function imageId(image: Pick<ImageNode, 'config'>): string {
  return `sha256:${Buffer.from(sha256(image.config)).toString('hex')}`
}

const FIELDS = ['kind', 'v', 'config', 'layers', 'diffIds', 'platform']
const DIFF_ID = /^sha256:[0-9a-f]{64}$/
const PLATFORM = /^linux\/[a-z0-9]{1,16}(?:\/[a-z0-9]{1,16})?$/

function malformed(what: string, cause?: unknown): never {
  throw new ImageError('malformed', what, { cause })
}

function checkImage(value: unknown): asserts value is ImageNode {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || CID.asCID(value) !== null) malformed('the image node is not a map')
  const image = value as Record<string, unknown>
  if (image.kind !== 'image') malformed(`the node is no image (kind ${JSON.stringify(image.kind) ?? 'missing'}); import one with: talko image import`)
  if (image.v !== 1) throw new ImageError('unsupported', 'this image has a version that this talko does not know; update talko')
  const extra = Object.keys(image).find((name) => !FIELDS.includes(name))
  if (extra !== undefined) malformed('the image node has an unknown field')
  if (!(image.config instanceof Uint8Array) || image.config.length > CONFIG_BYTES_MAX) malformed(`an image's config is at most ${CONFIG_BYTES_MAX} bytes`)
  if (!Array.isArray(image.layers) || image.layers.length > LAYERS_MAX) malformed(`an image has at most ${LAYERS_MAX} layers`)
  for (const layer of image.layers) {
    const cid = CID.asCID(layer)
    const accepted = cid === null ? undefined : acceptCid(cid.bytes)
    if (accepted === undefined || (accepted.code !== RAW && accepted.code !== DAG_PB)) malformed('a layer of the image is not the id of a file')
  }
  const config = readConfig(image.config)
  if (!Array.isArray(image.diffIds) || image.diffIds.length !== image.layers.length || config.diffIds.length !== image.layers.length)
    malformed('the image does not have one diff id for each layer')
  if (image.diffIds.some((id, index) => id !== config.diffIds[index])) malformed("the image's diff ids are not those of its config")
  if (image.platform !== config.platform) malformed("the image's platform is not that of its config")
}

/** What a config's JSON says; throws ImageError `malformed`, or `unsupported` for another system than Linux. */
export function readConfig(bytes: Uint8Array): ImageConfig {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    malformed("the image's config is not JSON", cause)
  }
  const { os, architecture, variant, rootfs, config } = mapOf(value, "the image's config")
  if (os !== 'linux') throw new ImageError('unsupported', 'the image is not made for Linux; only Linux images run in talko')
  const platform = variant === undefined || variant === '' ? `linux/${String(architecture)}` : `linux/${String(architecture)}/${String(variant)}`
  if (!PLATFORM.test(platform)) malformed("the image's config names no platform")
  const diffIds = mapOf(rootfs, "the `rootfs` of the image's config").diff_ids ?? []
  if (!Array.isArray(diffIds) || diffIds.length > LAYERS_MAX || !diffIds.every((id) => typeof id === 'string' && DIFF_ID.test(id)))
    malformed("the image's config has no list of diff ids")
  const declared = config === undefined || config === null ? undefined : mapOf(config, 'the `config` of the image').Volumes
  const volumes = declared === undefined || declared === null ? [] : Object.keys(mapOf(declared, "the image's volumes")).sort()
  if (volumes.length > VOLUMES_MAX) throw new ImageError('unsupported', `the image declares ${volumes.length} volumes, at most ${VOLUMES_MAX} are allowed`)
  return { platform, diffIds, volumes }
}

function mapOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) malformed(`${what} is not a map`)
  return value as Record<string, unknown>
}
