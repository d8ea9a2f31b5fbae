import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { batchIdFrom, parseTaskId, taskId } from '../ids.ts'
import { generateIdentity } from '../signing/keys.ts'
import { amountOf, type CreditEntry, type CreditPage, decodePage, hashOf, LedgerReplay, PageBuilder, type SignedPage, signPage } from './ledger.ts'

const [project, ann, bob, owner, other] = await Promise.all(Array.from({ length: 5 }, generateIdentity))
assert.ok(project && ann && bob && owner && other)
const NODES = [ann.peerId, bob.peerId]
const BATCHES = [1, 2].map((seed) => batchIdFrom(new Uint8Array(16).fill(seed)))

const earned = fc.record(
  {
    task: fc.tuple(fc.constantFrom(...BATCHES), fc.nat({ max: 40 })).map(([batch, index]) => taskId(batch, index)),
    kind: fc.constantFrom('earned' as const, 'late' as const),
    attempt: fc.integer({ min: 1, max: 9 }),
    node: fc.constantFrom(...NODES),
    owner: fc.constantFrom(null, owner.peerId, other.peerId),
    base: fc.nat({ max: 1_000_000 }),
    bonus: fc.nat({ max: 1_000_000 })
  },
  { noNullPrototype: true }
)

function encodePage({ entries, ...head }: CreditPage): Uint8Array {
  const builder = new PageBuilder()
  for (const { kind, task, ...rest } of entries) builder.add(kind, { ...rest, batch: parseTaskId(task)?.batch ?? '', index: parseTaskId(task)?.index ?? 0 })
  return builder.done(head)
}

/** Entries as a project would make them: each result is paid once, and what is taken back was given. */
const history = fc
  .tuple(fc.uniqueArray(earned, { maxLength: 40, selector: ({ task, node }) => `${task} ${node}` }), fc.array(fc.nat({ max: 39 }), { maxLength: 5 }))
  .map(([entries, back]): CreditEntry[] => [
    ...entries,
    ...[...new Set(back)].flatMap((at) => (entries[at] === undefined ? [] : [{ ...entries[at], kind: 'taken_back' as const }]))
  ])

function ledgerOf(entries: readonly CreditEntry[], perPage: number, change: (page: CreditPage) => CreditPage = (page) => page): SignedPage[] {
  const pages: SignedPage[] = []
  let previous: Uint8Array = new Uint8Array(0)
  for (let from = 0; from < entries.length; from += perPage) {
    const page = { project: project?.peerId ?? '', epoch: 1, number: pages.length + 1, previous, atMs: 5, entries: entries.slice(from, from + perPage) }
    const body = new Uint8Array(encodePage(change(page)))
    assert.ok(project)
    pages.push(signPage(project, body))
    previous = hashOf(body)
  }
  return pages
}

function faultOf(pages: readonly SignedPage[], of = ''): string | undefined {
  const replay = new LedgerReplay(of)
  for (const page of pages) {
    const fault = replay.add(page)
    if (fault !== undefined) return fault
  }
  return undefined
}

describe('F20: a ledger of credit', () => {
  it('comes to what its entries say, for every node and every owner, whatever pages they are on', () => {
    fc.assert(
      fc.property(history, fc.integer({ min: 1, max: 7 }), (entries, perPage) => {
        const replay = new LedgerReplay(project.peerId)
        for (const page of ledgerOf(entries, perPage)) assert.equal(replay.add(page), undefined)
        const { nodes, owners, entries: count } = replay.sums
        assert.equal(count, entries.length)
        const sum = (of: readonly CreditEntry[]): number => of.reduce((all, entry) => all + amountOf(entry.kind, entry), 0)
        for (const node of NODES) assert.equal(nodes.get(node)?.credit ?? 0, sum(entries.filter((entry) => entry.node === node)))
        for (const id of [owner.peerId, other.peerId]) assert.equal(owners.get(id)?.credit ?? 0, sum(entries.filter((entry) => entry.owner === id)))
      }),
      { numRuns: 60 }
    )
  })

  it('decodes to what was encoded', () => {
    fc.assert(
      fc.property(history, (entries) => {
        const page = { project: project.peerId, epoch: 3, number: 9, previous: new Uint8Array(32).fill(7), atMs: 12, entries }
        assert.deepEqual(decodePage(encodePage(page)), page)
      })
    )
  })

  it('is not believed when a page is changed, left out, swapped or of another project', () => {
    const entries =
      fc.sample(
        history.filter(({ length }) => length > 12),
        1
      )[0] ?? []
    const pages = ledgerOf(entries, 4)
    assert.equal(faultOf(pages), undefined)
    const [first, second, ...rest] = pages
    assert.ok(first && second)
    assert.match(faultOf([first, ...rest]) ?? '', /page 2 is missing/)
    assert.match(faultOf(pages, ann.peerId) ?? '', /expected/)
    assert.match(faultOf([first, signPage(ann, second.body)]) ?? '', /signature/)
    const exchanged = ledgerOf(entries, 4, (page) => (page.number === 1 ? { ...page, atMs: 6 } : page))
    assert.match(faultOf([first, ...exchanged.slice(1)]) ?? '', /does not follow/)
    fc.assert(
      fc.property(fc.nat(first.body.length - 1), fc.integer({ min: 1, max: 255 }), (at, add) => {
        const body = first.body.map((byte, index) => (index === at ? (byte + add) & 255 : byte))
        return faultOf([{ ...first, body }]) !== undefined
      })
    )
  })

  it('is not believed when it pays twice, or takes back what was not given', () => {
    const entry: CreditEntry = { kind: 'earned', task: taskId(BATCHES[0] ?? '', 0), attempt: 1, node: ann.peerId, owner: null, base: 10, bonus: 2 }
    assert.match(faultOf(ledgerOf([entry, { ...entry, attempt: 2 }], 1)) ?? '', /paid twice/)
    assert.match(faultOf(ledgerOf([{ ...entry, kind: 'taken_back' }], 1)) ?? '', /was never given/)
    assert.match(faultOf(ledgerOf([entry, { ...entry, kind: 'taken_back', bonus: 3 }], 1)) ?? '', /something else/)
    assert.match(faultOf(ledgerOf([entry, { ...entry, kind: 'taken_back' }, { ...entry, kind: 'taken_back' }], 1)) ?? '', /was never given/)
  })
})
