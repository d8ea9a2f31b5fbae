import type { FrameStream } from '#protocol/peer/host'

/** Two ends of a stream between these peers; what one writes the other reads. */
export function pipe(peers: readonly [string, string]): readonly [FrameStream, FrameStream] {
  const gone = new AbortController()
  const queues: Uint8Array[][] = [[], []]
  let wake = Promise.withResolvers<void>()
  const end = (mine: 0 | 1): FrameStream => ({
    remotePeer: peers[mine === 0 ? 1 : 0],
    remoteAddress: '',
    frames: async function* () {
      for (;;) {
        const frame = queues[mine]?.shift()
        if (frame !== undefined) yield frame
        else if (gone.signal.aborted) return
        else await wake.promise
      }
    },
    write: async (frame) => {
      queues[1 - mine]?.push(frame)
      wake.resolve()
      wake = Promise.withResolvers()
    },
    close: async () => {},
    abort: (error) => {
      gone.abort(error)
      wake.resolve()
    },
    gone: gone.signal
  })
  return [end(0), end(1)]
}
