/**
 * Asks providers for blocks, a bounded window of them at a time, and hands each on once it is what was asked for. What a
 * provider lacks, breaks or withholds is asked of the next one; nothing it sent before is lost.
 */
import type { CID } from 'multiformats/cid'
import type { PeerIdString } from '../ids.ts'
import { messageOf } from '../message-of.ts'
import type { FrameStream, Host } from '../peer/host.ts'
import { CONTENT_PROTOCOL, ContentError, type ContentErrorCode } from './content.ts'
import { type BlockId, digestText, sha256Aside, sha256Text } from './hash.ts'
import {
  LARGE_BLOCK_BYTES,
  REFILL_BYTES,
  REPLY_FRAME_BYTES_MAX,
  REQUEST_IDS_MAX,
  ROUNDS_MAX,
  SETTLING_BYTES,
  STALL_MS_MAX,
  STREAMS_PER_CONNECTION_MAX,
  WINDOW_BLOCKS,
  WINDOW_BYTES
} from './policy.ts'
import { decodeReply, encodeRequest } from './wire.ts'

export interface Clock {
  /** Calls back once; the answer cancels. */
  after(ms: number, call: () => void): () => void
}

export interface Provider {
  readonly host: Host
  readonly peer: PeerIdString
}

export interface Asked {
  readonly cid: CID
  /** Of `cid`. */
  readonly id: BlockId
  readonly bytesGuess: number
}

/** What is to be pulled. */
export interface Work<Item extends Asked> {
  /** The next block; undefined when no more are known until others are accepted. */
  next(): Item | undefined
  /** Gives an item back that was not met. */
  again(item: Item): void
  /** Meets an item from what is here already; false when it must be asked for. */
  present(item: Item): boolean | Promise<boolean>
  /** Takes the verified bytes of an item. Throws ContentError to end the whole pull. */
  accept(item: Item, bytes: Uint8Array): Promise<void> | undefined
  /** Whether `aside` will take this item with bytes that are not verified yet. */
  takesAside?(item: Item, bytes: Uint8Array): boolean
  /** Verifies and takes items beside this thread; says which were right. Their bytes, which stand in `frame`, are gone afterwards. */
  aside?(items: readonly Item[], blocks: readonly Uint8Array[], frame: Uint8Array): Promise<readonly boolean[]>
}

export interface PullOptions {
  /** Tried in order; read anew at each turn, so that more can join. */
  readonly providers: () => readonly Provider[]
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Bytes of blocks as they arrive. */
  readonly onReceived: (bytes: number) => void
}

interface Failure {
  readonly code: ContentErrorCode
  readonly text: string
  readonly cause: unknown
}

