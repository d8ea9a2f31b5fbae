/** What came of a study in lines, and its samples as CSV. Pure. */
import { DAY_MS } from './availability.ts'
import { tableOf, wholeSeeds } from './compare.ts'
import { type FigureName, figureOf, showFigure, showTime, workOf } from './figures.ts'
import type { Sample } from './meters.ts'
import { answerTo, remarksOf } from './remarks.ts'
import type { Report } from './report.ts'
import { DISAGREES } from './second-model.ts'
import type { Failure } from './shrink.ts'
import type { StudiedVariant, Study } from './study.ts'

export function linesOf(study: Study): readonly string[] {
  const { name, question, variants } = study
  const [first] = variants
  const [only] = first?.reports ?? []
  const answer = answerTo(study)
  const head = [name, ...(question === '' ? [] : [question]), ...(answer === '' ? [] : [answer]), '']
  const remarks = remarksOf(study)
  if (first === undefined || only === undefined) return [...head, 'nothing was run', ...remarks]
  const seeds = wholeSeeds(variants)
  // The only one, or the first of several, which was stopped.
  if (study.runs === 1 || seeds === 0) return [...head, ...linesOfRun(only, study), ...remarks]
  const note =
    seeds === 1
      ? 'one seed: what is chance is not known; give --seeds for more'
      : `${seeds} seeds; ± holds the true mean 95 times in 100, * marks a difference from the first that is clear of chance`
  const checked = variants.reduce((sum, { reports }) => reports.reduce((of, { totals }) => of + totals.checked, sum), 0)
  const complaints = variants.flatMap(({ reports }) => reports.map(({ complaint }) => complaint))
  return [...head, ...tableOf(variants), note, ...remarks, ...(checked > 0 ? [`checked: ${agreedOn(checked, complaints)}`] : [])]
}

/** `1 host`, `2,000 hosts`. */
export function counted(count: number, thing: string): string {
  return `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`
}

function agreedOn(tasks: number, complaints: readonly (string | null)[]): string {
  const agreed = !complaints.some((complaint) => complaint?.includes(DISAGREES) === true)
  return `${counted(tasks, 'task')} to ${tasks === 1 ? 'its' : 'their'} end by a second model of the rules, at every commit; ${agreed ? 'it agreed' : 'of one more it says otherwise than the coordinator'}`
}

function linesOfRun(report: Report, { commit, node }: Study): readonly string[] {
  const { seed, hash, reachedMs, lengthMs, hosts, totals, turnaroundMs, samples } = report
  const online = samples.reduce((sum, sample) => sum + sample.online, 0) / Math.max(1, samples.length)
  const days = reachedMs / DAY_MS
  const per = (part: number, of: number): string => (of === 0 ? '-' : `${((100 * part) / of).toFixed(2)} %`)
  const wasted = workOf(report).filter((one) => one.wasted && one.share >= 0.001)
  return [
    `${days.toFixed(1)} days${reachedMs < lengthMs ? ` of ${(lengthMs / DAY_MS).toFixed(1)}, then stopped` : ''}; ${counted(hosts, 'host')} at first, ${totals.arrived} came, ${totals.left} left; ${Math.round(online)} online on average`,
    `tasks       ${totals.ready} ready (${Math.round(totals.ready / Math.max(days, 1e-9))} a day), ${totals.failed} failed, ${samples.at(-1)?.waiting ?? 0} waiting`,
    totals.ready === 0
      ? 'turnaround  no task is ready'
      : `turnaround  half within ${showTime(turnaroundMs.p50)}, 95 % within ${showTime(turnaroundMs.p95)}, 99 % within ${showTime(turnaroundMs.p99)}, the last ${showTime(turnaroundMs.last)}`,
    `replicas    ${totals.leased} leased${totals.ready === 0 ? '; ' : ', '}${totals.ready === 0 ? '' : `${(totals.leased / totals.ready).toFixed(2)} for each task; `}${totals.reported} reported, ${totals.errors} failed, ${totals.cancelled} taken back`,
    `wasted      ${wasted.map(({ name, share }) => `${(100 * share).toFixed(1)} % ${name}`).join(', ') || 'nothing'}`,
    `wrong       ${per(totals.reportedWrong, totals.reported)} of the results, ${totals.wrong} accepted (${per(totals.wrong, totals.ready)})`,
    ...(totals.checked > 0 ? [`checked     ${agreedOn(totals.checked, [report.complaint])}`] : []),
    `coordinator ${totals.applied} events, ${totals.commits} commits of ${(totals.changedBytes / 1e6).toFixed(0)} MB`,
    `moved       ${(totals.movedBytes / 1e12).toFixed(2)} TB`,
    ...linesOfLine(report),
    `repeat      seed ${seed}, hash ${hash}, commit ${commit}, Node ${node}`
  ]
}

