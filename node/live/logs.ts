/**
 * The live protocol's handler: streams what a replica prints, from an offset, while it runs. Only the coordinator may ask.
 * The reader's pace is the stream's: the next piece of the file is read when the last one has been taken.
 */
import { constants, type FSWatcher, watch } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import {
  decodeLiveOpen,
  LIVE_FRAME_BYTES_MAX,
  LIVE_PIECE_BYTES_MAX,
  LIVE_PROTOCOL,
  type LiveErrorCode,
  type LiveFile,
  LiveFrame
} from '#protocol/live/messages'
import type { FrameStream, Host } from '#protocol/peer/host'
import { LIVE_STREAMS_MAX } from '../policy.ts'

/** How often a followed file is looked at when nothing says that it grew: a line shows well within a second everywhere. */
const LOOK_MS = 200

export interface LogSource {
  /** `coming`: it will run here. `running`: its files grow. `complete`: they do not any more. undefined: not here. */
  stateOf(replica: ReplicaId): 'coming' | 'running' | 'complete' | undefined
  pathOf(replica: ReplicaId, file: LiveFile): string
}

/** Serves logs to `coordinator` until the host stops. */
export async function serveLogs(host: Host, coordinator: PeerIdString, source: LogSource): Promise<void> {
  await host.handle(LIVE_PROTOCOL, { frameBytesMax: LIVE_FRAME_BYTES_MAX, streamsMax: LIVE_STREAMS_MAX }, async (stream) => {
    const refuse = (code: LiveErrorCode, message: string): Promise<void> => stream.write(LiveFrame.encode({ end: true, code, message }))
    if (stream.remotePeer !== coordinator) await refuse('not_allowed', 'only the coordinator of the project reads logs here')
    else {
      const first = await stream.frames().next()
      const request = first.done === true ? undefined : decodeLiveOpen(first.value)
      if (request === undefined) await refuse('malformed', 'the request is not one of this protocol')
      else if (source.stateOf(request.replica) === undefined) await refuse('not_found', `replica ${request.replica} is not on this node`)
      else if (!(await sendLog(stream, source, request))) await refuse('not_found', `replica ${request.replica} is no longer on this node`)
    }
    await stream.close()
  })
}

interface LogRequest {
  readonly replica: ReplicaId
  readonly file: LiveFile
  readonly offset: number
  readonly follow: boolean
}

/** False when the replica went away meanwhile: what was sent may not be all, and whoever asks has to look elsewhere for the rest. */
async function sendLog(stream: FrameStream, source: LogSource, { replica, file, offset, follow }: LogRequest): Promise<boolean> {
  const path = source.pathOf(replica, file)
  const growth = watchGrowth(path, stream.gone)
  let at = offset
  let handle: FileHandle | undefined
  try {
    while (!stream.gone.aborted) {
      // Asked before reading: what is complete now has been written whole by now.
      const state = source.stateOf(replica)
      growth.arm()
      handle ??= await openLog(path)
      at = handle === undefined ? at : await sendFrom(stream, handle, at)
      // No file means that nothing was printed, unless it was taken away with the replica just now.
      if (state === undefined || (handle === undefined && source.stateOf(replica) === undefined)) return false
      if (!follow || state === 'complete') break
      await growth.next()
    }
    if (!stream.gone.aborted) await stream.write(LiveFrame.encode({ end: true }))
    return true
  } finally {
    growth.stop()
    await handle?.close()
  }
}

/** Sends from `at` to the present end of the file and returns where that was. */
async function sendFrom(stream: FrameStream, handle: FileHandle, at: number): Promise<number> {
  let next = at
  for (;;) {
    const { bytesRead, buffer } = await handle.read(new Uint8Array(LIVE_PIECE_BYTES_MAX), 0, LIVE_PIECE_BYTES_MAX, next)
    if (bytesRead === 0 || stream.gone.aborted) return next
    await stream.write(LiveFrame.encode({ data: buffer.subarray(0, bytesRead) }))
    next += bytesRead
  }
}

async function openLog(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined
    throw error
  }
}

interface Growth {
  /** From now on, growth is remembered for `next`. */
  arm(): void
  /** Resolves when the file may have grown since `arm`, after LOOK_MS at the latest. */
  next(): Promise<void>
  stop(): void
}

function watchGrowth(path: string, gone: AbortSignal): Growth {
  let grew = false
  let wake = (): void => {}
  let watcher: FSWatcher | undefined
  const signal = (): void => {
    grew = true
    wake()
  }
  const start = (): void => {
    try {
      watcher ??= watch(dirname(path), { persistent: false }, signal).on('error', () => {
        // Watches are a machine-wide supply that may be used up; looking again and again does as well.
      })
    } catch {
      // The folder is not there yet.
    }
  }
  gone.addEventListener('abort', signal, { once: true })
  return {
    arm() {
      start()
      grew = false
    },
    async next() {
      if (grew || gone.aborted) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LOOK_MS)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      wake = () => {}
    },
    stop() {
      watcher?.close()
      gone.removeEventListener('abort', signal)
    }
  }
}
