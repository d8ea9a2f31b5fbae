/** The owner protocol: many requests at once on a client's stream, each answered in parts and ended once; owners only. */
import * as dagCbor from '@ipld/dag-cbor'
import type { PeerIdString } from '#protocol/ids'
import { messageOf } from '#protocol/message-of'
import { Answer, decodeRequest, OWNER_PROTOCOL, type OwnerErrorCode, REQUEST_BYTES_MAX, REQUESTS_OPEN_MAX, type Request } from '#protocol/owner/messages'
import type { FrameStream, Host } from '#protocol/peer/host'
import type { Rate } from '#protocol/token-bucket'
import { ServerError } from './errors.ts'
import type { Logger } from './logger.ts'
import { pause } from './owner/changes.ts'
import { type OpenRequest, OwnerError } from './owner/request.ts'
import {
  ANSWER_BYTES,
  CLIENT_STREAMS_MAX,
  CLIENT_SUBMISSIONS_MAX,
  HELD_BACK_MS_MAX,
  OWNER_STREAMS_MAX,
  REQUEST_BYTES,
  REQUESTS,
  STRANGER_REQUESTS
} from './policy.ts'
import { type Clock, StoreError } from './ports.ts'
import { Rates } from './rates.ts'

/** Answers one request: parts as it goes, and the body of the last answer (bytes are a body already encoded). Throws OwnerError to refuse. */
export type Handler = (request: Request, open: OpenRequest) => Promise<unknown>

export interface OwnerPorts {
  readonly host: Pick<Host, 'handle'>
  readonly clock: Clock
  readonly logger: Logger
}

export interface OwnerOptions {
  readonly owners: Pick<ReadonlySet<PeerIdString>, 'has'>
  readonly handler: Handler
  readonly requests?: Rate
}

export class OwnerService {
  /** Refused requests, by code. */
  readonly refused = new Map<OwnerErrorCode, number>()
  readonly #ports: OwnerPorts
  readonly #options: OwnerOptions
  readonly #streams = new Set<FrameStream>()
  readonly #rates: Rates
  readonly #bytes = new Rates(REQUEST_BYTES)
  /** Of clients that have some now. */
  readonly #streamsOf = new Map<PeerIdString, number>()
  readonly #submissionsOf = new Map<PeerIdString, number>()

  constructor(ports: OwnerPorts, options: OwnerOptions) {
    this.#ports = ports
    this.#options = options
    this.#rates = new Rates(options.requests ?? REQUESTS)
  }

  async start(): Promise<void> {
    await this.#ports.host.handle(OWNER_PROTOCOL, { frameBytesMax: REQUEST_BYTES_MAX, streamsMax: OWNER_STREAMS_MAX }, (stream) => this.#serve(stream))
  }

