/** The asking side. */
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { PeerIdString } from '../../ids.ts'
import type { Host } from '../../peer/host.ts'
import { askOnce } from '../../streams/ask-once.ts'
import { Ask, decodeSeen, REACH_FRAME_BYTES_MAX, REACH_PROTOCOL, type Seen, udpAsk, udpSeen } from '../messages.ts'

const ASK_MS_MAX = 8_000
/** A packet may be lost: a question is sent again this often, so often. */
const UDP_AGAIN_MS = 500
const UDP_TRIES = 4

/** What a relay that is connected sees of this host; undefined when it does not say. `port`: to be tried from outside. */
export async function askReach(host: Host, relay: PeerIdString, port: number): Promise<Seen | undefined> {
  try {
    const asked = { frameBytesMax: REACH_FRAME_BYTES_MAX, question: Ask.encode({ port }), signal: AbortSignal.timeout(ASK_MS_MAX) }
    return decodeSeen(await askOnce(host, relay, REACH_PROTOCOL, asked))
  } catch {
    // As good as no answer.
    return undefined
  }
}

/** A port that somebody listens at while `use` runs. */
export async function withOpenPort<T>(use: (port: number) => Promise<T>): Promise<T> {
  const server = createServer((socket) => socket.destroy()).listen(0)
  await once(server, 'listening')
  const address = server.address()
  try {
    return await use(typeof address === 'object' && address !== null ? address.port : 0)
  } finally {
    server.close()
  }
}

/** From where each of these relays, `[address, port]`, sees one UDP socket of ours; undefined for one that does not answer. */
export async function askUdp(relays: readonly (readonly [address: string, port: number])[]): Promise<readonly (string | undefined)[]> {
  const ids = relays.map(() => new Uint8Array(randomBytes(16)))
  const seen: (string | undefined)[] = relays.map(() => undefined)
  const socket = createSocket({ type: 'udp4' })
  const all = Promise.withResolvers<void>()
  socket.on('error', () => undefined)
  socket.on('message', (answer) => {
    for (const [index, id] of ids.entries()) seen[index] ??= udpSeen(answer, id)
    if (seen.every((one) => one !== undefined)) all.resolve()
  })
  try {
    for (let tries = 0; tries < UDP_TRIES && seen.includes(undefined); tries += 1) {
      for (const [index, [address, port]] of relays.entries()) {
        const id = ids[index]
        if (id !== undefined && seen[index] === undefined) socket.send(udpAsk(id), port, address, () => undefined)
      }
      const timer = Promise.withResolvers<void>()
      const wait = setTimeout(timer.resolve, UDP_AGAIN_MS)
      await Promise.race([all.promise, timer.promise])
      clearTimeout(wait)
    }
  } finally {
    socket.close()
  }
  return seen
}
