import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import fc from 'fast-check'
import { cidOfBytes, DAG_CBOR, RAW } from '../content/cid.ts'
import { ImageError } from './errors.ts'
import { decodeImage, encodeImage, IMAGE_BYTES_MAX, type ImageNode, imageId, readConfig } from './image.ts'

const diffId = `sha256:${'ab'.repeat(32)}`
const json = (config: object): Uint8Array => Buffer.from(JSON.stringify(config))
const config = { os: 'linux', architecture: 'amd64', rootfs: { type: 'layers', diff_ids: [diffId] }, config: { Volumes: { '/data': {} } } }
const image: ImageNode = {
  kind: 'image',
  v: 1,
  config: json(config),
  layers: [cidOfBytes(RAW, Buffer.from('tar'))],
  diffIds: [diffId],
  platform: 'linux/amd64'
}

const isMalformed = (error: unknown): boolean => error instanceof ImageError && error.code === 'malformed'
const isUnsupported = (error: unknown): boolean => error instanceof ImageError && error.code === 'unsupported'

it('decodes what it encoded, and knows the id Docker gives it', () => {
  assert.deepEqual(decodeImage(encodeImage(image)).diffIds, image.diffIds)
  assert.match(imageId(image), /^sha256:[0-9a-f]{64}$/)
  assert.deepEqual(readConfig(image.config), { platform: 'linux/amd64', diffIds: [diffId], volumes: ['/data'] })
})

it('refuses nodes that break the schema, and configs that say something else', () => {
  const broken: Record<string, unknown>[] = [
    { kind: 'run' },
    { config: 'text' },
    { config: Buffer.from('{') },
    { config: json({ ...config, rootfs: { diff_ids: ['sha256:zz'] } }) },
    { layers: [] },
    { layers: [cidOfBytes(DAG_CBOR, Buffer.from('tar'))] },
    { diffIds: [`sha256:${'cd'.repeat(32)}`] },
    { platform: 'linux/arm64' },
    { extra: 1 }
  ]
  for (const change of broken) assert.throws(() => decodeImage(dagCbor.encode({ ...image, ...change })), isMalformed, JSON.stringify(change))
  assert.throws(() => decodeImage(new Uint8Array(IMAGE_BYTES_MAX + 1)), isMalformed)
  assert.throws(() => decodeImage(dagCbor.encode({ ...image, v: 2 })), isUnsupported)
  assert.throws(() => readConfig(json({ ...config, os: 'windows' })), isUnsupported)
})

it('answers any bytes with an image or an ImageError', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.object().map((value) => dagCbor.encode(JSON.parse(JSON.stringify(value))))
      ),
      (bytes) => {
        try {
          decodeImage(bytes)
        } catch (error) {
          assert.ok(error instanceof ImageError)
        }
      }
    )
  )
})
