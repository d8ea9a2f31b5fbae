import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DEFAULT_COORDINATOR_POLICY } from '#project-server/coordinator/policy'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { DAY_MS, HOUR_MS } from './availability.ts'
import { acceptError, NO_ERRORS } from './errors.ts'
import { VOLUNTEERS } from './hosts.ts'
import { MASS_EXIT, MEDIA_DAY, steadyArrivalsPerDay } from './lifetimes.ts'
import type { WorldOptions } from './options.ts'
import { EXACT_RUNS, VOLUNTEER_RUNS } from './runs.ts'
import { parseTrace } from './trace.ts'
import type { Workload } from './workload.ts'
import { World } from './world.ts'

type Overrides = Partial<Omit<WorldOptions, 'model' | 'workload'>> & { model?: Partial<WorldOptions['model']>; workload?: Partial<Workload> }

/** Million operations that take the mean host of 2026 an hour. */
const HOUR_OF_WORK = 3600 * 9 * 12_000 * 0.8

async function world({ model, workload, ...rest }: Overrides): Promise<World> {
  const hosts = rest.hosts ?? 300
  const made = new World({
    seed: 1,
    hosts,
    lengthMs: DAY_MS,
    model: { ...VOLUNTEERS, ...model },
    runs: VOLUNTEER_RUNS,
    policy: DEFAULT_COORDINATOR_POLICY,
    arrivals: null,
    stepMs: 1000,
    sweepMs: 60_000,
    sampleMs: HOUR_MS,
    closes: 0.5,
    keeps: true,
    outages: [],
    workload: {
      arrives: { kind: 'saturating', waitingMin: hosts / 10 },
      batchTasks: Math.ceil(hosts / 5),
      sizes: { medianMillionOps: HOUR_OF_WORK, sigma: 0.5 },
      inputBytes: 10e6,
      outputBytes: 1e6,
      policy: { ...DEFAULT_POLICY, maxErrorResults: 10, maxTotalResults: 30 },
      timeMs: 7 * DAY_MS,
      memoryBytes: 2 ** 29,
      ...workload
    },
    ...rest
  })
  await made.start()
  return made
}

async function run(overrides: Overrides): Promise<World> {
  const made = await world(overrides)
  made.advance(Number.POSITIVE_INFINITY)
  assert.ok(made.over)
  return made
}

const STEADY = { mix: [{ of: 'lanl', share: 1 }], mortal: false, errors: NO_ERRORS } as const

function near(actual: number, expected: number, within: number): void {
  assert.ok(Math.abs(actual - expected) <= within, `${actual} is not within ${within} of ${expected}`)
}

