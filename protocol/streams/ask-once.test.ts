import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startHost } from '#test/support/hosts'
import { askOnce } from './ask-once.ts'

const OPTIONS = { frameBytesMax: 64, streamsMax: 2 }

it('a question has one answer, the lack of one is said, and giving up leaves no stream behind', async () => {
  const [from, to] = [await startHost({ listen: [] }), await startHost()]
  await to.handle('/twice', OPTIONS, async (stream) => {
    for await (const [number = 0] of stream.frames()) for (const answer of [2 * number, 0]) await stream.write(Uint8Array.of(answer))
  })
  await to.handle('/nothing', OPTIONS, async () => undefined)
  await to.handle('/never', OPTIONS, (stream) => new Promise((resolve) => stream.gone.addEventListener('abort', () => resolve())))
  await from.connect(to.peerId, to.addresses())
  const ask = (protocol: string, signal = new AbortController().signal): Promise<Uint8Array> =>
    askOnce(from, to.peerId, protocol, { ...OPTIONS, question: Uint8Array.of(21), signal })
  for (let time = 0; time < 5; time++) assert.deepEqual([...(await ask('/twice'))], [42])
  await assert.rejects(ask('/nothing'), { code: 'closed' })
  for (let time = 0; time < 5; time++) await assert.rejects(ask('/never', AbortSignal.timeout(1)))
  assert.deepEqual([...(await ask('/twice'))], [42])
})
