import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { binomialBand } from './binomial.ts'
import { experimentsCommand } from './command.ts'
import { isInside, successFigure, timeFigure } from './figures.ts'
import { plotOf } from './plot.ts'
import { linesOf } from './show.ts'

/** What an attempt costs beyond its own time, at most: leave to start, an engine, two reports, 40 ms a way. */
const OVERHEAD_MS_MAX = 400

describe('the binomial band', () => {
  it('is the one of the tables', () => {
    assert.deepEqual(binomialBand(500, 0.5, 0.95), { low: 228, high: 272 })
    assert.deepEqual(binomialBand(10, 0.5, 0.95), { low: 2, high: 8 })
    assert.deepEqual(binomialBand(7, 1, 0.95), { low: 7, high: 7 })
    assert.deepEqual(binomialBand(7, 0, 0.95), { low: 0, high: 0 })
  })

  it('holds at least its share, and neither end can be left out', () => {
    const chances = (n: number, p: number): number[] => {
      let row = [1]
      for (let i = 0; i < n; i++) row = [...row, 0].map((stays, count) => stays * (1 - p) + (row[count - 1] ?? 0) * p)
      return row
    }
    const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.double({ min: 0.01, max: 0.99, noNaN: true }), (n, p) => {
        const { low, high } = binomialBand(n, p, 0.95)
        const each = chances(n, p)
        const [below, above] = [sum(each.slice(0, low)), sum(each.slice(high + 1))]
        assert.ok(below <= 0.025 + 1e-9 && above <= 0.025 + 1e-9)
        assert.ok(below + (each[low] ?? 0) > 0.025 - 1e-9 && above + (each[high] ?? 0) > 0.025 - 1e-9)
      })
    )
  })
})

describe('experiments', () => {
  const local = { name: 'local', title: 'a few', taskMs: 2_000, over: 'clients', seed: 1, local: true } as const

  it('take hardly more than the tasks themselves, and never less', async () => {
    const { points } = await timeFigure(local, [[16, [1, 2, 4]]])
    for (const { ms, idealMs } of points) assert.ok(ms >= idealMs && idealMs / ms > 0.96, `${ms} ms for an ideal of ${idealMs} ms`)
    const remote = await timeFigure({ ...local, local: false, taskMs: 5_000 }, [[32, [4, 32]]])
    for (const { ms, idealMs } of remote.points) assert.ok(ms >= idealMs && idealMs / ms > 0.95, `${ms} ms for an ideal of ${idealMs} ms`)
  })

  it('come out alike from equal seeds and otherwise from others', async () => {
    const play = (seed: number) => successFigure({ seed, tasks: 60, fails: 0.5, clients: 8, taskMs: 1_000, attempts: [2] })
    assert.deepEqual(await play(1), await play(1))
    assert.notDeepEqual(await play(1), await play(2))
  })

  /** In at most K * (T / clients, rounded up) * M. */
  it('F07: K attempts that each fail with chance C succeed as often as 1 - C^K, in at most K times the time of one', async () => {
    const [tasks, clients] = [30, 16]
    for (const fails of [0.1, 0.5, 0.9]) {
      const { points } = await successFigure({ seed: 3, tasks, fails, clients, taskMs: 1_000, attempts: [1, 2, 3, 4, 5, 6, 7, 8] })
      const [ready, expected] = [points.reduce((sum, point) => sum + point.ready, 0), points.reduce((sum, point) => sum + point.expected, 0)]
      const deviation = Math.sqrt(points.reduce((sum, point) => sum + point.expected * (1 - point.expected / tasks), 0))
      assert.ok(Math.abs(ready - expected) <= 3 * deviation, `C = ${fails}: ${ready} ready, ${expected} expected`)
      for (const { attempts, ready: some, ms, idealMsMax } of points) {
        const band = binomialBand(tasks, 1 - fails ** attempts, 0.999)
        assert.ok(some >= band.low && some <= band.high, `C = ${fails}, K = ${attempts}: ${some} of ${tasks} ready`)
        assert.ok(ms <= idealMsMax + (idealMsMax / 1_000) * OVERHEAD_MS_MAX, `C = ${fails}, K = ${attempts}: ${ms} ms, at most ${idealMsMax}`)
      }
    }
  })

  it('are shown as tables and pictures with the ideal beside them', async () => {
    const time = await timeFigure(local, [[4, [1, 2]]])
    const success = await successFigure({ seed: 1, tasks: 40, fails: 0.5, clients: 8, taskMs: 1_000, attempts: [1, 2] })
    assert.match(linesOf(time).join('\n'), /^a few\ntasks +clients +seconds +ideal +of ideal[^\n]*\n +4 +1 +8\.\d +8\.0 +9\d\.\d % +█+·*│/)
    assert.match(linesOf(success).join('\n'), /\n1 +\d+ +20\.0 +14 to 26 +(inside|OUTSIDE) +[\d.]+ +5\.0 +│.*●/)
    assert.equal(plotOf(time).match(/<circle/g)?.length, 2)
    assert.equal(plotOf(success).match(/<circle/g)?.length, 2)
    assert.match(plotOf(success), /<polygon /)
  })

  it('every K lies in its band', async () => {
    const { points } = await successFigure({ seed: 1, tasks: 100, fails: 0.5, clients: 32, taskMs: 1_000, attempts: [1, 2, 3, 4, 5, 6, 7, 8] })
    for (const point of points) assert.ok(isInside(point), `K = ${point.attempts}: ${point.ready} of ${point.tasks} ready`)
  })

  it('arguments that make no sense end with status 2 and the usage', async () => {
    const said: string[] = []
    const io = { out: (line: string) => void said.push(line), err: (line: string) => void said.push(line) }
    assert.equal(await experimentsCommand(['lokal'], io), 2)
    assert.equal(await experimentsCommand(['--seed', '0'], io), 2)
    assert.equal(await experimentsCommand(['--sead', '1'], io), 2)
    assert.equal(await experimentsCommand(['remote', '--live'], { ...io, live: { local: async () => assert.fail('played') } }), 2)
    assert.equal(await experimentsCommand(['local', '--live'], io), 2)
    assert.equal(await experimentsCommand(['local', '--html', '/nodir/x.html'], io), 2)
    assert.match(said.at(-1) ?? '', /^--html \/nodir\/x\.html: there is no folder \/nodir\nusage: npm run experiments -- /)
    assert.match(said[0] ?? '', /no experiment is called lokal; there are local, remote, load, attempts\nusage: /)
    assert.match(said[1] ?? '', /--seed is a whole number from 1 to \d+, not 0/)
  })
})