describe('a population', () => {
  it('is the same for the same seed, however it is advanced, and another one for another', async () => {
    const [once, other] = [await run({}), await run({ seed: 2 })]
    const slowly = await world({})
    for (let hour = 1; !slowly.over; hour += 0.37) slowly.advance(hour * HOUR_MS)
    assert.deepEqual(slowly.totals, once.totals)
    assert.deepEqual(slowly.samples, once.samples)
    assert.notDeepEqual(other.totals, once.totals)
  })

  it('gets its work done, each task by a quorum, though hosts come and go and err', async () => {
    const { totals, samples } = await run({ lengthMs: 3 * DAY_MS })
    assert.ok(totals.ready > 2000, `${totals.ready} tasks are ready`)
    assert.ok(totals.reported >= 2 * totals.ready)
    assert.ok(totals.failed < totals.ready / 200, `${totals.failed} tasks failed`)
    assert.equal(totals.wrong, 0)
    assert.ok(totals.errors > 0 && totals.cancelled > 0 && totals.vanished > 300 && totals.hellos > totals.vanished)
    near(samples.slice(2).reduce((sum, { online }) => sum + online / 300, 0) / (samples.length - 2), 0.626, 0.05)
    assert.ok(samples.slice(2).every(({ held, online }) => held >= 0.8 * online))
  })

  it('is the same whether all records are written or those of one commit in seventeen, from which their bytes are reckoned', async () => {
    const [all, some] = await Promise.all([run({ check: true }), run({})])
    assert.ok(all !== undefined && some !== undefined)
    assert.equal(some.hash, all.hash)
    assert.deepEqual({ ...some.totals, checked: 0, changes: 0, changedBytes: 0 }, { ...all.totals, checked: 0, changes: 0, changedBytes: 0 })
    for (const figure of ['changes', 'changedBytes'] as const) {
      const ratio = some.totals[figure] / all.totals[figure]
      assert.ok(Math.abs(ratio - 1) < 0.1, `${figure}: ${ratio}`)
    }
  })

  it('holds no more than 200 bytes a host', async () => {
    for (const line of [{}, { line: { sendsBytesPerS: 10e6, receivesBytesPerS: 10e6 } }]) {
      const { bytesPerHost } = await run({ hosts: 2_000, lengthMs: 2 * HOUR_MS, ...line })
      assert.ok(bytesPerHost <= 200, `${bytesPerHost} bytes`)
    }
  })

  it('is heard of as long as it is there, and no longer, whatever the sweep', async () => {
    // The world throws when a host that is there counts as silent.
    for (const sweepMs of [1_000, 20_000, 900_000])
      for (const closes of [0, 1]) {
        const { totals } = await run({ hosts: 60, sweepMs, closes, model: { mix: [{ of: 'overnet', share: 1 }] } })
        assert.ok(totals.vanished > 100 && totals.ready > 0)
      }
  })

  it('loses what a host runs when it vanishes, and has it run elsewhere', async () => {
    const stay = await run({ hosts: 100, model: STEADY, lengthMs: 2 * DAY_MS })
    const leave = await run({ hosts: 100, model: { ...STEADY, mix: [{ of: 'overnet', share: 1 }] }, lengthMs: 2 * DAY_MS })
    assert.ok(stay.totals.leased / stay.totals.reported < 1.2)
    assert.ok(leave.totals.leased / leave.totals.reported > 1.5)
  })

  it('does less when what a host ran begins anew', async () => {
    const options = {
      model: { ...STEADY, mix: [{ of: 'skype', share: 1 }] } as const,
      lengthMs: 4 * DAY_MS,
      policy: { ...DEFAULT_COORDINATOR_POLICY, missedMax: 100_000 }
    }
    const workload = { sizes: { medianMillionOps: 8 * HOUR_OF_WORK, sigma: 0 } }
    const [kept, anew] = [await run({ ...options, workload }), await run({ ...options, workload, keeps: false })]
    assert.ok(anew.totals.ready < 0.85 * kept.totals.ready, `${anew.totals.ready} against ${kept.totals.ready}`)
  })
})

describe('throughput', () => {
  it('of exact hosts and tasks is what arithmetic says', async () => {
    const lengthMs = 2 * DAY_MS
    const { totals } = await run({
      model: { ...STEADY, mix: [{ of: 'lanl', share: 1 }] },
      runs: EXACT_RUNS,
      lengthMs,
      workload: {
        sizes: { medianMillionOps: HOUR_OF_WORK, sigma: 0 },
        inputBytes: 0,
        outputBytes: 0,
        policy: { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1 }
      }
    })
    // Nearly all of the hosts' time is spent in runs: little is lost to asking, fetching and reporting.
    near(totals.busyMs / (300 * lengthMs), 0.99, 0.02)
  })
})

