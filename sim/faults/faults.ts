/** Carries out the faults of a case. What lasts is undone after its time, or when the faults stop. */
import { ahead } from '../engine/process.ts'
import type { Direction } from '../protocol/lane.ts'
import type { Machine, MachineFaults } from '../protocol/machine.ts'
import type { SimNode } from '../protocol/node.ts'
import { NodePath } from '../protocol/path.ts'
import { Tear } from '../protocol/tear.ts'
import type { World } from '../protocol/world.ts'
import { type Fault, FLOOD_ACTS, HOSTILE_ACTS } from './case.ts'
import { describe, driftPerMille, thinBytesPerMs } from './describe.ts'
import { Lasting } from './lasting.ts'

/** Troubles that are there or not. */
type Toggle = { [Key in keyof MachineFaults]: MachineFaults[Key] extends boolean ? Key : never }[keyof MachineFaults]

const BOTH: readonly Direction[] = ['up', 'down']

export class Faults {
  readonly #world: World
  readonly #lasting: Lasting

  constructor(world: World) {
    this.#world = world
    this.#lasting = new Lasting(world.engine)
  }

  strike(fault: Fault): void {
    const { kind, target } = fault
    const node = this.#world.nodes[target % this.#world.nodes.length]
    if (kind === 'relay_dies') this.#world.network.homes?.dies(target, fault.forMs)
    else if (!this.#atServer(fault) && !this.#atOwner(fault) && !this.#byHostile(fault)) {
      if (node === undefined || node.absent) return
      this.#atNode(fault, node)
    }
    this.#world.see(kind)
    this.#world.tell(describe(fault))
  }

  /** Undoes everything that still lasts. */
  mend(): void {
    this.#lasting.mend()
    this.#world.network.homes?.mend()
  }

