/** The thread of aside.ts: checks and writes, one order after the other. */
import { parentPort } from 'node:worker_threads'
import { sha256 } from '../cid.ts'
import { type Answer, MARK_FIELDS, type Order, SPAN_FIELDS } from './aside.ts'
import { writeAll, writeFile } from './create.ts'

function carryOut({ frame, spans, digests, paths, mode, resume }: Order, marks: Float64Array, started: (index: number) => void): void {
  for (const [index, path] of paths.split('\0').entries()) {
    started(index)
    const [from = 0, length = 0, fd = -1, offset = 0] = spans.subarray(index * SPAN_FIELDS, (index + 1) * SPAN_FIELDS)
    const data = frame.subarray(from, from + length)
    if (Buffer.compare(sha256(data), digests.subarray(index * 32, (index + 1) * 32)) !== 0) continue
    const at = index * MARK_FIELDS
    if (fd >= 0) writeAll(fd, data, offset)
    else {
      const { size, mtimeMs, ino } = writeFile(path, data, { mode, resume })
      marks.set([size, mtimeMs, ino], at + 1)
    }
    marks[at] = 1
  }
}

parentPort?.on('message', (order: Order) => {
  const marks = new Float64Array((order.digests.length / 32) * MARK_FIELDS)
  let index = 0
  try {
    carryOut(order, marks, (now) => {
      index = now
    })
    parentPort?.postMessage({ kind: 'written', number: order.number, marks } satisfies Answer, [marks.buffer])
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    const message = error instanceof Error ? error.message : String(error)
    parentPort?.postMessage({ kind: 'failed', number: order.number, index, code, syscall, message } satisfies Answer)
  }
})
