/** Containers of a volunteer's machine: they outlive the node's process, run for as long as their task says, and may misbehave. */
import { RESUME_NAME } from '#node/leases'
import type { Ended, Execution, Executor, Running } from '#node/ports'
import { ExecutorError } from '#node/ports'
import type { RunManifest } from '#protocol/bundle/manifest'
import type { ReplicaId } from '#protocol/ids'
import type { Process } from '../engine/process.ts'
import type { Machine } from './machine.ts'
import {
  GOES_ON_EXIT,
  goesOnAfter,
  hangs,
  honest,
  lieAbout,
  MEMORY_BYTES,
  memoryOf,
  type Outcome,
  readCommand,
  type Snapshot,
  STEPS,
  snapshotOf,
  snapshotText
} from './truth.ts'
import { replicaIn, rootIn } from './workspace.ts'

export interface ExecutorWorld {
  readonly machine: Machine
  readonly process: Process
  /** What a run of this machine leaves. */
  readonly outcome: (execution: Execution) => Outcome
  /** Something is not as it should be. */
  readonly onStrange: (what: string) => void
  readonly onStart: (replica: ReplicaId) => void
  /** Something that must not be. */
  readonly onTornInput: (what: string) => void
  /** The node was started again, and its runs are still there. */
  readonly onFound: () => void
  readonly onEnd: (replica: ReplicaId, ended: Ended, outcome: Outcome) => void
}

/** How long a hung engine is waited for, between looks. */
const HUNG_LOOK_MS = 250

export class Container {
  readonly #world: ExecutorWorld
  readonly #execution: Execution
  readonly #startedMs: number
  readonly #outcome: Outcome
  #ended: Ended | undefined
  #hung = false
  #waiting: { readonly process: Process; resolve(ended: Ended): void; reject(error: Error): void }[] = []
  #cancelEnd: () => void
  #cancelKill = (): void => {}

