/**
 * The client's end of `/talko/owner/1.0.0`. Every request of that protocol may be repeated, so when the stream breaks all
 * that are still open are sent again on the next one: a caller only sees a longer wait. The first connection is tried
 * once through; later ones with growing pauses until `reconnectMs` is over.
 */
import { messageOf } from '#protocol/message-of'
import { type Answer, decodeAnswer, REQUESTS_OPEN_MAX, Request } from '#protocol/owner/messages'
import type { FrameStream } from '#protocol/peer/host'
import { ClientError, oneLine } from '../errors.ts'
import { type Clock, pause, type Random } from '../ports.ts'

export const RECONNECT_PAUSE_MS_MIN = 100
export const RECONNECT_PAUSE_MS_MAX = 5_000
/** How long a lost coordinator is looked for before the requests fail: longer than a restart of the server takes. */
export const RECONNECT_MS = 120_000
/** Requests waiting for one of the open ones to end; more are a caller's mistake and refused. */
export const REQUESTS_WAITING_MAX = 100_000
/** Times a request answered `unavailable` is asked again: about ten seconds in all. */
export const UNAVAILABLE_RETRIES_MAX = 7

export type Question = Omit<Request, 'id' | 'cancel'>

export interface LinkPorts {
  /** Connects and opens one owner stream. */
  readonly open: (signal: AbortSignal) => Promise<FrameStream>
  readonly clock: Clock
  readonly random: Random
  /** Told when the link is lost and when it is back, for people. */
  readonly onLink?: (up: boolean, why: string) => void
}

export interface LinkOptions {
  readonly reconnectMs?: number
}

export interface AskOptions {
  readonly signal?: AbortSignal
  /** Called with the body of every answer before the last. */
  readonly onBody?: (body: Uint8Array) => void
}

interface Pending {
  readonly question: Question
  readonly onBody: ((body: Uint8Array) => void) | undefined
  /** How often it was answered `unavailable`. */
  refusals: number
  readonly settle: (error: Error | undefined, body?: Uint8Array) => void
}

export class OwnerLink {
  readonly #ports: LinkPorts
  readonly #reconnectMs: number
  readonly #open = new Map<number, Pending>()
  readonly #waiting = new Map<number, Pending>()
  readonly #closing = new AbortController()
  #stream: FrameStream | undefined
  #connecting: Promise<void> | undefined
  #everConnected = false
  #nextId = 1

  constructor(ports: LinkPorts, options: LinkOptions = {}) {
    this.#ports = ports
    this.#reconnectMs = options.reconnectMs ?? RECONNECT_MS
  }

