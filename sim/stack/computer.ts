/** A computer with one program that has a libp2p host: started, stopped in order, killed, and started again. */
import type { Connection } from '@libp2p/interface'
import type { Host } from '#protocol/peer/host'
import { createHost, type HostOptions } from '#protocol/peer/live/host'
import type { Signer } from '#protocol/signing/keys'
import type { Engine } from '../engine/engine.ts'
import type { Skew } from '../engine/process.ts'
import type { Random } from '../random.ts'
import type { Station } from './internet.ts'
import { StackProcess } from './process.ts'
import { wireOf } from './transport.ts'

/** A host that was stopped in order has nothing left to wait for after this: its own longest time limit is five and a half minutes. */
export const LEFT_MS_MAX = 6 * 60_000

/** What came to a host while it stopped is cut off within this. */
const CLOSING_MS_MAX = 10_000

export interface ComputerPorts {
  readonly engine: Engine
  readonly random: Random
  readonly name: string
  readonly signer: Signer
  readonly skew: Skew
  /** Something is as it must not be. */
  readonly wrong: (what: string) => void
}

export abstract class Computer {
  readonly name: string
  readonly signer: Signer
  station: Station
  protected readonly ports: ComputerPorts
  #process: StackProcess | undefined
  #lives = 0
  #leaving = false
  #host: Host | undefined
  #connections: () => readonly Connection[] = () => []
  #cancelStart = (): void => {}

  constructor(ports: ComputerPorts, station: Station) {
    this.ports = ports
    this.name = ports.name
    this.signer = ports.signer
    this.station = station
  }

  /** The program's process while it lives. */
  get process(): StackProcess | undefined {
    return this.#process
  }

  /** How often it was started. */
  get lives(): number {
    return this.#lives
  }

  /** It was never there. */
  get absent(): boolean {
    return this.#lives === 0
  }

  /** What libp2p holds open. */
  get connections(): readonly Connection[] {
    return this.#process === undefined ? [] : this.#connections()
  }

  start(afterMs = 0): void {
    this.#cancelStart()
    this.#cancelStart = this.ports.engine.after(afterMs, () => {
      if (this.#process === undefined) this.#begin()
    })
  }

  /** kill -9. `tell`: its kernel lives and closes its connections; else the whole computer is gone. */
  crash(tell: boolean): void {
    this.#cancelStart()
    const process = this.#process
    if (process === undefined) return
    this.#over()
    process.kill()
    this.station.lose(process, tell)
    this.died(process)
  }

  /** Ends in order, and is started again `againMs` later; never when that is undefined. Does nothing while it is not there or leaves already. */
  leave(againMs: number | undefined): void {
    const process = this.#process
    if (process === undefined || this.#leaving) return
    this.#leaving = true
    process
      .run(async () => {
        await this.close(process)
        await this.#host?.stop()
      })
      .then(
        () => this.#left(process, againMs),
        (error: unknown) => this.ports.wrong(`${this.name} did not end in order: ${textOf(error)}`)
      )
  }

  /** Makes the host and what runs on it; runs in the process. */
  protected abstract live(process: StackProcess): Promise<void>

  /** Ends what runs on the host; runs in the process. */
  protected abstract close(process: StackProcess): Promise<void>

  /** The process is gone. */
  protected died(_process: StackProcess): void {}

  protected async makeHost(options: Omit<HostOptions, 'signer'>): Promise<Host> {
    const wire = wireOf(this.station, (connections) => {
      this.#connections = connections
    })
    this.#host = await createHost({ ...options, signer: this.signer }, wire)
    return this.#host
  }

  #begin(): void {
    const { engine, random, skew, wrong } = this.ports
    const process = new StackProcess(this.name, engine, random.fork('life', ++this.#lives), skew)
    this.#process = process
    this.station.up = true
    process.run(() => this.live(process)).catch((error: unknown) => wrong(`${this.name} did not start: ${textOf(error)}`))
  }

  #over(): void {
    this.#process = undefined
    this.#host = undefined
    this.#leaving = false
  }

  #left(process: StackProcess, againMs: number | undefined): void {
    if (this.#process !== process) return
    const { engine, wrong } = this.ports
    const station = this.station
    this.#over()
    this.died(process)
    engine.after(CLOSING_MS_MAX, () => {
      const open = [...station.sockets].filter((socket) => socket.process === process).length
      if (open > 0) wrong(`${this.name} was stopped in order and left ${open} connections open`)
    })
    engine.after(LEFT_MS_MAX, () => {
      if (process.timers.size > 0) wrong(`${this.name} was stopped in order and still waits for ${process.timers.size} timers`)
      process.kill()
    })
    if (againMs !== undefined) this.start(againMs)
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
