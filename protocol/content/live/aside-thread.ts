/** The thread of aside.ts: checks and writes, one order after the other. */
import { parentPort } from 'node:worker_threads'
import { sha256 } from '../cid.ts'
import type { Answer, Order, Write, Written } from './aside.ts'
import { writeAll, writeFile } from './create.ts'

/** A leaf's file is looked at when it is finished. */
const NO_MARKS = { size: 0, mtimeMs: 0, ino: 0 }

function carryOut(write: Write, digest: Uint8Array, { mode, resume }: Order): Written {
  const { data } = write
  if (Buffer.compare(sha256(data), digest) !== 0) return false
  if (write.kind === 'leaf') {
    writeAll(write.fd, data, write.offset)
    return NO_MARKS
  }
  const { size, mtimeMs, ino } = writeFile(write.path, data, { mode, resume })
  return { size, mtimeMs, ino }
}

parentPort?.on('message', (order: Order) => {
  const done: Written[] = []
  let answer: Answer
  try {
    for (const [index, write] of order.writes.entries()) done.push(carryOut(write, order.digests.subarray(index * 32, index * 32 + 32), order))
    answer = { kind: 'written', number: order.number, files: done }
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    answer = { kind: 'failed', number: order.number, index: done.length, code, syscall, message: error instanceof Error ? error.message : String(error) }
  }
  parentPort?.postMessage(answer)
})
