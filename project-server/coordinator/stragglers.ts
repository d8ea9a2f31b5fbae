/**
 * Runs that take far longer than others of their batch: P x (mean + 2 sigma), as the Distributed Completion Service has it. A
 * straggler runs on and may still win, but is no longer counted on: another node gets a copy, within the budget of attempts.
 * Until enough runs have ended their owner's estimate stands for the mean.
 */
import { unended } from '#protocol/owner/counts'
import type { Batch, Replica } from './model.ts'
import { TAIL_SHARE } from './policy.ts'
import type { State } from './state.ts'
import { totalOf } from './sweeps.ts'

/** Before so many runs of a batch have ended nobody knows what is long. */
const SAMPLES_MIN = 5
/** Sigma of an estimate, as a share of it: it is a guess of what strangers' machines take, so with P = 2 a run may take four times as long. */
const ESTIMATE_SPREAD = 0.5
/** A run that is over sooner is not worth a copy. */
const STRAGGLER_MS_MIN = 2_000
/** Entries of runs that have ended, before they are cleared away: so many, and a third of those that go on. Each keeps its replica in memory, and with it a task that is over. */
const ENDED_MAX = 64
const ENDED_SHARE_MAX = 1 / 4
/** Runs that began, before those that have ended meanwhile are cleared away. */
const BEGUN_AT_FIRST = 256

interface Entry {
  readonly replica: Replica
  readonly sinceMs: number
}

/**
 * Runs of all batches that began since the slow sweep looked. Most are short, and over by then: they are not filed with their
 * batches, each of which is somewhere else in the memory.
 */
export class Begun {
  #entries: Entry[] = []
  #max = BEGUN_AT_FIRST

