/** The way of one connection between two volunteers: over both their lines, and what befalls either befalls it. */
import type { Engine } from '../engine/engine.ts'
import type { Random } from '../random.ts'
import type { Direction, Lane, Path } from './lane.ts'
import type { NodePath } from './path.ts'

/** As circuit relays let anybody have: then they hang up. */
const RELAYED_BYTES_MAX = 128 * 1024
const RELAYED_MS_MAX = 120_000

export interface PairPathPorts {
  readonly random: Random
  /** `up` is from this one to the other. */
  readonly from: NodePath
  readonly to: NodePath
  /** One way, without the lines. */
  readonly ms: number
  /** The address over which it is relayed; undefined when it is not. */
  readonly relay: string | undefined
}

export class PairPath implements Path {
  readonly lanes: Set<Lane>
  readonly patienceMs: number
  readonly #ports: PairPathPorts
  #bytes = 0
  #engine: Engine | undefined
  #over: (why: string) => void = () => {}
  #cut = (): void => {}

  constructor(ports: PairPathPorts) {
    const { from, to } = ports
    this.#ports = ports
    this.lanes = new Both(from, to)
    this.patienceMs = Math.min(from.patienceMs, to.patienceMs)
  }

  get relayed(): boolean {
    return this.#ports.relay !== undefined
  }

  get address(): string | undefined {
    return this.#ports.relay
  }

  get blocked(): Readonly<Record<Direction, boolean>> {
    const { from, to } = this.#ports
    return { up: from.blocked.up || to.blocked.down, down: to.blocked.up || from.blocked.down }
  }

  delayMs(direction: Direction, bytes: number, nowMs: number): number {
    const { from, to, ms } = this.#ports
    const [sender, receiver] = direction === 'up' ? [from, to] : [to, from]
    this.#bytes += bytes
    if (this.relayed && this.#bytes > RELAYED_BYTES_MAX) this.#engine?.after(0, () => this.#end('a relay hung up: it carried as much as it may'))
    return ms + sender.accessMs('up', bytes, nowMs) + receiver.accessMs('down', bytes, nowMs)
  }

  /** The connection stands; `cut` ends it at both ends. */
  begun(cut: () => void): void {
    this.#cut = cut
  }

  /** `over` is told once, when it is, and why. */
  limit(engine: Engine, over: (why: string) => void): void {
    this.#engine = engine
    this.#over = over
    engine.after(RELAYED_MS_MAX, () => this.#end('a relay hung up: its time was over'))
  }

  /** Nothing passes any more, and both ends notice. */
  cut(): void {
    this.#end('')
  }

  #end(why: string): void {
    const [over, cut] = [this.#over, this.#cut]
    this.#over = () => {}
    this.#cut = () => {}
    over(why)
    cut()
  }
}

/** Lanes are armed again when either line is free. */
class Both extends Set<Lane> {
  readonly #paths: readonly NodePath[]

  constructor(...paths: readonly NodePath[]) {
    super()
    this.#paths = paths
  }

  override add(lane: Lane): this {
    for (const path of this.#paths) path.lanes.add(lane)
    return this
  }

  override delete(lane: Lane): boolean {
    let had = false
    for (const path of this.#paths) had = path.lanes.delete(lane) || had
    return had
  }
}
