import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { HOUR_MS } from './availability.ts'
import { planRun } from './plan.ts'
import { type Failure, shrink } from './shrink.ts'
import { conduct, play, type StudyPorts } from './study.ts'
import { storyOf } from './text.ts'

const SCENARIO = `name: much at once
length: 2 d
hosts: 150
population:
  liars: { share: 10 %, collude: 50 % }
  crowds: [{ at: 5 h, for: 1 h, times: 1000 }, { at: 20 h, for: 1 h, times: 5 }]
  exits: [{ at: 9 h, for: 1 h, share: 10 % }]
outages: [{ at: 3 h, for: 1 h }]
workload: { runtime: 30 min }
`

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'talko-shrink-'))
  await writeFile(join(folder, 's.yaml'), SCENARIO)
})
after(() => rm(folder, { recursive: true }))

function portsWith(complaintOf: NonNullable<StudyPorts['complaintOf']>): StudyPorts {
  const { signal } = new AbortController()
  return { nowMs: () => 0, memoryBytes: () => 0, breathe: async () => {}, signal, progress() {}, commit: 'abc', complaintOf }
}

async function failed(ports: StudyPorts): Promise<Failure> {
  const plan = await planRun(join(folder, 's.yaml'), { changes: [], seed: 5, seeds: 1 })
  const [variant] = plan.variants
  const [report] = (await conduct(plan, ports)).variants[0]?.reports ?? []
  assert.ok(variant && report && report.complaint !== null)
  return { variant, report }
}

describe('a population in which something is wrong', () => {
  it('is made small: what has nothing to do with it goes, and the line that is printed repeats it', async () => {
    const ports = portsWith(({ reported, hellos }) => (reported >= 4 ? `planted: ${reported} results after ${hellos} hellos` : undefined))
    const failure = await failed(ports)
    const { variant, report } = await shrink(failure, ports)
    assert.match(report.complaint ?? '', /^planted/)
    assert.ok(report.hosts <= 15, `${report.hosts} hosts are left of 150`)
    assert.ok(report.lengthMs <= 6 * HOUR_MS, `${report.lengthMs} ms`)
    const { written } = variant
    assert.deepEqual([written.outages, written.population.crowds, written.population.exits, written.population.liars.share], [[], [], [], 0])
    const again = await shrink(failure, ports)
    assert.deepEqual([again.report.hash, again.variant.changes], [report.hash, variant.changes])
    const repeated = await play(variant, report.seed, null, ports, { run: 1, runs: 1 })
    assert.deepEqual([repeated.hash, repeated.complaint], [report.hash, report.complaint])
    const story = storyOf({ variant, report }, { commit: 'abc', node: 'v1' }).split('\n')
    assert.match(story.at(-1) ?? '', /^repeat it at commit abc, Node v1, with: talko sim run .*s\.yaml .*--set 'length=\d+ s'.* --seed 5$/)
    assert.ok(story.length <= 20 && story.some((line) => line.includes('planted')), story.join('\n'))
  })

  it('keeps what it takes: of two crowds the one that does it', async () => {
    const ports = portsWith(({ arrived }) => (arrived > 15 ? `planted: ${arrived} came` : undefined))
    const failure = await failed(ports)
    const { variant, report } = await shrink(failure, ports)
    const { outages, population } = variant.written
    assert.deepEqual([outages, population.exits, population.crowds.length, population.crowds[0]?.times], [[], [], 1, 1000])
    assert.match(storyOf({ variant, report }, { commit: 'abc', node: 'v1' }), /a crowd comes, for 1 h/)
  })

  it('is left as it is when it is stopped, or nothing smaller fails alike', async () => {
    const ports = portsWith(({ reported }) => (reported >= 4 ? 'planted' : undefined))
    const failure = await failed(ports)
    assert.equal(await shrink(failure, { ...ports, signal: AbortSignal.abort() }), failure)
    assert.equal(
      await shrink(
        failure,
        portsWith(() => 'something else')
      ),
      failure
    )
  })
})