  /** Sends a request and resolves with the body of its last answer. Throws ClientError. */
  ask(question: Question, options: AskOptions = {}): Promise<Uint8Array | undefined> {
    const { signal, onBody } = options
    return new Promise((resolve, reject) => {
      if (this.#closing.signal.aborted) return reject(new ClientError('unreachable', 'the client is closed'))
      if (signal?.aborted === true) return reject(signal.reason)
      if (this.#waiting.size >= REQUESTS_WAITING_MAX)
        return reject(new ClientError('refused', `more than ${REQUESTS_WAITING_MAX} requests wait for an answer; await some of them first`))
      const id = this.#nextId++
      const aborted = (): void => {
        const wasOpen = this.#open.has(id)
        pending.settle(signal?.reason instanceof Error ? signal.reason : new ClientError('interrupted', 'given up'))
        if (wasOpen) this.#send({ id, cancel: true })
      }
      const pending: Pending = {
        question,
        onBody,
        refusals: 0,
        settle: (error, body) => {
          signal?.removeEventListener('abort', aborted)
          this.#forget(id)
          if (error === undefined) resolve(body)
          else reject(error)
        }
      }
      signal?.addEventListener('abort', aborted, { once: true })
      if (this.#open.size < REQUESTS_OPEN_MAX) this.#start(id, pending)
      else this.#waiting.set(id, pending)
    })
  }

  /** Ends the stream; open requests fail. */
  async close(): Promise<void> {
    this.#closing.abort(new ClientError('unreachable', 'the client is closed'))
    this.#failAll(new ClientError('unreachable', 'the client is closed'))
    await this.#stream?.close().catch(() => {})
    this.#stream = undefined
  }

  #start(id: number, pending: Pending): void {
    this.#open.set(id, pending)
    if (this.#stream !== undefined) this.#send({ id, cancel: false, ...pending.question })
    else this.#connect()
  }

  #forget(id: number): void {
    this.#open.delete(id)
    this.#waiting.delete(id)
    for (const [next, pending] of this.#waiting) {
      if (this.#open.size >= REQUESTS_OPEN_MAX || this.#closing.signal.aborted) return
      this.#waiting.delete(next)
      this.#start(next, pending)
    }
  }

  #failAll(error: Error): void {
    const all = [...this.#waiting.values(), ...this.#open.values()]
    this.#waiting.clear()
    for (const pending of all) pending.settle(error)
  }

  #send(request: Request): void {
    // A failed write ends the stream; the reader sees that and everything open is sent again.
    this.#stream?.write(Request.encode(request)).catch(() => {})
  }

  #connect(): void {
    if (this.#connecting !== undefined || this.#closing.signal.aborted) return
    this.#connecting = this.#keepTrying().then(
      (stream) => {
        this.#connecting = undefined
        if (this.#closing.signal.aborted) return void stream.close().catch(() => {})
        if (this.#everConnected) this.#ports.onLink?.(true, '')
        this.#everConnected = true
        this.#stream = stream
        for (const [id, pending] of this.#open) this.#send({ id, cancel: false, ...pending.question })
        void this.#read(stream)
      },
      (error: unknown) => {
        this.#connecting = undefined
        this.#failAll(error instanceof Error ? error : new ClientError('unreachable', String(error)))
      }
    )
  }

  async #keepTrying(): Promise<FrameStream> {
    const { clock, random } = this.#ports
    const end = clock.nowMs() + (this.#everConnected ? this.#reconnectMs : 0)
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#ports.open(this.#closing.signal)
      } catch (error) {
        if (this.#closing.signal.aborted || clock.nowMs() >= end || !isLoss(error)) throw error
        await pause(clock, pauseMs(attempt, random.fraction()), this.#closing.signal)
      }
    }
  }

  async #read(stream: FrameStream): Promise<void> {
    let why = 'the project closed the stream'
    try {
      for await (const frame of stream.frames()) {
        const answer = decodeAnswer(frame)
        if (answer === undefined) {
          why = 'the project sent something that is no answer'
          stream.abort(new ClientError('refused', why))
          break
        }
        this.#answered(answer)
      }
    } catch (error) {
      why = oneLine(messageOf(error))
    }
    if (this.#stream === stream) this.#stream = undefined
    void stream.close().catch(() => {})
    if (this.#closing.signal.aborted) return
    this.#ports.onLink?.(false, why)
    if (this.#open.size > 0) this.#connect()
  }

  #part(id: number, pending: Pending, body: Uint8Array): void {
    try {
      pending.onBody?.(body)
    } catch (error) {
      // The caller cannot make sense of it: asking again would bring the same.
      pending.settle(error instanceof Error ? error : new ClientError('refused', String(error)))
      this.#send({ id, cancel: true })
    }
  }

  /** A coordinator that is stopping or overfull says `unavailable`: the same request may do better a little later. */
  #again(id: number, pending: Pending): void {
    const { clock, random } = this.#ports
    clock.after(pauseMs(pending.refusals++, random.fraction()), () => {
      // When the stream has changed since, it was sent again already.
      if (this.#open.get(id) === pending) this.#send({ id, cancel: false, ...pending.question })
    })
  }

  #answered(answer: Answer): void {
    const pending = this.#open.get(answer.id)
    if (pending === undefined) return
    if (answer.code === 'unavailable' && pending.refusals < UNAVAILABLE_RETRIES_MAX) this.#again(answer.id, pending)
    else if (answer.code !== undefined) pending.settle(refusalOf(answer.code, answer.message ?? ''))
    else if (answer.end) pending.settle(undefined, answer.body)
    else if (answer.body !== undefined) this.#part(answer.id, pending, answer.body)
  }
}

/** Doubling, with jitter: many clients of one restarted coordinator do not come back at once. */
export function pauseMs(attempt: number, fraction: number): number {
  const full = Math.min(RECONNECT_PAUSE_MS_MAX, RECONNECT_PAUSE_MS_MIN * 2 ** Math.min(attempt, 16))
  return Math.round(full * (0.5 + fraction / 2))
}

/** Whether trying again can help. */
export function isLoss(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'unreachable' || code === 'not_connected' || code === 'reset' || code === 'closed' || code === 'unavailable'
}

/** What a refused request throws. A code we do not know is a refusal like any other. */
export function refusalOf(code: string, message: string): ClientError {
  const text = oneLine(message)
  switch (code) {
    case 'not_found':
    case 'no_output':
    case 'missing_content':
      return new ClientError('not_found', text === '' ? 'no such thing in the project' : text)
    case 'ambiguous':
      return new ClientError('ambiguous', text)
    case 'malformed':
    case 'too_large':
      return new ClientError('usage', text)
    case 'unavailable':
      return new ClientError('unreachable', text === '' ? 'the project is not available now; try again in a moment' : text)
    default:
      return new ClientError('refused', text === '' ? `the project refused (${oneLine(code)})` : text)
  }
}
