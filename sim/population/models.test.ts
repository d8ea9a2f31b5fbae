import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Ballot, judge } from '#project-server/coordinator/validator'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { Random } from '../random.ts'
import { DAY_MS, HOUR_MS } from './availability.ts'
import { acceptError, CALM, drawErrorRate, drawOutcome, errorRate, type Mood, moodAt, NO_ERRORS, VOLUNTEER_ERRORS } from './errors.ts'
import { drawHardware } from './hardware.ts'
import { arrivals, drawLifetimeMs, drawRestOfLifeMs, exitAtMs, LIFETIME_DAYS, MASS_EXIT, MEDIA_DAY, steadyArrivalsPerDay } from './lifetimes.ts'
import { canPunch, drawAccessLine, drawAccessNetwork, drawLatencyMs, drawLinkBytesPerS, drawTransferBytesPerS, pathBetween, punches } from './network.ts'
import { drawRunMs, EXACT_RUNS, taskMillionOps, VOLUNTEER_RUNS } from './runs.ts'
import { meanOf } from './spread.ts'

const HOSTS = 100_000

function near(actual: number, expected: number, within: number): void {
  assert.ok(Math.abs(actual - expected) <= within, `${actual} is not within ${within} of ${expected}`)
}

function each<T>(name: string, count: number, drawn: (random: Random) => T): T[] {
  const world = new Random(2, name)
  const into = new Random(0)
  return Array.from({ length: count }, (_, host) => drawn(world.forkInto(into, host)))
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function quantile(values: readonly number[], q: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(q * values.length)] ?? Number.NaN
}

function correlation(xs: readonly number[], ys: readonly number[]): number {
  const [mx, my] = [mean(xs), mean(ys)]
  const sum = (of: (x: number, y: number) => number): number => xs.reduce((total, x, at) => total + of(x - mx, (ys[at] ?? 0) - my), 0)
  return sum((x, y) => x * y) / Math.sqrt(sum((x) => x * x) * sum((_, y) => y * y))
}

describe('lifetimes', () => {
  it('have a median of 71.8 days and a mean of 213', () => {
    const days = each('life', HOSTS, (random) => drawLifetimeMs(random) / DAY_MS)
    near(quantile(days, 0.5), 71.8, 1.5)
    near(mean(days), 213, 6)
    near(meanOf(LIFETIME_DAYS), 213, 1)
  })

  it('and arrivals keep a population as large as it is', () => {
    const hosts = 50_000
    const rest = each('rest', hosts, drawRestOfLifeMs)
    const came = [...arrivals(new Random(4), { perDay: steadyArrivalsPerDay(hosts), crowds: [] }, 0, 60 * DAY_MS)]
    const stayed = came.filter((atMs, at) => atMs + drawLifetimeMs(new Random(5, at)) > 60 * DAY_MS)
    near((rest.filter((ms) => ms > 60 * DAY_MS).length + stayed.length) / hosts, 1, 0.02)
  })

  it('a media day brings twenty times as many for six hours', () => {
    const plan = { perDay: 2_400, crowds: [{ fromMs: DAY_MS, ...MEDIA_DAY }] }
    const hours = new Float64Array(48)
    for (const atMs of arrivals(new Random(6), plan, 0, 2 * DAY_MS)) hours[Math.floor(atMs / HOUR_MS)] = (hours[Math.floor(atMs / HOUR_MS)] ?? 0) + 1
    near(mean([...hours.subarray(24, 30)]), 2_000, 60)
    near(mean([...hours.subarray(0, 24), ...hours.subarray(30)]), 100, 5)
  })

  it('a mass exit takes 30 % within the hour', () => {
    const left = each('exit', HOSTS, (random) => exitAtMs(random, { fromMs: 5, ...MASS_EXIT })).filter((atMs) => atMs !== undefined)
    near(left.length / HOSTS, 0.3, 0.01)
    assert.ok(left.every((atMs) => atMs >= 5 && atMs < 5 + HOUR_MS))
  })
})

