/**
 * What owners' programs answered about two outputs: `compared/<bundle>/<hash of both votes>`. A program is asked once about two outputs,
 * also over restarts, so that what it says of them is one thing for every task. The last KNOWN_PAIRS_MAX answers are kept.
 */
import { createHash } from 'node:crypto'
import { OldestFirst } from '#protocol/oldest-first'
import { decodeRecord, RECORD_VERSION } from './coordinator/record-version.ts'
import { WRITER } from './coordinator/record-writer.ts'
import { KNOWN_PAIRS_MAX } from './policy.ts'
import type { Change, Store } from './ports.ts'

const PREFIX = 'compared/'
const PREFIX_END = 'compared0'

interface Known {
  readonly agree: boolean
  /** Answers are numbered as they come. */
  readonly number: number
}

export class KnownPairs {
  /** By key, the oldest first. */
  readonly #known = new OldestFirst<string, Known>()
  #next: number

  constructor(known: readonly (readonly [key: string, known: Known])[] = []) {
    for (const [key, one] of known.toSorted(([, a], [, b]) => a.number - b.number)) this.#known.set(key, one)
    this.#next = 1 + Math.max(0, ...[...this.#known.values()].map(({ number }) => number))
  }

  static async load(store: Pick<Store, 'range'>): Promise<KnownPairs> {
    const known: (readonly [string, Known])[] = []
    for await (const [key, value] of store.range(PREFIX, PREFIX_END)) {
      const [agree, number] = decodeRecord<[boolean, number]>('compared', value)
      known.push([key, { agree, number }])
    }
    return new KnownPairs(known)
  }

  /** What the program said; undefined when it was not asked, or so long ago that it is forgotten. */
  get(bundle: string, a: string, b: string): boolean | undefined {
    return this.#known.get(pairKey(bundle, a, b))?.agree
  }

  /** Notes an answer: the changes that make it durable, those of what is forgotten for it among them. */
  set(bundle: string, { a, b, agree }: { readonly a: string; readonly b: string; readonly agree: boolean }): readonly Change[] {
    const key = pairKey(bundle, a, b)
    const number = this.#next++
    this.#known.renew(key, { agree, number })
    const changes: Change[] = [{ key, value: WRITER.list(3).int(RECORD_VERSION).flag(agree).int(number).done() }]
    for (const old of this.#known.keep(KNOWN_PAIRS_MAX)) changes.push({ key: old, value: null })
    return changes
  }
}

/** Of two outputs for one program, whichever of the two is named first. */
export function pairKey(bundle: string, a: string, b: string): string {
  const pair = a < b ? `${a} ${b}` : `${b} ${a}`
  return `${PREFIX}${bundle}/${createHash('sha256').update(pair).digest('hex')}`
}
