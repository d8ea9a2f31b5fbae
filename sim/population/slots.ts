/** What hosts hold: replicas being fetched, run or handed over, as rows of numbers, and a name, in one table. Rows of one host are linked. */

/** FETCHING -> ASKING -> RUNNING -> free, over DONE while nobody can be told; RUNNING -> ENDING -> free when cancelled; HANDING is an output being pulled. */
export const FREE = 0
export const FETCHING = 1
export const ASKING = 2
export const RUNNING = 3
export const ENDING = 4
export const HANDING = 5
export const DONE = 6

const NONE = -1
/** A host has little more than one row, so twice as many would mostly lie empty. */
const GROWTH = 1.25
const POINTER_BYTES = 8

export class Slots {
  host = new Int32Array(0)
  state = new Uint8Array(0)
  /** The replica, or the task whose output is handed over: the coordinator's own text, of which there is one. */
  readonly name: string[] = []
  /** What is left of the fetching, the run or the handing over; of what the project's line carries, what would be left if it were never full. */
  leftMs = new Float64Array(0)
  /** How long it has run. */
  ranMs = new Float32Array(0)
  #next = new Int32Array(0)
  #free = NONE
  #used = 0
  /** Called with the new number of rows, whenever it changed. */
  readonly #grown: (rows: number) => void

  constructor(rows: number, grown: (rows: number) => void) {
    this.#grown = grown
    this.#grow(Math.max(16, rows))
  }

  get used(): number {
    return this.#used
  }

  get bytes(): number {
    const columns = [this.host, this.state, this.leftMs, this.ranMs, this.#next]
    return columns.reduce((sum, { byteLength }) => sum + byteLength, POINTER_BYTES * this.name.length)
  }

  /** A row for the host, first of its list; `first` is the host's column of first rows. */
  take(host: number, first: Int32Array, state: number, name: string): number {
    if (this.#free === NONE) this.#grow(Math.ceil(GROWTH * this.host.length))
    const slot = this.#free
    this.#free = this.#next[slot] as number
    this.#used++
    this.host[slot] = host
    this.state[slot] = state
    this.name[slot] = name
    this.ranMs[slot] = 0
    this.#next[slot] = first[host] as number
    first[host] = slot
    return slot
  }

  give(slot: number, first: Int32Array): void {
    const host = this.host[slot] as number
    if (first[host] === slot) first[host] = this.#next[slot] as number
    else {
      let before = first[host] as number
      while (this.#next[before] !== slot) before = this.#next[before] as number
      this.#next[before] = this.#next[slot] as number
    }
    this.state[slot] = FREE
    this.name[slot] = ''
    this.#next[slot] = this.#free
    this.#free = slot
    this.#used--
  }

  /** The next row of the same host; -1 at the end. */
  after(slot: number): number {
    return this.#next[slot] as number
  }

  /** The host's row for a replica that it still runs; -1 when it has none. */
  find(first: number, replica: string): number {
    for (let slot = first; slot !== NONE; slot = this.#next[slot] as number) if (this.name[slot] === replica) return slot
    return NONE
  }

  #grow(rows: number): void {
    const had = this.host.length
    this.host = widened(this.host, new Int32Array(rows))
    this.state = widened(this.state, new Uint8Array(rows))
    this.leftMs = widened(this.leftMs, new Float64Array(rows))
    this.ranMs = widened(this.ranMs, new Float32Array(rows))
    this.#next = widened(this.#next, new Int32Array(rows))
    while (this.name.length < rows) this.name.push('')
    // The lowest first, so that rows stay close together.
    for (let slot = rows - 1; slot >= had; slot--) {
      this.#next[slot] = this.#free
      this.#free = slot
    }
    this.#grown(rows)
  }
}

function widened<Column extends { set(from: Column): void }>(from: Column, to: Column): Column {
  to.set(from)
  return to
}
