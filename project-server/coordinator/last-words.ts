/**
 * The last lines of the logs of nodes that went down with replicas in hand (O10): kept for the owners of their tasks, who are
 * shown them with the lost attempts. They decide nothing. A node can say anything here, so what is kept is bounded, of each
 * node and in all, and it may only speak of what it had or could have had: whose replica it was is looked at again when it is
 * shown, since the task may be over by then.
 */
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import type { Event } from './events.ts'
import type { Node } from './model.ts'
import { LAST_WORDS_KEPT_MAX, LAST_WORDS_OF_NODE_MAX } from './policy.ts'
import { decodeRecord, encodeRecord } from './record-version.ts'
import type { State } from './state.ts'

export const LAST_WORDS_PREFIX = 'words/'

/** What one node said of one replica. */
export function lastWordsKey(node: PeerIdString, replica: ReplicaId): string {
  return `${LAST_WORDS_PREFIX}${node}/${replica}`
}

/** Throws when the bytes are no such record. */
export function decodeLastWords(bytes: Uint8Array): { readonly atMs: number; readonly log: string } {
  const [atMs, log] = decodeRecord<[number, string]>('last words', bytes)
  return { atMs, log }
}

/** Which are kept, the oldest first; the texts are on disk alone. */
export class LastWords {
  readonly #kept = new Set<string>()
  readonly #ofNode = new Map<PeerIdString, Set<string>>()

  get size(): number {
    return this.#kept.size
  }

  has(key: string): boolean {
    return this.#kept.has(key)
  }

  /** Answers those that go for it. */
  add(key: string): string[] {
    const mine = this.#ofNode.get(nodeOf(key)) ?? new Set()
    this.#ofNode.set(nodeOf(key), mine)
    this.#kept.add(key)
    mine.add(key)
    const gone = [...mine].slice(0, Math.max(0, mine.size - LAST_WORDS_OF_NODE_MAX))
    for (const old of gone) this.#drop(old)
    for (const old of this.#kept) {
      if (this.#kept.size <= LAST_WORDS_KEPT_MAX) break
      this.#drop(old)
      gone.push(old)
    }
    return gone
  }

  #drop(key: string): void {
    this.#kept.delete(key)
    const mine = this.#ofNode.get(nodeOf(key))
    mine?.delete(key)
    if (mine?.size === 0) this.#ofNode.delete(nodeOf(key))
  }
}

function nodeOf(key: string): PeerIdString {
  return key.slice(LAST_WORDS_PREFIX.length, key.lastIndexOf('/'))
}

/** What was said of a replica first stays: a node says it again with each stream. */
export function crashed(state: State, node: Node, { replicas }: Extract<Event, { kind: 'crashed' }>, nowMs: number): void {
  for (const { replica, log } of replicas) {
    const key = lastWordsKey(node.id, replica)
    if (log === '' || state.lastWords.has(key) || !mayBeOf(state, node, replica)) continue
    state.out.put(key, encodeRecord([nowMs, log]))
    for (const old of state.lastWords.add(key)) state.out.delete(old)
  }
}

/** It is or was leased to this node; of a task that is over, that is believed of one which ever lost or failed anything. */
function mayBeOf(state: State, node: Node, id: ReplicaId): boolean {
  const replica = state.replica(id)
  return replica === undefined ? node.lost + node.errors > 0 : replica.node === node
}