  #atNode({ kind, forMs, amount }: Fault, node: SimNode): void {
    const { machine } = node
    const { path } = machine
    const block = (...directions: readonly Direction[]): void => {
      if (!(path instanceof NodePath)) return
      path.block(directions, true)
      this.#lasting.until(forMs, () => path.block(directions, false))
    }
    switch (kind) {
      case 'cut': {
        const { host } = node
        const [connection] = host?.connections ?? []
        if (host === undefined || connection === undefined) return
        // Either end notices first, or the other is not told at all; what is on its way may come very late.
        const first = amount % 2 === 0 ? host : connection.otherThan(connection.endOf(host)).host
        connection.break(first, { tell: amount % 3 > 0, lateMs: amount % 5 === 0 ? amount % 7_000 : 0 })
        return
      }
      case 'block_up':
        block('up')
        return
      case 'block_down':
        block('down')
        return
      case 'block':
        block(...BOTH)
        return
      case 'slow_path':
        if (!(path instanceof NodePath)) return
        path.trouble.extraMs += amount % 5_000
        this.#lasting.until(forMs, () => {
          path.trouble.extraMs -= amount % 5_000
        })
        return
      case 'thin_line':
        if (!(path instanceof NodePath)) return
        path.trouble.bytesPerMs = thinBytesPerMs(amount)
        this.#lasting.until(forMs, () => {
          path.trouble.bytesPerMs = undefined
        })
        return
      case 'forgotten':
        for (const connection of node.host?.connections ?? []) connection.forget()
        return
      case 'crash_at_publish':
        machine.trouble.crashAtPublish = () => {
          node.crash({ tell: true, wipe: false })
          node.start(forMs)
        }
        return
      case 'crash':
      case 'power_loss':
      case 'wipe':
        node.crash({ tell: kind !== 'power_loss', wipe: kind === 'wipe' })
        if (kind === 'power_loss') machine.losePower(new Tear(machine.random, (what) => this.#world.see(what)))
        node.start(amount % 2 === 0 ? 100 : forMs)
        return
      case 'stop':
        node.stop()
        this.#lasting.until(forMs, () => node.continue())
        return
      case 'clock':
        machine.skew = ahead(machine, (amount % 172_800_000) - 86_400_000)
        return
      case 'disk_slow':
        machine.trouble.diskSlowMs += amount % 2_000
        this.#lasting.until(forMs, () => {
          machine.trouble.diskSlowMs -= amount % 2_000
        })
        return
      case 'disk_full':
        this.#has(machine, 'diskFull', forMs)
        return
      case 'disk_error':
        machine.trouble.diskErrors++
        return
      case 'bit_flip':
        machine.flip(amount)
        return
      case 'engine_hung':
        this.#has(machine, 'engineHung', forMs)
        return
      case 'engine_down':
        this.#has(machine, 'engineDown', forMs)
        return
      case 'runs_break':
        machine.trouble.runsBreak = (amount % 100) / 100
        this.#lasting.until(forMs, () => {
          machine.trouble.runsBreak = 0
        })
        return
      case 'withhold':
        this.#has(machine, 'withholds', forMs)
        return
      case 'corrupt_output':
        this.#has(machine, 'corruptOutput', forMs)
        return
      case 'corrupt_input':
        this.#has(machine, 'corruptInput', forMs)
        return
      case 'no_input':
        // Half of the time it is the server's content that nobody gets.
        for (const { machine: one } of amount % 2 === 0 ? this.#world.nodes : [node]) this.#has(one, 'noInput', forMs)
        return
      case 'content_full':
        this.#has(machine, 'contentFull', forMs)
        return
      case 'engine_restart':
        this.#has(machine, 'engineDown', forMs)
        for (const container of machine.containers.values()) container.forgetWaiting()
        return
      case 'pause':
        node.service?.pause(amount % 3 === 0)
        this.#lasting.until(forMs, () => node.service?.resume())
        return
      case 'drain':
        node.service?.drain(amount % 2 === 0 ? forMs : undefined)
        return
      case 'quit':
        node.service?.quit()
        return
      case 'leave':
        node.leave(amount % 2 === 0 ? forMs : undefined)
        return
      default:
        return
    }
  }

  /** A machine has this trouble for so long. */
  #has({ trouble }: Machine, which: Toggle, forMs: number): void {
    trouble[which] = true
    this.#lasting.until(forMs, () => {
      trouble[which] = false
    })
  }

  #atServer({ kind, forMs, amount }: Fault): boolean {
    const world = this.#world
    const { faults } = world.disk
    switch (kind) {
      case 'server_crash':
      case 'server_power_loss':
        world.killServer(kind === 'server_crash')
        world.startServer(amount % 2 === 0 ? 100 : forMs)
        return true
      case 'server_away':
        world.killServer(true)
        world.startServer(forMs)
        return true
      case 'server_crash_at_write':
        faults.crashAt = 1 + (amount % 40)
        faults.crashKeeps = amount % 2 === 0
        return true
      case 'server_stop': {
        const process = world.server?.process
        process?.stop()
        this.#lasting.until(forMs, () => process?.continue())
        return true
      }
      case 'server_takeover': {
        const process = world.takeOver()
        this.#lasting.until(forMs, () => process?.continue())
        return true
      }
      case 'server_restart':
        void world.server?.end()
        return true
      case 'server_disk_slow':
        faults.slowMs += amount % 1_000
        this.#lasting.until(forMs, () => {
          faults.slowMs -= amount % 1_000
        })
        return true
      case 'server_disk_full':
        faults.full = true
        this.#lasting.until(forMs, () => {
          faults.full = false
        })
        return true
      case 'server_disk_error':
        faults.errors++
        return true
      case 'server_clock':
        // Forwards: a server's clock is set right by its operator.
        world.serverClock.skew = ahead(world.serverClock, amount % 5_000)
        return true
      case 'server_drift':
        world.drift(driftPerMille(amount))
        return true
      case 'block_all': {
        const paths = world.nodes.map(({ machine }) => machine.path).filter((path) => path instanceof NodePath)
        for (const path of paths) path.block(BOTH, true)
        this.#lasting.until(forMs, () => {
          for (const path of paths) path.block(BOTH, false)
        })
        return true
      }
      default:
        return false
    }
  }

  #atOwner({ kind, target, amount, forMs }: Fault): boolean {
    const { owner } = this.#world
    if (kind === 'kill_batch') owner.kill(target, undefined)
    else if (kind === 'kill_task') owner.kill(target, amount)
    else if (kind === 'submit_again') owner.again(target)
    else if (kind === 'hold_batch') owner.hold(target, undefined, { forMs, stop: amount % 2 === 0 })
    else if (kind === 'hold_task') owner.hold(target, amount, { forMs, stop: amount % 2 === 0 })
    else if (kind === 'submit_equal') owner.submitEqual(target, amount % 3 === 0)
    else if (kind === 'limit_client') owner.limit(target, { parallel: amount % 5, share: 1 + (amount % 3), forMs })
    else if (kind === 'ban_node') owner.ban(this.#world.nodes[target % this.#world.nodes.length]?.id ?? '', forMs)
    else return false
    return true
  }

  #byHostile({ kind, target }: Fault): boolean {
    const act = [...HOSTILE_ACTS, ...FLOOD_ACTS].find((known) => known === kind)
    if (act === undefined) return false
    this.#world.hostile[target % Math.max(1, this.#world.hostile.length)]?.act(act)
    return true
  }
}
