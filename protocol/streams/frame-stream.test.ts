/** Frame streams over real libp2p on loopback, with peers that behave and peers that do not. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Libp2p, Stream } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { startHost } from '#test/support/hosts'
import { type FrameStream, type Host, StreamError, type StreamErrorCode } from '../peer/host.ts'
import { frameLength } from './decoder.ts'
import { LAST_FRAMES_MAX, WRITE_QUEUE_BYTES_MAX } from './frame-stream.ts'

const MIB = 1024 * 1024
const OPTIONS = { frameBytesMax: 4 * MIB }
const stops: (() => void | Promise<void>)[] = []
after(() => Promise.all(stops.map((stop) => stop())))

/** Two connected hosts; the second echoes on /echo. */
async function pair(role: 'server' | 'volunteer' = 'server'): Promise<{ near: Host; far: Host; open(protocol?: string): Promise<FrameStream> }> {
  const [near, far] = [await startHost({ role: 'volunteer' }), await startHost({ role })]
  await far.handle('/echo', OPTIONS, echo)
  await near.connect(far.peerId, far.addresses())
  return { near, far, open: (protocol = '/echo') => near.open(far.peerId, protocol, OPTIONS) }
}

async function echo(stream: FrameStream): Promise<void> {
  for await (const frame of stream.frames()) await stream.write(frame)
}

/** A host that echoes and has a handler whose end is known, and a bare libp2p peer connected to it. */
async function hostile(): Promise<{ far: Host; raw(protocol: string): Promise<Stream>; peer: Libp2p; ended: Promise<string>; received: Uint8Array[] }> {
  const far = await startHost()
  const received: Uint8Array[] = []
  const ended = Promise.withResolvers<string>()
  await far.handle('/echo', OPTIONS, echo)
  await far.handle('/victim', OPTIONS, async (stream) => {
    try {
      for await (const frame of stream.frames()) received.push(frame)
      ended.resolve('end')
    } catch (error) {
      ended.resolve(error instanceof StreamError ? error.code : String(error))
      throw error
    }
  })
  const peer = await createLibp2p({ transports: [tcp()], connectionEncrypters: [noise()], streamMuxers: [yamux()] })
  stops.push(() => peer.stop())
  const connection = await peer.dial(far.addresses().map((address) => multiaddr(address)))
  return { far, peer, ended: ended.promise, received, raw: (protocol) => connection.newStream(protocol) }
}

/** The connection still serves: an echo on a new raw stream. */
async function stillServes(raw: (protocol: string) => Promise<Stream>): Promise<void> {
  const stream = await raw('/echo')
  const answer = new Promise<Uint8Array>((resolve) => stream.addEventListener('message', ({ data }) => resolve(data.subarray()), { once: true }))
  stream.send(Uint8Array.of(2, 4, 2))
  assert.deepEqual([...(await answer)], [2, 4, 2])
  await stream.close()
}

async function collect(stream: FrameStream): Promise<Uint8Array[]> {
  const frames: Uint8Array[] = []
  for await (const frame of stream.frames()) frames.push(frame)
  return frames
}

const code = (expected: StreamErrorCode) => (error: unknown) => error instanceof StreamError && error.code === expected

