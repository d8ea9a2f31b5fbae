/** A host as those who watch see it: its control frames as they are written, and its attempts to reach the project. */
import { CONTROL_PROTOCOL } from '#protocol/control/messages'
import type { FrameStream, Host } from '#protocol/peer/host'
import type { Witness } from '../protocol/witness.ts'

/** The answer speaks for the host in what the witness is told. `pinned`: the addresses with which an attempt begins. */
export function watched(host: Host, witness: Pick<Witness, 'dialled' | 'frame'>, pinned: readonly string[] = []): Host {
  const seen: Host = {
    ...host,
    async connect(peer, addresses, signal) {
      if (!host.isConnected(peer) && (pinned.length === 0 || addresses === pinned)) witness.dialled(seen)
      await host.connect(peer, addresses, signal)
    },
    async open(peer, protocol, options, signal) {
      const stream = await host.open(peer, protocol, options, signal)
      return protocol === CONTROL_PROTOCOL ? overheard(stream) : stream
    },
    async handle(protocol, options, handler) {
      await host.handle(protocol, options, protocol === CONTROL_PROTOCOL ? (stream) => handler(overheard(stream)) : handler)
    }
  }
  const overheard = (stream: FrameStream): FrameStream => ({
    ...stream,
    write(frame) {
      if (!stream.gone.aborted) witness.frame(seen, stream.remotePeer, frame)
      return stream.write(frame)
    }
  })
  return seen
}
