/** The thread of aside.ts: checks and writes, one order after the other. */
import { parentPort } from 'node:worker_threads'
import { messageOf } from '../../message-of.ts'
import { sha256Text } from '../hash.ts'
import { type Answer, ID_CHARACTERS, MARK_FIELDS, type Order, SPAN_FIELDS } from './aside-order.ts'
import { writeAll, writeFile } from './create.ts'

function carryOut({ frame, spans, ids, paths, mode, resume }: Order, marks: Float64Array, started: (index: number) => void): void {
  for (const [index, path] of paths.split('\0').entries()) {
    started(index)
    const from = index * SPAN_FIELDS
    const [begin = 0, length = 0, fd = -1, offset = 0] = [spans[from], spans[from + 1], spans[from + 2], spans[from + 3]]
    const data = frame.subarray(begin, begin + length)
    if (sha256Text(data) !== ids.slice(index * ID_CHARACTERS, (index + 1) * ID_CHARACTERS)) continue
    const at = index * MARK_FIELDS
    if (fd >= 0) writeAll(fd, data, offset)
    else {
      const { size, mtimeMs, ino } = writeFile(path, data, { mode, resume })
      marks[at + 1] = size
      marks[at + 2] = mtimeMs
      marks[at + 3] = ino
    }
    marks[at] = 1
  }
}

parentPort?.on('message', (order: Order) => {
  const marks = new Float64Array((order.spans.length / SPAN_FIELDS) * MARK_FIELDS)
  let index = 0
  let answer: Answer
  try {
    carryOut(order, marks, (now) => {
      index = now
    })
    answer = { kind: 'written', number: order.number, marks }
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    const message = messageOf(error)
    answer = { kind: 'failed', number: order.number, index, code, syscall, message }
  }
  // given back at once: left to the collector, it runs for every few dozen frames, and until then each is new memory
  order.frame.buffer.transfer(0)
  parentPort?.postMessage(answer, answer.kind === 'written' ? [answer.marks.buffer] : [])
})