/** What became of the project's line, where it has one of its own. */
function linesOfLine(report: Report): readonly string[] {
  const { line } = report
  if (line === undefined) return []
  const show = (name: FigureName): string => showFigure(name, figureOf(name, report))
  const parts = [
    ...(line.sendsBytesPerS === null ? [] : [`sends ${show('sendsUse')} of what it can, full ${show('sendsFull')} of the time`]),
    ...(line.receivesBytesPerS === null ? [] : [`receives ${show('receivesUse')}, full ${show('receivesFull')} of the time`]),
    ...(line.inputMs === null ? [] : [`an input takes ${show('input')}, 95 % of them at most ${show('inputMost')}`])
  ]
  return [`line        ${parts.join('; ')}`]
}

/** One line a sample of every run. */
export function csvOf({ variants }: Pick<Study, 'variants'>): string {
  // Runs with a line of the project's own have more columns than those without.
  const first = variants.flatMap(({ reports }) => reports.flatMap(({ samples }) => samples.slice(0, 1)))
  const columns = [...new Set(first.flatMap((sample) => Object.keys(sample)))] as (keyof Sample)[]
  const lines = variants.flatMap(({ name, reports }) =>
    reports.flatMap(({ seed, samples }) => samples.map((sample) => [quoted(name), quoted(String(seed)), ...columns.map((column) => sample[column])].join(',')))
  )
  return `${[['variant', 'seed', ...columns].join(','), ...lines].join('\n')}\n`
}

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** What was not as it must be, with the command that shows it again; undefined when all was well. */
export function failureOf({ variants, commit, node }: Study): string | undefined {
  for (const variant of variants)
    for (const { complaint, seed } of variant.reports)
      if (complaint !== null) return `${complaint}\nrepeat it at commit ${commit}, Node ${node}, with: ${commandOf(variant, seed)}`
  return undefined
}

/** A small run that fails as another did, and the line that repeats it. */
export function storyOf({ variant, report }: Failure, { commit, node }: Pick<Study, 'commit' | 'node'>): string {
  const { complaint, hosts, reachedMs, lengthMs, marks, totals, samples, seed } = report
  const word = { outage: 'the project is away', crowd: 'a crowd comes', exit: 'many leave at once' }
  const at = (ms: number): string => `${showTime(ms).padStart(10)}  `
  const lines = [
    { ms: 0, text: `${hosts} hosts, the first of which say hello` },
    ...marks
      .filter(({ fromMs }) => fromMs <= reachedMs)
      .map(({ kind, fromMs, toMs }) => ({ ms: fromMs, text: `${word[kind]}, for ${showTime(toMs - fromMs)}` })),
    ...thinned(samples).map((sample) => ({
      ms: sample.atMs,
      text: `${sample.online} hosts are there; of ${sample.submitted} tasks ${sample.ready} are ready and ${sample.failed} failed`
    })),
    { ms: reachedMs, text: `${totals.leased} leases so far, ${totals.reported} results, ${totals.reportedWrong} of them wrong; ${complaint ?? 'all was well'}` }
  ].sort((a, b) => a.ms - b.ms)
  return [
    `the smallest run found that fails alike: ${hosts} hosts, ${showTime(lengthMs)}`,
    ...lines.map(({ ms, text }) => at(ms) + text),
    `repeat it at commit ${commit}, Node ${node}, with: ${commandOf(variant, seed)}`
  ].join('\n')
}

const STORY_SAMPLES = 8

function thinned(samples: readonly Sample[]): readonly Sample[] {
  const each = Math.ceil(samples.length / STORY_SAMPLES)
  return samples.filter((_, index) => index % each === 0)
}

function commandOf({ name, file, changes }: Pick<StudiedVariant, 'name' | 'file' | 'changes'>, seed: number | string): string {
  const sets = changes.map(([key, value]) => ` --set ${shell(`${key}=${value}`)}`)
  // What is set already must not be set by the scenario's variants again.
  const alone = name === '' ? '' : ' --set variants=[] --set answer='
  return `talko sim run ${shell(file)}${alone}${sets.join('')} --seed ${seed}`
}

function shell(text: string): string {
  return /^[\w./=:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
