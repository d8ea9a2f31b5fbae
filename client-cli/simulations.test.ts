import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { EXIT } from './errors.ts'
import { systemClock } from './live/clock.ts'
import { main } from './main.ts'

const SMALL = 'name: a small one\nlength: 6 h\nhosts: 50\n'

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'talko-sim-'))
})
after(() => rm(folder, { recursive: true }))

/** `talko sim` in this process; interrupted by Ctrl-C at its first sign of progress, if it is to be. */
async function sim(words: readonly string[], interrupted = false): Promise<{ status: number; out: string; err: string }> {
  let [out, err] = ['', '']
  let nowMs = 0
  let interrupt = (): boolean => false
  const status = await main(['sim', ...words], {
    clock: systemClock,
    version: '1.2.3',
    onInterrupt: (call) => {
      interrupt = call
      return () => {}
    },
    io: {
      stdout: (text) => {
        out += typeof text === 'string' ? text : Buffer.from(text).toString()
      },
      stderr: (text) => {
        err += text
        if (interrupted) interrupt()
      },
      terminal: false,
      colour: false,
      columns: () => 100,
      // A second for each look at the clock: progress is shown at once.
      nowMs: () => {
        if (interrupted) nowMs += 1000
        return nowMs
      }
    }
  })
  return { status, out, err }
}

async function scenario(name: string, text: string): Promise<string> {
  const file = join(folder, name)
  await writeFile(file, text)
  return file
}

const TINY = [
  '--hosts',
  '40',
  '--set',
  'length=2 h',
  '--set',
  'workload.tasks=20',
  '--set',
  'workload.waiting=',
  '--set',
  'outages=[]',
  '--set',
  'population.crowds=[]'
]

