import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { TICK_MS } from '../policy.ts'
import { type Claim, FairShare, newClaim } from './fair-share.ts'

interface Client extends Claim {
  readonly name: string
  /** Lengths of its runs, taken in turn; it never runs out of tasks. */
  readonly runsMs: readonly number[]
  ran: number
  gotMs: number
}

function client(name: string, runsMs: readonly number[], share = 1): Client {
  return { ...newClaim(share), name, runsMs, ran: 0, gotMs: 0 }
}

interface Contest {
  readonly slots: number
  readonly forMs: number
  readonly fair?: FairShare<Client>
  readonly startMs?: number
}

/** Slots that are given away as soon as they are free, for so long; what each client got of all. */
function contend(clients: readonly Client[], { slots, forMs, fair = new FairShare<Client>(), startMs = 0 }: Contest): Map<string, number> {
  const running: { readonly client: Client; readonly sinceMs: number; readonly untilMs: number }[] = []
  const endMs = startMs + forMs
  let nowMs = startMs
  let sweepMs = startMs
  fair.forward(nowMs)
  for (const one of clients) fair.wait(one, 1)
  for (;;) {
    for (let next = fair.line[0]; next !== undefined && running.length < slots; next = fair.line[0]) {
      fair.hold(next, 1)
      running.push({ client: next, sinceMs: nowMs, untilMs: nowMs + (next.runsMs[next.ran++ % next.runsMs.length] as number) })
    }
    const endsMs = Math.min(...running.map(({ untilMs }) => untilMs))
    nowMs = Math.min(endsMs, sweepMs, endMs)
    if (nowMs === endMs) break
    fair.forward(nowMs)
    if (nowMs === sweepMs) {
      fair.refresh()
      sweepMs += TICK_MS
    }
    for (const ended of running.filter(({ untilMs }) => untilMs === nowMs)) {
      running.splice(running.indexOf(ended), 1)
      ended.client.gotMs += nowMs - ended.sinceMs
      fair.hold(ended.client, -1)
    }
  }
  for (const { client: one, sinceMs } of running) {
    one.gotMs += endMs - sinceMs
    fair.hold(one, -1)
  }
  for (const one of clients) fair.wait(one, -1)
  const all = clients.reduce((sum, { gotMs }) => sum + gotMs, 0)
  return new Map(clients.map(({ name, gotMs }) => [name, gotMs / all]))
}

const runs = fc.array(fc.integer({ min: 1_000, max: 60_000 }), { minLength: 1, maxLength: 8 })

describe('fair share', () => {
  it('gives two clients of equal share half of the slots each, whatever their runs take (S13)', () => {
    fc.assert(
      fc.property(runs, runs, fc.integer({ min: 1, max: 12 }), (one, other, slots) => {
        const got = contend([client('a', one), client('b', other)], { slots, forMs: 3_600_000 })
        assert.ok(Math.abs((got.get('a') ?? 0) - 0.5) <= 0.05, `a got ${got.get('a')} of ${slots} slots`)
      })
    )
  })

  it('gives any number of clients what their shares are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ runs, share: fc.constantFrom(0.5, 1, 2, 3, 5) }), { minLength: 2, maxLength: 6 }),
        fc.integer({ min: 1, max: 12 }),
        (rows, slots) => {
          const clients = rows.map((row, index) => client(`${index}`, row.runs, row.share))
          const got = contend(clients, { slots, forMs: 2 * 3_600_000 })
          const shares = clients.reduce((sum, { share }) => sum + share, 0)
          for (const { name, share } of clients)
            assert.ok(Math.abs((got.get(name) ?? 0) - share / shares) <= 0.05, `${name} got ${got.get(name)} for ${share} of ${shares}`)
        }
      )
    )
  })

  it('at every moment gives nobody a whole slot more than its share while another waits with fewer', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat({ max: 3 }), fc.constantFrom('wait', 'lease', 'end', 'pass'), fc.integer({ min: 1, max: 100_000 })), { maxLength: 300 }),
        (steps) => {
          const fair = new FairShare<Client>()
          const clients = ['a', 'b', 'c', 'd'].map((name) => client(name, [1]))
          let nowMs = 0
          for (const [which, what, amount] of steps) {
            const one = clients[which] as Client
            if (what === 'pass') {
              nowMs += amount
              fair.forward(nowMs)
            } else if (what === 'wait') fair.wait(one, 1 + (amount % 3))
            else if (what === 'end' && one.slots > 0) fair.hold(one, -1)
            else if (what === 'lease') {
              const next = fair.line[0]
              if (next === undefined) continue
              for (const other of clients)
                if (other.waiting > 0) assert.ok(next.slots <= other.slots, `${next.name} holds ${next.slots}, ${other.name} waits with ${other.slots}`)
              fair.wait(next, -1)
              fair.hold(next, 1)
            }
            const line = clients.filter(({ waiting }) => waiting > 0)
            assert.equal(fair.line.length, line.length)
            for (let at = 1; at < fair.line.length; at++) assert.ok(fair.compare(fair.line[at - 1] as Client, fair.line[at] as Client) < 0)
          }
        }
      )
    )
  })

  it('owes nothing for the time that a client was away, and gives all to one that is alone', () => {
    const fair = new FairShare<Client>()
    const [old, back] = [client('old', [7_000]), client('back', [3_000])]
    const alone = contend([old], { slots: 3, forMs: 3_600_000, fair })
    assert.equal(alone.get('old'), 1)
    assert.ok(Math.abs(fair.lagMs(old)) < 1_000, 'who is alone gets its share')
    old.gotMs = 0
    const got = contend([old, back], { slots: 3, forMs: 600_000, fair, startMs: 30 * 86_400_000 })
    assert.ok(Math.abs((got.get('back') ?? 0) - 0.5) <= 0.05, `back got ${got.get('back')}`)
  })

  it('forgets by half in a day what was too much', () => {
    const fair = new FairShare<Client>()
    const one = client('a', [1])
    fair.restoreLag(one, 1_000_000)
    fair.forward(86_400_000)
    fair.wait(one, 1)
    assert.ok(Math.abs(fair.lagMs(one) - 500_000) < 1)
  })
})
