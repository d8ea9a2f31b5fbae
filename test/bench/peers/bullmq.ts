/**
 * The peer of the tasks benchmark: BullMQ on a Redis that appends to its file and syncs it every second. Producer here,
 * processors in a process of their own, as talko's client and nodes are.
 *
 * Its jobs do what our tasks do (`whole`): each says what to run, what came of it is kept, as BullMQ does unless it is told
 * otherwise, and whoever handed it in learns that it is over. Or as little as can be (`bare`): each is a number, nothing is
 * kept, and only the workers know.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../support/ports.ts'
import { nextMessage } from '../child.ts'
import { noOpSpec } from '../no-op.ts'
import type { BenchContext } from '../runner.ts'

/** What is used of BullMQ. */
export interface BullMq {
  readonly Queue: new (
    name: string,
    options: object
  ) => { addBulk(jobs: readonly object[]): Promise<unknown>; waitUntilReady(): Promise<unknown>; close(): Promise<void> }
  readonly Worker: new (
    name: string,
    processor: () => Promise<unknown>,
    options: object
  ) => { on(event: 'completed', call: () => void): unknown; waitUntilReady(): Promise<unknown>; close(force?: boolean): Promise<void> }
  readonly QueueEvents: new (
    name: string,
    options: object
  ) => { on(event: 'completed', call: () => void): unknown; waitUntilReady(): Promise<unknown>; close(): Promise<void> }
}

export const QUEUE = 'tasks'
const SPEC = 'bullmq@6.7.0 ioredis@5.11.1'
/** Of 250, 1000 and 4000, the one at which BullMQ was fastest. */
const JOBS_IN_BULK = 1000
/** Ends that whoever waits for them may be behind by before Redis forgets them; BullMQ's own number is a tenth of it. */
const EVENTS_KEPT = 100_000

export interface Workers {
  /** Each with connections of its own. */
  readonly count: number
  /** Jobs that each has at a time. */
  readonly concurrency: number
  readonly jobs: 'whole' | 'bare'
}

/** BullMQ's best here, jobs per second: 1 worker at 50 gave 10,400 to 12,000, at 200 11,400 to 13,700; 4 workers at 50 7,700 to 8,900, at 200 6,200 to 11,000. */
export const FASTEST: Workers = { count: 1, concurrency: 200, jobs: 'bare' }

export function loadBullMq(folder: string): BullMq {
  return createRequire(join(folder, 'package.json'))('bullmq') as BullMq
}

export interface Peer {
  /** Seconds from the first job handed to Redis to the last one completed. */
  measure(jobs: number): Promise<number>
  stop(): Promise<void>
}

export async function startBullMq(context: BenchContext, { count, concurrency, jobs: kind }: Workers): Promise<Peer> {
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
  const args = [folder, String(port), String(count), String(concurrency), kind]
  const processor = fork(fileURLToPath(new URL('./bullmq-processor.ts', import.meta.url)), args)
  await nextMessage(processor)
  const bullMq = loadBullMq(folder)
  const connection = { host: '127.0.0.1', port }
  const queue = new bullMq.Queue(QUEUE, { connection, streams: { events: { maxLen: EVENTS_KEPT } } })
  await queue.waitUntilReady()
  const ends = kind === 'whole' ? await endsOf(new bullMq.QueueEvents(QUEUE, { connection })) : undefined
  let round = 0
  return {
    async measure(jobs) {
      const run = round++
      const all = Array.from({ length: jobs }, (_, index) => jobOf(kind, run, index))
      processor.send({ jobs })
      const started = performance.now()
      const done = ends === undefined ? nextMessage(processor) : ends.next(jobs)
      for (let from = 0; from < jobs; from += JOBS_IN_BULK) await queue.addBulk(all.slice(from, from + JOBS_IN_BULK))
      await done
      return (performance.now() - started) / 1000
    },
    async stop() {
      await ends?.close()
      await queue.close()
      await end(processor)
      await end(redis)
    }
  }
}

function jobOf(kind: Workers['jobs'], round: number, index: number): object {
  if (kind === 'bare') return { name: 'task', data: { index }, opts: { removeOnComplete: true } }
  return { name: 'task', data: noOpSpec(round, index), opts: {} }
}

/** How whoever hands in jobs learns of their ends. */
async function endsOf(events: InstanceType<BullMq['QueueEvents']>) {
  let left = 0
  let tell = (): void => undefined
  events.on('completed', () => {
    left--
    if (left === 0) tell()
  })
  await events.waitUntilReady()
  return {
    /** Resolves with the end of so many from now on. */
    next(jobs: number): Promise<void> {
      left = jobs
      return new Promise((resolve) => {
        tell = resolve
      })
    },
    close: () => events.close()
  }
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
