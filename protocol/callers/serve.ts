/** The relay's side: tells whoever is called, and asked for it, from which networks. What it told is not kept. */
import { OldestFirst } from '#protocol/oldest-first'
import type { PeerIdString } from '../ids.ts'
import type { FrameStream, Host } from '../peer/host.ts'
import { CALLER_FRAME_BYTES_MAX, CALLERS_PROTOCOL, encodeCaller } from './messages.ts'
import { networkOf } from './network.ts'

/** The last calls are remembered, each of one peer to another, for who asks a moment after them. */
const CALLS_KEPT_MAX = 4_096
/** Frames that wait for one reader: it is hung up on then, and asks again. */
const UNSENT_MAX = 1_024
const STREAMS_OF_PEER_MAX = 2
const ASKING_MAX = 1_024

interface Call {
  readonly to: PeerIdString
  readonly frame: Uint8Array
}

export class CallerBook {
  readonly #asking = new Map<PeerIdString, { readonly stream: FrameStream; unsent: number }>()
  readonly #calls = new OldestFirst<string, Call>()

  async serve(host: Pick<Host, 'handle'>): Promise<void> {
    const options = { frameBytesMax: CALLER_FRAME_BYTES_MAX, streamsMax: STREAMS_OF_PEER_MAX }
    await host.handle(CALLERS_PROTOCOL, options, async (stream) => {
      try {
        for await (const _ of stream.frames()) if (this.#asking.get(stream.remotePeer)?.stream !== stream) this.#begin(stream)
      } finally {
        if (this.#asking.get(stream.remotePeer)?.stream === stream) this.#asking.delete(stream.remotePeer)
        stream.abort(new Error('it asks no more'))
      }
    })
  }

  /** Before a call is put through. `address`: where the relay sees its caller. */
  called({ from, to, address }: { readonly from: PeerIdString; readonly to: PeerIdString; readonly address: string }): void {
    const call = { to, frame: encodeCaller({ peer: from, network: networkOf(address) }) }
    const key = `${from} ${to}`
    this.#calls.renew(key, call)
    this.#calls.keep(CALLS_KEPT_MAX)
    this.#tell(call)
  }

  #begin(stream: FrameStream): void {
    this.#asking.get(stream.remotePeer)?.stream.abort(new Error('it asks anew'))
    if (this.#asking.size >= ASKING_MAX) throw new Error('too many ask')
    this.#asking.set(stream.remotePeer, { stream, unsent: 0 })
    for (const call of this.#calls.values()) if (call.to === stream.remotePeer) this.#tell(call)
  }

  #tell({ to, frame }: Call): void {
    const asking = this.#asking.get(to)
    if (asking === undefined) return
    asking.unsent += 1
    if (asking.unsent > UNSENT_MAX) {
      this.#asking.delete(to)
      asking.stream.abort(new Error('it reads nothing'))
      return
    }
    asking.stream.write(frame).then(
      () => {
        asking.unsent -= 1
      },
      () => undefined
    )
  }
}
