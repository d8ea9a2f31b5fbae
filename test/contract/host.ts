/** What every host must do, over whatever it reaches others. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type FrameStream, type Host, HostError, StreamError } from '#protocol/peer/host'

const PROTOCOL = '/talko/contract/1.0.0'
const BYTES_MAX = 1024
const FRAMES = 300

export interface HostsUnderTest {
  /** Listens. */
  readonly server: Host
  /** Reaches the server at these. */
  readonly near: Host
  readonly addresses: readonly string[]
  /** The id of somebody who is not there, and where not. */
  readonly nobody: { readonly peer: string; readonly addresses: readonly string[] }
  dispose(): Promise<void>
}

const frame = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

export function hostContract(name: string, make: () => Promise<HostsUnderTest>): void {
  const check = (what: string, body: (made: HostsUnderTest) => Promise<void>): void => {
    it(what, async () => {
      const made = await make()
      try {
        await body(made)
      } finally {
        await made.dispose()
      }
    })
  }

  describe(`a host ${name}`, { timeout: 60_000 }, () => {
    check('carries frames both ways, whole and in order, and ends with its streams', async ({ server, near, addresses }) => {
      await server.handle(PROTOCOL, { frameBytesMax: BYTES_MAX }, async (stream) => {
        assert.equal(stream.remotePeer, near.peerId)
        for await (const bytes of stream.frames()) await stream.write(frame(`again ${text(bytes)}`))
      })
      await near.connect(server.peerId, addresses)
      assert.equal(near.isConnected(server.peerId), true)
      const stream = await near.open(server.peerId, PROTOCOL, { frameBytesMax: BYTES_MAX })
      assert.equal(stream.remotePeer, server.peerId)
      for (let index = 0; index < FRAMES; index++) await stream.write(frame(String(index)))
      await stream.close()
      const heard: string[] = []
      for await (const bytes of stream.frames()) heard.push(text(bytes))
      assert.deepEqual(
        heard,
        Array.from({ length: FRAMES }, (_, index) => `again ${index}`)
      )
      await aborted(stream.gone)
    })

    check('connects once, and says so when nobody answers', async ({ server, near, addresses, nobody }) => {
      await assert.rejects(near.open(server.peerId, PROTOCOL, { frameBytesMax: BYTES_MAX }), hostError('not_connected'))
      await assert.rejects(near.connect(nobody.peer, nobody.addresses), hostError('unreachable'))
      await near.connect(server.peerId, addresses)
      await near.connect(server.peerId, [])
      await assert.rejects(near.open(server.peerId, '/talko/unheard/1.0.0', { frameBytesMax: BYTES_MAX }), hostError('protocol_unsupported'))
      await near.disconnect(server.peerId)
      assert.equal(near.isConnected(server.peerId), false)
    })

    check('gives what had come before a reset, then the reset, at both ends', async ({ server, near, addresses }) => {
      const there = Promise.withResolvers<FrameStream>()
      const over = Promise.withResolvers<void>()
      await server.handle(PROTOCOL, { frameBytesMax: BYTES_MAX }, async (stream) => {
        there.resolve(stream)
        await over.promise
      })
      await near.connect(server.peerId, addresses)
      const stream = await near.open(server.peerId, PROTOCOL, { frameBytesMax: BYTES_MAX })
      await stream.write(frame('hello'))
      const far = await there.promise
      await far.write(frame('first'))
      const frames = stream.frames()
      assert.equal(text((await frames.next()).value ?? frame('')), 'first')
      far.abort(new Error('enough'))
      await assert.rejects(frames.next(), (error) => error instanceof StreamError)
      await aborted(stream.gone)
      await aborted(far.gone)
      await assert.rejects(stream.write(frame('late')), (error) => error instanceof StreamError)
      over.resolve()
    })

    check('refuses frames that are too long, its own and those of others', async ({ server, near, addresses }) => {
      const reset = Promise.withResolvers<unknown>()
      await server.handle(PROTOCOL, { frameBytesMax: 16 }, async (stream) => {
        try {
          for await (const _ of stream.frames()) assert.fail('a frame that is too long came through')
        } catch (error) {
          reset.resolve(error)
        }
      })
      await near.connect(server.peerId, addresses)
      const stream = await near.open(server.peerId, PROTOCOL, { frameBytesMax: BYTES_MAX })
      await assert.rejects(stream.write(new Uint8Array(BYTES_MAX + 1)), (error) => error instanceof StreamError && error.code === 'frame_too_large')
      const again = stream.gone.aborted ? await near.open(server.peerId, PROTOCOL, { frameBytesMax: BYTES_MAX }) : stream
      await again.write(new Uint8Array(17))
      const error = await reset.promise
      assert.ok(error instanceof StreamError && error.code === 'frame_too_large', String(error))
    })

    check('tells both ends when the connection is lost', async ({ server, near, addresses }) => {
      const there = Promise.withResolvers<FrameStream>()
      await server.handle(PROTOCOL, { frameBytesMax: BYTES_MAX }, async (stream) => {
        there.resolve(stream)
        await aborted(stream.gone)
      })
      await near.connect(server.peerId, addresses)
      const stream = await near.open(server.peerId, PROTOCOL, { frameBytesMax: BYTES_MAX })
      await stream.write(frame('hello'))
      const far = await there.promise
      await near.disconnect(server.peerId)
      await aborted(stream.gone)
      await aborted(far.gone)
    })

    check('gives up when it is asked to', async ({ near, nobody }) => {
      const reason = new Error('changed my mind')
      await assert.rejects(near.connect(nobody.peer, nobody.addresses, AbortSignal.abort(reason)), (error) => error === reason)
    })
  })
}

function hostError(code: HostError['code']): (error: unknown) => boolean {
  return (error) => error instanceof HostError && error.code === code
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
