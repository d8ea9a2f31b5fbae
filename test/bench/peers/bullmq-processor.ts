/** `bullmq-processor.ts FOLDER PORT`: BullMQ's workers, which do nothing with their jobs; says when as many as asked for are completed. */
import { type BullMq, loadBullMq, QUEUE } from './bullmq.ts'

/** BullMQ's best here, jobs per second: 1 worker at 50 gave 10,400 to 12,000, at 200 11,400 to 13,700; 4 workers at 50 7,700 to 8,900, at 200 6,200 to 11,000. */
const WORKERS = 1
const CONCURRENCY = 200

const [folder = '', port] = process.argv.slice(2)
const { Worker } = loadBullMq(folder)
const workers: InstanceType<BullMq['Worker']>[] = []
let left = Number.POSITIVE_INFINITY

process.on('message', ({ jobs }: { jobs: number }) => {
  left = jobs
})
process.on('SIGTERM', () => void Promise.all(workers.map((worker) => worker.close(true))).then(() => process.exit(0)))
for (let index = 0; index < WORKERS; index++) {
  const worker = new Worker(QUEUE, async () => null, { connection: { host: '127.0.0.1', port: Number(port) }, concurrency: CONCURRENCY })
  worker.on('completed', () => {
    left--
    if (left === 0) process.send?.('done')
  })
  workers.push(worker)
}
await Promise.all(workers.map((worker) => worker.waitUntilReady()))
process.send?.('ready')
