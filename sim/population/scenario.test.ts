import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { DAY_MS, HOUR_MS } from './availability.ts'
import { type Change, parseScenario, ScenarioError, scenarioOf } from './scenario.ts'

const SMALL = 'name: a small one\nlength: 6 h\nhosts: 50\n'

function refused(text: string, message: RegExp, changes: readonly Change[] = []): void {
  assert.throws(
    () => parseScenario('s.yaml', text, changes),
    (error) => {
      assert.ok(error instanceof ScenarioError)
      assert.match(error.message, message)
      return true
    }
  )
}

describe('a scenario', () => {
  it('needs no more than a name, a length and a number of hosts', () => {
    const { name, options } = scenarioOf(parseScenario('s.yaml', SMALL), null)
    assert.equal(name, 'a small one')
    assert.equal(options.lengthMs, 6 * HOUR_MS)
    assert.equal(options.workload.policy.minQuorum, 2)
    assert.equal(options.policy.heartbeatMs, 3_000)
    assert.ok((options.arrivals?.perDay ?? 0) > 0)
  })

  it('says when idle hosts run copies: of the last tasks of a batch, unless it says otherwise', () => {
    const copies = (text: string) => scenarioOf(parseScenario('s.yaml', `${SMALL}${text}`), null).options.workload.policy.copies
    assert.equal(copies(''), 'tail')
    assert.equal(copies('policy: { copies: never }\n'), 'never')
    refused(`${SMALL}policy: { copies: some }\n`, /^s\.yaml:4: policy\.copies: never or tail or idle is expected, not "some"$/)
  })

  it('takes every number of a policy to the coordinator', () => {
    const optionsOf = (policy: string) => scenarioOf(parseScenario('s.yaml', `${SMALL}policy: { ${policy} }\n`), null).options
    const numbers = ['quorum: 3', 'target: 3', 'errors: 9', 'total: 21', 'success: 7', 'heartbeat: 5 s', 'missed: 6', 'trusted: 20', 'straggles: 3']
    for (const one of [...numbers, 'adaptive: true', 'confidence: 99 %', 'copies: never']) assert.notDeepEqual(optionsOf(one), optionsOf(''), one)
  })

  it('says who is there, what they do and what befalls them', () => {
    const text = `${SMALL.replace('6 h', '10 d')}seed: 9
population:
  year: 2020
  mix: { alwaysOn: 50 %, diurnal: 0.5 }
  slots: cores
  liars: { share: 10 %, collude: 50 % }
  crowds: [{ at: 5 d, for: 6 h, times: 20 }]
  exits: [{ at: 8 d, for: 1 h, share: 30 % }]
workload: { every: 1 h, tasks: 500, runtime: 90 min, spread: 0, input: 1 GiB, output: 0, limit: 2 d }
policy: { quorum: 3, total: 30 }
clock: { step: 500 ms, sweep: 5 s }
`
    const { options } = scenarioOf(parseScenario('s.yaml', text), null)
    assert.equal(options.seed, 9)
    assert.deepEqual(options.model.malice, { share: 0.1, spoils: 1, colludes: 0.5, honestFirst: 0 })
    assert.deepEqual(options.arrivals?.crowds, [{ fromMs: 5 * DAY_MS, forMs: 6 * HOUR_MS, times: 20 }])
    assert.deepEqual(options.model.exits, [{ fromMs: 8 * DAY_MS, forMs: HOUR_MS, share: 0.3 }])
    assert.deepEqual(options.workload.arrives, { kind: 'stream', everyMs: HOUR_MS })
    assert.equal(options.workload.inputBytes, 2 ** 30)
    assert.equal(options.workload.policy.targetResults, 3)
    assert.equal(options.stepMs, 500)
  })

  it('lets a crowd join until there are many times as many hosts', () => {
    const { options } = scenarioOf(parseScenario('s.yaml', `${SMALL}population: { crowds: [{ at: 1 h, for: 2 h, grows: 20 }] }\n`), null)
    const [crowd] = options.arrivals?.crowds ?? []
    const joined = ((options.arrivals?.perDay ?? 0) / DAY_MS) * (crowd?.forMs ?? 0) * ((crowd?.times ?? 0) - 1)
    assert.ok(Math.abs(joined - 19 * 50) < 1e-6)
  })

  it('may give the project a line of its own, each way', () => {
    const lineOf = (text: string) => scenarioOf(parseScenario('s.yaml', `${SMALL}${text}`), null).options.line
    assert.equal(lineOf(''), undefined)
    assert.equal(lineOf('line: {}\n'), undefined)
    assert.deepEqual(lineOf('line: { sends: 1 Gbit/s, receives: 12.5 MB/s }\n'), { sendsBytesPerS: 125e6, receivesBytesPerS: 12.5e6 })
    assert.deepEqual(lineOf('line: { sends: 100 kbit/s }\n'), { sendsBytesPerS: 12_500, receivesBytesPerS: null })
    refused(
      `${SMALL}line:\n  sends: fast\n`,
      /^s\.yaml:5: line\.sends: a speed such as 100 Mbit\/s, 1 Gbit\/s or 125 MB\/s is expected, not "fast"; units: kbit\/s, Mbit\/s, Gbit\/s, kB\/s, MB\/s, GB\/s$/
    )
    refused(`${SMALL}line:\n  sends: 125 MB\n`, /^s\.yaml:5: line\.sends: a speed such as/)
    refused(`${SMALL}line:\n  receives: 0 MB/s\n`, /^s\.yaml:5: line\.receives: from 1 kB\/s to 1000 GB\/s is allowed, not "0 MB\/s"$/)
    refused(`${SMALL}line: { speed: 1 Gbit/s }\n`, /^s\.yaml:4: line: unknown key "speed"; allowed: sends, receives$/)
    refused(`${SMALL}workload: { input: 10 MB/s }\n`, /^s\.yaml:4: workload\.input: a size such as 0, 10 MB or 512 MiB is expected, not "10 MB\/s"; units: /)
  })

  it('can be changed by its keys', () => {
    const { options } = scenarioOf(
      parseScenario('s.yaml', SMALL, [
        ['population.liars.share', '20 %'],
        ['hosts', '7']
      ]),
      null
    )
    assert.equal(options.hosts, 7)
    assert.equal(options.model.malice.share, 0.2)
    refused(SMALL, /^s\.yaml, as changed: policy: unknown key "quorums"; allowed: quorum, /, [['policy.quorums', '2']])
    refused(`${SMALL}policy: { target: 2 }\n`, /^s\.yaml, as changed: policy\.quorum: a whole number from 1 to 64 is expected, not "x"$/, [
      ['policy.quorum', 'x']
    ])
  })

  it('is refused with its line and what is allowed', () => {
    refused('name: x\nlength: 6 h\n', /^s\.yaml:1: hosts is missing$/)
    refused(`${SMALL}hostz: 3\n`, /^s\.yaml:4: unknown key "hostz"; allowed: name, question, length, hosts, /)
    refused('name: x\nlength: 6\nhosts: 5\n', /^s\.yaml:2: length: a time such as 90 s, 5 min, 6 h or 30 d is expected, not 6; units: ms, s, min, h, d, w$/)
    refused('name: x\nlength: 6 MB\nhosts: 5\n', /^s\.yaml:2: length: a time such as/)
    refused('name: x\nlength: 0\nhosts: 5\n', /^s\.yaml:2: length: from 1 s to /)
    refused('name: x\nlength: 6 h\nhosts: 0\n', /^s\.yaml:3: hosts: a whole number from 1 to 2000000 is expected, not 0$/)
    refused(`${SMALL}population:\n  slots: all\n`, /^s\.yaml:5: population\.slots: one or cores is expected, not "all"$/)
    refused(`${SMALL}population:\n  mix: { alwaysOn: 50 %, diurnal: 20 % }\n`, /^s\.yaml:5: population\.mix: the shares make 70\.0 %, they must make 100 %$/)
    refused(`${SMALL}population:\n  mix: { sometimes: 100 % }\n`, /^s\.yaml:5: population\.mix: unknown key "sometimes"; allowed: seti, skype, /)
    refused(`${SMALL}population:\n  liars: { share: 120 % }\n`, /^s\.yaml:5: population\.liars\.share: a share from 0 % to 100 % is expected, not "120 %"$/)
    refused(`${SMALL}policy: { quorum: 3, target: 2 }\n`, /policy: the target of 2 replicas cannot reach a quorum of 3$/)
    refused(`${SMALL}workload: { every: 1 h, waiting: 5 }\n`, /workload: give `every`/)
    refused('name: [\n', /^s\.yaml:\d+: /)
    refused('- a\n', /^s\.yaml:1: a map is expected; its keys: name, /)
    refused(`${SMALL}hosts: 6\n`, /^s\.yaml:4: Map keys must be unique/)
    refused(`${SMALL}policy:\n  total: 64\n  success: 64\n  quorum: 60\n`, /^s\.yaml:7: policy: a quorum of 60 different hosts cannot be had of 50$/)
    refused(`${SMALL}population:\n  crowds: [{ at: 1 h, for: 1 h }]\n`, /^s\.yaml:5: population\.crowds: give `times`/)
    refused(`${SMALL}population:\n  arrivalsPerDay: 90000000\n`, /^s\.yaml:5: population: 22500000 newcomers are expected beside 50 hosts; at most 4000000 /)
    refused(`${SMALL}answer: it is {readies}\n`, /^s\.yaml:4: answer: no figure is called "readies"; there are days, hosts, ready, /)
    refused(`${SMALL}answer: '{x: ready}'\nvariants: [{ name: y, set: {} }]\n`, /^s\.yaml:4: answer: no variant is called "x"; there are y$/)
  })
})