describe('liars', () => {
  it('that collude pass a quorum of two as often as Sarmenta says, through the real coordinator; set aside they pass far less', async () => {
    const share = 0.3
    const colluding = {
      hosts: 800,
      lengthMs: DAY_MS,
      model: { ...STEADY, malice: { share, spoils: 1, colludes: 1, honestFirst: 0 } },
      workload: { policy: { ...DEFAULT_POLICY, maxTotalResults: 30, maxErrorResults: 30 } }
    } as const
    const { totals } = await run({ ...colluding, policy: { ...DEFAULT_COORDINATOR_POLICY, failuresMax: Number.POSITIVE_INFINITY } })
    assert.ok(totals.ready > 4_000)
    near(totals.wrong / totals.ready, acceptError(2, share), 0.025)
    near(totals.reportedWrong / totals.reported, share, 0.03)
    const { totals: aside } = await run({ ...colluding, lengthMs: 3 * DAY_MS })
    assert.ok(aside.wrong / aside.ready < acceptError(2, share) / 3, `${aside.wrong} of ${aside.ready}`)
  })

  it('of one in a hundred make adaptive replication cost less than a fifth more than none, first results of all hosts included (F16)', async () => {
    const bad = { hosts: 100, lengthMs: 6 * DAY_MS, model: { ...STEADY, malice: { share: 0.01, spoils: 1, colludes: 0, honestFirst: 0 } } }
    const limits = { ...DEFAULT_POLICY, maxTotalResults: 30, maxErrorResults: 10 }
    const { totals } = await run({ ...bad, workload: { policy: { ...limits, adaptive: true } } })
    const { totals: alone } = await run({ ...bad, workload: { policy: { ...limits, minQuorum: 1, targetResults: 1 } } })
    assert.ok(totals.ready > 9_000 && totals.reported < 1.2 * totals.ready, `${totals.reported} results for ${totals.ready} tasks`)
    assert.ok(alone.ready < 1.2 * totals.ready, `${totals.ready} tasks where one result each makes ${alone.ready}`)
    assert.ok(alone.wrong > 0.005 * alone.ready, 'there is a bad host')
    assert.equal(totals.wrong, 0)
  })

  it('that lie alone never agree', async () => {
    const { totals } = await run({ model: { ...STEADY, malice: { share: 0.2, spoils: 1, colludes: 0, honestFirst: 0 } } })
    assert.ok(totals.reportedWrong > 100)
    assert.equal(totals.wrong, 0)
  })
})

describe('crowds', () => {
  it('come with the media, and a mass exit takes a third of all', async () => {
    const crowd = await run({ hosts: 500, arrivals: { perDay: 50, crowds: [{ fromMs: 6 * HOUR_MS, ...MEDIA_DAY }] }, model: { mortal: false } })
    near(crowd.totals.arrived, 50 * 0.75 + 50 * 20 * 0.25, 60)
    const exit = await run({ hosts: 500, arrivals: { perDay: 0, crowds: [] }, model: { mortal: false, exits: [{ fromMs: 6 * HOUR_MS, ...MASS_EXIT }] } })
    near(exit.totals.left / 500, 0.3, 0.06)
    const online = (hour: number): number => exit.samples[hour]?.online ?? 0
    near(online(8) / online(5), 0.7, 0.1)
  })

  it('larger than what a coordinator takes in as new are known to it beforehand', async () => {
    const crowd = await world({ hosts: 100_500, lengthMs: HOUR_MS, sweepMs: HOUR_MS, arrivals: { perDay: steadyArrivalsPerDay(100_500), crowds: [] } })
    crowd.advance(20_000)
    assert.ok(crowd.totals.hellos > 1_000)
    assert.ok(crowd.totals.leased > 500)
  })
})

