/**
 * Makes what fails small, at every level of the simulator: a level says what it can leave out, and this keeps what still fails in
 * the same way. What it may cost is bounded in attempts and in what the level counts, so that the same failure is made small in
 * the same way everywhere; who waits for it may stop it before.
 */

/** A run of a world. `complaint` is what was wrong with it; null or undefined when nothing was. */
export interface Judged {
  readonly complaint: string | null | undefined
}

export interface Failure<World, Ran extends Judged> {
  readonly world: World
  readonly ran: Ran
}

export interface ShrinkPorts<World, Ran extends Judged> {
  readonly run: (world: World, attempt: number) => Promise<Ran>
  /** What a run took, in a unit of the level's own. */
  readonly costOf: (ran: Ran) => number
  /** Equal for worlds of which it is enough to try one. */
  readonly keyOf: (world: World) => string
  /** Attempts in all, and what they may cost together. */
  readonly runsMax: number
  readonly costMax: number
  /** Nobody waits for it any more. */
  readonly stopped: () => boolean
}

/** Undefined for one that would make no sense. */
export type Made<World> = World | undefined | Promise<World | undefined>

/** Once through all that a level can leave out. */
export type Pass<World, Ran extends Judged> = (smaller: Smaller<World, Ran>) => Promise<void>

/** The smallest failure found that is of the kind of the first, which is answered when there is none: passes follow until one leaves nothing out. */
export async function shrink<World, Ran extends Judged>(
  failure: Failure<World, Ran>,
  ports: ShrinkPorts<World, Ran>,
  pass: Pass<World, Ran>
): Promise<Failure<World, Ran>> {
  const smaller = new Smaller(failure, ports)
  for (let before: Failure<World, Ran> | undefined; before !== smaller.failure; ) {
    before = smaller.failure
    await pass(smaller)
  }
  return smaller.failure
}

/** The kind of a complaint: without the names and numbers in it. */
export function kindOf(complaint: string): string {
  return complaint
    .replace(/12D3\w+/g, 'somebody')
    .replace(/[a-z2-7]{26}[.\d]*/g, 'it')
    .replace(/(?:node|fresh|hostile|keeper) \d+/g, 'somebody')
    .replace(/[:{].*/s, '')
    .replace(/\d+/g, 'n')
}

export class Smaller<World, Ran extends Judged> {
  /** The smallest so far. */
  failure: Failure<World, Ran>
  readonly #ports: ShrinkPorts<World, Ran>
  readonly #kind: string
  readonly #tried = new Set<string>()
  #spent = 0

  constructor(failure: Failure<World, Ran>, ports: ShrinkPorts<World, Ran>) {
    this.failure = failure
    this.#ports = ports
    this.#kind = kindOf(failure.ran.complaint ?? '')
    this.#tried.add(ports.keyOf(failure.world))
  }

  /** Whether this fails alike: then it is the smallest. What makes no sense does not, and what was tried before is not tried again. */
  async take(made: Made<World>): Promise<boolean> {
    const { run, costOf, keyOf, runsMax, costMax, stopped } = this.#ports
    const world = await made
    if (world === undefined) return false
    const key = keyOf(world)
    if (this.#tried.has(key) || this.#tried.size > runsMax || this.#spent >= costMax || stopped()) return false
    const ran = await run(world, this.#tried.size)
    this.#tried.add(key)
    this.#spent += costOf(ran)
    if (typeof ran.complaint !== 'string' || kindOf(ran.complaint) !== this.#kind) return false
    this.failure = { world, ran }
    return true
  }

  /** Leaves as much as can be out of a list: all of it, or ever smaller parts. `having` makes the world in which these are left. */
  async fewer<Item>(list: readonly Item[], having: (kept: readonly Item[]) => Made<World>): Promise<void> {
    let kept = list
    for (let size = list.length; size >= 1; ) {
      let left = false
      for (let at = 0; at < kept.length; ) {
        const without = [...kept.slice(0, at), ...kept.slice(at + size)]
        if (await this.take(having(without))) {
          kept = without
          left = true
        } else at += size
      }
      if (size === 1 && !left) return
      size = Math.ceil(size / 2)
    }
  }

  /** The first of these that fails alike. */
  async first(worlds: Iterable<World>): Promise<void> {
    for (const world of worlds) if (await this.take(world)) return
  }
}
