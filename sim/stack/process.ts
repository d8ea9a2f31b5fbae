/**
 * A process whose code asks for time and dice by their global names, as libraries do. Whatever reaches it runs in its
 * context, and what that starts stays in it (promises carry it on); so a timer knows whose it is, and a killed process hears nothing more.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Engine } from '../engine/engine.ts'
import { Process, type Skew } from '../engine/process.ts'
import type { Random } from '../random.ts'

const context = new AsyncLocalStorage<StackProcess>()

/** Whose code runs; undefined for the world's own. */
export function running(): StackProcess | undefined {
  return context.getStore()
}

export class StackProcess extends Process {
  readonly name: string
  readonly dice: Random
  /** What it waits for: timers that have neither fired nor been cleared. */
  readonly timers = new Set<object>()

  constructor(name: string, engine: Engine, dice: Random, skew?: Skew) {
    super(engine, skew === undefined ? undefined : { skew })
    this.name = name
    this.dice = dice
  }

  override enter(call: () => void): void {
    super.enter(() => context.run(this, call))
  }

  override kill(): void {
    super.kill()
    this.timers.clear()
  }

  /** Runs in this process's context, now or when it goes on. */
  run<T>(act: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.enter(() => {
        act().then(resolve, reject)
      })
    })
  }
}
