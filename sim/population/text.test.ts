import assert from 'node:assert/strict'
import { it } from 'node:test'
import { answerFault, answerOf } from './answer.ts'
import { complaintOf } from './checks.ts'
import { figureOf } from './figures.ts'
import { htmlOf } from './html.ts'
import { noTotals } from './meters.ts'
import { answerTo } from './remarks.ts'
import type { Report } from './report.ts'
import { failureOf, linesOf } from './text.ts'

function report(ready: number, complaint: string | null = null): Report {
  const turnaroundMs = { p50: 90_000, p90: 0, p95: 0, p99: 0, last: 0 }
  const took = { seconds: 1, memoryBytes: 2e9 }
  const totals = { ...noTotals(), ready, submitted: ready }
  return { seed: 7, hash: '', complaint, hosts: 5, lengthMs: 1, reachedMs: 1, quorum: 2, totals, turnaroundMs, turnaround: [], marks: [], samples: [], took }
}

it('an answer has the figures of its variants', () => {
  const runs = new Map([
    ['a', [report(12_345)]],
    ['b: c', [report(7), report(8)]]
  ])
  assert.equal(answerOf('{ready} or {b: c: ready}, {half}, {memory}', runs), '12,345 or 7.5, 1.5 min, 2 GB')
  assert.equal(answerOf('{d: ready}', runs), '')
  assert.equal(answerFault('{ready} {b: c: ready}', ['a', 'b: c']), undefined)
  assert.match(answerFault('{a: ready}', []) ?? '', /no variant is called "a"; there are none/)
})

it('what cannot be is a complaint', () => {
  const totals = noTotals()
  assert.equal(complaintOf(totals), undefined)
  assert.equal(complaintOf({ ...totals, ready: 1 }), 'of 0 tasks 1 are ready and 0 failed')
  assert.equal(complaintOf({ ...totals, submitted: 1, ready: 1, wrong: 1 }), 'no result is wrong, but 1 of the accepted ones are')
})

it('tells of all variants together how many tasks a second model followed', () => {
  const checked = { ...report(3), totals: { ...report(3).totals, checked: 3 } }
  const variant = (name: string, reports: Report[]) => ({ name, file: 'f', source: '', changes: [], trace: null, reports })
  const study = { v: 1, kind: 'talko simulation', name: '', question: '', answer: '', commit: '', node: '', stopped: false, runs: 2 } as const
  const last = (reports: Report[]): string | undefined => linesOf({ ...study, variants: [variant('a', reports), variant('b', reports)] }).at(-1)
  assert.equal(last([checked]), 'checked: 6 tasks to their end by a second model of the rules, at every commit; it agreed')
  assert.match(last([report(3)]) ?? '', /^one seed/)
  const disagrees = { ...study, runs: 1, variants: [variant('', [{ ...checked, complaint: 'Error: the second model disagrees: so' }])] }
  assert.match(linesOf(disagrees).join('\n'), /\nchecked +3 tasks to their end .*; of one more it says otherwise than the coordinator\n/)
})

