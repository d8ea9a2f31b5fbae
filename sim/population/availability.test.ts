import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Random } from '../random.ts'
import {
  type AvailabilityClass,
  availabilityOf,
  type Clockwork,
  DAY_MS,
  drawOf,
  drawZoneMs,
  firstSpan,
  HOUR_MS,
  nextSpan,
  REGION_MIX,
  type Region,
  type Span,
  VOLUNTEER_MIX
} from './availability.ts'
import { FITS } from './fits.ts'
import { draw, drawResidual, logNormal, meanOf, type Spread, weibull } from './spread.ts'

function near(actual: number, expected: number, within: number): void {
  assert.ok(Math.abs(actual - expected) <= within, `${actual} is not within ${within} of ${expected}`)
}

/** Share of the hosts that are up in each hour. */
function onlineByHour(hosts: number, days: number, clockworkOf: (random: Random, host: number) => Clockwork): Float64Array {
  const online = new Float64Array(days * 24)
  const world = new Random(1, 'hosts')
  const into = new Random(0)
  for (let number = 0; number < hosts; number++) {
    const host = world.fork(number)
    const clockwork = clockworkOf(host.fork('class'), number)
    let span = firstSpan(clockwork, host, 0)
    let fromMs = 0
    for (let spans = 0; fromMs < days * DAY_MS; spans++) {
      if (span.up)
        for (let hour = Math.ceil(fromMs / HOUR_MS); hour < Math.min(online.length, span.untilMs / HOUR_MS); hour++)
          online[hour] = (online[hour] ?? 0) + 1 / hosts
      fromMs = span.untilMs
      span = nextSpan(clockwork, host, span, spans, into)
    }
  }
  return online
}

function mean(values: ArrayLike<number>): number {
  return Array.from(values).reduce((sum, value) => sum + value, 0) / values.length
}

/** Lowest and highest hour of the average week, against its mean. */
function swing(online: Float64Array): { readonly low: number; readonly high: number } {
  const week = Array.from({ length: 24 }, (_, hour) => mean(online.filter((_, at) => at % 24 === hour)))
  return { low: Math.min(...week) / mean(week) - 1, high: Math.max(...week) / mean(week) - 1 }
}

function volunteer(regions: readonly { of: Region; share: number }[]): (random: Random) => Clockwork {
  return (random) => ({ kind: drawOf(random, VOLUNTEER_MIX), zoneMs: drawZoneMs(random, drawOf(random, regions)) })
}

function only(kind: AvailabilityClass): () => Clockwork {
  return () => ({ kind, zoneMs: 0 })
}

describe('the volunteer mix', () => {
  it('is online 62.6 % of the time in its first week and in its last', () => {
    const online = onlineByHour(8_000, 28, volunteer(REGION_MIX))
    near(mean(online), 0.626, 0.012)
    near(mean(online.subarray(0, 7 * 24)), 0.622, 0.015)
    near(mean(online.subarray(21 * 24)), 0.628, 0.015)
  })

  it('swings by some 6 % over the day, and by -16 to +21 % when all live in one region', () => {
    const world = swing(onlineByHour(6_000, 14, volunteer(REGION_MIX)))
    near(world.low, -0.06, 0.03)
    near(world.high, 0.06, 0.03)
    const europe = swing(onlineByHour(6_000, 14, volunteer([{ of: 'europe', share: 1 }])))
    near(europe.low, -0.16, 0.03)
    near(europe.high, 0.21, 0.03)
  })

  it('is made of hosts that are up 94 %, 30 % and 47 % of the time', () => {
    near(mean(onlineByHour(3_000, 14, only('alwaysOn'))), 0.94, 0.015)
    near(mean(onlineByHour(1_000, 28, only('diurnal'))), 0.3, 0.015)
    near(mean(onlineByHour(3_000, 14, only('seti'))), 0.47, 0.03)
  })

  it('keeps a week: fewer are there on a weekend', () => {
    const online = onlineByHour(3_000, 28, only('diurnal'))
    const weekend = mean(online.filter((_, hour) => Math.floor(hour / 24) % 7 >= 5))
    const weekday = mean(online.filter((_, hour) => Math.floor(hour / 24) % 7 < 5))
    near(weekend / weekday, 0.7 / 0.85, 0.05)
  })
})

function median(spread: Spread): number {
  const random = new Random(6)
  const drawn = Float64Array.from({ length: 200_000 }, () => draw(random, spread)).sort()
  return drawn[100_000] ?? Number.NaN
}

describe('published fits', () => {
  it('have the means and medians that they were published with', () => {
    near(median(weibull(0.393, 2.964)), 1.17, 0.03)
    near(meanOf(weibull(0.393, 2.964)), 10.3, 0.1)
    near(median(logNormal(-0.586, 2.844)), 0.56, 0.02)
    near(meanOf(logNormal(-0.586, 2.844)), 31.8, 0.1)
  })

  it('are as steady at the start as after a month', () => {
    for (const kind of ['skype', 'office', 'overnet'] as const) {
      const online = onlineByHour(2_000, 28, only(kind))
      const expected = availabilityOf(FITS[kind])
      near(mean(online.subarray(0, 48)), expected, 0.04)
      near(mean(online.subarray(26 * 24)), expected, 0.04)
    }
  })

  it('decay without the cap on absence: the SETI fit is 53 % up over 5 days and 43 % over 30', () => {
    const up = (days: number): number => {
      const random = new Random(5, days)
      let total = 0
      for (let host = 0; host < 6_000; host++) {
        let [at, isUp] = [0, true]
        while (at < 24 * days) {
          const hours = Math.min(draw(random, isUp ? weibull(0.393, 2.964) : logNormal(-0.586, 2.844)), 24 * days - at)
          if (isUp) total += hours
          at += hours
          isUp = !isUp
        }
      }
      return total / 6_000 / 24 / days
    }
    near(up(5), 0.53, 0.02)
    near(up(30), 0.43, 0.02)
  })

  it('are met in the middle: what is left has the mean that renewal theory gives', () => {
    for (const spread of [weibull(0.6, 9.34), logNormal(0.2, 0.7), weibull(0.5, 10, 50), logNormal(-0.6, 1.2, 20)]) {
      const random = new Random(9)
      let [sum, squares, residuals] = [0, 0, 0]
      for (let n = 0; n < 200_000; n++) {
        const length = draw(random, spread)
        sum += length
        squares += length * length
        residuals += drawResidual(random, spread)
      }
      near(sum / 200_000 / meanOf(spread), 1, 0.02)
      near(residuals / 200_000 / (squares / sum / 2), 1, 0.04)
    }
  })
})

it('a span goes on from the end of the one before, whatever the class', () => {
  const into = new Random(0)
  for (const kind of [...(Object.keys(FITS) as AvailabilityClass[]), 'diurnal' as const])
    for (let number = 0; number < 50; number++) {
      const host = new Random(3, kind, number)
      const clockwork: Clockwork = { kind, zoneMs: 0 }
      let span: Span = firstSpan(clockwork, host, 0)
      for (let spans = 0; spans < 100; spans++) {
        const next = nextSpan(clockwork, host, span, spans, into)
        assert.ok(next.untilMs > span.untilMs)
        assert.deepEqual(nextSpan(clockwork, host, span, spans, into), next)
        if (kind !== 'diurnal') assert.notEqual(next.up, span.up)
        span = next
      }
    }
})
