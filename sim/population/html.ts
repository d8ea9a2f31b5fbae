/** What came of a study as one page that needs nothing else: the question and its answer first, then pictures. Pure. */
import { DAY_MS, HOUR_MS } from './availability.ts'
import { barChart, escapeText, label, lineChart, type Shade } from './chart.ts'
import { comparable, isWhole, rowsOf, showCell, wholeSeeds } from './compare.ts'
import { rates, showTime, workOf } from './figures.ts'
import type { Sample } from './meters.ts'
import { shareChart, tailChart, weekChart } from './pictures.ts'
import { answerTo, remarksOf } from './remarks.ts'
import type { Mark, Report } from './report.ts'
import type { StudiedVariant, Study } from './study.ts'
import { READ_OUT, STYLE } from './style.ts'
import { counted } from './text.ts'

/** Of variants, in their order. */
const COLOURS = ['var(--a)', 'var(--b)', 'var(--c)', 'var(--d)', 'var(--e)', 'var(--f)', 'var(--g)', 'var(--h)']
/** Needed work, then the causes of waste. */
const WORK_COLOURS = ['var(--a)', 'var(--c)', 'var(--d)', 'var(--f)', 'var(--b)', 'var(--e)', 'var(--g)', 'var(--h)']

export function htmlOf(study: Study): string {
  const { name, question, variants } = study
  const answer = answerTo(study)
  const [first] = variants
  const [only] = first?.reports ?? []
  const complaint = variants.flatMap(({ reports }) => reports.flatMap((report) => report.complaint ?? []))
  const wrong = complaint.length === 0 ? '' : `<p class="complaint">Not as it must be: ${escapeText(complaint.join('; '))}</p>`
  const body =
    first === undefined || only === undefined
      ? '<p>Nothing was run.</p>'
      : variants.length === 1
        ? `${study.runs === 1 || wholeSeeds(variants) === 0 ? '' : besides(variants)}${tiles(only)}<div class="charts">${charts(only)}</div>`
        : `${besides(variants)}<div class="charts">${chartsBeside(variants)}</div>`
  const remarks = remarksOf(study).map((line) => `<p class="complaint">${escapeText(line)}</p>`)
  return pageOf({ name, question, answer, about: aboutOf(study) }, `${wrong}${remarks.join('')}${body}${facts(study)}${memory(study)}`)
}

export interface Head {
  readonly name: string
  readonly question: string
  readonly answer?: string
  /** How it was made, in a line. */
  readonly about?: string
}