/** Errors of one provider: it is left, the pull goes on with the next. */
class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly code: 'corrupt' | 'unreachable'
  constructor(code: 'corrupt' | 'unreachable', message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Pulls until the work has no more items. Throws ContentError `corrupt`, `unreachable` or `not_found` naming the peers, or what `accept` throws, or the reason of the signal. */
export async function pull<Item extends Asked>(work: Work<Item>, options: PullOptions): Promise<void> {
  const failures = new Map<PeerIdString, Failure>()
  for (let round = 0; round < ROUNDS_MAX; round++) {
    let progress = false
    let left = await pullFrom(undefined, work, options)
    if (left.done) return
    const providers = options.providers()
    for (const provider of providers) {
      if (failures.get(provider.peer)?.code === 'corrupt') continue
      left = await pullFrom(provider, work, options)
      if (left.done) return
      progress ||= left.progress
      if (left.failure !== undefined) failures.set(provider.peer, left.failure)
    }
    if (!progress && options.providers().length === providers.length) break
  }
  throw describeFailures(failures)
}

function describeFailures(failures: ReadonlyMap<PeerIdString, Failure>): ContentError {
  const all = [...failures.values()]
  const worst = all.find(({ code }) => code === 'corrupt') ?? all.find(({ code }) => code === 'not_found') ?? all[0]
  if (worst === undefined) return new ContentError('unreachable', 'not all of it is here and there is no peer to ask; connect to one that holds it')
  return new ContentError(worst.code, [...failures].map(([peer, { text }]) => `${peer} ${text}`).join('; '), { cause: worst.cause })
}

interface Outcome {
  readonly done: boolean
  readonly progress: boolean
  readonly failure?: Failure
}

/** One provider's turn; without one, meets what is here already. */
async function pullFrom<Item extends Asked>(provider: Provider | undefined, work: Work<Item>, options: PullOptions): Promise<Outcome> {
  const turn = new Turn(provider, work, options)
  try {
    return await turn.run()
  } finally {
    await turn.end()
  }
}

class Turn<Item extends Asked> {
  readonly #provider: Provider | undefined
  readonly #work: Work<Item>
  readonly #options: PullOptions
  /** Asked for, in order. */
  readonly #asked: Item[] = []
  #askedFrom = 0
  #askedBytes = 0
  /** Asked for and not yet handed on, with the further items that want the same block: it is asked for once. */
  readonly #followers = new Map<BlockId, Item[]>()
  #following = 0
  /** Stands for no followers, which most blocks have; never added to. */
  readonly #nobody: Item[] = []
  readonly #lacking: Item[] = []
  readonly #settling = new Map<Item, Promise<void>>()
  #settlingBytes = 0
  readonly #unmet: Item[] = []
  #failed: { error: unknown } | undefined
  #stream: FrameStream | undefined
  #frames: AsyncGenerator<Uint8Array, void, undefined> | undefined
  #progress = false
  readonly #stop = (): void => this.#stream?.abort(new Error('no longer wanted'))

  constructor(provider: Provider | undefined, work: Work<Item>, options: PullOptions) {
    this.#provider = provider
    this.#work = work
    this.#options = options
  }

  async run(): Promise<Outcome> {
    try {
      for (;;) {
        this.#options.signal.throwIfAborted()
        const more = await this.#fill()
        if (!more) return { done: false, progress: this.#progress }
        if (this.#askedFrom < this.#asked.length) await this.#receive()
        else if (this.#settling.size > 0) await Promise.race(this.#settling.values())
        else break
        if (this.#failed !== undefined) throw this.#failed.error
      }
      if (this.#lacking.length === 0) return { done: true, progress: this.#progress }
      const first = this.#lacking[0]?.cid
      return {
        done: false,
        progress: this.#progress,
        failure: { code: 'not_found', text: `does not have ${first} (and ${this.#lacking.length - 1} more blocks)`, cause: undefined }
      }
    } catch (error) {
      this.#options.signal.throwIfAborted()
      if (!(error instanceof ProviderError)) throw error
      return { done: false, progress: this.#progress, failure: { code: error.code, text: error.message, cause: error } }
    }
  }

  /** Closes the stream and gives back what was not met. */
  async end(): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#stop)
    await Promise.allSettled(this.#settling.values())
    const followers = [...this.#followers.values()].flat()
    for (const item of [...this.#asked.slice(this.#askedFrom), ...this.#unmet, ...this.#lacking, ...followers].reverse()) this.#work.again(item)
    const stream = this.#stream
    if (stream === undefined || stream.gone.aborted) return
    if (this.#askedFrom < this.#asked.length) stream.abort(new Error('no longer wanted'))
    else await stream.close().catch(() => undefined)
  }

  /** Asks for blocks while the window has room; false when one must be asked for and there is no provider. */
  async #fill(): Promise<boolean> {
    if (this.#askedBytes > WINDOW_BYTES - REFILL_BYTES) return true
    let batch: Item[] = []
    while (this.#askedBytes < WINDOW_BYTES && this.#asked.length - this.#askedFrom + this.#following < WINDOW_BLOCKS && this.#settlingBytes < SETTLING_BYTES) {
      this.#options.signal.throwIfAborted()
      const item = this.#work.next()
      if (item === undefined) break
      const present = this.#present(item)
      if (present === true || (present !== false && (await present))) continue
      if (this.#provider === undefined) {
        this.#unmet.push(item)
        return false
      }
      const { id } = item
      const followers = this.#followers.get(id)
      if (followers !== undefined) {
        if (followers.length === 0) this.#followers.set(id, [item])
        else followers.push(item)
        this.#following++
        continue
      }
      this.#followers.set(id, this.#nobody)
      this.#asked.push(item)
      this.#askedBytes += item.bytesGuess
      batch.push(item)
      if (batch.length === REQUEST_IDS_MAX) {
        await this.#ask(batch)
        batch = []
      }
    }
    if (batch.length > 0) await this.#ask(batch)
    return true
  }

  #present(item: Item): boolean | Promise<boolean> {
    const failed = (error: unknown): never => {
      this.#unmet.push(item)
      throw error
    }
    try {
      const present = this.#work.present(item)
      return typeof present === 'boolean' ? present : present.catch(failed)
    } catch (error) {
      return failed(error)
    }
  }

  async #ask(batch: readonly Item[]): Promise<void> {
    const stream = this.#stream ?? (await this.#open())
    try {
      await stream.write(encodeRequest(batch.map(({ id }) => id)))
    } catch (error) {
      throw unreachable(error)
    }
  }

  async #open(): Promise<FrameStream> {
    const { host, peer } = this.#provider ?? {}
    if (host === undefined || peer === undefined) throw new Error('there is nobody to ask')
    const { signal } = this.#options
    try {
      this.#stream = await host.open(peer, CONTENT_PROTOCOL, { frameBytesMax: REPLY_FRAME_BYTES_MAX, streamsMax: STREAMS_PER_CONNECTION_MAX }, signal)
    } catch (error) {
      throw unreachable(error)
    }
    if (signal.aborted) this.#stop()
    signal.addEventListener('abort', this.#stop, { once: true })
    this.#frames = this.#stream.frames()
    return this.#stream
  }

  async #receive(): Promise<void> {
    const frame = await this.#nextFrame()
    let blocks: (Uint8Array | undefined)[]
    try {
      blocks = decodeReply(frame)
    } catch (error) {
      throw new ProviderError('corrupt', `broke the protocol: ${messageOf(error)}`, { cause: error })
    }
    const aside: { items: Item[]; blocks: Uint8Array[] } = { items: [], blocks: [] }
    for (const block of blocks) {
      const item = this.#asked[this.#askedFrom]
      if (item === undefined) throw new ProviderError('corrupt', 'sent blocks that nobody asked for')
      this.#askedFrom++
      this.#askedBytes -= item.bytesGuess
      if (block === undefined) this.#lacking.push(item, ...this.#takeFollowers(item))
      else {
        this.#options.onReceived(block.length)
        if (this.#work.takesAside?.(item, block) === true) {
          aside.items.push(item)
          aside.blocks.push(block)
        } else await this.#settle(item, block)
      }
    }
    if (aside.items.length > 0) await this.#settleAside(aside.items, aside.blocks, frame, blocks.length > aside.items.length)
    if (this.#askedFrom > WINDOW_BLOCKS) {
      this.#asked.splice(0, this.#askedFrom)
      this.#askedFrom = 0
    }
  }

  async #nextFrame(): Promise<Uint8Array> {
    const cancel = this.#options.clock.after(STALL_MS_MAX, () => this.#stream?.abort(new Error(`nothing came for ${STALL_MS_MAX / 1000} s`)))
    try {
      const frame = await this.#frames?.next()
      if (frame === undefined || frame.done === true) throw new Error('it closed the stream')
      return frame.value
    } catch (error) {
      throw unreachable(error)
    } finally {
      cancel()
    }
  }

  /** Checks a block and hands it on: small ones at once, large ones beside the stream, a few at a time. */
  async #settle(item: Item, block: Uint8Array): Promise<void> {
    if (block.length < LARGE_BLOCK_BYTES) {
      this.#check(item, sha256Text(block))
      await this.#handOn(item, block)
      return
    }
    const settling = sha256Aside(block)
      .then((digest) => {
        this.#check(item, digestText(digest))
        return this.#handOn(item, block)
      })
      .catch((error: unknown) => {
        this.#failed ??= { error }
      })
    await this.#track(item, settling, block.length)
  }

  async #settleAside(items: readonly Item[], blocks: readonly Uint8Array[], frame: Uint8Array, largeBeside: boolean): Promise<void> {
    const first = items[0]
    if (first === undefined) return
    // a large block of the same frame may still be being hashed: its bytes must stay until then
    if (largeBeside) await Promise.all(this.#settling.values())
    const bytes = frame.length
    const settling = this.#takeAside(items, blocks, frame).catch((error: unknown) => {
      this.#failed ??= { error }
    })
    await this.#track(first, settling, bytes)
  }

  /** Remembers work that goes on beside the stream, and waits while there is too much of it. */
  async #track(item: Item, settling: Promise<void>, bytes: number): Promise<void> {
    this.#settlingBytes += bytes
    const done = settling.finally(() => {
      this.#settling.delete(item)
      this.#settlingBytes -= bytes
    })
    this.#settling.set(item, done)
    while (this.#settlingBytes >= SETTLING_BYTES) await Promise.race(this.#settling.values())
  }

  async #takeAside(items: readonly Item[], blocks: readonly Uint8Array[], frame: Uint8Array): Promise<void> {
    let right: readonly boolean[] = []
    try {
      right = (await this.#work.aside?.(items, blocks, frame)) ?? []
    } finally {
      for (const [index, item] of items.entries()) {
        const followers = this.#takeFollowers(item)
        if (right[index] === true) {
          this.#progress = true
          // they find it here by now
          for (const follower of followers) this.#work.again(follower)
        } else this.#unmet.push(item, ...followers)
      }
    }
    const wrong = items.find((_, index) => right[index] !== true)
    if (wrong !== undefined) throw new ProviderError('corrupt', `sent a wrong block for ${wrong.cid}`)
  }

  /** Gives a verified block to all who want it, those included who come to want it meanwhile. */
  async #handOn(item: Item, block: Uint8Array): Promise<void> {
    let wanting: Item[] = [item]
    while (wanting.length > 0) {
      for (let at = 0; at < wanting.length; at++) {
        const next = wanting[at]
        if (next === undefined) continue
        try {
          await this.#work.accept(next, block)
        } catch (error) {
          this.#unmet.push(...wanting.slice(at))
          throw error
        }
      }
      this.#progress = true
      wanting = this.#takeFollowers(item)
    }
  }

  #takeFollowers({ id }: Item): Item[] {
    const followers = this.#followers.get(id) ?? this.#nobody
    this.#followers.delete(id)
    this.#following -= followers.length
    return followers
  }

  #check(item: Item, id: BlockId): void {
    if (id === item.id) return
    this.#unmet.push(item)
    throw new ProviderError('corrupt', `sent a wrong block for ${item.cid}`)
  }
}

function unreachable(error: unknown): Error {
  return error instanceof ProviderError || error instanceof ContentError
    ? error
    : new ProviderError('unreachable', `cannot be asked: ${messageOf(error)}`, { cause: error })
}
