/** Carries out the faults of a stack case. What lasts is undone after its time, or when the faults stop. */
import { Lasting } from '../faults/lasting.ts'
import type { Direction } from '../protocol/lane.ts'
import { BOOTSTRAPS, describe, type StackFault } from './case.ts'
import type { Computer } from './computer.ts'
import type { StackNode } from './node.ts'
import type { StackWorld } from './world.ts'

export class StackFaults {
  readonly #world: StackWorld
  readonly #lasting: Lasting

  constructor(world: StackWorld) {
    this.#world = world
    this.#lasting = new Lasting(world.engine)
  }

  strike(fault: StackFault): void {
    const { nodes, keepers } = this.#world
    const node = nodes[fault.target % nodes.length]
    const keeper = keepers[fault.target % (fault.kind === 'bootstrap_dies' ? BOOTSTRAPS : keepers.length)]
    if (node === undefined || keeper === undefined || !this.#befall(fault, node, keeper)) return
    this.#world.see(fault.kind)
    this.#world.tell(describe(fault))
  }

  /** Undoes everything that still lasts. */
  mend(): void {
    this.#lasting.mend()
  }

  /** False when it could not happen. */
  #befall(fault: StackFault, node: StackNode, keeper: Computer): boolean {
    const { kind, forMs, amount, target } = fault
    const world = this.#world
    switch (kind) {
      case 'cut':
      case 'cut_unheard':
        return this.#cut(fault, node)
      case 'block':
        return this.#block(node, forMs, ['up', 'down'])
      case 'block_up':
        return this.#block(node, forMs, ['up'])
      case 'block_down':
        return this.#block(node, forMs, ['down'])
      case 'slow_path': {
        const { trouble } = node.station.access
        trouble.extraMs += amount % 2_000
        this.#lasting.until(forMs, () => {
          trouble.extraMs -= amount % 2_000
        })
        return true
      }
      case 'crash':
      case 'power_loss':
      case 'wipe':
        if (node.process === undefined) return false
        node.crash(kind !== 'power_loss')
        if (kind === 'wipe') node.wipe()
        node.start(kind === 'crash' ? 100 : forMs)
        return true
      case 'stop':
        return this.#stop(node, forMs)
      case 'leave':
        if (node.service === undefined) return false
        node.leave(forMs)
        return true
      case 'keeper_crash':
        if (keeper.process === undefined) return false
        keeper.crash(amount % 2 === 0)
        keeper.start(forMs)
        return true
      case 'keeper_stop':
        return this.#stop(keeper, forMs)
      case 'keeper_leave':
        if (keeper.process === undefined) return false
        keeper.leave(forMs)
        return true
      case 'bootstrap_dies':
        if (keeper.process === undefined) return false
        keeper.crash(false)
        return true
      case 'server_crash':
      case 'server_power_loss':
        if (world.server.process === undefined) return false
        world.server.crash(kind === 'server_crash')
        world.server.start(kind === 'server_crash' ? 100 : forMs)
        return true
      case 'server_stop':
        return this.#stop(world.server, forMs)
      case 'server_restart':
        if (world.server.forOwners === undefined) return false
        world.server.leave(500)
        return true
      case 'server_moves':
        world.moveServer()
        return true
      case 'split':
        world.internet.split(world.internet.random(amount))
        this.#lasting.until(forMs, () => world.internet.split([]))
        return true
      case 'kill_batch':
        world.owner.kill(target, undefined)
        return true
    }
  }

  #cut({ kind, amount }: StackFault, { station }: StackNode): boolean {
    const sockets = [...station.sockets]
    const socket = sockets[amount % Math.max(1, sockets.length)]
    const end = amount % 2 === 0 ? socket : socket?.peer
    end?.break({ tell: kind === 'cut', lateMs: amount % 5 === 0 ? amount % 7_000 : 0 })
    return end !== undefined
  }

  #block({ station: { access } }: StackNode, forMs: number, directions: readonly Direction[]): boolean {
    access.block(directions, true)
    this.#lasting.until(forMs, () => access.block(directions, false))
    return true
  }

  #stop({ process }: Computer, forMs: number): boolean {
    process?.stop()
    this.#lasting.until(forMs, () => process?.continue())
    return process !== undefined
  }
}
