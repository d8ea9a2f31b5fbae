/** `bullmq-processor.ts FOLDER PORT WORKERS CONCURRENCY JOBS`: BullMQ's workers, each with connections of its own, which do nothing with their jobs; says when as many as asked for are completed. */
import { noOpEnd } from '../no-op.ts'
import { type BullMq, loadBullMq, QUEUE } from './bullmq.ts'

const [folder = '', port, count, concurrency, jobs] = process.argv.slice(2)
const { Worker } = loadBullMq(folder)
const workers: InstanceType<BullMq['Worker']>[] = []
let left = Number.POSITIVE_INFINITY

process.on('message', ({ jobs }: { jobs: number }) => {
  left = jobs
})
process.on('SIGTERM', () => void Promise.all(workers.map((worker) => worker.close(true))).then(() => process.exit(0)))
const end = async () => (jobs === 'bare' ? null : noOpEnd())
for (let index = 0; index < Number(count); index++) {
  const worker = new Worker(QUEUE, end, { connection: { host: '127.0.0.1', port: Number(port) }, concurrency: Number(concurrency) })
  worker.on('completed', () => {
    left--
    if (left === 0) process.send?.('done')
  })
  workers.push(worker)
}
await Promise.all(workers.map((worker) => worker.waitUntilReady()))
// The benchmark was stopped.
process.on('disconnect', () => process.exit(0))
process.send?.('ready')
