/** The owner protocol: many requests at once on a client's stream, each answered in parts and ended once; owners only. */
import * as dagCbor from '@ipld/dag-cbor'
import type { PeerIdString } from '#protocol/ids'
import { Answer, decodeRequest, OWNER_PROTOCOL, type OwnerErrorCode, REQUEST_BYTES_MAX, REQUESTS_OPEN_MAX, type Request } from '#protocol/owner/messages'
import type { FrameStream, Host } from '#protocol/peer/host'
import { ServerError } from './errors.ts'
import type { Logger } from './logger.ts'
import { type OpenRequest, OwnerError } from './owner/request.ts'
import { OWNER_STREAMS_MAX } from './policy.ts'
import { StoreError } from './ports.ts'

/** Answers one request: parts as it goes, and the body of the last answer (bytes are a body already encoded). Throws OwnerError to refuse. */
export type Handler = (request: Request, open: OpenRequest) => Promise<unknown>

export interface OwnerPorts {
  readonly host: Pick<Host, 'handle'>
  readonly logger: Logger
}

export interface OwnerOptions {
  readonly owners: Pick<ReadonlySet<PeerIdString>, 'has'>
  readonly handler: Handler
}

export class OwnerService {
  /** Refused requests, by code. */
  readonly refused = new Map<OwnerErrorCode, number>()
  readonly #ports: OwnerPorts
  readonly #options: OwnerOptions
  readonly #streams = new Set<FrameStream>()

  constructor(ports: OwnerPorts, options: OwnerOptions) {
    this.#ports = ports
    this.#options = options
  }

  async start(): Promise<void> {
    await this.#ports.host.handle(OWNER_PROTOCOL, { frameBytesMax: REQUEST_BYTES_MAX, streamsMax: OWNER_STREAMS_MAX }, (stream) => this.#serve(stream))
  }

  stop(): void {
    for (const stream of this.#streams) stream.abort(new Error('the project server stops'))
    this.#streams.clear()
  }

  async #serve(stream: FrameStream): Promise<void> {
    this.#streams.add(stream)
    const open = new Map<number, AbortController>()
    try {
      for await (const bytes of stream.frames()) {
        const request = decodeRequest(bytes)
        if (request === undefined) {
          stream.abort(new Error('not a request of the owner protocol'))
          return
        }
        if (request.cancel) open.get(request.id)?.abort()
        else if (open.has(request.id)) await this.#end(stream, request.id, new OwnerError('malformed', `request ${request.id} is still open`))
        else if (open.size >= REQUESTS_OPEN_MAX)
          await this.#end(stream, request.id, new OwnerError('unavailable', `${REQUESTS_OPEN_MAX} requests are open already: wait for one to end`))
        else {
          const abort = new AbortController()
          open.set(request.id, abort)
          void this.#answer(stream, request, abort.signal, () => open.delete(request.id))
        }
      }
    } catch (error) {
      this.#ports.logger.debug({ client: stream.remotePeer, reason: error instanceof Error ? error.message : String(error) }, 'an owner stream ended')
    } finally {
      for (const abort of open.values()) abort.abort()
      this.#streams.delete(stream)
    }
  }

  async #answer(stream: FrameStream, request: Request, signal: AbortSignal, done: () => void): Promise<void> {
    const { id } = request
    const client = stream.remotePeer
    try {
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
            : stream.write(encode({ id, end: false, body: piece, data }))
      })
      // The client may use the id again as soon as it reads the end.
      done()
      await stream.write(encode({ id, end: true, body }))
    } catch (error) {
      done()
      await this.#end(stream, id, error)
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
