/**
 * A volunteer that lies: `lying-node.ts FOLDER`. It runs every task as the others do, in real containers, and then changes
 * what came out before it signs it. Prints its peer id when it runs.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDockerExecutor } from '#node/live/docker/executor'
import { startNode } from '#node/main'
import type { Ended, Execution, Executor, Running } from '#node/ports'

const ZERO = 48
const NINE = 57

/** Another digit for every digit: an answer that looks like one. What has no digits gets one. */
export function lie(truth: Uint8Array): Uint8Array {
  const changed = truth.map((byte) => (byte >= ZERO && byte <= NINE ? ZERO + ((byte - ZERO + 7) % 10) : byte))
  return changed.every((byte, index) => byte === truth[index]) ? Uint8Array.of(...truth.subarray(0, 1024), ZERO) : changed
}

/** The same engine, but every output file and what was printed are altered after the run. */
export function lyingExecutor(honest: Executor): Executor {
  const bend = (execution: Execution, running: Running): Running => ({
    ended: running.ended.then((ended): Ended => {
      lieIn(join(execution.folder, 'out'))
      lieAt(join(execution.folder, 'stdout'))
      return ended
    }),
    kill: (graceMs) => running.kill(graceMs)
  })
  return {
    engine: honest.engine,
    probe: () => honest.probe(),
    prepare: (manifest, signal) => honest.prepare(manifest, signal),
    start: async (execution) => bend(execution, await honest.start(execution)),
    async recover(executions) {
      const found = await honest.recover(executions)
      return new Map(
        executions.flatMap((execution) => {
          const running = found.get(execution.replica)
          return running === undefined ? [] : [[execution.replica, bend(execution, running)] as const]
        })
      )
    },
    sweep: (keep) => honest.sweep(keep),
    remove: (replica) => honest.remove(replica),
    stop: () => honest.stop()
  }
}

function lieIn(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) lieIn(join(folder, entry.name))
    else if (entry.isFile()) lieAt(join(folder, entry.name))
  }
}

function lieAt(file: string): void {
  writeFileSync(file, lie(readFileSync(file)))
}

if (import.meta.main) {
  const [dir] = process.argv.slice(2)
  if (dir === undefined) throw new Error('which node folder?')
  const node = await startNode({
    dir,
    executors: async ({ logger, ...tools }) => [
      lyingExecutor(await createDockerExecutor({ ...tools, logger: { warn: (text: unknown) => logger.warn({}, String(text)) } }))
    ]
  })
  process.on('SIGTERM', () => void node.stop('now').then(() => process.exit(0)))
  console.log(node.peerId)
}
