import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Ended, Execution, Executor, Running } from '#node/ports'

/** What a scripted run does: text for `out/answer` and stdout, after some milliseconds. */
export interface Script {
  readonly answer: string
  readonly ms?: number
}

export interface ScriptedOptions {
  /** Each start appends `<replica>\n` here, before anything else happens: the witness of what really ran. */
  readonly witness?: string
  readonly script: (execution: Execution) => Script
}

/**
 * An executor for tests of everything around it: it runs a script of the test's in place of a container, under the name
 * of the `process` engine. It keeps nothing across the node's death, as a process that died with its node.
 */
export function scriptedExecutor(options: ScriptedOptions): Executor {
  const running = new Map<string, () => void>()
  return {
    engine: 'process',
    async probe() {},
    async prepare() {},
    async start(execution): Promise<Running> {
      if (options.witness !== undefined) appendFileSync(options.witness, `${execution.replica}\n`)
      const { answer, ms = 0 } = options.script(execution)
      const startedAtMs = Date.now()
      const ended = Promise.withResolvers<Ended>()
      const finish = (reason: 'exit' | 'killed'): void => {
        running.delete(execution.replica)
        clearTimeout(timer)
        if (reason === 'exit') {
          mkdirSync(join(execution.folder, 'out'), { recursive: true })
          writeFileSync(join(execution.folder, 'out', 'answer'), answer)
          writeFileSync(join(execution.folder, 'stdout'), answer)
          writeFileSync(join(execution.folder, 'stderr'), '')
        }
        ended.resolve({ reason, exitCode: reason === 'exit' ? 0 : 143, startedAtMs, endedAtMs: Date.now(), cpuMs: 1, memoryPeakBytes: 1 })
      }
      const timer = setTimeout(() => finish('exit'), ms)
      running.set(execution.replica, () => finish('killed'))
      return {
        ended: ended.promise,
        async kill() {
          running.get(execution.replica)?.()
        }
      }
    },
    async recover() {
      return new Map()
    },
    async sweep() {},
    async remove() {},
    async stop() {
      for (const kill of [...running.values()]) kill()
    }
  }
}
