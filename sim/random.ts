/**
 * The dice of a simulated world: every draw follows from the seed and a path of names, so a run can be repeated, and adding a
 * host shifts nobody else's draws.
 *
 * Our own, for one reason: a population has a stream for each of up to a million hosts, seated and drawn from in turn. The
 * libraries keep an object a stream (pure-rand) or a closure a distribution and stream (d3-random). This is the same small
 * published generator, sfc32 (Doty-Humphrey; passes PractRand), whose four words can be seated anew in place, and the
 * textbook forms of the distributions. V8 has its own Math.log, exp, pow, cos: equal on all machines of one Node version.
 */

const WORD = 2 ** -32
const FLOAT = 2 ** -53
/** Words that are thrown away after seating: sfc32's author runs 12 to mix the seed into all of the state. */
const WARM_UP = 12

export class Random {
  // The name: four words beside the state, for a list of them would be larger than both, and one was made for each step of a path.
  #first = 0
  #second = 0
  #third = 0
  #fourth = 0
  #a = 0
  #b = 0
  #c = 0
  #counter = 0

  /** The stream of a seed and a path below it; equal arguments give equal streams. */
  constructor(seed: number | string, ...names: readonly (number | string)[]) {
    this.#first = 0x9e3779b9 | 0
    this.#second = 0x243f6a88
    this.#third = 0xb7e15162 | 0
    this.#fourth = 0x8aed2a6b | 0
    this.#below(seed)
    for (const name of names) this.#below(name)
    this.#seat()
  }

  /** A stream of its own under this one's name; it does not depend on what was drawn from this one. */
  fork(...names: readonly (number | string)[]): Random {
    return this.forkInto(new Random(0), ...names)
  }

  /** As `fork`, seated in a stream that is there already: no object is made for each of a million hosts. Gives `into`. */
  forkInto(into: Random, ...names: readonly (number | string)[]): Random {
    into.#first = this.#first
    into.#second = this.#second
    into.#third = this.#third
    into.#fourth = this.#fourth
    for (let at = 0; at < names.length; at++) into.#below(names[at] as number | string)
    into.#seat()
    return into
  }

  /** 32 random bits, 0 to 2^32 - 1. */
  word(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  /** In [0, 1), with 53 bits. */
  float(): number {
    const high = this.word() >>> 5
    return (high * 0x4000000 + (this.word() >>> 6)) * FLOAT
  }

  /** A whole number in [0, n); n is at least 1 and at most 2^53. */
  below(n: number): number {
    if (!(n >= 1)) throw new RangeError(`there is no number below ${n}`)
    return n <= 0x10000 ? Math.floor(this.word() * WORD * n) : Math.floor(this.float() * n)
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256))
  }

  /** True with probability p. */
  chance(p: number): boolean {
    return this.float() < p
  }

  /** Mean 0, deviation 1. Always two draws, so that what follows in the stream does not depend on the value. */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(this.#positive()))
    return radius * Math.cos(2 * Math.PI * this.float())
  }

  exponential(mean: number): number {
    return -mean * Math.log(this.#positive())
  }

  /** Scale * (-ln u)^(1 / shape). */
  weibull(shape: number, scale: number): number {
    return scale * (-Math.log(this.#positive())) ** (1 / shape)
  }

  /** `mu` and `sigma` are those of the logarithm. */
  logNormal(mu: number, sigma: number): number {
    return Math.exp(mu + sigma * this.normal())
  }

  /** Mean shape * scale. Marsaglia and Tsang 2000; below shape 1 by their boost. */
  gamma(shape: number, scale: number): number {
    if (shape < 1) {
      const boost = this.#positive() ** (1 / shape)
      return boost * this.gamma(shape + 1, scale)
    }
    const d = shape - 1 / 3
    const c = 1 / Math.sqrt(9 * d)
    for (;;) {
      const x = this.normal()
      const v = (1 + c * x) ** 3
      const u = this.#positive()
      if (v > 0 && Math.log(u) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v * scale
    }
  }

  /** Mean a / (a + b). */
  beta(a: number, b: number): number {
    const x = this.gamma(a, 1)
    return x / (x + this.gamma(b, 1))
  }

  /** At least `min`; P(X > x) = (min / x)^alpha. */
  pareto(alpha: number, min: number): number {
    return min * this.#positive() ** (-1 / alpha)
  }

  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    const index = this.below(list.length)
    return list[index] as T
  }

  /** Fisher and Yates, in place; gives the list. */
  shuffle<T>(list: T[]): T[] {
    for (let last = list.length - 1; last > 0; last--) {
      const other = this.below(last + 1)
      const held = list[last] as T
      list[last] = list[other] as T
      list[other] = held
    }
    return list
  }

  /** In (0, 1]: what may be given to a logarithm. */
  #positive(): number {
    return 1 - this.float()
  }

  /** One step down the path of names. A number and its decimal text are different steps. */
  #below(step: number | string): void {
    let h = 0x811c9dc5
    if (typeof step === 'number') {
      h = mix(h ^ Math.imul(step | 0, 0x85ebca6b))
      h = mix(h ^ Math.floor(step / 0x100000000)) + 0x632be5ab
      h = mix(h ^ Math.floor((step - Math.floor(step)) * 0x100000000))
    } else for (let i = 0; i < step.length; i++) h = Math.imul(h ^ step.charCodeAt(i), 0x01000193)
    const first = mix(this.#first ^ h)
    this.#second = mix((this.#second + first) ^ Math.imul(h, 0x9e3779b1))
    this.#third = mix((this.#third + this.#second) ^ Math.imul(h, 0x85ebca77))
    this.#fourth = mix((this.#fourth + this.#third) ^ Math.imul(h, 0xc2b2ae3d))
    this.#first = mix(first + this.#fourth)
  }

  /** At the beginning of the stream of its name. */
  #seat(): void {
    this.#a = this.#first
    this.#b = this.#second
    this.#c = this.#third
    this.#counter = this.#fourth
    for (let turn = 0; turn < WARM_UP; turn++) this.word()
  }
}

/** Murmur3's finaliser: every bit in moves half the bits out. */
function mix(word: number): number {
  let h = word | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}
