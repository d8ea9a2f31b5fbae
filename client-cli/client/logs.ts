/** A task's log or a file of its output, and whatever is read for long, over an owner stream of its own, so that a slow reader slows only this; goes on at the same byte after a reconnect. */
import { type Answer, decodeAnswer, Request } from '#protocol/owner/messages'
import type { FrameStream } from '#protocol/peer/host'
import { ClientError } from '../errors.ts'
import { type Clock, pause, type Random } from '../ports.ts'
import type { LogOptions } from './client.ts'
import { isLoss, pauseMs, RECONNECT_MS, refusalOf } from './owner-link.ts'
import { logPlace, readBody } from './views.ts'

export interface LogPorts {
  /** Connects when needed and opens one owner stream. */
  readonly open: (signal?: AbortSignal) => Promise<FrameStream>
  readonly clock: Clock
  readonly random: Pick<Random, 'fraction'>
}

export async function* followLog(ports: LogPorts, of: string, options: LogOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
  const { follow = false, attempt = 0, signal, onPlace } = options
  const { file, path } = options.path === undefined ? { file: options.file ?? 'stdout', path: '' } : { file: 'out', path: options.path }
  let { offset = 0, lines = 0 } = options
  let identity = ''
  for await (const { body, data } of resumed(ports, () => ({ logs: { of, file, path, follow, attempt, offset, lines, identity } }), signal)) {
    if (body !== undefined) {
      const place = readBody(body, logPlace)
      offset = place.offset
      identity = place.identity
      lines = 0
      onPlace?.(place)
    }
    if (data === undefined || data.length === 0) continue
    offset += data.length
    yield data
  }
}

/** The answers to a request on a stream of its own. When that is lost, `ask` says on another what is still wanted. */
export async function* resumed(ports: LogPorts, ask: () => Omit<Request, 'id' | 'cancel'>, signal?: AbortSignal): AsyncGenerator<Answer, void, undefined> {
  const { clock, random } = ports
  let began = false
  let lostAtMs: number | undefined
  for (let attempt = 0; ; ) {
    try {
      for await (const answer of oneStream(ports, ask(), signal)) {
        began = true
        lostAtMs = undefined
        attempt = 0
        yield answer
      }
      return
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason
      const nowMs = clock.nowMs()
      lostAtMs ??= nowMs
      // The first connection is not waited for; a lost one is.
      if (!isLoss(error) || (!began && attempt === 0 && codeOf(error) === 'unreachable') || nowMs - lostAtMs > RECONNECT_MS) throw error
      await pause(clock, pauseMs(attempt++, random.fraction()), signal)
    }
  }
}

async function* oneStream(ports: LogPorts, asked: Omit<Request, 'id' | 'cancel'>, signal?: AbortSignal): AsyncGenerator<Answer, void, undefined> {
  const stream = await ports.open(signal)
  const stop = (): void => stream.abort(new ClientError('interrupted', 'given up'))
  signal?.addEventListener('abort', stop, { once: true })
  let ended = false
  try {
    await stream.write(Request.encode({ id: 1, cancel: false, ...asked }))
    for await (const frame of stream.frames()) {
      const answer = decodeAnswer(frame)
      if (answer === undefined) throw new ClientError('refused', 'the project sent something that is no answer')
      if (answer.code !== undefined) throw refusalOf(answer.code, answer.message ?? '')
      yield answer
      if (answer.end) {
        ended = true
        return
      }
    }
    throw new ClientError('unreachable', 'the project ended the stream early')
  } finally {
    signal?.removeEventListener('abort', stop)
    // What is left in the middle is not read to its end.
    if (ended) await stream.close().catch(() => {})
    else stream.abort(new ClientError('interrupted', 'it is no longer read'))
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
