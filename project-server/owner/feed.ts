/**
 * One followed file for all who follow it: the node sends it once. What came last is kept in a ring, from which each reader
 * takes at its own pace. The fastest of them decides how fast the node is read; who falls behind the ring reads what it
 * missed from the node again, in small parts, one reader at a time, until it has caught up.
 */
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import { LIVE_SEEN_BYTES_MAX, type LiveFile, type LiveFrame } from '#protocol/live/messages'
import { CATCH_UP_BYTES, FEED_BYTES } from '../policy.ts'
import { type LiveNodes, NodeLost } from './live.ts'
import { Ring, type RingPlace } from './ring.ts'

/** What is followed. */
export interface Followed {
  readonly node: PeerIdString
  readonly replica: ReplicaId
  readonly file: LiveFile
  readonly path: string
}

/** How far one reader is. `seen`: the last bytes that it got before the offset. */
export interface Cursor {
  offset: number
  identity: string
  seen: Uint8Array
}

export type FeedStep = { readonly kind: 'place'; readonly place: RingPlace } | { readonly kind: 'data'; readonly bytes: Uint8Array }

interface Watcher {
  readonly cursor: Cursor
  /** In the ring; undefined while it reads what the ring no longer has. */
  generation: number | undefined
}

export class Feeds {
  readonly #nodes: LiveNodes
  readonly #feeds = new Map<string, Feed>()

  constructor(nodes: LiveNodes) {
    this.#nodes = nodes
  }

