/**
 * A line that all transfers at one time share fairly, as TCP does: max-min fair, with each host's own line as a cap. The fair
 * level is found by progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2): the slowest hosts have all that they
 * can take, and what they leave is shared alike by the others.
 *
 * Caps are rounded down to classes of a sixteenth of an octave, so that a hundred thousand transfers are some hundred classes.
 * No transfer has more than its cap or more than 4.3 % less than its fair share; what the rounding leaves goes to the faster
 * ones, when they can take it. All transfers of a class are as fast, so each class has one clock: the bytes that each of its
 * transfers has got since the clock was set. A transfer ends when the clock stands where it will have got all of its bytes,
 * whatever the line does meanwhile; a heap for each class has the next one first. What joins, ends or leaves costs as much as
 * there are classes in use, and so does a step in which nothing does.
 */

const CLASSES_PER_OCTAVE = 16
/** Of caps from 1 B/s to 1 TB/s; a faster one counts as that. */
const CLASSES = 40 * CLASSES_PER_OCTAVE
/** A cap that is a class's own is not put below it by the last digit of its logarithm. */
const DIGIT = 1e-9
const NONE = -1

/** Columns by row: its class, where it is in the heap, and where the clock will stand when it ends. A row is on one line at a time, so several lines may share them. */
export class LineRows {
  class = new Int16Array(0)
  place = new Int32Array(0)
  ends = new Float64Array(0)

  get bytes(): number {
    return this.class.byteLength + this.place.byteLength + this.ends.byteLength
  }

  /** Makes room for rows up to this number. */
  grow(rows: number): void {
    const had = this.class.length
    if (rows <= had) return
    this.class = widened(this.class, new Int16Array(rows)).fill(NONE, had)
    this.place = widened(this.place, new Int32Array(rows))
    this.ends = widened(this.ends, new Float64Array(rows))
  }

  /** On any of the lines. */
  isMoving(row: number): boolean {
    return this.class[row] !== NONE
  }
}

export class SharedLine {
  readonly #bytesPerS: number
  readonly #rows: LineRows
  #carriedBytes = 0
  #fullS = 0
  /** Classes with transfers, the slowest first. */
  readonly #used = new Int32Array(CLASSES)
  #usedCount = 0
  readonly #counts = new Int32Array(CLASSES)
  readonly #clocks = new Float64Array(CLASSES)
  /** Bytes a second of each transfer of the class. */
  readonly #rates = new Float64Array(CLASSES)
  readonly #heaps: Int32Array[] = Array.from({ length: CLASSES }, () => new Int32Array(0))
  #active = 0
  /** What all have together, and whether they could take more. */
  #rate = 0
  #full = false
  /** Something joined, ended or left since the rates were found. */
  #changed = false

  constructor(bytesPerS: number, rows: LineRows) {
    this.#bytesPerS = bytesPerS
    this.#rows = rows
  }

  /** Since the beginning. */
  get carriedBytes(): number {
    return this.#carriedBytes
  }

  /** For how long, since the beginning, somebody had less than he could take. */
  get fullS(): number {
    return this.#fullS
  }

  /** A row that is on no line begins to move so many bytes, over a line of its own of `capBytesPerS`, at least 1 B/s. */
  join(row: number, capBytesPerS: number, bytes: number): void {
    const of = Math.max(0, Math.min(CLASSES - 1, Math.floor(CLASSES_PER_OCTAVE * Math.log2(capBytesPerS) + DIGIT)))
    const count = this.#counts[of] as number
    if (count === 0) {
      this.#use(of)
      this.#clocks[of] = 0
    }
    const heap = this.#heaps[of] as Int32Array
    if (count === heap.length) this.#heaps[of] = widened(heap, new Int32Array(Math.max(4, 2 * count)))
    this.#rows.class[row] = of
    this.#rows.ends[row] = (this.#clocks[of] as number) + bytes
    this.#counts[of] = count + 1
    this.#active++
    this.#changed = true
    this.#rise(of, row, count)
  }

