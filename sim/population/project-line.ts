/** The project's own line, where it has one: inputs leave over it, outputs come in, and all of a way share it at one time. */
import { SILENT_LEASE_MS_MAX } from '#project-server/coordinator/policy'
import { type LineTotals, Times, warmUpMs } from './meters.ts'
import type { LineSpeeds, WorldOptions } from './options.ts'
import { LineRows, SharedLine } from './shared-line.ts'
import { FETCHING, HANDING } from './slots.ts'

export class ProjectLine {
  /** How long inputs were on their way that came after the warm-up, without the time in which their host was away. */
  readonly inputs = new Times()
  /** Of both ways: a row goes one at a time. */
  readonly #rows = new LineRows()
  readonly #sends: SharedLine | null
  readonly #receives: SharedLine | null
  readonly #stepMs: number
  readonly #warmMs: number
  readonly #totals: Partial<LineTotals>
  /** By row: since which step an input is on its way, by so many less as it has been before; while its host is away, for how many it has. */
  #since = new Uint32Array(0)
  /** When the project last heard of it. */
  #heard = new Uint32Array(0)

  constructor({ sendsBytesPerS, receivesBytesPerS }: LineSpeeds, { stepMs, lengthMs }: Pick<WorldOptions, 'stepMs' | 'lengthMs'>, totals: Partial<LineTotals>) {
    this.#sends = sendsBytesPerS === null ? null : new SharedLine(sendsBytesPerS, this.#rows)
    this.#receives = receivesBytesPerS === null ? null : new SharedLine(receivesBytesPerS, this.#rows)
    this.#stepMs = stepMs
    this.#warmMs = warmUpMs(lengthMs)
    this.#totals = totals
  }

  get bytes(): number {
    return this.#rows.bytes + this.#since.byteLength + this.#heard.byteLength
  }

  grow(rows: number): void {
    this.#rows.grow(rows)
    const [since, heard] = [new Uint32Array(rows), new Uint32Array(rows)]
    since.set(this.#since)
    heard.set(this.#heard)
    this.#since = since
    this.#heard = heard
  }

  /** What moves of a row in this state shares the line. */
  carries(state: number): boolean {
    return this.#wayOf(state) !== null
  }

  /** The row is of another lease now. */
  begin(row: number, step: number): void {
    this.#since[row] = 0
    this.#heard[row] = step
  }

  isMoving(row: number): boolean {
    return this.#rows.isMoving(row)
  }

  join(row: number, state: number, step: number, { ownBytesPerS, bytes }: { readonly ownBytesPerS: number; readonly bytes: number }): void {
    this.#wayOf(state)?.join(row, ownBytesPerS, bytes)
    if (state === FETCHING) this.#turn(row, step)
  }

  /** The bytes that are left; undefined when it is not on the line. */
  leave(row: number, state: number, step: number): number | undefined {
    const bytes = this.#wayOf(state)?.leave(row)
    if (bytes !== undefined && state === FETCHING) this.#turn(row, step)
    return bytes
  }

  /** A step passes: tells the rows that have moved all that they had to. */
  advance(step: number, moved: (row: number) => void): void {
    const totals = this.#totals
    this.#sends?.advance(this.#stepMs / 1000, (row, agoS) => {
      if (step * this.#stepMs >= this.#warmMs) this.inputs.add((step - (this.#since[row] as number)) * this.#stepMs - 1000 * agoS)
      totals.inputs = (totals.inputs ?? 0) + 1
      moved(row)
    })
    this.#receives?.advance(this.#stepMs / 1000, moved)
    totals.sentBytes = this.#sends?.carriedBytes ?? 0
    totals.sendsFullMs = 1000 * (this.#sends?.fullS ?? 0)
    totals.receivedBytes = this.#receives?.carriedBytes ?? 0
    totals.receivesFullMs = 1000 * (this.#receives?.fullS ?? 0)
  }

  /**
   * Whether the project would miss a word about the row's input. A node says every minute that something of it came; as with
   * heartbeats it is told here only when the project looks and would else have heard nothing for too long.
   */
  isOverdue(row: number, step: number): boolean {
    if ((step - (this.#heard[row] as number)) * this.#stepMs < SILENT_LEASE_MS_MAX) return false
    this.#heard[row] = step
    return true
  }

  #turn(row: number, step: number): void {
    this.#since[row] = step - (this.#since[row] as number)
  }

  #wayOf(state: number): SharedLine | null {
    if (state === FETCHING) return this.#sends
    return state === HANDING ? this.#receives : null
  }
}