describe('a frame stream', { timeout: 60_000 }, () => {
  it('carries frames of all sizes both ways in order, and what was queued arrives before the end', async () => {
    const { open } = await pair()
    const stream = await open()
    const sizes = [0, 1, 127, 128, 200, 16_383, 16_384, 16_385, 65_536, 70_000, MIB, 4 * MIB, 3, ...Array.from({ length: 3000 }, (_, i) => i % 700)]
    const sent = sizes.map((size, index) => new Uint8Array(size).fill(index))
    const answers = collect(stream)
    for (const frame of sent) void stream.write(frame)
    await stream.close()
    assert.deepEqual(await answers, sent)
    await assert.rejects(stream.write(Uint8Array.of(1)), code('closed'))
  })

  it('refuses to send a frame that the peer would refuse, and goes on', async () => {
    const { open } = await pair()
    const stream = await open()
    await assert.rejects(stream.write(new Uint8Array(4 * MIB + 1)), code('frame_too_large'))
    await stream.write(Uint8Array.of(7))
    await stream.close()
    assert.deepEqual(await collect(stream), [Uint8Array.of(7)])
  })

  for (const role of ['server', 'volunteer'] as const)
    it(`slows the sender down when a ${role} reads slowly, without losing or resetting anything`, async () => {
      const { far, open } = await pair(role)
      const total = 96
      let written = 0
      let read = 0
      let leadMax = 0
      const done = Promise.withResolvers<void>()
      await far.handle('/slow', OPTIONS, async (stream) => {
        for await (const frame of stream.frames()) {
          assert.equal(frame[0], read)
          read += 1
          // The sender gets the chance to run ahead as far as it may.
          for (let turn = 0; turn < 40; turn += 1) await new Promise((resolve) => setImmediate(resolve))
          leadMax = Math.max(leadMax, written - read)
        }
        done.resolve()
      })
      const stream = await open('/slow')
      for (let i = 0; i < total; i += 1) {
        await stream.write(new Uint8Array(MIB).fill(i))
        written += 1
      }
      await stream.close()
      await done.promise
      assert.equal(read, total)
      // Window, read-ahead, write queue and the kernel's buffers.
      assert.ok(leadMax < (role === 'server' ? 16 : 40), `the sender was ${leadMax} MiB ahead`)
      assert.ok(leadMax > 1, 'the sender never ran ahead')
    })

  it('resets a stream whose peer never reads, when the caller does not wait either; others go on', async () => {
    const { far, open } = await pair()
    await far.handle('/deaf', OPTIONS, (stream) => new Promise((resolve) => stream.gone.addEventListener('abort', () => resolve())))
    const stream = await open('/deaf')
    const frame = new Uint8Array(MIB)
    const writes = Array.from({ length: 8 + WRITE_QUEUE_BYTES_MAX / MIB }, () => stream.write(frame).catch((error: unknown) => error))
    const failures = (await Promise.all(writes)).filter((outcome) => outcome instanceof StreamError)
    assert.ok(failures.length > 0)
    assert.equal(stream.gone.aborted, true)
    const other = await open()
    await other.write(Uint8Array.of(1))
    await other.close()
    assert.deepEqual(await collect(other), [Uint8Array.of(1)])
  })

  it('can be left early: what comes later is dropped, and answers still go out', async () => {
    const { far, open } = await pair()
    await far.handle('/first', OPTIONS, async (stream) => {
      for await (const frame of stream.frames()) {
        await stream.write(frame)
        break
      }
    })
    const stream = await open('/first')
    for (let i = 0; i < 8; i += 1) await stream.write(new Uint8Array(MIB).fill(i))
    await stream.close()
    const frames = await collect(stream)
    assert.deepEqual([frames.length, frames[0]?.[0]], [1, 0])
  })

  it('ends with `reset` for reader and writer when the connection is cut', async () => {
    const { near, far, open } = await pair()
    await far.handle('/deaf', OPTIONS, (stream) => new Promise((resolve) => stream.gone.addEventListener('abort', () => resolve())))
    const stream = await open('/deaf')
    const reading = assert.rejects(collect(stream), code('reset'))
    const writing = assert.rejects(async () => {
      while (true) await stream.write(new Uint8Array(MIB))
    }, StreamError)
    await far.disconnect(near.peerId)
    await Promise.all([reading, writing])
    assert.equal(stream.gone.aborted, true)
  })

  it('ends with `reset` when a connection is closed on which nobody says anything: what is not ended in order is not complete', async () => {
    const { near, far, open } = await pair()
    await far.handle('/deaf', OPTIONS, (stream) => new Promise((resolve) => stream.gone.addEventListener('abort', () => resolve())))
    const reading = assert.rejects(collect(await open('/deaf')), code('reset'))
    await far.disconnect(near.peerId)
    await reading
  })

  it('hands over all that came before its end in order, however much of it waits', async () => {
    const { far, open } = await pair()
    await far.handle('/many', OPTIONS, async (stream) => {
      for (let i = 0; i < 4 * LAST_FRAMES_MAX; i++) void stream.write(Uint8Array.of(i % 256))
    })
    const stream = await open('/many')
    await stream.close()
    await new Promise((resolve) => (stream.gone.aborted ? resolve(undefined) : stream.gone.addEventListener('abort', resolve)))
    assert.equal((await collect(stream)).length, 4 * LAST_FRAMES_MAX)
  })

  it('ends with an error when a handler fails, and the connection stays', async () => {
    const { far, near, open } = await pair()
    await far.handle('/fails', OPTIONS, async () => {
      throw new Error('on purpose')
    })
    const stream = await open('/fails')
    await assert.rejects(collect(stream), code('reset'))
    assert.equal(near.isConnected(far.peerId), true)
  })
})