  add(replica: Replica): void {
    if (this.#entries.length >= this.#max) this.#clear()
    this.#entries.push({ replica, sinceMs: replica.atMs })
  }

  /** Files with their batches those that go on. To be called before runs are looked at. */
  file(): void {
    if (this.#entries.length === 0) return
    for (const entry of this.#entries) if (goesOn(entry)) entry.replica.task.batch.runs.add(entry)
    this.#entries = []
    this.#max = BEGUN_AT_FIRST
  }

  #clear(): void {
    this.#entries = this.#entries.filter(goesOn)
    this.#max = Math.max(BEGUN_AT_FIRST, 2 * this.#entries.length)
  }
}

/** What one batch's runs take, and which of them go on, in the order they began. */
export class RunTimes {
  #samples = 0
  #meanMs = 0
  /** Sum of squared differences from the mean (Welford). */
  #squares = 0
  #entries: Entry[] = []
  #head = 0
  #ended = 0
  /** Long, but of nodes that are away: they may have ended, and cannot say so. */
  #away: Entry[] = []
  readonly #estimateMs: number
  /** Stragglers by the estimate. Only so many: an estimate that is far too low must not copy all runs of a large batch, and so many copies are the samples that are missing. */
  #guessed = 0

  /** `estimateMs`: what a run takes, as its owner says; 0 when nobody did. */
  constructor(estimateMs = 0) {
    this.#estimateMs = estimateMs
  }

  began(replica: Replica): void {
    this.add({ replica, sinceMs: replica.atMs })
  }

  add(entry: Entry): void {
    this.#entries.push(entry)
  }

  /** Of the runs that ended with a result; undefined before the first. */
  get meanMs(): number | undefined {
    return this.#samples === 0 ? undefined : this.#meanMs
  }

  /** `ms`: what a run took that ended with a result; undefined for one that did not. */
  ended(ms: number | undefined): void {
    if (ms !== undefined) {
      const off = ms - this.#meanMs
      this.#meanMs += off / ++this.#samples
      this.#squares += off * (ms - this.#meanMs)
    }
    this.#ended++
    if (this.#ended > ENDED_MAX && this.#ended > this.#entries.length * ENDED_SHARE_MAX) this.#clear()
  }

  /** The same, undefined while too few have ended: the first to end are the short ones. */
  get typicalMs(): number | undefined {
    return this.#samples < SAMPLES_MIN ? undefined : this.#meanMs
  }

  /** After a restart, which finds them in another order. */
  sort(): void {
    this.#entries.sort((a, b) => a.sinceMs - b.sinceMs)
  }

  /** When a run counts as a straggler, in milliseconds from its start; infinite while nothing is known. */
  limitMs(factor: number): number {
    const known = this.#samples >= SAMPLES_MIN
    if (factor <= 0 || (!known && this.#estimateMs === 0)) return Number.POSITIVE_INFINITY
    const meanMs = known ? this.#meanMs : this.#estimateMs
    const sigmaMs = known ? Math.sqrt(this.#squares / this.#samples) : this.#estimateMs * ESTIMATE_SPREAD
    return Math.max(STRAGGLER_MS_MIN, factor * (meanMs + 2 * sigmaMs))
  }

  /** What few runs take longer than, in milliseconds: mean + sigma; undefined while too little is known. */
  get longMs(): number | undefined {
    return this.#samples < SAMPLES_MIN ? undefined : this.#meanMs + Math.sqrt(this.#squares / this.#samples)
  }

  /** Runs that go on and are not known to straggle, in the order they began, at most so many of them. */
  *going(max: number): Generator<Replica, void, undefined> {
    let seen = 0
    for (let at = this.#head; at < this.#entries.length && seen < max; at++) {
      const entry = this.#entries[at]
      if (entry === undefined || !goesOn(entry)) continue
      seen++
      yield entry.replica
    }
  }

  /** Those that have become stragglers, each once. */
  takeStragglers(factor: number, nowMs: number): Replica[] {
    const guesses = this.#samples < SAMPLES_MIN
    const most = guesses ? SAMPLES_MIN - this.#guessed : Number.POSITIVE_INFINITY
    const limitMs = this.limitMs(factor)
    const isLong = ({ sinceMs }: Entry): boolean => nowMs - sinceMs > limitMs
    const next = this.#entries[this.#head]
    if (this.#away.length === 0 && (next === undefined || (goesOn(next) && !isLong(next)))) return []
    const long = this.#away.filter(goesOn)
    for (let entry = this.#entries[this.#head]; entry !== undefined; entry = this.#entries[++this.#head]) {
      if (!goesOn(entry)) continue
      if (!isLong(entry) || long.length >= most) break
      long.push(entry)
    }
    const found = (entry: Entry): boolean => entry.replica.node.connected && isLong(entry)
    this.#away = long.filter((entry) => !found(entry))
    const stragglers = long.filter(found)
    if (guesses) this.#guessed += stragglers.length
    return stragglers.map(({ replica }) => replica)
  }

  #clear(): void {
    this.#entries = this.#entries.slice(this.#head).filter(goesOn)
    this.#head = 0
    this.#ended = 0
  }
}

/** The same run still: one that was lost and found again has an entry of its own. */
function goesOn({ replica, sinceMs }: Entry): boolean {
  return (replica.state === 'running' || replica.state === 'uploading') && replica.atMs === sinceMs
}

/** Only a batch's last tasks are not over, and what a run of it takes is known. */
export function isTail(batch: Batch): boolean {
  const { open, counts, runs } = batch
  if (open || runs.longMs === undefined) return false
  return unended(counts) <= Math.ceil(totalOf(batch) * TAIL_SHARE)
}

/** For the slow sweep: marks the tasks of new stragglers to be settled, which asks for a copy. Not until nodes have had time to come back after a restart: what took long was the coordinator. */
export function findStragglers(state: State, nowMs: number): void {
  state.begun.file()
  if (nowMs < state.graceUntilMs) return
  for (const { runs } of state.batches.values())
    for (const replica of runs.takeStragglers(state.policy.stragglerFactor, nowMs)) {
      replica.straggles = true
      // What is next there does not wait for it.
      if (replica.node.next !== null) state.nextDue.add(replica.node)
      state.touched.add(replica.task)
    }
}