  stop(): void {
    for (const stream of this.#streams) stream.abort(new Error('the project server stops'))
    this.#streams.clear()
  }

  async #serve(stream: FrameStream): Promise<void> {
    const client = stream.remotePeer
    if ((this.#streamsOf.get(client) ?? 0) >= CLIENT_STREAMS_MAX) {
      stream.abort(new Error(`${CLIENT_STREAMS_MAX} streams of this client are open already`))
      return
    }
    add(this.#streamsOf, client, 1)
    this.#streams.add(stream)
    const open = new Map<number, AbortController>()
    try {
      for await (const bytes of stream.frames()) {
        const request = decodeRequest(bytes)
        if (request === undefined) {
          stream.accuse?.('what it sent is not a request of the owner protocol')
          stream.abort(new Error('not a request of the owner protocol'))
          return
        }
        const nowMs = this.#ports.clock.nowMs()
        const cost = this.#options.owners.has(client) ? 1 : STRANGER_REQUESTS
        const heldMs = Math.max(this.#rates.charge(client, cost, nowMs), this.#bytes.charge(client, bytes.length, nowMs))
        if (request.cancel) open.get(request.id)?.abort()
        else if (open.has(request.id)) await this.#end(stream, request.id, new OwnerError('malformed', `request ${request.id} is still open`))
        else if (open.size >= REQUESTS_OPEN_MAX)
          await this.#end(stream, request.id, new OwnerError('unavailable', `${REQUESTS_OPEN_MAX} requests are open already: wait for one to end`))
        else {
          const abort = new AbortController()
          open.set(request.id, abort)
          void this.#answer(stream, request, abort.signal, () => open.delete(request.id))
        }
        // Who asks for more than its rate is read more slowly, on whichever stream; nobody else waits for it.
        if (heldMs > 0) await pause(this.#ports.clock, Math.min(heldMs, HELD_BACK_MS_MAX), stream.gone)
      }
    } catch (error) {
      this.#ports.logger.debug({ client: stream.remotePeer, reason: messageOf(error) }, 'an owner stream ended')
    } finally {
      for (const abort of open.values()) abort.abort()
      this.#streams.delete(stream)
      add(this.#streamsOf, client, -1)
    }
  }

  async #answer(stream: FrameStream, request: Request, signal: AbortSignal, done: () => void): Promise<void> {
    const { id } = request
    const client = stream.remotePeer
    const write = (bytes: Uint8Array): Promise<void> => {
      this.#rates.charge(client, bytes.length / ANSWER_BYTES, this.#ports.clock.nowMs())
      return stream.write(bytes)
    }
    const submits = request.submit === undefined ? 0 : 1
    add(this.#submissionsOf, client, submits)
    try {
      if (submits > 0 && (this.#submissionsOf.get(client) ?? 0) > CLIENT_SUBMISSIONS_MAX)
        throw new OwnerError('unavailable', `${CLIENT_SUBMISSIONS_MAX} submissions of yours are on their way already: wait for one`)
      if (!this.#options.owners.has(client)) {
        const how = `its administrator can let you in (talko owner add ${client}), or add "${client}" to "owners" in the server's project.json and restart it`
        throw new OwnerError('not_owner', `${client} is not an owner of this project: ${how}`)
      }
      const body = await this.#options.handler(request, {
        client,
        ...(stream.beside === undefined ? {} : { beside: stream.beside }),
        signal,
        part: ({ body: piece, data }) =>
          signal.aborted
            ? Promise.reject(new OwnerError('unavailable', 'the request was given up'))
            : data === undefined
              ? write(encode({ id, end: false, body: piece }))
              : stream.write(encode({ id, end: false, body: piece, data }))
      })
      // The client may use the id again as soon as it reads the end.
      done()
      await write(encode({ id, end: true, body }))
    } catch (error) {
      done()
      await this.#end(stream, id, error)
    } finally {
      add(this.#submissionsOf, client, -submits)
    }
  }

  async #end(stream: FrameStream, id: number, error: unknown): Promise<void> {
    const { code, message } = this.#refusal(error)
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1)
    await stream.write(Answer.encode({ id, end: true, code, message })).catch(() => undefined)
  }

  #refusal(error: unknown): { code: OwnerErrorCode; message: string } {
    if (error instanceof OwnerError) return { code: error.code, message: error.message }
    if (error instanceof StoreError && error.code === 'disk_full') return { code: 'disk_full', message: error.message }
    if (error instanceof ServerError) return { code: error.code === 'disk_full' ? 'disk_full' : 'unavailable', message: error.message }
    this.#ports.logger.error({ err: error }, 'a request of an owner failed')
    return { code: 'unavailable', message: 'the project server could not answer; its log says why' }
  }
}

function add(counts: Map<PeerIdString, number>, client: PeerIdString, by: number): void {
  const count = (counts.get(client) ?? 0) + by
  if (count === 0) counts.delete(client)
  else counts.set(client, count)
}

function encode(answer: { id: number; end: boolean; body?: unknown; data?: Uint8Array | undefined }): Uint8Array {
  const { id, end, data } = answer
  const body = answer.body === undefined || answer.body instanceof Uint8Array ? answer.body : dagCbor.encode(answer.body)
  return Answer.encode({
    id,
    end,
    ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> }),
    ...(data === undefined ? {} : { data: data as Uint8Array<ArrayBuffer> })
  })
}