  /** Its host vanished, or nobody wants it any more: the bytes that are left; undefined when it is on no line. */
  leave(row: number): number | undefined {
    const of = this.#rows.class[row] as number
    if (of === NONE) return undefined
    this.#remove(row)
    return Math.max(0, (this.#rows.ends[row] as number) - (this.#clocks[of] as number))
  }

  /** Time passes. Who has got all of its bytes is on it no more, and told with how long before the end of this time that was. */
  advance(seconds: number, ended: (row: number, agoS: number) => void): void {
    for (let left = seconds; this.#active > 0; ) {
      if (this.#changed) this.#fill()
      let first = NONE
      let firstS = left
      for (let at = 0; at < this.#usedCount; at++) {
        const of = this.#used[at] as number
        const inS = ((this.#rows.ends[this.#firstOf(of)] as number) - (this.#clocks[of] as number)) / (this.#rates[of] as number)
        if (inS > firstS) continue
        first = of
        firstS = Math.max(0, inS)
      }
      for (let at = 0; at < this.#usedCount; at++) {
        const of = this.#used[at] as number
        ;(this.#clocks[of] as number) += (this.#rates[of] as number) * firstS
      }
      this.#carriedBytes += this.#rate * firstS
      if (this.#full) this.#fullS += firstS
      if (first === NONE) return
      left -= firstS
      const row = this.#firstOf(first)
      this.#clocks[first] = this.#rows.ends[row] as number
      this.#remove(row)
      ended(row, left)
    }
  }

  /** Progressive filling: whoever can take no more than an equal share of what is left has his cap, the others share alike. */
  #fill(): void {
    this.#changed = false
    this.#full = false
    let left = this.#bytesPerS
    let sharing = this.#active
    for (let at = 0; at < this.#usedCount; at++) {
      const of = this.#used[at] as number
      const cap = 2 ** (of / CLASSES_PER_OCTAVE)
      const count = this.#counts[of] as number
      this.#full ||= cap * sharing > left
      // Once full, all that follow have the same.
      this.#rates[of] = this.#full ? left / sharing : cap
      if (this.#full) continue
      left -= cap * count
      sharing -= count
    }
    this.#rate = this.#full ? this.#bytesPerS : this.#bytesPerS - left
  }

  #use(of: number): void {
    let at = this.#usedCount++
    for (; at > 0 && (this.#used[at - 1] as number) > of; at--) this.#used[at] = this.#used[at - 1] as number
    this.#used[at] = of
  }

  #firstOf(of: number): number {
    return (this.#heaps[of] as Int32Array)[0] as number
  }

  #remove(row: number): void {
    const of = this.#rows.class[row] as number
    const heap = this.#heaps[of] as Int32Array
    const count = (this.#counts[of] as number) - 1
    const last = heap[count] as number
    this.#counts[of] = count
    this.#active--
    this.#changed = true
    this.#rows.class[row] = NONE
    if (count === 0) {
      const at = this.#used.indexOf(of)
      this.#used.copyWithin(at, at + 1, this.#usedCount--)
    }
    if (last === row) return
    const place = this.#rows.place[row] as number
    if ((this.#rows.ends[last] as number) < (this.#rows.ends[row] as number)) this.#rise(of, last, place)
    else this.#sink(of, last, place, count)
  }

  /** From a place in the heap up to where it belongs. What joins last mostly ends last, and stays. */
  #rise(of: number, row: number, from: number): void {
    const heap = this.#heaps[of] as Int32Array
    const ends = this.#rows.ends[row] as number
    let place = from
    while (place > 0) {
      const above = (place - 1) >> 1
      const other = heap[above] as number
      if ((this.#rows.ends[other] as number) <= ends) break
      heap[place] = other
      this.#rows.place[other] = place
      place = above
    }
    heap[place] = row
    this.#rows.place[row] = place
  }

  #sink(of: number, row: number, from: number, count: number): void {
    const heap = this.#heaps[of] as Int32Array
    const ends = this.#rows.ends[row] as number
    let place = from
    for (let below = 2 * place + 1; below < count; below = 2 * place + 1) {
      if (below + 1 < count && (this.#rows.ends[heap[below + 1] as number] as number) < (this.#rows.ends[heap[below] as number] as number)) below++
      const other = heap[below] as number
      if ((this.#rows.ends[other] as number) >= ends) break
      heap[place] = other
      this.#rows.place[other] = place
      place = below
    }
    heap[place] = row
    this.#rows.place[row] = place
  }
}

function widened<Column extends { set(from: Column): void }>(from: Column, to: Column): Column {
  to.set(from)
  return to
}
