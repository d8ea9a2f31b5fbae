import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { DAY_MS, HOUR_MS } from './availability.ts'
import { simCommand } from './command.ts'
import { parseScenario, ScenarioError, scenarioOf } from './scenario.ts'

const SMALL = 'name: a small one\nlength: 6 h\nhosts: 50\n'

function refused(text: string, message: RegExp, changes: readonly (readonly [string, string])[] = []): void {
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

  it('says who is there, what they do and what befalls them', () => {
    const text = `${SMALL}seed: 9
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
    refused(SMALL, /policy: unknown key "quorums"; allowed: quorum, /, [['policy.quorums', '2']])
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
  })
})

describe('the shipped scenarios', () => {
  const folder = join(import.meta.dirname, 'scenarios')

  it('are read, and ask a question', async () => {
    const files = await readdir(folder)
    assert.equal(files.length, 6)
    for (const file of files) {
      const { question } = scenarioOf(parseScenario(file, await readFile(join(folder, file), 'utf8')), null)
      assert.match(question, /\?/)
    }
  })

  it('run', async () => {
    for (const file of await readdir(folder)) {
      const out: string[] = []
      const signal = new AbortController().signal
      const small = ['--hosts', '40', '--set', 'length=2 h', '--set', 'workload.tasks=20', '--set', 'workload.waiting=', '--set', 'outages=[]']
      const io = { out: (line: string) => out.push(line), err: (line: string) => out.push(line), nowMs: () => 0, signal }
      assert.equal(await simCommand(['run', join(folder, file), ...small], io), 0, out.join('\n'))
    }
  })
})

describe('sim run', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scenario-'))
  })
  after(() => rm(folder, { recursive: true }))

  async function run(args: readonly string[], signal = new AbortController().signal): Promise<{ status: number; out: string; err: string }> {
    const [out, err]: [string[], string[]] = [[], []]
    const status = await simCommand(args, { out: (line) => out.push(line), err: (line) => err.push(line), nowMs: () => 0, signal })
    return { status, out: out.join('\n'), err: err.join('\n') }
  }

  it('prints what came of it, and writes it for programs', async () => {
    const [file, json, csv, html] = [join(folder, 's.yaml'), join(folder, 'out.json'), join(folder, 'out.csv'), join(folder, 'out.html')]
    await writeFile(file, `${SMALL}question: does it work?\nworkload: { runtime: 10 min }\n`)
    const { status, out } = await run(['run', file, '--json', json, '--csv', csv, '--html', html, '--set', 'policy.quorum=1'])
    assert.equal(status, 0)
    assert.match(out, /^a small one\ndoes it work\?\n/)
    const report = JSON.parse(await readFile(json, 'utf8'))
    assert.equal(report.samples.length, 6)
    assert.ok(report.totals.ready > 100)
    assert.match(await readFile(csv, 'utf8'), /^[^\n]*\batMs\b[^\n]*\n(?:[\d.,]+\n){6}$/)
    const page = await readFile(html, 'utf8')
    assert.equal(page.match(/<svg /g)?.length, 9)
    assert.doesNotMatch(page, /NaN|Infinity|undefined|https?:|<script/)
    const again = await run(['run', file, '--json', json, '--set', 'policy.quorum=1', '--seed', '1'])
    assert.equal(again.out, out)
    assert.notEqual((await run(['run', file, '--seed', '2'])).out, out)
  })

  it('is the same in two processes', async () => {
    const file = join(folder, 'twice.yaml')
    await writeFile(
      file,
      `${SMALL}population: { liars: { share: 10 % }, mix: { overnet: 100 % } }\nworkload: { runtime: 5 min }\noutages: [{ at: 2 h, for: 1 h }]\n`
    )
    const program = join(import.meta.dirname, 'main.ts')
    const runs = await Promise.all([1, 2].map(() => promisify(execFile)(process.execPath, [program, 'run', file, '--quiet'])))
    assert.match(runs[0]?.stdout ?? '', /\nrepeat +seed 1, hash [0-9a-f]{16}, /)
    assert.equal(runs[0]?.stdout, runs[1]?.stdout)
    assert.equal((await run(['run', file])).out, runs[0]?.stdout.trimEnd())
  })

  it('writes the report so far when it is stopped', async () => {
    const file = join(folder, 'long.yaml')
    await writeFile(file, SMALL.replace('6 h', '300 d'))
    const { status, out } = await run(['run', file], AbortSignal.abort())
    assert.equal(status, 130)
    assert.match(out, /0\.0 days of 300\.0, then stopped/)
  })

  it('puts policies beside each other on the same seeds', async () => {
    const file = join(folder, 'liars.yaml')
    await writeFile(file, `${SMALL}population: { liars: { share: 30 % } }\nworkload: { runtime: 10 min }\n`)
    const swept = await run(['sweep', file, '--over', 'policy.quorum=1,2', '--seeds', '3'])
    assert.equal(swept.status, 0)
    assert.match(swept.out, /policy\.quorum=1 +policy\.quorum=2/)
    assert.match(swept.out, /wrong answers accepted \(%\) +\d+\.\d+ ±\S+ +\d+\.\d+ ±\S+ +-\d+\.\d+ ±\S+/)
    assert.match(swept.out, /replicas for each task +1\.\d+ ±\S+ +2\.\d+ ±\S+ +\+1\.\d+ ±\S+ \*/)
    const compared = await run(['compare', file, file, '--seeds', '2'])
    assert.equal(compared.status, 0)
    assert.match(compared.out, /\+0 ±0/)
    assert.doesNotMatch(compared.out.replace(/\*.*chance/, ''), /\*/)
  })

  it('plays a recording that lies beside the scenario', async () => {
    await writeFile(join(folder, 'hosts.csv'), 'node,state,start_s,end_s\na,1,0,7200\na,0,7200,14400\n')
    await writeFile(join(folder, 'bad.csv'), 'node,state,start_s,end_s\na,1,0,never\n')
    const file = join(folder, 'traced.yaml')
    await writeFile(file, `${SMALL}trace: hosts.csv\n`)
    assert.equal((await run(['run', file])).status, 0)
    await writeFile(file, `${SMALL}trace: bad.csv\n`)
    const { status, err } = await run(['run', file])
    assert.equal(status, 2)
    assert.match(err, /bad\.csv: line 2: start_s and end_s are seconds/)
  })

  it('refuses with status 2 and one line what makes no sense', async () => {
    const file = join(folder, 'wrong.yaml')
    await writeFile(file, 'name: x\nlength: 6 h\nhosts: many\n')
    for (const [args, message] of [
      [['run', file], /wrong\.yaml:3: hosts: a whole number/],
      [['run'], /one scenario file is expected/],
      [[], /run, compare or sweep is expected, not nothing/],
      [['compare', file], /2 to 16 scenario files/],
      [['sweep', file], /--over key=value/],
      [['sweep', file, '--over', 'x=1', '--seeds', '0'], /--seeds is a whole number/],
      [['run', join(folder, 'none.yaml')], /none\.yaml: cannot be read/],
      [['run', file, '--set', 'x'], /--set x: key=value is expected/],
      [['run', file, '--sed', '1'], /Unknown option '--sed'/]
    ] as const) {
      const { status, err } = await run(args)
      assert.equal(status, 2)
      assert.match(err, message)
    }
  })
})