describe('talko sim run', () => {
  it('prints what came of it, and writes it for people and programs', async () => {
    const file = await scenario('s.yaml', `${SMALL}question: does it work?\nanswer: '{ready} times'\nworkload: { runtime: 10 min }\n`)
    const [json, csv, html] = [join(folder, 'out.json'), join(folder, 'out.csv'), join(folder, 'out.html')]
    const { status, out } = await sim(['run', file, '--json', json, '--csv', csv, '--html', html, '--set', 'policy.quorum=1'])
    assert.equal(status, EXIT.ok)
    assert.match(out, /^a small one\ndoes it work\?\n[\d,]+ times\n/)
    const { variants, commit, node, beside, answer, answerTemplate } = JSON.parse(await readFile(json, 'utf8'))
    assert.match(commit, /^(?:[0-9a-f]{12}\+?|unknown)$/)
    assert.equal(node, process.version)
    assert.deepEqual(variants[0].changes, [['policy.quorum', '1']])
    const [report] = variants[0].reports
    assert.equal(report.samples.length, 6)
    assert.equal(answerTemplate, '{ready} times')
    assert.equal(answer, `${report.totals.ready.toLocaleString('en')} times`)
    assert.equal(report.figures.ready, report.totals.ready)
    assert.ok(report.figures.half > 0 && report.figures.recovery === 0)
    assert.ok(report.totals.ready > 100)
    assert.ok(report.totals.rightMs > 0 && report.totals.failedMs > 0)
    assert.equal(beside.length, 9)
    assert.match(await readFile(csv, 'utf8'), /^variant,seed,[^\n]*\batMs\b[^\n]*\n(?:,1,[\d.,]+\n){6}$/)
    const page = await readFile(html, 'utf8')
    assert.equal(page.match(/<svg /g)?.length, 12)
    assert.equal(/NaN|Infinity|undefined|https?:|src=/.exec(page), null)
    assert.doesNotMatch(out, /\nline /)
    const again = await sim(['run', file, '--set', 'policy.quorum=1', '--seed', '1'])
    assert.equal(again.out, out)
    assert.notEqual((await sim(['run', file, '--seed', '2'])).out, out)
  })

  it('tells how full a line of the project is', async () => {
    const file = await scenario('line.yaml', `${SMALL}answer: '{sendsFull} {input} {receivesUse}'\nworkload: { runtime: 10 min }\n`)
    const [json, csv, html] = [join(folder, 'line.json'), join(folder, 'line.csv'), join(folder, 'line.html')]
    const { status, out } = await sim(['run', file, '--set', 'line.sends=8 Mbit/s', '--json', json, '--csv', csv, '--html', html])
    assert.equal(status, EXIT.ok)
    assert.match(out, /\n[\d.]+ % [\d.]+ (?:s|min) -\n/)
    assert.match(
      out,
      /\nline +sends [\d.]+ % of what it can, full [\d.]+ % of the time; an input takes [\d.]+ (?:s|min), 95 % of them at most [\d.]+ (?:s|min)\n/
    )
    const { line, totals } = JSON.parse(await readFile(json, 'utf8')).variants[0].reports[0]
    assert.equal(line.sendsBytesPerS, 1e6)
    assert.ok(line.inputMs.mean > 10_000 && line.inputMs.p95 > line.inputMs.mean)
    assert.ok(totals.sentBytes > 0 && totals.sentBytes <= 1e6 * 6 * 3600 && totals.receivedBytes === 0)
    assert.match(await readFile(csv, 'utf8'), /^variant,seed,[^\n]*\bsentBytes,sendsFullMs\b/)
    const page = await readFile(html, 'utf8')
    assert.equal(page.match(/<svg /g)?.length, 13)
    assert.equal(/NaN|Infinity|undefined|https?:|src=/.exec(page), null)
    const swept = join(folder, 'swept.html')
    const { out: beside } = await sim(['sweep', file, '--over', 'line.sends=8 Mbit/s,80 Mbit/s', '--html', swept])
    assert.match(beside, /\nline full of inputs \(% of the time\) +\d\S* ±\S+ +\d\S* ±\S+ +-/)
    assert.match(await readFile(swept, 'utf8'), /The project&#39;s line, inputs/)
  })

  it('runs the scenarios that come with talko', async () => {
    const { out } = await sim(['list', '-o', 'json'])
    const names: readonly string[] = JSON.parse(out).map(({ file }: { file: string }) => file)
    assert.equal(names.length, 7)
    for (const name of names) {
      const { status, err } = await sim(['run', name, ...TINY])
      assert.equal(status, EXIT.ok, err)
    }
  })

  it('is the same in two processes', async () => {
    const file = await scenario(
      'twice.yaml',
      `${SMALL}population: { liars: { share: 10 % }, mix: { overnet: 100 % } }\nworkload: { runtime: 5 min }\noutages: [{ at: 2 h, for: 1 h }]\n`
    )
    const program = join(import.meta.dirname, 'bin', 'talko.js')
    const runs = await Promise.all([1, 2].map(() => promisify(execFile)(process.execPath, [program, 'sim', 'run', file])))
    assert.match(runs[0]?.stdout ?? '', /\nrepeat +seed 1, hash [0-9a-f]{16}, commit /)
    assert.equal(runs[0]?.stdout, runs[1]?.stdout)
    assert.equal((await sim(['run', file])).out, runs[0]?.stdout)
  })

  it('writes the report so far when it is stopped', async () => {
    const file = await scenario('long.yaml', SMALL.replace('6 h', '300 d'))
    const html = join(folder, 'stopped.html')
    const { status, out } = await sim(['run', file, '--html', html], true)
    assert.equal(status, EXIT.interrupted)
    assert.match(out, /days of 300\.0, then stopped/)
    assert.match(await readFile(html, 'utf8'), /, then stopped/)
  })

  it('says what it would do, with every setting', async () => {
    const file = await scenario('dry.yaml', SMALL)
    assert.match((await sim(['run', file, '--dry-run'])).err, /would run .*dry\.yaml: 50 hosts for 0\.3 days\nwith seed 1; nothing was run/)
    const { out } = await sim(['run', file, '--dry-run', '-o', 'json', '--set', 'policy.quorum=3'])
    assert.equal(JSON.parse(out).variants[0].scenario.policy.quorum, 3)
  })

  it('plays a recording that lies beside the scenario', async () => {
    await writeFile(join(folder, 'hosts.csv'), 'node,state,start_s,end_s\na,1,0,7200\na,0,7200,14400\n')
    await writeFile(join(folder, 'bad.csv'), 'node,state,start_s,end_s\na,1,0,never\n')
    const file = await scenario('traced.yaml', `${SMALL}trace: hosts.csv\n`)
    assert.equal((await sim(['run', file])).status, EXIT.ok)
    assert.doesNotMatch((await sim(['run', file])).out, /nobody was online/)
    await writeFile(join(folder, 'gaps.csv.gz'), gzipSync('node,state,start_s,end_s\na,1,0,60\nb,1,21540,21600\n'))
    await writeFile(file, `${SMALL}trace: gaps.csv.gz\n`)
    assert.match((await sim(['run', file])).out, /\nnobody was online in \d\d+ % of the time: what no row of a trace covers counts as down\n$/)
    await writeFile(file, `${SMALL}trace: bad.csv\n`)
    const { status, err } = await sim(['run', file])
    assert.equal(status, EXIT.usage)
    assert.match(err, /traced\.yaml:4: trace: .*bad\.csv: line 2: start_s and end_s are seconds/)
    await writeFile(file, `${SMALL}trace: none.csv\n`)
    assert.match((await sim(['run', file])).err, /traced\.yaml:4: trace: .*none\.csv: cannot be read: /)
  })
})

describe('talko sim compare and sweep', () => {
  it('put policies beside each other on the same seeds', async () => {
    const file = await scenario('liars.yaml', `${SMALL}population: { liars: { share: 30 % } }\nworkload: { runtime: 10 min }\n`)
    const swept = await sim(['sweep', file, '--over', 'policy.quorum=1,2', '--seeds', '3'])
    assert.equal(swept.status, EXIT.ok)
    assert.match(swept.out, /policy\.quorum=1 +policy\.quorum=2/)
    assert.match(swept.out, /wrong answers accepted \(%\) +\d+\.\d+ ±\S+ +\d+\.\d+ ±\S+ +-\d+\.\d+ ±\S+/)
    assert.match(swept.out, /replicas for each task +1\.\d+ ±\S+ +2\.\d+ ±\S+ +\+1\.\d+ ±\S+ \*/)
    const html = join(folder, 'compared.html')
    const compared = await sim(['compare', file, file, '--seeds', '2', '--html', html])
    assert.equal(compared.status, EXIT.ok)
    assert.match(compared.out, /\+0 ±0/)
    assert.doesNotMatch(compared.out.replace(/\*.*chance/, ''), /\*/)
    assert.match(await readFile(html, 'utf8'), /2 seeds from 1/)
  })

  it('a value may hold commas', async () => {
    const file = await scenario('commas.yaml', SMALL)
    const over = 'population.mix={ seti: 100 % },{ seti: 50 %, diurnal: 50 % }'
    const { variants } = JSON.parse((await sim(['sweep', file, '--over', over, '--dry-run', '-o', 'json'])).out)
    assert.deepEqual(
      variants.map(({ scenario: { population } }: { scenario: { population: { mix: unknown[] } } }) => population.mix.length),
      [1, 2]
    )
  })

  it('show what was run when they are stopped', async () => {
    const file = await scenario('slow.yaml', SMALL)
    const { status, out } = await sim(['compare', file, file, '--seeds', '2'], true)
    assert.equal(status, EXIT.interrupted)
    assert.match(out, /days of 0\.3, then stopped/)
    assert.match(out, /\nnot whole: slow, seed 1 reached \d+ min of 6 h; it is in no mean\nstopped; not begun: 3 of 4 runs\n$/)
    assert.doesNotMatch(out, /±/)
    const { beside, unfinished } = JSON.parse((await sim(['compare', file, file, '-o', 'json'], true)).out)
    assert.deepEqual([beside.length, unfinished.length], [0, 2])
  })
})

it('two files of one name are told apart', async () => {
  await mkdir(join(folder, 'other'), { recursive: true })
  const [one, other] = [await scenario('same.yaml', SMALL), await scenario('other/same.yaml', SMALL)]
  const { variants } = JSON.parse((await sim(['compare', one, other, other, '--dry-run', '-o', 'json'])).out)
  assert.deepEqual(
    variants.map(({ name }: { name: string }) => name),
    [one, other, `${other} (2)`]
  )
})

describe('talko sim replay', () => {
  it('runs a report again, from JSON or a page, and compares the hash', async () => {
    const file = await scenario('again.yaml', `${SMALL}variants: [{ name: one, set: { policy.quorum: 1 } }, { name: two, set: {} }]\n`)
    const [json, html] = [join(folder, 'again.json'), join(folder, 'again.html')]
    await sim(['run', file, '--json', json, '--html', html])
    // What it was made of lies in the report.
    await rm(file)
    for (const report of [json, html]) {
      const { status, out } = await sim(['replay', report])
      assert.equal(status, EXIT.ok, out)
      assert.match(out, /^one, seed 1: the same, hash [0-9a-f]{16}\ntwo, seed 1: the same, hash [0-9a-f]{16}\n$/)
    }
    const text = await readFile(json, 'utf8')
    await writeFile(json, text.replace(/"hash":"[0-9a-f]{16}"/, '"hash":"0123456789abcdef"'))
    const { status, out } = await sim(['replay', json])
    assert.equal(status, EXIT.checkFailed)
    assert.match(out, /one, seed 1: not the same: hash 0123456789abcdef then, /)
    const stopped = await sim(['replay', json], true)
    assert.equal(stopped.status, EXIT.interrupted)
    assert.match(stopped.out, /^one, seed 1: stopped in run 1 of 2, at day 0\.\d\d of 0\.25; its hash is not known\n$/)
    assert.match((await sim(['replay', json, '--dry-run'])).err, /would run .*again\.yaml \(one\), seed 1, hash 0123456789abcdef/)
  })

  it('tells the story of a case that a failure left', async () => {
    const file = await scenario('case.json', JSON.stringify({ seed: 1, nodes: [], batches: [], faults: [], hostile: 0, faultsMs: 1000 }))
    const { status, out } = await sim(['replay', file])
    assert.equal(status, EXIT.ok, out)
    assert.match(out, /^0 nodes .*\n[\s\S]*in the end: all was well\nhash /)
    assert.match((await sim(['replay', file, '--dry-run'])).err, /would run the case of seed 1: 0 nodes, 0 faults/)
  })
})

it('what makes no sense is refused with status 2 and one line', async () => {
  const file = await scenario('wrong.yaml', 'name: x\nlength: 6 h\nhosts: many\n')
  const malformed = await scenario('malformed.json', JSON.stringify({ seed: 1, nodes: [{}], batches: [], faults: [], hostile: 0, faultsMs: 1000 }))
  const small = await scenario('small.yaml', SMALL)
  const varied = await scenario('varied.yaml', `${SMALL}variants:\n  - { name: a, set: {} }\n  - { name: b, set: { length.x: 3 } }\n`)
  const cases: readonly (readonly [words: readonly string[], says: RegExp])[] = [
    [['run', file], /wrong\.yaml:3: hosts: a whole number from 1 to 2000000 is expected, not "many"/],
    [['run'], /missing required argument 'scenario'/],
    [['run', 'nonsense'], /no scenario that comes with talko is called "nonsense"; there are liars, .*, and a file of yours is \.\/nonsense\.yaml/],
    [['run', small, '--set', 'hosts.x=3'], /--set hosts\.x=3: small\.yaml, as changed: hosts\.x: hosts is one value and has no keys/],
    [['run', small, '--hosts', '-5'], /--hosts -5: small\.yaml, as changed: hosts: a whole number from 1 to 2000000 is expected, not -5/],
    [['run', small, '--set', 'policy=['], /--set policy=\[: small\.yaml, as changed: policy: "\[" is no value: /],
    [['run', varied], /varied\.yaml:6: variant "b": length\.x: length is one value and has no keys/],
    [['run', small, '--html', '/nodir/x.html'], /--html \/nodir\/x\.html: there is no folder \/nodir/],
    [['run', small, '--json', folder], /--json .*: it is a folder, a file is expected/],
    [['run', small, '--csv', '-'], /--csv -: the name of a file is expected; `-o json` prints/],
    [['sweep', small, '--over', 'policy.quorum=1,x'], /--over policy\.quorum=x: small\.yaml, as changed: policy\.quorum: a whole number/],
    [['run', join(folder, 'none.yaml')], /none\.yaml: cannot be read/],
    [['run', small, '--set', 'x'], /--set x: key=value is expected/],
    [['run', small, '--set', 'policy.quorums=1'], /small\.yaml, as changed: policy: unknown key "quorums"; allowed: quorum, /],
    [['run', small, '--set', 'line.sends=1 GB'], /small\.yaml, as changed: line\.sends: a speed such as 100 Mbit\/s, .* is expected, not "1 GB"; units: /],
    [['run', small, '--seed', 'x'], /--seed is a whole number/],
    [['run', small, '--sed', '1'], /unknown option '--sed'/],
    [['compare', small], /2 scenarios or more/],
    [['sweep', small], /required option '--over/],
    [['sweep', small, '--over', 'x=1', '--seeds', '0'], /--seeds is a whole number/],
    [['sweep', small, '--over', 'x'], /--over x: key=value,value is expected/],
    [['replay', malformed], /malformed\.json is neither a report .* nor a case: nodes\[0\]\.name: text is expected, not nothing/],
    [['replay', small], /neither a report of talko sim \(JSON or HTML\) nor a case/]
  ]
  for (const [words, says] of cases) {
    const { status, out, err } = await sim(words)
    assert.equal(status, EXIT.usage, err)
    assert.match(err, says)
    assert.match(err, /^talko: .*\n$/)
    assert.equal(out, '')
  }
})