describe('an outage of the coordinator', () => {
  it('loses nothing that was done meanwhile, and all are back within a minute', async () => {
    const outages = [{ fromMs: 20 * HOUR_MS, forMs: 4 * HOUR_MS }]
    const options = { model: STEADY, lengthMs: 2 * DAY_MS, workload: { sizes: { medianMillionOps: 8 * HOUR_OF_WORK, sigma: 0.2 } } }
    const [calm, away] = [await run(options), await run({ ...options, outages })]
    const at = ({ samples }: World, hour: number) => samples[hour] ?? assert.fail('no sample')
    assert.equal(at(away, 23).applied, at(away, 21).applied)
    assert.equal(at(away, 23).online, at(calm, 23).online)
    assert.ok(at(away, 25).reported - at(away, 23).reported > 50)
    // Hosts idle when their runs are done: that is the loss, and all of it.
    assert.ok(away.totals.ready > 0.85 * calm.totals.ready && away.totals.ready < calm.totals.ready)
    assert.ok(away.totals.leased / away.totals.reported < calm.totals.leased / calm.totals.reported + 0.05)
  })

  it('may befall any population', async () => {
    const outages = [0, 5, 9].map((hour) => ({ fromMs: hour * HOUR_MS, forMs: 2 * HOUR_MS }))
    const { totals } = await run({ outages, model: { mix: [{ of: 'overnet', share: 1 }] }, arrivals: { perDay: 500, crowds: [] } })
    assert.ok(totals.ready > 0)
  })
})

describe('a line of the project', () => {
  const ONCE = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1 }
  const line = (bytesPerS: number) => ({ sendsBytesPerS: bytesPerS, receivesBytesPerS: bytesPerS })

  it('that is full lets through what it can carry, and no host is given up for what is slow to come', async () => {
    const workload = { sizes: { medianMillionOps: HOUR_OF_WORK, sigma: 0 }, inputBytes: 100e6, policy: ONCE }
    const { totals, inputs } = await run({ model: STEADY, runs: EXACT_RUNS, line: line(5e6), workload })
    near((totals.sentBytes ?? 0) / (5e6 * 86_400), 1, 0.01)
    near((totals.sendsFullMs ?? 0) / DAY_MS, 1, 0.01)
    // 300 inputs are under way in the end, none of them whole.
    near((totals.inputs ?? 0) / ((totals.sentBytes ?? 0) / 100e6), 1, 0.05)
    assert.equal(totals.leased - (totals.inputs ?? 0) <= 300, true)
    assert.ok((inputs?.quantileMs(0.5) ?? 0) > 0.5 * HOUR_MS)
    assert.ok((totals.receivesFullMs ?? 0) < 0.05 * DAY_MS)
  })

  it('that is never full changes little: hosts fetch as fast as their own lines', async () => {
    const [none, wide] = [await run({}), await run({ line: line(1e12) })]
    near(wide.totals.ready / none.totals.ready, 1, 0.02)
    assert.equal(wide.totals.sendsFullMs, 0)
    assert.equal(none.totals.sentBytes, undefined)
    assert.equal(none.inputs, null)
  })

  it('goes on with what was left when a host comes back, whoever goes away', async () => {
    const options = {
      line: line(2e6),
      outages: [3, 9].map((hour) => ({ fromMs: hour * HOUR_MS, forMs: HOUR_MS })),
      model: { mix: [{ of: 'overnet', share: 1 }] } as const,
      policy: { ...DEFAULT_COORDINATOR_POLICY, missedMax: 100_000 },
      workload: { inputBytes: 20e6, outputBytes: 5e6 }
    }
    const [once, again] = [await run(options), await run(options)]
    assert.deepEqual(again.samples, once.samples)
    assert.equal(again.hash, once.hash)
    const { totals } = once
    assert.ok(totals.ready > 200 && totals.vanished > 300)
    assert.ok((totals.inputs ?? 0) * 20e6 <= (totals.sentBytes ?? 0) * (1 + 1e-9))
    assert.ok((totals.sentBytes ?? 0) <= 2e6 * 86_400 * (1 + 1e-9))
    assert.ok((totals.receivedBytes ?? 0) >= totals.ready * 4e6)
  })
})

it('recorded hosts are there when they were recorded', async () => {
  const trace = parseTrace('node,state,start_s,end_s\na,1,0,36000\na,0,36000,86400\nb,0,0,36000\nb,1,36000,86400\n')
  const { samples, totals } = await run({ hosts: 10, model: { ...STEADY, trace }, lengthMs: 2 * DAY_MS })
  assert.ok(samples.slice(2).every(({ online }) => online === 5))
  assert.equal(totals.vanished, 15)
})