  /** What comes after the cursor, which is moved on, until the replica has ended. Throws NodeLost when the node cannot be read any more, OwnerError when it refuses. */
  async *follow(followed: Followed, cursor: Cursor, client: PeerIdString, signal: AbortSignal): AsyncGenerator<FeedStep, void, undefined> {
    const { node, replica, file, path } = followed
    const key = [node, replica, file, path].join('\n')
    let feed = this.#feeds.get(key)
    if (feed === undefined || feed.over) {
      feed = new Feed(followed, this.#nodes, cursor, client)
      this.#feeds.set(key, feed)
    }
    try {
      yield* feed.read(cursor, client, signal)
    } finally {
      if (feed.over && this.#feeds.get(key) === feed) this.#feeds.delete(key)
    }
  }
}

class Feed {
  readonly #followed: Followed
  readonly #nodes: LiveNodes
  readonly #watchers = new Set<Watcher>()
  #ring: Ring
  #news = Promise.withResolvers<void>()
  #ended: { readonly error?: unknown } | undefined
  #upstream: AbortController | undefined
  /** Who is behind waits for the one before. */
  #catchingUp: Promise<unknown> = Promise.resolve()
  /** Ends the wait of what is behind when nobody is left. */
  readonly #left = new AbortController()

  constructor(followed: Followed, nodes: LiveNodes, from: Cursor, client: PeerIdString) {
    this.#followed = followed
    this.#nodes = nodes
    this.#ring = new Ring(FEED_BYTES, from)
    void this.#pump(client)
  }

  get over(): boolean {
    return this.#left.signal.aborted || this.#ended !== undefined
  }

  async *read(cursor: Cursor, client: PeerIdString, signal: AbortSignal): AsyncGenerator<FeedStep, void, undefined> {
    const watcher: Watcher = { cursor, generation: undefined }
    this.#watchers.add(watcher)
    const wake = (): void => this.#tell()
    signal.addEventListener('abort', wake, { once: true })
    this.#join(watcher)
    this.#jumpTo(watcher)
    try {
      while (!signal.aborted) {
        const steps = await this.#next(watcher, client, signal)
        if (steps === 'over') return
        yield* steps
      }
    } finally {
      signal.removeEventListener('abort', wake)
      this.#watchers.delete(watcher)
      if (this.#watchers.size === 0) this.#left.abort()
      this.#tell()
    }
  }

  async #next(watcher: Watcher, client: PeerIdString, signal: AbortSignal): Promise<readonly FeedStep[] | 'over'> {
    const { cursor } = watcher
    const news = this.#news.promise
    if (watcher.generation === undefined) return this.#catchUp(watcher, client, signal)
    const identity = this.#ring.identityOf(watcher.generation)
    if (identity !== '' && identity !== cursor.identity) return [this.#move(watcher, { offset: cursor.offset, identity, missed: false })]
    const after = this.#ring.after(watcher.generation, cursor.offset)
    switch (after.kind) {
      case 'bytes':
        return [this.#give(watcher, after.bytes)]
      case 'place':
        watcher.generation = after.generation
        return [this.#move(watcher, after.place)]
      case 'behind':
        watcher.generation = undefined
        return []
      case 'nothing':
        if (this.#ended?.error !== undefined) throw this.#ended.error
        if (this.#ended !== undefined) return 'over'
        await news
        return []
    }
  }

  #give({ cursor }: Watcher, bytes: Uint8Array): FeedStep {
    cursor.offset += bytes.length
    cursor.seen = Buffer.concat([cursor.seen, bytes.subarray(-LIVE_SEEN_BYTES_MAX)]).subarray(-LIVE_SEEN_BYTES_MAX)
    // The node is read on when the fastest has room.
    this.#tell()
    return { kind: 'data', bytes }
  }

  #move({ cursor }: Watcher, place: RingPlace): FeedStep {
    if (place.offset !== cursor.offset) cursor.seen = new Uint8Array()
    cursor.offset = place.offset
    cursor.identity = place.identity
    this.#tell()
    return { kind: 'place', place }
  }

  /** Into the ring, where that has what comes next. */
  #join(watcher: Watcher): void {
    const { offset, identity } = watcher.cursor
    const generation = identity === '' ? this.#ring.generation : this.#ring.generationOf(identity)
    if (generation !== undefined && this.#ring.after(generation, offset).kind !== 'behind') watcher.generation = generation
  }

  /** Whoever wants the end of a long file does not wait until another has read all that comes before. */
  #jumpTo(watcher: Watcher): void {
    const { cursor, generation } = watcher
    // Of another run's file nobody knows that it is as long.
    if (generation === this.#ring.generation && cursor.identity !== '' && cursor.offset - this.#ring.end >= FEED_BYTES) this.#goOnAt(watcher)
  }

  /** The node is read on where this reader is; the others read what they miss. */
  #goOnAt({ cursor }: Watcher): void {
    this.#ring.jump(cursor)
    for (const watcher of this.#watchers) watcher.generation = watcher.cursor === cursor ? this.#ring.generation : undefined
    this.#upstream?.abort()
    this.#tell()
  }

  /** One part of what the ring no longer has. */
  async #catchUp(watcher: Watcher, client: PeerIdString, signal: AbortSignal): Promise<readonly FeedStep[]> {
    const before = this.#catchingUp
    const done = Promise.withResolvers<void>()
    this.#catchingUp = done.promise
    const { cursor } = watcher
    const pieces: Uint8Array[] = []
    let place: RingPlace = { offset: cursor.offset, identity: cursor.identity, missed: false }
    try {
      await before
      if (signal.aborted) return []
      let room = CATCH_UP_BYTES
      for await (const frame of this.#ask({ ...cursor, until: cursor.offset + CATCH_UP_BYTES }, { client, signal })) {
        place = placeOf(frame) ?? place
        const bytes = frame.data?.subarray(0, room)
        if (bytes !== undefined) pieces.push(bytes)
        room -= bytes?.length ?? 0
        // An older node sends all that it has.
        if (room === 0) break
      }
    } finally {
      done.resolve()
    }
    const steps: FeedStep[] = []
    const elsewhere = place.offset !== cursor.offset || (cursor.identity !== '' && place.identity !== cursor.identity)
    if (elsewhere || place.identity !== cursor.identity) steps.push(this.#move(watcher, place))
    if (pieces.length > 0) steps.push(this.#give(watcher, Buffer.concat(pieces)))
    this.#join(watcher)
    // Of the file that it read there is no more: it goes on with the one after it.
    return steps.length > 0 || watcher.generation !== undefined ? steps : this.#skip(watcher, { client, signal })
  }

  /** From a file of which there is no more to the one that came after it. */
  async #skip(watcher: Watcher, asking: { client: PeerIdString; signal: AbortSignal }): Promise<readonly FeedStep[]> {
    const { identity } = watcher.cursor
    const known = this.#ring.generationOf(identity)
    let missed = false
    let next = this.#ring.next(known ?? -1)?.place.identity
    if (known === undefined && this.#ring.front.identity === '') {
      // The node has not said yet what it reads from.
      if (this.#ended !== undefined) throw new NodeLost('the node is gone')
      await this.#news.promise
      return []
    }
    if (known === undefined) {
      const present = await this.#presentFile(asking)
      if (present === identity) {
        // The others are at files that this one replaced.
        this.#goOnAt(watcher)
        return []
      }
      missed = this.#ring.generationOf(present) === undefined
      if (missed) next = present
    }
    if (next === undefined) throw new NodeLost('what comes next is not there any more')
    // Its beginning may be older than what the ring has of it.
    const step = this.#move(watcher, { offset: 0, identity: next, missed })
    this.#join(watcher)
    return [step]
  }

  /** Which file stands at the path now. */
  async #presentFile(asking: { client: PeerIdString; signal: AbortSignal }): Promise<string> {
    for await (const frame of this.#ask({ offset: 0, until: 1 }, asking)) if (frame.offset !== undefined) return frame.identity
    throw new NodeLost('the file is not there any more')
  }

  async #pump(client: PeerIdString): Promise<void> {
    try {
      do {
        this.#upstream = new AbortController()
      } while (!(await this.#readOn(client, AbortSignal.any([this.#upstream.signal, this.#left.signal]))))
      this.#ended = {}
    } catch (error) {
      this.#ended = { error }
    }
    this.#tell()
  }

  /** False when it has to begin anew elsewhere. */
  async #readOn(client: PeerIdString, signal: AbortSignal): Promise<boolean> {
    const ring = this.#ring
    try {
      for await (const frame of this.#ask({ ...ring.front, follow: true }, { client, signal, follow: true })) {
        if (this.#upstream?.signal.aborted === true) return false
        const place = placeOf(frame)
        if (place !== undefined) ring.place(place)
        if (frame.data !== undefined && frame.data.length > 0) ring.push(frame.data)
        this.#tell()
        while (this.#lead() >= FEED_BYTES / 2 && !signal.aborted) await this.#news.promise
      }
    } catch (error) {
      if (this.#upstream?.signal.aborted === true) return false
      throw error
    }
    return this.#upstream?.signal.aborted !== true
  }

  #ask(
    question: Partial<Cursor> & { readonly until?: number; readonly follow?: boolean },
    asking: { client: PeerIdString; signal: AbortSignal; follow?: boolean }
  ) {
    const { node, replica, file, path } = this.#followed
    const seen = new Uint8Array(question.seen ?? [])
    return this.#nodes.ask({ ...question, seen, replica, file, path }, { node, ...asking })
  }

  /** Bytes here that the fastest reader has not taken yet. */
  #lead(): number {
    const { end, generation } = this.#ring
    const offsets = [...this.#watchers].filter((watcher) => watcher.generation === generation).map(({ cursor }) => cursor.offset)
    // Nobody is so far: as much of it is kept as fits.
    return offsets.length === 0 ? this.#ring.bytes : end - Math.max(...offsets)
  }

  #tell(): void {
    const news = this.#news
    this.#news = Promise.withResolvers()
    news.resolve()
  }
}

function placeOf(frame: LiveFrame): RingPlace | undefined {
  const { offset, identity, missed } = frame
  return offset === undefined ? undefined : { offset, identity, missed }
}
