/**
 * What a running replica prints and writes, listed and read over the node's own connection as fast as the stream drains, and
 * small files put into its output folder. The folders are hostile: see below.ts.
 */
import { join } from 'node:path'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import {
  decodeLiveOpen,
  LIVE_FRAME_BYTES_MAX,
  LIVE_FRAME_ENTRIES_MAX,
  LIVE_PROTOCOL,
  type LiveErrorCode,
  LiveFrame,
  type LiveRequest
} from '#protocol/live/messages'
import type { FrameStream, Host } from '#protocol/peer/host'
import { LIVE_STREAMS_MAX } from '../policy.ts'
import { LiveFault, listBelow, writeBelow } from './below.ts'
import { sendFile } from './follow.ts'

export interface LogSource {
  /** `coming`: it will run here. `running`: its files grow. `complete`: they do not any more. undefined: not here. */
  stateOf(replica: ReplicaId): 'coming' | 'running' | 'complete' | undefined
  /** Holds `stdout`, `stderr` and `out/`. */
  folderOf(replica: ReplicaId): string
}

/** Serves logs and output folders to `coordinator` until the host stops. */
export async function serveLogs(host: Host, coordinator: PeerIdString, source: LogSource): Promise<void> {
  await host.handle(LIVE_PROTOCOL, { frameBytesMax: LIVE_FRAME_BYTES_MAX, streamsMax: LIVE_STREAMS_MAX }, async (stream) => {
    const refuse = (code: LiveErrorCode, message: string): Promise<void> => stream.write(LiveFrame.encode({ end: true, code, message }))
    if (stream.remotePeer !== coordinator) await refuse('not_allowed', 'only the coordinator of the project reads logs here')
    else {
      const first = await stream.frames().next()
      const request = first.done === true ? undefined : decodeLiveOpen(first.value)
      try {
        if (request === undefined) await refuse('malformed', 'the request is not one of this protocol')
        else if (source.stateOf(request.replica) === undefined) await refuse('not_found', `replica ${request.replica} is not on this node`)
        else if (await answer(stream, source, request)) await stream.write(LiveFrame.encode({ end: true }))
        else await refuse('not_found', `replica ${request.replica} is no longer on this node`)
      } catch (error) {
        if (!(error instanceof LiveFault)) throw error
        await refuse(error.code, error.message)
      }
    }
    await stream.close()
  })
}

/** False when the replica went away meanwhile. Throws LiveFault. */
async function answer(stream: FrameStream, source: LogSource, request: LiveRequest): Promise<boolean> {
  const { replica, verb, file, path } = request
  const folder = source.folderOf(replica)
  const state = (): ReturnType<LogSource['stateOf']> => source.stateOf(replica)
  if (verb === 'read') {
    const followed = file === 'out' ? { folder, path: [file, ...path], state } : { folder, path: [file], state, watched: folder }
    return sendFile(followed, request, {
      gone: stream.gone,
      place: (place) => stream.write(LiveFrame.encode(place)),
      data: (bytes) => stream.write(LiveFrame.encode({ data: bytes as Uint8Array<ArrayBuffer> }))
    })
  }
  const now = state()
  if (now === 'coming' || (verb === 'write' && now !== 'running'))
    throw new LiveFault('not_running', now === 'coming' ? 'it has not begun there: its inputs are fetched' : 'it has ended')
  if (verb === 'write') {
    writeBelow(join(folder, 'out'), path, request.data, folder)
    return true
  }
  const { entries, more } = await listBelow(folder, ['out', ...path])
  for (let from = 0; from < entries.length; from += LIVE_FRAME_ENTRIES_MAX) {
    await stream.write(LiveFrame.encode({ entries: entries.slice(from, from + LIVE_FRAME_ENTRIES_MAX) }))
  }
  if (more) await stream.write(LiveFrame.encode({ more }))
  return state() !== undefined
}
