import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { MessageStream, Stream, StreamMessageEvent } from '@libp2p/interface'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { yamux as library } from '@libp2p/yamux'
import { Uint8ArrayList } from 'uint8arraylist'
import { FIRST_WINDOW_BYTES, UPDATE_BYTES_MIN, yamux } from './yamux.ts'

const HEADER_BYTES = 12
const WINDOW_UPDATE = 1

/** A stream from one end to the other, which reads all; and what the other end said of its window, in bytes. */
async function pair(): Promise<{ stream: Stream; read: () => number; told: readonly number[]; close: () => Promise<void> }> {
  const [near, distant] = multiaddrConnectionPair()
  const told: number[] = []
  const send = distant.send.bind(distant)
  distant.send = (data) => {
    const bytes = (data instanceof Uint8Array ? data : data.subarray()).subarray(0, HEADER_BYTES)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (view.getUint8(1) === WINDOW_UPDATE && view.getUint16(2) === 0) told.push(view.getUint32(8))
    return send(data)
  }
  const init = { enableKeepAlive: false, streamOptions: { initialStreamWindowSize: FIRST_WINDOW_BYTES, maxStreamWindowSize: FIRST_WINDOW_BYTES } }
  const caller = library(init)().createStreamMuxer(near as MessageStream)
  const called = yamux(init)().createStreamMuxer(distant as MessageStream)
  let read = 0
  called.addEventListener('stream', ({ detail }) => {
    detail.addEventListener('message', ({ data }: StreamMessageEvent) => {
      read += data.byteLength
    })
  })
  const stream = await caller.createStream()
  return { stream, read: () => read, told, close: async () => void (await Promise.all([caller.close(), called.close()])) }
}

async function send(stream: Stream, { messages, bytes }: { readonly messages: number; readonly bytes: number }): Promise<void> {
  for (let sent = 0; sent < messages; sent++) if (!stream.send(new Uint8ArrayList(new Uint8Array(bytes)))) await stream.onDrain()
  while (stream.writeBufferLength > 0) await new Promise(setImmediate)
}

describe('yamux that gathers what it says of its windows', () => {
  it('says nothing after small messages, until half a window was read', async () => {
    const { stream, told, read, close } = await pair()
    // What is said of the first one opens the stream, too.
    const messages = 1 + UPDATE_BYTES_MIN / 1024
    await send(stream, { messages: messages - 1, bytes: 1024 })
    while (read() < (messages - 1) * 1024) await new Promise(setImmediate)
    assert.deepEqual(told, [])
    await send(stream, { messages: 1, bytes: 1024 })
    while (read() < messages * 1024) await new Promise(setImmediate)
    assert.deepEqual(told, [UPDATE_BYTES_MIN])
    await close()
  })

  it('gives back all that was read but the last half of a window: who sends without end never waits for ever', async () => {
    const { stream, told, read, close } = await pair()
    const messages = 300
    await send(stream, { messages, bytes: 10_000 })
    while (read() < messages * 10_000) await new Promise(setImmediate)
    const given = told.reduce((sum, bytes) => sum + bytes, 0)
    assert.ok(messages * 10_000 - given < UPDATE_BYTES_MIN)
    assert.ok(told.every((bytes) => bytes >= UPDATE_BYTES_MIN))
    await close()
  })
})
