import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { STOCK_TOUCH_MS, STOCK_TREES_MAX } from './policy.ts'
import { Stock } from './stock.ts'

const MIB = 1024 ** 2

function restarted(stock: Stock, records: Map<string, Uint8Array>, bytesMax: number): Stock {
  write(stock, records)
  const next = new Stock(bytesMax)
  for (const [key, value] of [...records].sort(([a], [b]) => (a < b ? -1 : 1))) next.restore(key, value)
  next.restored()
  return next
}

function write(stock: Stock, records: Map<string, Uint8Array>): void {
  for (const { key, value } of stock.takeChanges()) {
    if (value === null) records.delete(key)
    else records.set(key, value)
  }
}

function roots(stock: Stock): string[] {
  return [...stock.all()].map(({ root }) => root)
}

describe('data kept for later runs', () => {
  it('goes when there is no room, what was used longest ago first, but never while a replica may read it', () => {
    const stock = new Stock(30)
    for (const [at, root] of ['a', 'b', 'c'].entries()) {
      stock.use(`r${at}`, { root, bytes: 10 }, true, at)
      stock.unused(`r${at}`)
    }
    stock.use('r3', { root: 'a', bytes: 10 }, false, 3)
    stock.use('r4', { root: 'd', bytes: 15 }, true, 4)
    assert.deepEqual(
      stock.evict().map(({ root }) => root),
      ['b', 'c']
    )
    stock.use('r4', { root: 'e', bytes: 25 }, true, 5)
    assert.deepEqual(stock.evict(), [])
    stock.unused('r4')
    assert.deepEqual(
      stock.evict().map(({ root }) => root),
      ['d', 'e']
    )
    assert.deepEqual(stock.view(), { trees: 1, bytes: 10, bytesMax: 30, fetchedTrees: 5, fetchedBytes: 70 })
  })

  it('is known after a restart, in the order in which it was used', () => {
    const records = new Map<string, Uint8Array>()
    const stock = new Stock(100)
    stock.use('r0', { root: 'a', bytes: 10 }, true, 0)
    stock.keep('r1', { root: 'b', bytes: 20 }, 1)
    stock.use('r2', { root: 'a', bytes: 10 }, false, STOCK_TOUCH_MS)
    const next = restarted(stock, records, 15)
    assert.deepEqual(
      [...next.all()].map(({ root, replica, bytes }) => [root, replica, bytes]),
      [
        ['b', 'r1', 20],
        ['a', null, 10]
      ]
    )
    assert.deepEqual(
      next.evict().map(({ root, replica }) => [root, replica]),
      [['b', 'r1']]
    )
  })

  it('writes nothing about data that is used again and again', () => {
    const stock = new Stock(100)
    stock.use('r0', { root: 'a', bytes: 10 }, true, 0)
    stock.takeChanges()
    for (let at = 1; at < 1_000; at++) stock.use(`r${at}`, { root: 'a', bytes: 10 }, false, at)
    assert.deepEqual(stock.takeChanges(), [])
  })

  it('is told when it is large, the last used first, and then what has changed', () => {
    const stock = new Stock(100 * MIB)
    stock.use('r0', { root: 'a', bytes: 2 * MIB }, true, 0)
    stock.use('r0', { root: 'small', bytes: MIB - 1 }, true, 1)
    stock.use('r0', { root: 'b', bytes: MIB }, true, 2)
    assert.deepEqual(
      stock.holdings().map(({ root }) => root),
      ['b', 'a']
    )
    assert.deepEqual(stock.takeNews(), {
      got: [
        { root: 'a', bytes: 2 * MIB },
        { root: 'b', bytes: MIB }
      ],
      dropped: []
    })
    stock.forget('a')
    stock.forget('small')
    assert.deepEqual(stock.takeNews(), { got: [], dropped: ['a'] })
    assert.equal(stock.takeNews(), undefined)
  })

  it('is bounded in number too', () => {
    const stock = new Stock(Number.POSITIVE_INFINITY)
    for (let at = 0; at <= STOCK_TREES_MAX; at++) stock.keep('r', { root: `${at}`, bytes: 1 }, at)
    assert.deepEqual(
      stock.evict().map(({ root }) => root),
      ['0']
    )
  })

  it('holds its bounds, keeps what is used, and tells what it has, whatever happens', () => {
    const root = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
    const replica = fc.constantFrom('r1', 'r2', 'r3')
    const step = fc.oneof(
      fc.record({ kind: fc.constant('use' as const), replica, root }),
      fc.record({ kind: fc.constant('keep' as const), replica, root }),
      fc.record({ kind: fc.constant('unused' as const), replica }),
      fc.record({ kind: fc.constant('forget' as const), root }),
      fc.record({ kind: fc.constant('restart' as const) })
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const records = new Map<string, Uint8Array>()
        const bytesOf = (name: string): number => (name.charCodeAt(0) - 96) * MIB
        const used = new Map<string, Set<string>>()
        const told = new Set<string>()
        let stock = new Stock(8 * MIB)
        for (const [nowMs, one] of steps.entries()) {
          if (one.kind === 'use') {
            stock.use(one.replica, { root: one.root, bytes: bytesOf(one.root) }, true, nowMs)
            used.set(one.replica, (used.get(one.replica) ?? new Set()).add(one.root))
          } else if (one.kind === 'keep') stock.keep(one.replica, { root: one.root, bytes: bytesOf(one.root) }, nowMs)
          else if (one.kind === 'unused') {
            stock.unused(one.replica)
            used.delete(one.replica)
          } else if (one.kind === 'forget') {
            if ([...used.values()].some((names) => names.has(one.root))) continue
            stock.forget(one.root)
          } else {
            stock = restarted(stock, records, 8 * MIB)
            used.clear()
          }
          const inUse = new Set([...used.values()].flatMap((names) => [...names]))
          for (const { root: name } of stock.evict()) assert.ok(!inUse.has(name), `${name} was evicted in use`)
          for (const name of inUse) assert.ok(stock.has(name), `${name} is in use and gone`)
          const free = roots(stock).filter((name) => !inUse.has(name))
          assert.equal(
            stock.view().bytes,
            roots(stock).reduce((sum, name) => sum + bytesOf(name), 0)
          )
          assert.ok(stock.view().bytes <= 8 * MIB || free.length === 0, 'more is kept than there is room for')
          const news = stock.takeNews()
          for (const name of news?.dropped ?? []) told.delete(name)
          for (const { root: name } of news?.got ?? []) told.add(name)
          if (one.kind !== 'restart') assert.deepEqual([...told].sort(), roots(stock).sort())
          else {
            told.clear()
            for (const { root: name } of stock.holdings()) told.add(name)
          }
        }
      })
    )
  })
})
