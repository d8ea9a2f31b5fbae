/**
 * How much memory runs of a program took, for those whose owner does not say how much they need (S05): 1.2 times the 95th of a
 * hundred of the last runs. A program is what the tasks of a sweep, or of a map, have in common: image, command and environment,
 * without what stands for the values of a sweep. Each client's runs are its own.
 */
import { createHash } from 'node:crypto'
import type { RunManifest } from '#protocol/bundle/manifest'
import type { PeerIdString } from '#protocol/ids'
import { MEMORY_GUESS_FACTOR, MEMORY_GUESS_SHARE, MEMORY_GUESS_STEP_BYTES, MEMORY_PROGRAMS_MAX, MEMORY_RUNS_KEPT, MEMORY_RUNS_MIN } from './policy.ts'
import { decodeRecord, encodeRecord } from './record-version.ts'

export const MEMORY_PREFIX = 'memory/'

/** `memory/<client>/<program>`: what its last runs took, the latest last. */
export function memoryKey(client: PeerIdString, program: string): string {
  return `${MEMORY_PREFIX}${client}/${program}`
}

/** Of a sweep's template, or of a bundle. */
export function programOf({ engine, image, command, environment }: RunManifest): string {
  const variables = Object.entries(environment).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([engine, String(image), command, variables]))
    .digest('hex')
    .slice(0, 32)
}

interface Changes {
  put(key: string, value: Uint8Array): void
  delete(key: string): void
}

export class MemoryHistory {
  /** By the keys of their records, those used longest ago first. */
  readonly #runs = new Map<string, readonly number[]>()

  load(key: string, record: Uint8Array): void {
    const [peaks] = decodeRecord<[number[]]>('memory', record)
    this.#runs.set(key, peaks)
  }

  /** A run that was agreed on took so much. Nodes that cannot tell say 0. */
  ran(key: string, peakBytes: number, out: Changes): void {
    if (peakBytes <= 0) return
    const peaks = [...(this.#runs.get(key) ?? []), peakBytes].slice(-MEMORY_RUNS_KEPT)
    this.#runs.delete(key)
    this.#runs.set(key, peaks)
    out.put(key, encodeRecord([peaks]))
    if (this.#runs.size <= MEMORY_PROGRAMS_MAX) return
    const [oldest = ''] = this.#runs.keys()
    this.#runs.delete(oldest)
    out.delete(oldest)
  }

  /** What the next run may need, in steps that are not too many; undefined while too little is known. */
  guess(key: string): number | undefined {
    const peaks = this.#runs.get(key)
    if (peaks === undefined || peaks.length < MEMORY_RUNS_MIN) return undefined
    const sorted = peaks.toSorted((a, b) => a - b)
    const peak = sorted[Math.ceil(MEMORY_GUESS_SHARE * sorted.length) - 1] ?? 0
    return Math.ceil((peak * MEMORY_GUESS_FACTOR) / MEMORY_GUESS_STEP_BYTES) * MEMORY_GUESS_STEP_BYTES
  }
}