describe('hardware', () => {
  it('of 2019 has 6.1 cores by the law, where BOINC counted 5.7', () => {
    near(mean(each('2019', HOSTS, (random) => drawHardware(random, 2019).cores)), 6.1, 0.1)
  })

  it('of 2020 has 11.4 GB of memory, and what is left of its speed is of the order of the 16.5 GFLOPS of a BOINC device', () => {
    const hosts = each('2020', HOSTS, (random) => drawHardware(random, 2020))
    near(mean(hosts.map(({ memoryBytes }) => memoryBytes / 1e9)), 11.4, 0.3)
    const on = 0.81 * 0.84 * 0.9
    near(mean(hosts.map(({ whetstoneMips, cores }) => (on * whetstoneMips * cores) / 1000)), 16.5, 9)
  })

  it('is correlated as published: 0.64 between the speeds, 0.25 and 0.31 with memory a core', () => {
    const hosts = each('correlated', HOSTS, (random) => drawHardware(random, 2010))
    const memory = hosts.map(({ memoryBytes, cores }) => Math.log(memoryBytes / cores))
    const whetstone = hosts.map(({ whetstoneMips }) => whetstoneMips)
    const dhrystone = hosts.map(({ dhrystoneMips }) => dhrystoneMips)
    near(correlation(whetstone, dhrystone), 0.64, 0.03)
    near(correlation(memory, whetstone), 0.25, 0.04)
    near(correlation(memory, dhrystone), 0.31, 0.04)
  })

  it('of 2006 has the published means', () => {
    const hosts = each('2006', HOSTS, (random) => drawHardware(random, 2006))
    near(mean(hosts.map(({ whetstoneMips }) => whetstoneMips)), 1179, 25)
    near(mean(hosts.map(({ dhrystoneMips }) => dhrystoneMips)), 2064, 60)
    near(mean(hosts.map(({ diskFreeBytes }) => diskFreeBytes / 1e9)), 31.6, 1.5)
  })

  it('of 2026 follows the table', () => {
    near(mean(each('2026', HOSTS, (random) => drawHardware(random, 2026).cores)), 9.0, 0.25)
  })
})

describe('errors', () => {
  it('have a mean rate of 2.2e-3, 35 % of the hosts ever, the worst tenth making 70 % of them', () => {
    const rates = each('errors', HOSTS, (random) => drawErrorRate(random, VOLUNTEER_ERRORS)).sort((a, b) => b - a)
    near(mean(rates), 2.2e-3, 1e-4)
    near(rates.filter((rate) => rate > 0).length / HOSTS, 0.35, 0.01)
    const worst = rates.slice(0, HOSTS / 10).reduce((sum, rate) => sum + rate, 0)
    near(worst / mean(rates) / HOSTS, 0.7, 0.03)
  })

  it('come in bad days: six hours every thirty days, fifty times as many', () => {
    const random = new Random(8)
    let mood: Mood = CALM
    let bad = 0
    const hours = 24 * 365 * 40
    for (let hour = 0; hour < hours; hour++) {
      mood = moodAt(random, VOLUNTEER_ERRORS, mood, hour * HOUR_MS)
      if (mood.bad) bad++
    }
    near(bad / hours, 6 / 726, 0.0015)
    assert.equal(errorRate(VOLUNTEER_ERRORS, 1e-3, { bad: true, untilMs: 0 }), 0.05)
    assert.equal(errorRate(VOLUNTEER_ERRORS, 0.4, { bad: true, untilMs: 0 }), 0.5)
  })

  it('show in 4 % of the runs', () => {
    const random = new Random(9)
    const honest = { saboteur: false, runs: 0, errorRate: 0.1 }
    const outcomes = Array.from({ length: HOSTS }, () => drawOutcome(random, VOLUNTEER_ERRORS, { share: 0, spoils: 0, colludes: 0, honestFirst: 0 }, honest))
    near(outcomes.filter(({ kind }) => kind === 'failed').length / HOSTS, 0.04, 0.003)
    near(outcomes.filter(({ kind }) => kind === 'wrong').length / HOSTS, 0.096, 0.004)
  })

  it('of colluders pass a quorum of two as often as Sarmenta says: 2.8 % of 10 %, 21.6 % of 30 %', () => {
    near(acceptError(2, 0.1), 0.028, 1e-6)
    near(acceptError(2, 0.3), 0.216, 1e-6)
    const policy = { ...DEFAULT_POLICY, maxTotalResults: 64, maxSuccessResults: 64 }
    for (const share of [0.1, 0.3]) {
      const random = new Random(10, share)
      const malice = { share, spoils: 1, colludes: 1, honestFirst: 0 }
      let accepted = 0
      let cost = 0
      const tasks = 40_000
      for (let task = 0; task < tasks; task++) {
        const ballots: Ballot[] = []
        for (let next = judge(ballots, policy); next.kind === 'wait'; next = judge(ballots, policy)) {
          const { kind } = drawOutcome(random, NO_ERRORS, malice, { saboteur: random.chance(share), runs: 0, errorRate: 0 })
          ballots.push({ kind: 'vote', node: `${ballots.length}`, vote: kind, ties: [], standing: { row: 0, alone: false } })
        }
        cost += ballots.length
        const decided = judge(ballots, policy)
        if (decided.kind === 'decided' && decided.vote === 'wrong') accepted++
      }
      near(accepted / tasks / acceptError(2, share), 1, 0.06)
      assert.ok(cost / tasks < 2 / (1 - share))
    }
  })

  it('a sleeper is honest at first', () => {
    const malice = { share: 1, spoils: 1, colludes: 0, honestFirst: 50 }
    const at = (runs: number) => drawOutcome(new Random(1), NO_ERRORS, malice, { saboteur: true, runs, errorRate: 0 }).kind
    assert.equal(at(49), 'right')
    assert.equal(at(50), 'wrong')
  })
})

