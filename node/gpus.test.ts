import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { findGpus, parseGpus } from './gpus.ts'

/** What `nvidia-smi --query-gpu=uuid,name,memory.total,driver_version --format=csv,noheader,nounits` prints. */
const PRINTED = {
  two: `GPU-8f6f1a2c-0d9e-11ee-be56-0242ac120002, NVIDIA A100-SXM4-40GB, 40960, 535.104.05
GPU-9a0b1c2d-0d9e-11ee-be56-0242ac120002, NVIDIA GeForce RTX 3090, 24576, 535.104.05
`,
  broken: `GPU-8f6f1a2c-0d9e-11ee-be56-0242ac120002, NVIDIA A100-SXM4-40GB, [Unknown Error], 535.104.05
Unable to determine the device handle for GPU 0000:3B:00.0: Unknown Error
GPU-9a0b1c2d-0d9e-11ee-be56-0242ac120002, NVIDIA H200, 143771, 550.54
`,
  failed: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
  none: 'No devices were found\n'
}

it('reads what the driver says, and leaves out a card that is in error', () => {
  const driver = '535.104.05'
  assert.deepEqual(parseGpus(PRINTED.two), [
    { uuid: 'GPU-8f6f1a2c-0d9e-11ee-be56-0242ac120002', model: 'NVIDIA A100-SXM4-40GB', memoryBytes: 40 * 2 ** 30, driver },
    { uuid: 'GPU-9a0b1c2d-0d9e-11ee-be56-0242ac120002', model: 'NVIDIA GeForce RTX 3090', memoryBytes: 24 * 2 ** 30, driver }
  ])
  assert.deepEqual(
    parseGpus(PRINTED.broken).map(({ model }) => model),
    ['NVIDIA H200']
  )
  assert.deepEqual(parseGpus(PRINTED.failed), [])
  assert.deepEqual(parseGpus(PRINTED.none), [])
})

it('a machine without the driver has none', async () => {
  assert.deepEqual(await findGpus(async () => undefined), [])
})

it('whatever is printed, there is no GPU twice and none without a name', () => {
  const line = fc.oneof(fc.string(), fc.constantFrom(...PRINTED.two.split('\n'), ...PRINTED.broken.split('\n')))
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const gpus = parseGpus(lines.join('\n'))
      return new Set(gpus.map(({ uuid }) => uuid)).size === gpus.length && gpus.every(({ model, memoryBytes }) => model !== '' && memoryBytes >= 0)
    })
  )
})
