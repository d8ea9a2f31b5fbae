/**
 * The project server's disk: the `Store` port over records that outlive the process. A batch is written whole or not at all,
 * as LevelDB does; the process can be killed at any operation, with the batch on either side of the line.
 */
import { type Change, type Store, StoreError } from '#project-server/ports'
import type { Engine } from '../engine/engine.ts'
import type { Process } from '../engine/process.ts'
import type { Random } from '../random.ts'
import { MemoryStore } from '../store.ts'
import { type Pace, USUAL_PACE } from './pace.ts'

export interface DiskFaults {
  /** Added to every write. */
  slowMs: number
  full: boolean
  /** The next write fails for good. */
  errors: number
  /** The process is killed at the so-manieth write from now; 0 is none. */
  crashAt: number
  /** Then its batch is on disk. */
  crashKeeps: boolean
}

export interface DiskPorts {
  readonly engine: Engine
  readonly random: Random
  readonly pace?: Pace
  readonly onCommitted: (epoch: number, changes: readonly Change[]) => void
  /** The process must be killed now. */
  readonly onCrash: (process: Process) => void
}

interface Write {
  readonly process: Process
  readonly apply: () => void
}

export class ServerDisk {
  readonly records = new MemoryStore()
  readonly faults: DiskFaults = { slowMs: 0, full: false, errors: 0, crashAt: 0, crashKeeps: false }
  /** Writes asked for. */
  writes = 0
  readonly #ports: DiskPorts
  readonly #pending = new Set<Write>()

  constructor(ports: DiskPorts) {
    this.#ports = ports
  }

  get engine(): Engine {
    return this.#ports.engine
  }

  /** The process was killed: of what it was writing the first batches are on disk, the last of those as a whole: a log whose tail is torn ends before it. */
  crash(process: Process): void {
    const writes = [...this.#pending].filter((write) => write.process === process)
    for (const write of writes) this.#pending.delete(write)
    for (const write of writes.slice(0, this.#ports.random.below(writes.length + 1))) write.apply()
  }

  store(process: Process): Store {
    const { records } = this
    return {
      beginEpoch: () => this.#write(process, () => records.open()),
      batch: (epoch, changes) =>
        this.#write(process, () => {
          records.write(epoch, changes)
          this.#ports.onCommitted(epoch, changes)
        }),
      get: (key) => records.get(key),
      getMany: (keys) => records.getMany(keys),
      range: (from, to, options) => records.range(from, to, options),
      close: async () => undefined
    }
  }

  #write<T>(process: Process, act: () => T): Promise<T> {
    if (!process.alive) return new Promise(() => undefined)
    const { faults } = this
    const { engine, random, pace = USUAL_PACE } = this.#ports
    this.writes++
    const crashes = faults.crashAt > 0 && --faults.crashAt === 0
    return new Promise((resolve, reject) => {
      const write: Write = {
        process,
        apply: () => {
          try {
            act()
          } catch {
            // Nobody is left to be told.
          }
        }
      }
      this.#pending.add(write)
      engine.after(pace.serverWriteMs(random) + faults.slowMs, () => {
        if (!this.#pending.delete(write)) return
        if (crashes) {
          if (faults.crashKeeps) write.apply()
          this.#ports.onCrash(process)
          return
        }
        try {
          if (faults.full) throw new StoreError('disk_full', 'no space is left; nothing was written')
          if (faults.errors > 0) {
            faults.errors--
            throw new StoreError('corrupt', 'input/output error')
          }
          const value = act()
          process.enter(() => resolve(value))
        } catch (error) {
          process.enter(() => reject(error))
        }
      })
    })
  }
}
