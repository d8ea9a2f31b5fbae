/**
 * `abuse-peer.ts PROJECT ADDRESS`: one peer that means ill. Told a kind over IPC it does that as hard as it is let, until it is
 * told another; `rest` ends it. The patient flood opens no more streams than a good peer does, and says there what may be said,
 * as fast as it is read; `calls` connects and hangs up. Answers with what it got through of the kind before. Each time it calls
 * from another address of the loopback network, so that nothing is refused for what it did before.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as passing, setImmediate as turn } from 'node:timers/promises'
import type { Stream } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { tls } from '@libp2p/tls'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { CONTROL_PROTOCOL, CONTROL_VERSION, Frame } from '#protocol/control/messages'
import { OWNER_PROTOCOL, Request } from '#protocol/owner/messages'
import { frameLength } from '#protocol/streams/decoder'
import { ABUSES, type Abuse, type Asked, type Told } from './abuses.ts'

/** Those that go over streams. */
type Act = Exclude<Abuse, 'calls'>

const MIB = 1024 ** 2
/** Streams that each kind keeps open, or tries to: only the flood has more than a good peer, and is hung up on for that alone. */
const STREAMS: Readonly<Record<Act, number>> = { flood: 32, 'patient flood': 2, 'slow loris': 2, oversized: 2, garbage: 2 }
const STREAMS_MAX = 160
/** Between two bytes of the slow loris. */
const DROP_MS = 1_000
/** After a refusal, so that refusals alone are not what is measured. */
const AGAIN_MS = 10

const [project = '', address = ''] = process.argv.slice(2)
/** Read at each call. */
const from = { localAddress: '127.0.0.1' }
let times = 0
const host = await createLibp2p({
  addresses: { listen: [] },
  transports: [tcp({ dialOpts: from as object })],
  connectionEncrypters: [tls()],
  streamMuxers: [yamux({ maxOutboundStreams: STREAMS_MAX })]
})
const place = multiaddr(`${address}/p2p/${project}`)
let told = { calls: 0, streams: 0, bytes: 0 }
host.addEventListener('connection:open', () => {
  told.calls++
})
/** Another one for each thing that is asked. */
let current = {}

/** False when the stream is over. */
async function say(stream: Stream, bytes: Uint8Array): Promise<boolean> {
  if (stream.status !== 'open') return false
  told.bytes += bytes.length
  // `onDrain` resolves at once when the stream has drained before.
  if (!stream.send(bytes))
    await new Promise((resolve) => {
      for (const event of ['drain', 'close'] as const) stream.addEventListener(event, resolve, { once: true })
    })
  // What was sent leaves only between turns of the loop.
  await turn()
  return stream.status === 'open' && stream.writeStatus === 'writable'
}

const framed = (bytes: Uint8Array): Uint8Array => Buffer.concat([frameLength(bytes.length), bytes])
const link = randomBytes(16)
const hello = framed(
  Frame.encode({
    hello: {
      versions: [CONTROL_VERSION],
      link,
      spare: link,
      received: 0,
      project,
      capabilities: {
        platform: 'linux/amd64',
        engines: ['process'],
        cpuMillis: 1_000,
        memoryBytes: 2 ** 30,
        diskBytes: 2 ** 30,
        slots: 1,
        tags: [],
        gpus: [],
        exclusive: [],
        ownerOnly: false,
        groups: []
      },
      replicas: [],
      agent: 'bench',
      name: 'ill',
      demand: { slots: 0 },
      holdings: []
    }
  })
)
const question = framed(Request.encode({ id: 1, query: { what: 'project', of: '', limit: 0, after: '' } }))
const beat = framed(Frame.encode({ heartbeat: {} }))
const many = Buffer.concat(Array.from({ length: 1_000 }, () => beat))
const questions = Buffer.concat(Array.from({ length: 100 }, () => question))

const ACTS: Readonly<Record<Act, (stream: Stream, goesOn: () => boolean) => Promise<void>>> = {
  async flood(stream, goesOn) {
    if (stream.protocol === CONTROL_PROTOCOL) await say(stream, hello)
    while (goesOn() && (await say(stream, many)));
  },
  async 'patient flood'(stream, goesOn) {
    if (stream.protocol === CONTROL_PROTOCOL) await say(stream, hello)
    while (goesOn() && (await say(stream, stream.protocol === CONTROL_PROTOCOL ? many : questions)));
  },
  async 'slow loris'(stream, goesOn) {
    for (const byte of Buffer.concat([frameLength(MIB), randomBytes(MIB)])) {
      if (!goesOn() || !(await say(stream, Uint8Array.of(byte)))) return
      await passing(DROP_MS)
    }
  },
  async oversized(stream, goesOn) {
    await say(stream, frameLength(2 ** 28 - 1))
    const bytes = randomBytes(MIB)
    while (goesOn() && (await say(stream, bytes)));
  },
  async garbage(stream, goesOn) {
    while (goesOn() && (await say(stream, randomBytes(64 * 1024))));
  }
}

async function one(act: Act, protocol: string, goesOn: () => boolean): Promise<void> {
  while (goesOn()) {
    let stream: Stream | undefined
    try {
      stream = await host.dialProtocol(place, protocol)
      stream.addEventListener('message', () => undefined)
      told.streams++
      await ACTS[act](stream, goesOn)
    } catch {
      // It was refused, or hung up on.
    }
    stream?.abort(new Error('next'))
    await passing(AGAIN_MS)
  }
}

async function call(goesOn: () => boolean): Promise<void> {
  while (goesOn()) {
    try {
      const connection = await host.dial(place)
      connection.abort(new Error('again'))
    } catch {
      // It was refused.
    }
    await passing(AGAIN_MS)
  }
}

process.on('message', (next: Asked) => {
  process.send?.(told satisfies Told)
  told = { calls: 0, streams: 0, bytes: 0 }
  const now = {}
  current = now
  for (const connection of host.getConnections()) connection.abort(new Error('next'))
  if (next === 'rest') return
  times++
  from.localAddress = `127.1.${times >> 8}.${times & 255}`
  const goesOn = (): boolean => current === now
  for (const act of ABUSES) {
    if (next !== act && (next !== 'all' || act === 'calls')) continue
    if (act === 'calls') void call(goesOn)
    else for (let index = 0; index < STREAMS[act]; index++) void one(act, index % 2 === 0 ? CONTROL_PROTOCOL : OWNER_PROTOCOL, goesOn)
  }
})
// The benchmark was stopped.
process.on('disconnect', () => process.exit(0))
process.send?.(told satisfies Told)