describe('runs', () => {
  it('take their operations over the speed that is left, 2 % of them many times longer', () => {
    const times = each('runs', HOSTS, (random) => drawRunMs(random, VOLUNTEER_RUNS, 3_600_000, 1000) / 3_600_000)
    near(quantile(times, 0.5), 1.25, 0.06)
    near(times.filter((hours) => hours > 2.6).length / HOSTS, 0.018, 0.006)
    assert.equal(drawRunMs(new Random(1), EXACT_RUNS, 5_000, 1000), 5_000)
  })

  it('are of tasks around a median', () => {
    near(
      quantile(
        each('sizes', HOSTS, (random) => taskMillionOps(random, { medianMillionOps: 100, sigma: 1 })),
        0.5
      ),
      100,
      2
    )
    assert.equal(taskMillionOps(new Random(1), { medianMillionOps: 7, sigma: 0 }), 7)
  })
})

describe('networks', () => {
  it('between homes carry what was measured on 1,000 links: 333 KB/s, and 156 to 560 for the middle eighty percent', () => {
    const links = each('links', HOSTS, (random) => drawLinkBytesPerS(random) / 1024)
    near(quantile(links, 0.5), 333, 25)
    near(quantile(links, 0.1), 156, 20)
    near(quantile(links, 0.9), 560, 110)
    const transfers = each('transfers', HOSTS, (random) => drawTransferBytesPerS(random, 1))
    near(mean(transfers), 1, 0.01)
    near(Math.sqrt(mean(transfers.map((x) => (x - 1) ** 2))), 0.3, 0.01)
  })

  it('of volunteers have lines of 80 Mbit/s down and a fifth of it up, some metered', () => {
    const lines = each('lines', HOSTS, drawAccessLine)
    near(
      quantile(
        lines.map(({ downBytesPerS }) => downBytesPerS / 125_000),
        0.5
      ),
      78,
      4
    )
    near(lines.filter(({ metered }) => metered).length / HOSTS, 0.03, 0.003)
    assert.ok(lines.every(({ upBytesPerS, downBytesPerS }) => upBytesPerS >= 62_500 && downBytesPerS <= 125_000_000))
  })

  it('are far from each other by region', () => {
    const latency = each('latency', 20_000, (random) => drawLatencyMs(random, 'europe', 'asia'))
    near(quantile(latency, 0.5), 93, 1)
    assert.ok(latency.every((ms) => ms > 85))
  })

  it('punch through in 70 % of the pairs of translated ones, at once in 97.6 %, at the second try always or never', () => {
    const behind = each('nat', HOSTS, drawAccessNetwork).filter(({ reach }) => reach === 'nat')
    near(behind.length / HOSTS, 0.8, 0.01)
    const pairs = behind.slice(1).map((network, at) => [network, behind[at] ?? network] as const)
    near(pairs.filter(([a, b]) => canPunch(a, b)).length / pairs.length, 0.7, 0.01)
    near(each('at once', HOSTS, (random) => Number(punches(random, 1))).reduce((a, b) => a + b) / HOSTS, 0.976, 0.002)
    assert.ok(punches(new Random(1), 2))
    assert.equal(pathBetween({ reach: 'nat', hard: true }, { reach: 'nat', hard: false }), 'relayed')
    assert.equal(pathBetween({ reach: 'nat', hard: false }, { reach: 'nat', hard: false }), 'punched')
    assert.equal(pathBetween({ reach: 'nat', hard: true }, { reach: 'mapped', hard: false }), 'direct')
  })
})
