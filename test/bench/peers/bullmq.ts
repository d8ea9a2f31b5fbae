/**
 * The peer of the tasks benchmark: BullMQ on a Redis that appends to its file and syncs it every second. Producer here,
 * processors in a process of their own, as talko's client and nodes are.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../support/ports.ts'
import { nextMessage } from '../child.ts'
import type { BenchContext } from '../runner.ts'

/** What is used of BullMQ. */
export interface BullMq {
  readonly Queue: new (
    name: string,
    options: object
  ) => { addBulk(jobs: readonly object[]): Promise<unknown>; waitUntilReady(): Promise<unknown>; close(): Promise<void> }
  readonly Worker: new (
    name: string,
    processor: () => Promise<null>,
    options: object
  ) => { on(event: 'completed', call: () => void): unknown; waitUntilReady(): Promise<unknown>; close(force?: boolean): Promise<void> }
}

export const QUEUE = 'tasks'
const SPEC = 'bullmq@6.7.0 ioredis@5.11.1'
/** Of 250, 1000 and 4000, the one at which BullMQ was fastest. */
const JOBS_IN_BULK = 1000

export interface Workers {
  /** Each with connections of its own. */
  readonly count: number
  /** Jobs that each has at a time. */
  readonly concurrency: number
}

/** BullMQ's best here, jobs per second: 1 worker at 50 gave 10,400 to 12,000, at 200 11,400 to 13,700; 4 workers at 50 7,700 to 8,900, at 200 6,200 to 11,000. */
export const FASTEST: Workers = { count: 1, concurrency: 200 }

export function loadBullMq(folder: string): BullMq {
  return createRequire(join(folder, 'package.json'))('bullmq') as BullMq
}

export interface Peer {
  /** Seconds from the first job handed to Redis to the last one completed. */
  measure(jobs: number): Promise<number>
  stop(): Promise<void>
}

export async function startBullMq(context: BenchContext, { count, concurrency }: Workers = FASTEST): Promise<Peer> {
  await context.ensure(['redis-server'])
  const folder = await context.npmPeer(SPEC)
  const port = await freePort()
  const redis = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--dir', context.workFolder, '--save', '', '--appendonly', 'yes', '--appendfsync', 'everysec'],
    {
      stdio: ['ignore', 'ignore', 'inherit']
    }
  )
  const processor = fork(fileURLToPath(new URL('./bullmq-processor.ts', import.meta.url)), [folder, String(port), String(count), String(concurrency)])
  await nextMessage(processor)
  const { Queue } = loadBullMq(folder)
  const queue = new Queue(QUEUE, { connection: { host: '127.0.0.1', port } })
  await queue.waitUntilReady()
  return {
    async measure(jobs) {
      processor.send({ jobs })
      const started = performance.now()
      const done = nextMessage(processor)
      for (let from = 0; from < jobs; from += JOBS_IN_BULK) {
        const bulk = Array.from({ length: Math.min(JOBS_IN_BULK, jobs - from) }, (_, index) => ({
          name: 'task',
          data: { index: from + index },
          opts: { removeOnComplete: true }
        }))
        await queue.addBulk(bulk)
      }
      await done
      return (performance.now() - started) / 1000
    },
    async stop() {
      await queue.close()
      await end(processor)
      await end(redis)
    }
  }
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