/** A page that needs nothing else. */
export function pageOf({ name, question, answer = '', about = '' }: Head, body: string): string {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="data:,"><title>${escapeText(name)}</title><style>${STYLE}</style>`
  const title = `<header><h1>${escapeText(name)}</h1><p class="question">${escapeText(question)}</p>${answer === '' ? '' : `<p class="answer">${escapeText(answer)}</p>`}${about === '' ? '' : `<p class="about">${escapeText(about)}</p>`}</header>`
  return `<!doctype html><html lang="en"><head>${head}</head><body><main>${title}${body}</main><script>${READ_OUT}</script></body></html>\n`
}

function aboutOf({ variants, commit, node, stopped }: Study): string {
  const [report] = variants[0]?.reports ?? []
  if (report === undefined) return ''
  const seeds = wholeSeeds(variants)
  const { reachedMs, lengthMs, hosts, seed, took, totals } = report
  const time = reachedMs < lengthMs ? `${showTime(reachedMs)} of ${showTime(lengthMs)}${stopped ? ', then stopped' : ''}` : showTime(lengthMs)
  return [
    `${time} simulated in ${showTime(took.seconds * 1000)} (${label(totals.events)} events)`,
    `${counted(hosts, 'host')} at first`,
    seeds > 1 ? `${seeds} seeds from ${seed}; pictures are of the first` : `seed ${seed}`,
    `the real coordinator of commit ${commit}, Node ${node}`
  ].join(' · ')
}

function tiles({ totals, turnaroundMs, reachedMs, samples }: Report): string {
  const online = samples.reduce((sum, sample) => sum + sample.online, 0) / Math.max(1, samples.length)
  const part = (some: number, all: number): string => (all === 0 ? '–' : `${Number(((100 * some) / all).toPrecision(3))} %`)
  const cells: readonly (readonly [string, string])[] = [
    [label(totals.ready / (reachedMs / DAY_MS)), 'tasks ready a day'],
    totals.ready === 0
      ? ['–', 'turnaround: no task is ready']
      : [showTime(turnaroundMs.p50), `turnaround of half of the tasks; 95 % within ${showTime(turnaroundMs.p95)}`],
    [totals.ready === 0 ? '–' : label(totals.leased / totals.ready), 'replicas for each task'],
    [
      label(totals.wrong),
      `wrong answers accepted (${part(totals.wrong, totals.ready)}); ${part(totals.reportedWrong, totals.reported)} of the results were wrong`
    ],
    [part(totals.failed, totals.ready + totals.failed), `of the tasks failed (${label(totals.failed)})`],
    [label(online), `hosts online on average; ${label(totals.arrived)} came, ${label(totals.left)} left`]
  ]
  return `<div class="tiles">${cells.map(([value, text]) => `<div><b>${value}</b><span>${escapeText(text)}</span></div>`).join('')}</div>`
}

/** Measures in rows, variants in columns; a bar shows each beside the greatest of its row. */
function besides(all: readonly StudiedVariant[]): string {
  const variants = comparable(all)
  const head = `<tr><th></th>${variants.map(({ name }, index) => `<th><i style="background:${COLOURS[index % COLOURS.length]}"></i>${escapeText(name)}</th>`).join('')}</tr>`
  const rows = rowsOf(variants).map(({ measure, digits, cells }) => {
    const most = Math.max(...cells.map(({ mean }) => (Number.isNaN(mean) ? 0 : mean)), 1e-12)
    const shown = cells.map((cell, index) => {
      const colour = COLOURS[index % COLOURS.length]
      const [own = '', change = ''] = showCell(cell, digits).split('  ')
      return `<td><b>${own}</b> <small${cell.clear ? ' class="clear"' : ''}>${change}</small><div><span style="width:${((100 * (Number.isNaN(cell.mean) ? 0 : cell.mean)) / most).toFixed(1)}%;background:${colour}"></span></div></td>`
    })
    return `<tr><th>${escapeText(measure)}</th>${shown.join('')}</tr>`
  })
  return `<div class="beside"><table>${head}${rows.join('')}</table></div>`
}

function shadesOf({ marks }: Report): readonly Shade[] {
  const names: Readonly<Record<Mark['kind'], string>> = { outage: 'the coordinator is away', crowd: 'a crowd joins', exit: 'many leave' }
  return marks.map(({ kind, fromMs, toMs }) => ({ name: names[kind], from: fromMs / DAY_MS, to: toMs / DAY_MS }))
}

function daysOf({ samples }: Report): number[] {
  return samples.map(({ atMs }) => atMs / DAY_MS)
}

/** In percent of what the project's line can carry, sample by sample. Without a line nothing. */
function sendsUse({ samples, line }: Report): number[] {
  const bytesPerS = line?.sendsBytesPerS ?? null
  return bytesPerS === null ? [] : rates(samples, ({ sentBytes }) => (100 * (sentBytes ?? 0)) / bytesPerS, 1000)
}

function receivesUse({ samples, line }: Report): number[] {
  const bytesPerS = line?.receivesBytesPerS ?? null
  return bytesPerS === null ? [] : rates(samples, ({ receivedBytes }) => (100 * (receivedBytes ?? 0)) / bytesPerS, 1000)
}

function charts(report: Report): string {
  const { samples, turnaround } = report
  const days = daysOf(report)
  const shades = shadesOf(report)
  const of = (pick: (sample: Sample) => number): number[] => samples.map(pick)
  const rate = (pick: (sample: Sample) => number, perMs: number): number[] => rates(samples, pick, perMs)
  const total = turnaround.reduce((sum, { count }) => sum + count, 0)
  const wasted = [
    { name: 'came back when given up', colour: 'var(--d)', values: rate(({ lateMs }) => lateMs, 1) },
    { name: 'failed', colour: 'var(--f)', values: rate(({ failedMs }) => failedMs, 1) },
    { name: 'wrong', colour: 'var(--b)', values: rate(({ wrongMs }) => wrongMs, 1) },
    { name: 'no longer needed', colour: 'var(--e)', values: rate(({ needlessMs }) => needlessMs, 1) },
    { name: 'began anew', colour: 'var(--g)', values: rate(({ anewMs }) => anewMs, 1) },
    { name: 'left for good', colour: 'var(--h)', values: rate(({ leftMs }) => leftMs, 1) }
  ].filter(({ values }) => values.some((value) => value > 0))
  const lineUse = [
    { name: 'inputs', colour: 'var(--a)', values: sendsUse(report) },
    { name: 'outputs', colour: 'var(--c)', values: receivesUse(report) }
  ].filter(({ values }) => values.length > 0)
  return [
    lineChart(
      { title: 'Throughput', unit: 'an hour' },
      days,
      [
        { name: 'results reported', colour: 'var(--c)', values: rate(({ reported }) => reported, HOUR_MS) },
        { name: 'tasks ready', colour: 'var(--a)', values: rate(({ ready }) => ready, HOUR_MS) }
      ],
      shades
    ),
    lineChart(
      { title: 'Hosts', unit: 'at a time' },
      days,
      [
        { name: 'online', colour: 'var(--a)', values: of(({ online }) => online) },
        { name: 'leases held', colour: 'var(--c)', values: of(({ held }) => held) }
      ],
      shades
    ),
    lineChart(
      { title: 'Queue', unit: 'tasks that wait for a host' },
      days,
      [{ name: 'waiting', colour: 'var(--d)', values: of(({ waiting }) => waiting) }],
      shades
    ),
    lineChart(
      { title: 'Coordinator', unit: 'events a second' },
      days,
      [{ name: 'events', colour: 'var(--c)', values: rate(({ applied }) => applied, 1000) }],
      shades
    ),
    barChart(
      { title: 'Turnaround', unit: '% of the tasks, from submission until the result is held' },
      turnaround.map(({ toMs, count }) => ({ label: showTime(toMs), value: (100 * count) / Math.max(1, total) })),
      'var(--a)'
    ),
    tailChart('Tail of the turnaround', 'share of the tasks that took longer', [{ name: 'tasks', colour: 'var(--b)', bars: turnaround }]),
    weekChart(
      'Day and week',
      'hosts online by the hour, UTC',
      samples.map(({ atMs, online }) => ({ atMs, value: online }))
    ),
    shareChart('What came of the work', 'share of the time that hosts ran', [{ name: '', parts: workOf(report) }], WORK_COLOURS),
    lineChart({ title: 'Wasted work', unit: 'hosts that work for nothing at a time' }, days, wasted, shades),
    lineChart(
      { title: 'Replication', unit: 'replicas leased for each task that got ready' },
      days,
      [{ name: 'so far', colour: 'var(--c)', values: of(({ leased, ready }) => (ready < report.totals.ready / 20 ? 0 : leased / ready)) }],
      shades
    ),
    lineChart({ title: 'Wrong answers accepted', unit: 'so far' }, days, [{ name: 'wrong', colour: 'var(--b)', values: of(({ wrong }) => wrong) }], shades),
    lineChart(
      { title: 'Moved', unit: 'MB a second' },
      days,
      [{ name: 'bytes', colour: 'var(--a)', values: rate(({ movedBytes }) => movedBytes / 1e6, 1000) }],
      shades
    ),
    ...(report.line === undefined ? [] : [lineChart({ title: "The project's line", unit: '% of what it can carry' }, days, lineUse, shades)])
  ].join('')
}

/** A line for each variant: the first seed of each. */
function chartsBeside(variants: readonly StudiedVariant[]): string {
  const runs = variants.flatMap(({ name, reports: [report] }, index) =>
    report === undefined ? [] : [{ name: isWhole(report) ? name : `${name} (not whole)`, report, colour: COLOURS[index % COLOURS.length] ?? '' }]
  )
  const longest = runs.reduce((most, run) => (run.report.samples.length > most.report.samples.length ? run : most), runs[0] as (typeof runs)[number])
  const days = daysOf(longest.report)
  const shades = shadesOf(runs.find(({ report }) => report.marks.length > 0)?.report ?? longest.report)
  const chart = (title: string, unit: string, values: (report: Report) => number[]): string =>
    lineChart(
      { title, unit },
      days,
      runs.map(({ name, colour, report }) => ({ name, colour, values: values(report) })),
      shades
    )
  const rate = (pick: (sample: Sample) => number, perMs: number) => (report: Report) => rates(report.samples, pick, perMs)
  const of = (pick: (sample: Sample) => number) => (report: Report) => report.samples.map(pick)
  const lied = runs.some(({ report }) => report.totals.wrong > 0)
  const isLine = (use: (report: Report) => number[]): boolean => runs.some(({ report }) => use(report).length > 0)
  const wrong = chart(
    'Wrong answers accepted',
    '% of the tasks so far',
    of(({ wrong, ready }) => (ready === 0 ? 0 : (100 * wrong) / ready))
  )
  return [
    ...(lied ? [wrong] : []),
    tailChart(
      'Tail of the turnaround',
      'share of the tasks that took longer',
      runs.map(({ name, colour, report }) => ({ name, colour, bars: report.turnaround }))
    ),
    chart(
      'Throughput',
      'tasks ready an hour',
      rate(({ ready }) => ready, HOUR_MS)
    ),
    chart(
      'Queue',
      'tasks that wait for a host',
      of(({ waiting }) => waiting)
    ),
    shareChart(
      'What came of the work',
      'share of the time that hosts ran',
      runs.map(({ name, report }) => ({ name, parts: workOf(report) })),
      WORK_COLOURS
    ),
    chart('Replication', 'replicas leased for each task that got ready', (report) =>
      report.samples.map(({ leased, ready }) => (ready < report.totals.ready / 20 ? 0 : leased / ready))
    ),
    chart(
      'Hosts online',
      'at a time',
      of(({ online }) => online)
    ),
    weekChart(
      'Day and week',
      'hosts online by the hour, UTC',
      longest.report.samples.map(({ atMs, online }) => ({ atMs, value: online }))
    ),
    chart(
      'Coordinator',
      'events a second',
      rate(({ applied }) => applied, 1000)
    ),
    chart(
      'Moved',
      'MB a second',
      rate(({ movedBytes }) => movedBytes / 1e6, 1000)
    ),
    ...(isLine(sendsUse) ? [chart("The project's line, inputs", '% of what it can carry', sendsUse)] : []),
    ...(isLine(receivesUse) ? [chart("The project's line, outputs", '% of what it can carry', receivesUse)] : []),
    ...(lied ? [] : [wrong])
  ].join('')
}

function facts({ variants }: Study): string {
  const runs = variants.flatMap(({ name, reports }) =>
    reports.map((report) => ({ name: [name, `seed ${report.seed}`].filter((text) => text !== '').join(', '), report }))
  )
  const rows = ['hash', ...new Set(runs.flatMap(({ report }) => Object.keys(report.totals)))].map((key) => {
    const cells = runs.map(({ report }) => (key === 'hash' ? report.hash : (report.totals as Readonly<Record<string, number>>)[key]))
    return `<tr><td>${escapeText(key)}</td>${cells.map((value) => `<td>${escapeText(String(value ?? ''))}</td>`).join('')}</tr>`
  })
  const head = `<tr><td></td>${runs.map(({ name }) => `<td>${escapeText(name)}</td>`).join('')}</tr>`
  return `<details><summary>All counts</summary><div class="wide"><table>${head}${rows.join('')}</table></div></details>`
}

/** What `talko sim replay` needs to do it again. */
function memory(study: Study): string {
  const variants = study.variants.map(({ reports, ...recipe }) => ({
    ...recipe,
    reports: reports.map(({ seed, hash, reachedMs, complaint }) => ({ seed, hash, reachedMs, complaint }))
  }))
  return `<script type="application/json" id="talko-simulation">${JSON.stringify({ ...study, variants }).replaceAll('<', '\\u003c')}</script>`
}
