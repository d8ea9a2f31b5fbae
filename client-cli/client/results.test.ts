import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { batchIdFrom, taskId } from '#protocol/ids'
import type { BatchView, TaskView } from '#protocol/owner/messages'
import { FakeCoordinator, type FakeStream, ManualClock, settled } from '#test/support/fake-owner'
import { OwnerLink } from './owner-link.ts'
import { Results, WATCHES_MAX } from './results.ts'

const batch = (number: number): string =>
  batchIdFrom(Uint8Array.from({ length: 16 }, (_, index) => (index === 15 ? number % 256 : index === 14 ? number >> 8 : 0)))

function view(id: string, index: number, status: TaskView['status']): TaskView {
  return {
    id: taskId(id, index),
    name: '',
    batch: id,
    index,
    status,
    bundle: 'b',
    command: ['true'],
    createdAtMs: 1,
    quorum: 2,
    agreeing: 2,
    replicasIssued: 2,
    numFailures: 0
  }
}

/** A coordinator of batches whose tasks a test decides. */
class Tasks {
  readonly coordinator = new FakeCoordinator()
  readonly clock = new ManualClock()
  readonly results: Results
  readonly #batches = new Map<string, TaskView['status'][]>()
  readonly #watches = new Map<string, { readonly id: number; readonly stream: FakeStream }[]>()

  constructor() {
    this.coordinator.handle = ({ id, query, watch, cancel }, stream) => {
      if (cancel) return
      if (query !== undefined) {
        const after = query.after === '' ? -1 : Number(query.after.split('.')[1])
        const rows = (this.#batches.get(query.of) ?? []).map((status, index) => view(query.of, index, status)).slice(after + 1, after + 1 + query.limit)
        stream.answer({ id, body: rows })
      } else if (watch !== undefined) {
        this.#watches.set(watch.of, [...(this.#watches.get(watch.of) ?? []), { id, stream }])
        this.#tell(watch.of)
      }
    }
    const link = new OwnerLink({ open: this.coordinator.open, clock: this.clock, random: { bytes: (count) => new Uint8Array(count), fraction: () => 0 } })
    this.results = new Results(link, this.clock)
  }

  add(id: string, tasks: number): void {
    this.#batches.set(
      id,
      Array.from({ length: tasks }, () => 'running' as const)
    )
    this.results.add(id, tasks)
  }

  decide(id: string, index: number, status: TaskView['status'] = 'ready'): void {
    const tasks = this.#batches.get(id)
    if (tasks !== undefined) tasks[index] = status
    this.#tell(id)
  }

  #tell(of: string): void {
    const tasks = this.#batches.get(of) ?? []
    const count = (status: string): number => tasks.filter((is) => is === status).length
    const body: BatchView = {
      id: of,
      name: '',
      createdAtMs: 1,
      tasks: tasks.length,
      created: 0,
      running: count('running'),
      validating: 0,
      ready: count('ready'),
      failed: count('failed'),
      killed: 0
    }
    for (const { id, stream } of this.#watches.get(of) ?? []) stream.answer({ id, body, end: body.running === 0 })
  }
}

describe('getResults', () => {
  it('hands out each decided task once, in the order they are decided', async () => {
    const tasks = new Tasks()
    const id = batch(1)
    tasks.add(id, 3)
    const first = tasks.results.take()
    await settled()
    tasks.decide(id, 2)
    assert.equal((await first)?.index, 2)
    const second = tasks.results.take()
    await tasks.clock.advance(100)
    tasks.decide(id, 0, 'failed')
    assert.equal((await second)?.status, 'failed')
    const third = tasks.results.take()
    await tasks.clock.advance(100)
    tasks.decide(id, 1)
    assert.equal((await third)?.index, 1)
    assert.equal(await tasks.results.take(), null)
  })

  it('answers null exactly when the timeout is over, also when nothing was submitted', async () => {
    const tasks = new Tasks()
    let answer: unknown = 'waiting'
    void tasks.results.take({ timeoutMs: 500 }).then((value) => {
      answer = value
    })
    await tasks.clock.advance(499)
    assert.equal(answer, 'waiting')
    await tasks.clock.advance(1)
    assert.equal(answer, null)
    tasks.add(batch(1), 1)
    const late = tasks.results.take({ timeoutMs: 500 })
    await tasks.clock.advance(500)
    assert.equal(await late, null)
  })

  it('keeps a result that came while nobody waited', async () => {
    const tasks = new Tasks()
    const id = batch(1)
    tasks.add(id, 1)
    const gone = tasks.results.take({ timeoutMs: 10 })
    await tasks.clock.advance(10)
    assert.equal(await gone, null)
    tasks.decide(id, 0)
    await settled()
    assert.equal((await tasks.results.take({ timeoutMs: 10 }))?.index, 0)
  })

  it('does not let batches that never end keep others from being seen', async () => {
    const tasks = new Tasks()
    for (let number = 0; number < WATCHES_MAX; number++) tasks.add(batch(number), 1)
    const last = batch(WATCHES_MAX)
    tasks.add(last, 1)
    const result = tasks.results.take()
    tasks.decide(last, 0)
    await tasks.clock.advance(5_000)
    assert.equal((await result)?.batch, last)
  })

  it('gives up with the signal, and when it is closed', async () => {
    const tasks = new Tasks()
    tasks.add(batch(1), 1)
    const stop = new AbortController()
    const stopped = assert.rejects(tasks.results.take({ signal: stop.signal }), /enough/)
    stop.abort(new Error('enough'))
    await stopped
    const closed = assert.rejects(tasks.results.take(), { code: 'unreachable' })
    tasks.results.close()
    await closed
  })
})