describe('a hostile peer', { timeout: 60_000 }, () => {
  it('that announces an oversized frame loses its stream only', async () => {
    const { raw, ended } = await hostile()
    const stream = await raw('/victim')
    const reset = new Promise<void>((resolve) => stream.addEventListener('close', () => resolve()))
    stream.send(frameLength(4 * MIB + 1))
    assert.equal(await ended, 'frame_too_large')
    await reset
    assert.equal(stream.status, 'reset')
    await stillServes(raw)
  })

  it('that sends garbage loses its stream only', async () => {
    const { raw, ended } = await hostile()
    const stream = await raw('/victim')
    stream.send(new Uint8Array(100_000).fill(0x80))
    assert.equal(await ended, 'malformed')
    await stillServes(raw)
  })

  it('that sends its bytes one at a time is understood all the same', async () => {
    const { raw, ended, received } = await hostile()
    const stream = await raw('/victim')
    const frame = Uint8Array.from({ length: 300 }, (_, i) => i)
    for (let i = 0; i < 20; i += 1) for (const byte of [...frameLength(300), ...frame]) stream.send(Uint8Array.of(byte))
    await stream.close()
    assert.equal(await ended, 'end')
    assert.deepEqual(received, Array(20).fill(frame))
  })

  it('that sends a flood of empty frames does not keep the others from their turn', async () => {
    const { raw, ended, received } = await hostile()
    const stream = await raw('/victim')
    stream.send(new Uint8Array(200_000))
    await stillServes(raw)
    await stream.close()
    assert.equal(await ended, 'end')
    assert.equal(received.length, 200_000)
  })

  it('that floods and resets its stream is heard no more than a little longer', async () => {
    for (const [sent, heard] of [
      [3, 3],
      [100_000, LAST_FRAMES_MAX]
    ] as const) {
      const { far, raw } = await hostile()
      const counted = Promise.withResolvers<number>()
      await far.handle('/late', OPTIONS, async (stream) => {
        await new Promise((resolve) => stream.gone.addEventListener('abort', resolve))
        let count = 0
        await assert.rejects(async () => {
          for await (const _ of stream.frames()) count++
        }, code('reset'))
        counted.resolve(count)
      })
      const stream = await raw('/late')
      const frames = new Uint8Array(sent * 2).map((_, index) => 1 - (index % 2))
      stream.send(frames)
      // All that was sent before this echo is there when it comes.
      await stillServes(raw)
      stream.abort(new Error('enough'))
      assert.equal(await counted.promise, heard)
    }
  })

  it('that stops in the middle of a frame keeps nobody else waiting, and has broken the rules when it ends there', async () => {
    const { raw, ended, received } = await hostile()
    const stream = await raw('/victim')
    stream.send(Uint8Array.of(1, 9, ...frameLength(MIB), 1, 2, 3))
    await stillServes(raw)
    await stream.close()
    assert.equal(await ended, 'malformed')
    assert.deepEqual(received, [Uint8Array.of(9)])
  })

  it('that resets its stream loses that stream only', async () => {
    const { raw, ended } = await hostile()
    const stream = await raw('/victim')
    stream.send(Uint8Array.of(1, 9))
    stream.abort(new Error('on purpose'))
    assert.equal(await ended, 'reset')
    await stillServes(raw)
  })

  it('that asks for a protocol nobody speaks is told so', async () => {
    const { raw } = await hostile()
    await assert.rejects(raw('/nothing'), { name: 'UnsupportedProtocolError' })
    await stillServes(raw)
  })

  it('that never reads makes its own stream wait and no other', async () => {
    const { raw } = await hostile()
    const stream = await raw('/echo')
    stream.addEventListener('message', () => {})
    stream.pause()
    const blocked = new Promise<void>((resolve) => {
      const send = (): void => {
        while (!stream.writableNeedsDrain && stream.status === 'open') stream.send(Buffer.concat([frameLength(MIB), new Uint8Array(MIB)]))
        resolve()
      }
      send()
    })
    await blocked
    await stillServes(raw)
    stream.abort(new Error('enough'))
  })

  it('that opens more streams than allowed has the further ones reset', async () => {
    const far = await startHost()
    await far.handle('/two', { ...OPTIONS, streamsMax: 2 }, (stream) => new Promise((resolve) => stream.gone.addEventListener('abort', () => resolve())))
    const near = await startHost({ role: 'volunteer' })
    await near.connect(far.peerId, far.addresses())
    const open = () => near.open(far.peerId, '/two', { ...OPTIONS, streamsMax: 10 })
    const kept = [await open(), await open()]
    const third = await open().catch((error: unknown) => error as Error)
    if (!(third instanceof Error)) await assert.rejects(collect(third), code('reset'))
    assert.deepEqual(
      kept.map(({ gone }) => gone.aborted),
      [false, false]
    )
  })
})