it('shows what was completed of a study that was stopped, and what was not', () => {
  const [whole, cut] = [report(10), { ...report(4), lengthMs: 4 * 3_600_000, reachedMs: 3_600_000 }]
  const variant = (name: string, reports: Report[]) => ({ name, file: 'f', source: '', changes: [], trace: null, reports })
  const study = { v: 1, kind: 'talko simulation', name: 'n', question: '', commit: '', node: '', stopped: true } as const
  const three = { ...study, answer: '{a: ready} and {b: ready}', runs: 3, variants: [variant('a', [whole]), variant('b', [cut])] }
  const lines = linesOf(three)
  assert.match(lines.join('\n'), /^n\n\n +a\ntasks ready a day /)
  assert.deepEqual(lines.slice(-2), ['not whole: b, seed 7 reached 1 h of 4 h; it is in no mean', 'stopped; not begun: 1 of 3 runs'])
  assert.match(htmlOf(three), /<p class="complaint">not whole: b, seed 7 .*<th>.*>a<\/th>.*b \(not whole\)/)
  assert.equal(answerTo({ ...three, variants: [variant('a', [whole, cut]), variant('b', [whole])] }), '10 and 10')
  assert.equal(answerTo({ ...three, variants: [variant('a', [report(10), report(20), cut]), variant('b', [whole, whole])] }), '15 and 10 (Means of 2 seeds.)')
  const first = { ...three, variants: [variant('a', [whole])] }
  assert.match(linesOf(first).join('\n'), /^n\n\n +a\ntasks ready a day .*\n(?:.*\n)+stopped; not begun: 2 of 3 runs$/)
  assert.match(htmlOf(first), /<div class="beside"><table>.*>a<\/th>/)
  const alone = { ...study, answer: '{ready} tasks', runs: 1, variants: [variant('', [cut])] }
  assert.equal(answerTo(alone), 'After 1 h of 4 h: 4 tasks')
  assert.match(linesOf(alone).join('\n'), /then stopped/)
})

it('a run in which nothing got ready says so, and one thing is one', () => {
  const none = { ...report(0), hosts: 1, totals: { ...noTotals(), leased: 40 } }
  const study = { v: 1, kind: 'talko simulation', name: 'n', question: '', commit: '', node: '', stopped: false, runs: 1 } as const
  const one = { ...study, answer: '{half}, {replicas}', variants: [{ name: '', file: 'f', source: '', changes: [], trace: null, reports: [none] }] }
  const lines = linesOf(one).join('\n')
  assert.match(lines, /^n\n-, -\n\n.*; 1 host at first, /)
  assert.match(lines, /\nturnaround {2}no task is ready\nreplicas {4}40 leased; 0 reported/)
  assert.match(htmlOf(one), /1 host at first/)
  const two = {
    ...one,
    runs: 2,
    variants: ['a', 'b'].map((name) => ({ ...one.variants[0], name, file: 'f', source: '', changes: [], trace: null, reports: [none] }))
  }
  assert.doesNotMatch(linesOf(two).join('\n'), /turnaround, half within \(h\) +0|NaN/)
  assert.doesNotMatch(htmlOf(two), /NaN/)
})

it('the worst day and the best are of all whole days, and of less than one there is its pace', () => {
  const day = 86_400_000
  const sample = (atMs: number, ready: number) => ({ ...noTotals(), atMs, ready, online: 0, held: 0, waiting: 0 })
  const three = { ...report(60), reachedMs: 3 * day, samples: [sample(1000, 0), sample(day + 1000, 10), sample(2 * day + 1000, 40)] }
  assert.deepEqual([figureOf('worstDay', three), figureOf('readyPerDay', three), figureOf('bestDay', three)], [10, 20, 30])
  const half = { ...report(60), reachedMs: day / 2, samples: [sample(1000, 0)] }
  assert.deepEqual([figureOf('worstDay', half), figureOf('readyPerDay', half), figureOf('bestDay', half)], [120, 120, 120])
})

it('a failure says how it is repeated', () => {
  const variant = {
    name: 'one vote',
    file: "it's.yaml",
    source: '',
    changes: [['policy.quorum', '1']] as const,
    trace: null,
    reports: [report(1), report(2, 'lost one')]
  }
  const study = {
    v: 1,
    kind: 'talko simulation',
    name: '',
    question: '',
    answer: '',
    commit: 'abc',
    node: 'v24',
    stopped: false,
    runs: 2,
    variants: [variant]
  } as const
  assert.equal(
    failureOf(study),
    "lost one\nrepeat it at commit abc, Node v24, with: talko sim run 'it'\\''s.yaml' --set variants=[] --set answer= --set policy.quorum=1 --seed 7"
  )
  assert.equal(failureOf({ ...study, variants: [{ ...variant, reports: [report(1)] }] }), undefined)
})