describe('what cannot be', () => {
  it('is refused where it stands', () => {
    refused(`${SMALL}outages:\n  - { at: 1 h, for: 1 h }\n  - { at: 6 h, for: 1 h }\n`, /^s\.yaml:6: outages: it begins after 6 h, but all is over after 6 h$/)
    refused(`${SMALL}population:\n  crowds:\n    - { at: 7 h, for: 1 h, times: 2 }\n`, /^s\.yaml:6: population\.crowds: it begins after 7 h/)
    refused(`${SMALL}population:\n  exits: [{ at: 5 d, for: 1 h, share: 5 % }]\n`, /^s\.yaml:5: population\.exits: it begins after 5 days/)
    refused(
      `${SMALL}workload:\n  memory: 100 TiB\n`,
      /^s\.yaml:5: workload\.memory: of 2000 hosts none has more than \d+(\.5)? GiB, so nothing would ever be leased$/
    )
    refused(`${SMALL}policy:\n  total: 64\n  target: 60\n`, /^s\.yaml:6: policy: a target of 60 replicas on different hosts cannot be had of 50$/)
    refused(
      `${SMALL}workload:\n  runtime: 30 d\n  limit: 1 s\n`,
      /^s\.yaml:6: workload\.limit: of 2000 runs that were drawn 0 end in time; half of them take at most \d+ days$/
    )
    refused(`${SMALL}variants:\n  - { name: a, set: {} }\n  - { name: a, set: {} }\n`, /^s\.yaml:6: variants: two are called "a"$/)
    refused(`${SMALL}policy: &p { quorum: 2 }\nworkload: *p\n`, /^s\.yaml:5: \*p: aliases are not read here; write the value itself$/)
  })

  it('is not what is only rare', () => {
    parseScenario('s.yaml', `${SMALL}workload: { memory: 16 GiB, limit: 1 h }\noutages: [{ at: 359 min, for: 1 h }]\npolicy: { target: 20 }\n`)
  })

  it('is blamed on the change that brought it, not on a line', () => {
    refused(SMALL, /^s\.yaml, as changed: hosts\.x: hosts is one value and has no keys$/, [['hosts.x', '3']])
    refused(`${SMALL}outages: []\n`, /^s\.yaml, as changed: outages\.x: cannot be set: /, [['outages.x', '3']])
    refused(SMALL, /^s\.yaml, as changed: hosts: a whole number from 1 to 2000000 is expected, not -5$/, [['hosts', '-5']])
    refused(`${SMALL}outages: []\n`, /^s\.yaml, as changed: outages\[0\]\.at: a time such as/, [['outages', '[{ at: x, for: 1 h }]']])
    refused(SMALL, /^s\.yaml, as changed: policy: "\[" is no value: /, [['policy', '[']])
    refused(SMALL, /^mine: hosts: /, [
      ['length', '5 h'],
      ['hosts', 'x', 'mine'],
      ['seed', '3', 'not mine']
    ])
    refused(`${SMALL}outages: [{ at: 5 h, for: 1 h }]\n`, /^mine: line 4: outages: it begins after 5 h/, [['length', '4 h', 'mine']])
    // A wrong line stays one, whatever is changed elsewhere.
    refused(`${SMALL}seed: x\n`, /^s\.yaml:4: seed: /, [['hosts', '7', 'not mine']])
    assert.equal(parseScenario('s.yaml', `${SMALL}population:\n`, [['population.year', '2020']]).population.year, 2020)
  })
})

describe('the shipped scenarios', () => {
  const folder = join(import.meta.dirname, 'scenarios')

  it('are read, and ask a question', async () => {
    const files = await readdir(folder)
    assert.equal(files.length, 7)
    for (const file of files) {
      const { question } = scenarioOf(parseScenario(file, await readFile(join(folder, file), 'utf8')), null)
      assert.match(question, /\?/)
    }
  })

  it('tell speculation of every kind from none', async () => {
    const { variants } = parseScenario('slow-tail.yaml', await readFile(join(folder, 'slow-tail.yaml'), 'utf8'))
    const sets = variants.map(({ name, set }) => [
      name,
      set.find(([key]) => key === 'policy.copies')?.[1],
      set.find(([key]) => key === 'policy.straggles')?.[1]
    ])
    assert.deepEqual(sets, [
      ['neither', 'never', '0'],
      ['tail copies', 'tail', '0'],
      ['stragglers', 'never', '2'],
      ['both', 'tail', '2'],
      ['one spare', 'never', '0']
    ])
  })
})