  constructor(world: ExecutorWorld, execution: Execution) {
    const { machine } = world
    this.#world = world
    this.#execution = execution
    this.#startedMs = machine.engine.nowMs
    const outcome = world.outcome(execution)
    const failsBy = failsItself(execution) ? { ...outcome, out: '', stdout: '', exitCode: 1 } : undefined
    const from = this.#resumed()
    // Whoever goes on with a lie tells it.
    this.#outcome = failsBy ?? (from.spoilt ? lieAbout(execution.manifest.command) : outcome)
    machine.folders.set(folderOf(execution), { out: '', stdout: '', stderr: '', exitCode: 0 })
    const { manifest } = execution
    const stepMs = readCommand(manifest.command).runMs / STEPS
    const goesOn = execution.snapshots === true ? goesOnAfter(execution.replica, from.step) : undefined
    const runMs = stepMs * ((goesOn ?? STEPS) - from.step)
    const { timeMs, silenceMs, memoryBytes } = manifest.resources
    const tooLong = runMs > timeMs
    const spoilt = from.spoilt || outcome.out !== honest(manifest.command, execution.replica).out
    if (execution.snapshots === true)
      for (let step = from.step + 1; step < STEPS; step++) machine.engine.after(stepMs * (step - from.step), () => this.#leave({ step, spoilt }))
    if (silenceMs !== undefined && hangs(manifest.command, execution.replica)) this.#cancelEnd = machine.engine.after(silenceMs, () => this.#hang())
    else
      this.#cancelEnd = machine.engine.after(Math.min(runMs, timeMs) + (goesOn === undefined ? 0 : 1), () => {
        if (tooLong) this.#end('time')
        else if (goesOn !== undefined) this.#end('goes on')
        else this.#end(failsBy === undefined && memoryBytes < memoryOf(manifest.command) ? 'memory' : 'exit')
      })
  }

  get running(): boolean {
    return this.#ended === undefined
  }

  attach(process: Process): Running {
    return {
      ended: new Promise((resolve, reject) => {
        if (this.#hung) reject(new ExecutorError('hang', 'it gave no sign of life'))
        else if (this.#ended !== undefined) resolve(this.#ended)
        else this.#waiting.push({ process, resolve, reject })
      }),
      kill: async (graceMs) => {
        if (this.#world.machine.faults.engineDown) throw new ExecutorError('engine_down', 'the engine does not answer')
        this.#cancelKill()
        this.#cancelKill = this.#world.machine.engine.after(Math.min(graceMs, 100 + this.#world.machine.random.below(2_000)), () => this.#end('killed'))
      }
    }
  }

  /** The engine was started again: it goes on, and those who waited for its end hear that they wait in vain. */
  forgetWaiting(): void {
    for (const { process, reject } of this.#waiting.splice(0)) process.enter(() => reject(new ExecutorError('engine_down', 'the engine was started again')))
  }

  /** The engine lost it. */
  vanish(): void {
    this.#cancelEnd()
    this.#cancelKill()
    this.#ended ??= endedOf('killed', 137, this.#startedMs, this.#startedMs)
    this.#waiting = []
  }

  /** Its machine loses power: one that had ended is remembered so. */
  powerless(): void {
    if (this.running) this.vanish()
  }

  /** Its files were written after this. */
  wroteAfter(ms: number): boolean {
    return this.#ended === undefined || this.#ended.endedAtMs > ms
  }

  /** The engine tells that it broke. */
  break(): void {
    this.#cancelEnd()
    for (const { process, reject } of this.#waiting.splice(0)) process.enter(() => reject(new ExecutorError('failed', 'the engine lost the run')))
    this.vanish()
  }

  /** The watchdog ends it. */
  #hang(): void {
    if (this.#ended !== undefined) return
    this.#hung = true
    for (const { process, reject } of this.#waiting.splice(0)) process.enter(() => reject(new ExecutorError('hang', 'it gave no sign of life')))
    this.vanish()
  }

  /** What it goes on from. */
  #resumed(): Snapshot {
    const { manifest, replica } = this.#execution
    const root = manifest.dependencies.find(({ name }) => name === RESUME_NAME)?.root
    if (root === undefined) return { step: 0, spoilt: false }
    const found = snapshotOf(manifest.command, root.toString())
    if (found === undefined) this.#world.onStrange(`${replica} goes on from ${root}, which is no snapshot of its task`)
    return found ?? { step: 0, spoilt: false }
  }

  #leave(snapshot: Snapshot): void {
    const { machine } = this.#world
    const { replica, manifest } = this.#execution
    if (this.#ended !== undefined || this.#hung || !machine.folders.has(folderOf(this.#execution))) return
    const { taken = '' } = machine.snapshots.get(replica) ?? {}
    machine.snapshots.set(replica, { next: snapshotText(manifest.command, snapshot), taken })
  }

  #end(how: Ended['reason'] | 'goes on'): void {
    if (this.#ended !== undefined) return
    const goesOn = how === 'goes on'
    const reason = how === 'goes on' ? 'exit' : how
    const { machine } = this.#world
    const { replica } = this.#execution
    const folder = folderOf(this.#execution)
    this.#cancelEnd()
    this.#cancelKill()
    const exitCode = goesOn ? GOES_ON_EXIT : reason === 'exit' ? this.#outcome.exitCode : 137
    this.#ended = endedOf(reason, exitCode, this.#startedMs, machine.engine.nowMs, claimsOf(machine.name))
    const outcome = reason === 'exit' && !goesOn ? this.#outcome : { ...this.#outcome, out: `cut off ${replica}`, exitCode }
    if (machine.folders.has(folder)) machine.folders.set(folder, outcome)
    this.#world.onEnd(replica, this.#ended, outcome)
    for (const { process, resolve } of this.#waiting.splice(0)) process.enter(() => resolve(this.#ended as Ended))
  }
}

export function executor(world: ExecutorWorld): Executor {
  return new SimExecutor(world)
}

class SimExecutor implements Executor {
  readonly engine = 'process'
  readonly #world: ExecutorWorld

  constructor(world: ExecutorWorld) {
    this.#world = world
  }

  /** Resolves when the engine answers. */
  probe(): Promise<void> {
    const { machine, process } = this.#world
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (machine.faults.engineHung) process.after(HUNG_LOOK_MS, look)
        else if (machine.faults.engineDown) reject(new ExecutorError('engine_down', 'the engine does not answer'))
        else resolve()
      }
      process.after(machine.pace.engineMs(machine.random), look)
    })
  }

  async prepare(_manifest: RunManifest, signal: AbortSignal): Promise<void> {
    await this.probe()
    signal.throwIfAborted()
  }

  async start(execution: Execution): Promise<Running> {
    const { machine, process } = this.#world
    await this.probe()
    await process.later(machine.pace.runMs(machine.random), () => undefined)
    if (machine.containers.has(execution.replica)) throw new ExecutorError('failed', 'there is a container of that name')
    this.#world.onStart(execution.replica)
    const torn = execution.inputs.find(({ path }) => machine.content.isTorn(rootIn(path)))
    if (torn !== undefined) this.#world.onTornInput(`${execution.replica} was given ${torn.path}, which a power cut has torn`)
    const container = new Container(this.#world, execution)
    machine.containers.set(execution.replica, container)
    if (machine.random.chance(machine.faults.runsBreak)) machine.engine.after(machine.random.below(1_000), () => container.break())
    return container.attach(process)
  }

  async recover(executions: readonly Execution[]): Promise<ReadonlyMap<ReplicaId, Running>> {
    const { machine, process } = this.#world
    await this.probe()
    const found = new Map<ReplicaId, Running>()
    for (const execution of executions) {
      const { replica } = execution
      const container = machine.containers.get(replica)
      if (container !== undefined && machine.folders.has(folderOf(execution))) found.set(replica, container.attach(process))
    }
    if (found.size > 0) this.#world.onFound()
    return found
  }

  async sweep(keep: ReadonlySet<ReplicaId>): Promise<void> {
    const { machine } = this.#world
    await this.probe()
    for (const replica of machine.replicas.containers) if (!keep.has(replica)) remove(machine, replica)
  }

  async remove(replica: ReplicaId): Promise<void> {
    await this.probe()
    remove(this.#world.machine, replica)
  }

  async stop(): Promise<void> {}
}

/** It sees how little memory it has, and ends before it is ended: some do where it was guessed. */
function failsItself({ manifest, replica }: Execution): boolean {
  return manifest.resources.memoryBytes < MEMORY_BYTES && memoryOf(manifest.command) > 0 && replica.charCodeAt(replica.length - 3) % 2 === 0
}

/** The node looks for a folder only when its executor has asked where it is. */
function folderOf({ folder }: Execution): string {
  return replicaIn(folder)
}

function remove(machine: Machine, replica: ReplicaId): void {
  machine.containers.get(replica)?.vanish()
  machine.containers.delete(replica)
}

/** Of what a run took, in thirds: machines need more processor time or less for the same, and some claim more than there was. */
function claimsOf(name: string): number {
  return [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 5
}

function endedOf(reason: Ended['reason'], exitCode: number, startedMs: number, endedMs: number, thirds = 0): Ended {
  return { reason, exitCode, startedAtMs: startedMs, endedAtMs: endedMs, cpuMs: Math.floor(((endedMs - startedMs) * thirds) / 3), memoryPeakBytes: 1024 }
}
