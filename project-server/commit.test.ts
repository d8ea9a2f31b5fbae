import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import fc from 'fast-check'
import { manifestCid } from '#protocol/bundle/manifest'
import { RECEIPT_DOMAIN, type Receipt } from '#protocol/result/receipt'
import { verifyInBatch } from '#protocol/signing/batch'
import { generateIdentity } from '#protocol/signing/keys'
import { until } from '#test/support/until'
import { Committer, type Core } from './commit.ts'
import type { Effect, Event, Unsigned } from './coordinator/events.ts'
import { decodeReceiptPage, signedReceipt } from './coordinator/receipt-records.ts'
import type { ServerError } from './errors.ts'
import { SILENT } from './logger.ts'
import { LAZY_MS } from './policy.ts'
import { type Change, StoreError } from './ports.ts'
import { ManualClock } from './testing/manual-clock.ts'

const signer = await generateIdentity()

/** A core that changes one record an event and asks for one effect: what is committed and what is carried out can be compared. */
class CountingCore implements Core {
  #changes: Change[] = []
  #effects: Effect[] = []
  unsigned: Unsigned[] = []
  #next = 0

  apply(event: Event): void {
    if (event.kind === 'tick') return
    if (event.kind === 'kill') throw new Error('an invariant is broken')
    const key = String(this.#next++)
    this.#changes.push({ key, value: Uint8Array.of(1) })
    this.#effects.push({ kind: 'changed', batch: key, task: key })
  }

  take() {
    const taken = { changes: this.#changes, effects: this.#effects, unsigned: this.unsigned }
    this.#changes = []
    this.#effects = []
    this.unsigned = []
    return taken
  }
}

/** A store whose commits end when the test says so. */
class GatedStore {
  readonly committed: (readonly Change[])[] = []
  readonly waiting: { resolve(): void; reject(error: Error): void }[] = []

  batch(_epoch: number, changes: readonly Change[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({
        resolve: () => {
          this.committed.push(changes)
          resolve()
        },
        reject
      })
    })
  }

  async end(error?: Error): Promise<void> {
    const one = await until('a commit', () => this.waiting.shift())
    if (error === undefined) one.resolve()
    else one.reject(error)
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  }
}

const EVENT: Event = { kind: 'demand', node: 'n', slots: 1 }
const LAZY: Event = { kind: 'ack', node: 'n', seq: 1 }
const FULL = new StoreError('disk_full', 'no space left')

function setUp(options: { eventsWaitingMax?: number } = {}) {
  const core = new CountingCore()
  const store = new GatedStore()
  const clock = new ManualClock()
  const visible: string[] = []
  const fatal: ServerError[] = []
  const carryOut = (effects: readonly Effect[]): void => {
    for (const effect of effects) if (effect.kind === 'changed') visible.push(effect.batch)
  }
  const committer = new Committer({ core, store, clock, signer, logger: SILENT, carryOut, onFatal: (error) => fatal.push(error) }, { epoch: 1, ...options })
  return { core, store, clock, visible, fatal, committer }
}

describe('the committer', () => {
  it('makes nothing visible before it is durable, and gathers what comes meanwhile in one commit', async () => {
    const { store, visible, committer } = setUp()
    committer.apply(EVENT)
    await until('the first commit', () => store.waiting.length === 1)
    for (let i = 0; i < 5; i++) committer.apply(EVENT)
    assert.deepEqual(visible, [])
    await store.end()
    assert.deepEqual(visible, ['0'])
    await store.end()
    assert.deepEqual(visible, ['0', '1', '2', '3', '4', '5'])
    assert.deepEqual(
      store.committed.map((changes) => changes.length),
      [1, 5]
    )
  })

  it('answers a commit only once its changes are on disk, and one that changes nothing at once', async () => {
    const { store, committer } = setUp()
    let answered = false
    const done = committer.commit(EVENT).then(() => {
      answered = true
    })
    await until('the commit', () => store.waiting.length === 1)
    assert.equal(answered, false)
    await store.end()
    await done
    await committer.commit({ kind: 'tick' })
    await committer.flush()
  })

  it('lets what nobody waits for go with the next commit, or alone a little later', async () => {
    const { store, clock, committer } = setUp()
    committer.apply(LAZY)
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    assert.equal(store.waiting.length, 0)
    committer.apply(EVENT)
    await store.end()
    committer.apply(LAZY)
    clock.forward(LAZY_MS)
    await store.end()
    assert.deepEqual(
      store.committed.map((changes) => changes.length),
      [2, 1]
    )
  })

  it('signs the receipts of one commit as one batch and stores them in it', async () => {
    const { core, store, committer } = setUp()
    const receipts = ['a', 'b', 'c'].map((task): Receipt => receiptOf(task))
    core.unsigned = receipts.map((receipt, index) => ({ page: `receipts/${Math.floor(index / 2)}`, receipt, seals: [] }))
    committer.apply(EVENT)
    await store.end()
    const records = new Map(store.committed[0]?.map(({ key, value }) => [key, value ?? Uint8Array.of()]))
    const pages = [...records].filter(([key]) => key.startsWith('receipts/')).map(([, value]) => decodeReceiptPage(value))
    assert.deepEqual(
      pages.map(({ length }) => length),
      [2, 1]
    )
    assert.equal([...records.keys()].filter((key) => key.startsWith('seal/')).length, 1)
    const source = { get: async (key: string) => records.get(key), manifest: async () => Uint8Array.of() }
    for (const [index, stored] of pages.flat().entries()) {
      const { body, proof } = await signedReceipt(stored, source)
      assert.ok(verifyInBatch(signer.peerId, RECEIPT_DOMAIN, body, proof))
      assert.deepEqual(dagCbor.decode<Receipt>(body).task, receipts[index]?.task)
    }
  })

  it('refuses submissions while the disk is full, tries again, and loses nothing', async () => {
    const { store, clock, visible, committer } = setUp()
    const refused = assert.rejects(committer.commit(EVENT), { name: 'ServerError', code: 'disk_full' })
    await store.end(FULL)
    await refused
    assert.equal(committer.mode, 'read_only')
    await assert.rejects(committer.commit(EVENT), { code: 'disk_full' })
    await assert.rejects(committer.write([]), { code: 'disk_full' })
    committer.apply(EVENT)
    await until('the pause', () => clock.waiting === 1)
    clock.forward(1_000)
    await store.end(FULL)
    assert.deepEqual(visible, [])
    await until('the pause', () => clock.waiting === 1)
    clock.forward(1_000)
    await store.end()
    assert.equal(committer.mode, 'open')
    await store.end()
    assert.deepEqual(visible, ['0', '1'])
    assert.equal(committer.counts.failures, 2)
  })

  for (const code of ['stale_epoch', 'corrupt'] as const) {
    it(`stops the server for good when the store says ${code}`, async () => {
      const { store, visible, fatal, committer } = setUp()
      const refused = assert.rejects(committer.commit(EVENT), { code })
      await store.end(new StoreError(code, 'no'))
      await refused
      assert.deepEqual(
        fatal.map((error) => error.code),
        [code]
      )
      committer.apply(EVENT)
      await assert.rejects(committer.commit(EVENT), { code: 'unavailable' })
      assert.deepEqual(visible, [])
      await committer.stop()
    })
  }

  it('stops the server when an invariant of the core is broken', () => {
    const { fatal, committer } = setUp()
    committer.apply({ kind: 'kill', batch: 'b', by: 'p' })
    assert.deepEqual(
      fatal.map((error) => error.code),
      ['failed']
    )
  })

  it('holds readers back while too much waits for the disk', async () => {
    const { store, committer } = setUp({ eventsWaitingMax: 3 })
    let held = true
    for (let i = 0; i < 3; i++) committer.apply(EVENT)
    const room = committer.room()?.then(() => {
      held = false
    })
    await until('the commit', () => store.waiting.length === 1)
    assert.equal(held, true)
    await store.end()
    await room
    assert.equal(held, false)
  })

  it('writes what was gathered when it is stopped, and gives up what a full disk held', async () => {
    const { store, committer, visible } = setUp()
    committer.apply(EVENT)
    const stopping = committer.stop()
    await store.end()
    await stopping
    assert.deepEqual(visible, ['0'])

    const full = setUp()
    full.committer.apply(EVENT)
    await full.store.end(FULL)
    await full.committer.stop()
    assert.deepEqual(full.visible, [])
  })

  it('never shows an effect whose change is not on disk, in whatever order things happen', async () => {
    const step = fc.oneof(fc.constant('apply' as const), fc.constant('end' as const), fc.constant('full' as const))
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { store, clock, visible, committer } = setUp()
        let applied = 0
        const settle = async (): Promise<void> => {
          for (let turn = 0; turn < 30; turn++) await Promise.resolve()
          clock.forward(20_000)
          for (let turn = 0; turn < 30; turn++) await Promise.resolve()
        }
        const check = (): void => {
          const durable = store.committed.flat().map(({ key }) => key)
          assert.deepEqual(visible, durable.slice(0, visible.length))
        }
        for (const one of steps) {
          if (one === 'apply') {
            committer.apply(EVENT)
            applied++
          } else if (one === 'end') store.waiting.shift()?.resolve()
          else store.waiting.shift()?.reject(FULL)
          check()
          await settle()
          check()
        }
        for (let i = 0; i < steps.length + 2; i++) {
          store.waiting.shift()?.resolve()
          await settle()
        }
        assert.equal(visible.length, applied)
        check()
      }),
      { numRuns: 50 }
    )
  })
})

function receiptOf(task: string): Receipt {
  return { v: 1, project: signer.peerId, task, bundle: manifestCid(Uint8Array.of()), epoch: 1, quorum: 1, decidedAtMs: 1, vote: 'v', results: [], dissent: [] }
}
