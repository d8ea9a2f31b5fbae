import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Random } from './random.ts'

const DRAWS = 200_000
/** Changing these breaks every line that reproduces a failure. */
const EARLIER = [433_498_108, 3_669_883_643, 1_646_954_190]

/** Mean and variance of many draws of one stream. */
function moments(draw: (random: Random) => number, seed = 1): { readonly mean: number; readonly variance: number } {
  const random = new Random(seed, 'moments')
  let mean = 0
  let squares = 0
  for (let n = 1; n <= DRAWS; n++) {
    const x = draw(random)
    const off = x - mean
    mean += off / n
    squares += off * (x - mean)
  }
  return { mean, variance: squares / DRAWS }
}

function near(actual: number, expected: number, share: number): void {
  assert.ok(Math.abs(actual - expected) <= share * Math.abs(expected), `${actual} is not within ${100 * share} % of ${expected}`)
}

function correlation(a: Random, b: Random, draws: number): number {
  let sum = 0
  for (let n = 0; n < draws; n++) sum += (a.float() - 0.5) * (b.float() - 0.5)
  return (12 * sum) / draws
}

describe('a stream', () => {
  const seeds = fc.oneof(fc.maxSafeInteger(), fc.string())
  const path = fc.array(fc.oneof(fc.nat(), fc.string()), { maxLength: 4 })

  it('is the same for the same seed and path, and in no other case', () => {
    fc.assert(
      fc.property(seeds, path, seeds, path, (seed, names, otherSeed, otherNames) => {
        const first = [...Array(4)].map(() => 0)
        const drawn = (random: Random) => first.map(() => random.word())
        assert.deepEqual(drawn(new Random(seed, ...names)), drawn(new Random(seed).fork(...names)))
        const same = JSON.stringify([seed, ...names]) === JSON.stringify([otherSeed, ...otherNames])
        assert.equal(JSON.stringify(drawn(new Random(seed, ...names))) === JSON.stringify(drawn(new Random(otherSeed, ...otherNames))), same)
      })
    )
  })

  it('forks the same wherever it stands, and forking does not move it', () => {
    fc.assert(
      fc.property(seeds, fc.nat(50), path, (seed, draws, names) => {
        const [drawn, fresh] = [new Random(seed), new Random(seed)]
        for (let n = 0; n < draws; n++) drawn.word()
        const into = new Random('elsewhere')
        assert.equal(drawn.forkInto(into, ...names), into)
        assert.equal(into.word(), fresh.fork(...names).word())
        for (let n = 0; n < draws; n++) fresh.word()
        assert.equal(drawn.word(), fresh.word())
      })
    )
  })

  it('has forks that know nothing of each other', () => {
    const hosts = new Random(7, 'hosts')
    for (let host = 0; host < 20; host++) assert.ok(Math.abs(correlation(hosts.fork(host), hosts.fork(host + 1), 20_000)) < 0.03)
    // The first draws of neighbours are as good as the draws of one stream.
    let sum = 0
    const into = new Random(0)
    for (let host = 0; host < 100_000; host++) sum += hosts.forkInto(into, host).float()
    near(sum / 100_000, 0.5, 0.005)
  })

  it('never gives two of a million hosts one stream', () => {
    const into = new Random(0)
    const hosts = new Random(3, 'hosts')
    const seen = new Set<number>()
    for (let host = 0; host < 1_000_000; host++) seen.add(hosts.forkInto(into, host).float())
    assert.equal(seen.size, 1_000_000)
  })

  it('draws the words that it drew in earlier versions', () => {
    const random = new Random(42, 'host', 7)
    assert.deepEqual([random.word(), random.word(), random.word()], EARLIER)
  })
})

describe('draws', () => {
  it('have the moments of their distributions', () => {
    const expected: readonly (readonly [(random: Random) => number, number, number])[] = [
      [(r) => r.float(), 0.5, 1 / 12],
      [(r) => r.below(6), 2.5, 35 / 12],
      [(r) => r.below(2 ** 40) / 2 ** 40, 0.5, 1 / 12],
      [(r) => Number(r.chance(0.2)), 0.2, 0.16],
      [(r) => r.exponential(5), 5, 25],
      [(r) => r.weibull(2, 10), 8.8623, 21.46],
      [(r) => r.logNormal(1, 0.5), 3.0802, 2.6948],
      [(r) => r.gamma(3, 2), 6, 12],
      [(r) => r.gamma(0.35, 2), 0.7, 1.4],
      [(r) => r.beta(8, 2), 0.8, 16 / 1100],
      [(r) => r.pareto(4, 3), 4, 2],
      [(r) => r.pick([1, 2, 3]), 2, 2 / 3]
    ]
    for (const [draw, mean, variance] of expected) {
      const found = moments(draw)
      near(found.mean, mean, 0.01)
      near(found.variance, variance, 0.06)
    }
    const normal = moments((r) => r.normal())
    assert.ok(Math.abs(normal.mean) < 0.01)
    near(normal.variance, 1, 0.01)
  })

  it('stay in their ranges', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (seed, n) => {
        const random = new Random(seed)
        for (let turn = 0; turn < 20; turn++) {
          const drawn = random.below(n)
          assert.ok(Number.isInteger(drawn) && drawn >= 0 && drawn < n)
          assert.ok(random.float() < 1 && random.pareto(1.5, 2) >= 2 && random.weibull(0.4, 3) >= 0)
        }
      })
    )
    assert.throws(() => new Random(1).below(0), RangeError)
    assert.throws(() => new Random(1).pick([]), RangeError)
  })

  it('shuffle every order alike, and lose nothing', () => {
    const random = new Random(11)
    const counts = new Map<string, number>()
    for (let turn = 0; turn < 60_000; turn++) {
      const order = random.shuffle(['a', 'b', 'c', 'd']).join('')
      counts.set(order, (counts.get(order) ?? 0) + 1)
    }
    assert.equal(counts.size, 24)
    for (const count of counts.values()) near(count, 2_500, 0.1)
  })
})
