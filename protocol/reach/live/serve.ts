/** The relay's side: what it sees of who asks, whether a port answers from outside, and an answer over UDP. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import { isRelayed } from '../../peer/addresses.ts'
import type { FrameStream, Host } from '../../peer/host.ts'
import { decodeReachAsk, REACH_FRAME_BYTES_MAX, REACH_PROTOCOL, Seen, udpAnswer } from '../messages.ts'

/** Ports being tried at once, and for how long: a relay is no port scanner, and tries only where the question came from. */
const TRIES_MAX = 32
const TRY_MS_MAX = 3_000
const STREAMS_MAX = 4

/** Serves until the host stops; the answer closes the UDP port. Where it cannot be had, nothing is answered over UDP. */
export async function serveReach(host: Pick<Host, 'handle'>, udpPort: number): Promise<() => void> {
  const socket = createSocket({ type: 'udp4' })
  socket.on('message', (ask, { address, port }) => {
    const answer = udpAnswer(ask, address, port)
    if (answer !== undefined) socket.send(answer, port, address)
  })
  const bound = await new Promise<boolean>((resolve) => {
    socket.once('error', () => resolve(false))
    socket.bind(udpPort, () => resolve(true))
  })
  socket.on('error', () => undefined)
  let tries = 0
  await host.handle(REACH_PROTOCOL, { frameBytesMax: REACH_FRAME_BYTES_MAX, streamsMax: STREAMS_MAX }, async (stream: FrameStream) => {
    for await (const frame of stream.frames()) {
      const ask = decodeReachAsk(frame)
      const address = isRelayed(stream.remoteAddress) ? undefined : stream.remoteAddress.split('/')[2]
      if (ask === undefined || address === undefined) break
      let open = false
      const busy = ask.port > 0 && tries >= TRIES_MAX
      if (ask.port > 0 && !busy) {
        tries += 1
        open = await answers(address, ask.port).finally(() => {
          tries -= 1
        })
      }
      await stream.write(Seen.encode({ address, nowMs: Date.now(), open, udpPort: bound ? socket.address().port : 0, busy }))
      return
    }
    stream.abort(new Error('not a question about a network'))
  })
  return () => socket.close()
}

async function answers(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(TRY_MS_MAX) })
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
