/** What a power cut leaves of files that were written without waiting for the disk: all, the first half, nothing, or zeros of the right length. */
import type { Random } from '../random.ts'
import type { Outcome } from './truth.ts'

/** A kernel writes what is older than this, more or less. */
const UNSYNCED_MS = 30_000
const FORMS = ['whole', 'half', 'empty', 'zeros'] as const

export class Tear {
  readonly unsyncedMs = UNSYNCED_MS
  readonly #dice: Random
  readonly #see: (what: string) => void

  constructor(dice: Random, see: (what: string) => void) {
    this.#dice = dice
    this.#see = see
  }

  /** Whether a tree of which nobody can say how it lies on the disk is torn. */
  tears(): boolean {
    const form = this.#dice.pick(FORMS)
    if (form !== 'whole') this.#see(`a power cut left content ${form}`)
    return form !== 'whole'
  }

  /** Files of a run, each its own way. */
  outcome({ out, stdout, stderr, exitCode }: Outcome): Outcome {
    return { out: this.#file(out), stdout: this.#file(stdout), stderr: this.#file(stderr), exitCode }
  }

  #file(text: string): string {
    const form = this.#dice.pick(FORMS)
    if (text === '' || form === 'whole') return text
    this.#see(`a power cut left a file of a run ${form}`)
    return form === 'empty' ? '' : form === 'half' ? text.slice(0, text.length >> 1) : '\0'.repeat(text.length)
  }
}
