/** A report as one page that needs nothing else: the answer first, then pictures. Pure. */
import { DAY_MS, HOUR_MS } from './availability.ts'
import { barChart, escapeText, label, lineChart } from './chart.ts'
import type { Sample } from './meters.ts'
import type { Report } from './report.ts'

const STYLE = `:root{--ink:#16202c;--dim:#64707d;--page:#fbfbf9;--card:#fff;--line:#e6e6e1;--a:#0f766e;--b:#c2410c;--c:#4f46e5;--d:#a16207}
@media(prefers-color-scheme:dark){:root{--ink:#e8ecef;--dim:#94a0ab;--page:#11161b;--card:#1a2128;--line:#2c353e;--a:#2dd4bf;--b:#fb923c;--c:#a5b4fc;--d:#facc15}}
*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);font:15px/1.45 system-ui,sans-serif}
main{max-width:1200px;margin:0 auto;padding:28px 20px 60px}h1{margin:0;font-size:26px}p.question{margin:4px 0 20px;color:var(--dim);font-size:17px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:12px;margin-bottom:16px}
.tiles div,figure{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 14px;margin:0}
.tiles b{display:block;font-size:24px;font-variant-numeric:tabular-nums}.tiles span{color:var(--dim);font-size:13px}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(420px,100%),1fr));gap:14px}
figcaption{margin-bottom:6px}figcaption small{color:var(--dim)}figcaption span{margin-left:12px;font-size:13px;color:var(--dim)}figcaption i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:4px}
svg{display:block;width:100%;height:auto}svg line{stroke:var(--line)}svg text{fill:var(--dim);font-size:11px}
table{border-collapse:collapse;margin-top:18px;font-size:13px}td{padding:2px 16px 2px 0;border-bottom:1px solid var(--line)}td+td{text-align:right;font-variant-numeric:tabular-nums}`

export function htmlOf(report: Report): string {
  const { name, question } = report
  return pageOf({ name, question }, `${tiles(report)}<div class="charts">${charts(report)}</div>${facts(report)}`)
}

/** A page that needs nothing else. */
export function pageOf({ name, question }: { readonly name: string; readonly question: string }, body: string): string {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${escapeText(name)}</title><style>${STYLE}</style>`
  const title = `<h1>${escapeText(name)}</h1><p class="question">${escapeText(question)}</p>`
  return `<!doctype html><html lang="en"><head>${head}</head><body><main>${title}${body}</main></body></html>\n`
}

function tiles({ totals, turnaroundMs, reachedMs, lengthMs, samples }: Report): string {
  const days = reachedMs / DAY_MS
  const online = samples.reduce((sum, sample) => sum + sample.online, 0) / Math.max(1, samples.length)
  const part = (some: number, all: number): string => (all === 0 ? '–' : `${Number(((100 * some) / all).toPrecision(3))} %`)
  const cells: readonly (readonly [string, string])[] = [
    [label(totals.ready / days), `tasks ready a day, over ${label(days)} days${reachedMs < lengthMs ? ', then stopped' : ''}`],
    [hours(turnaroundMs.p50), `half of the tasks took no longer; 95 % within ${hours(turnaroundMs.p95)}`],
    [label(totals.leased / Math.max(1, totals.ready)), 'replicas for each task'],
    [
      label(totals.wrong),
      `wrong answers accepted (${part(totals.wrong, totals.ready)}); ${part(totals.reportedWrong, totals.reported)} of the results were wrong`
    ],
    [part(totals.failed, totals.ready + totals.failed), `of the tasks failed (${label(totals.failed)})`],
    [label(online), `hosts online on average; ${label(totals.arrived)} came, ${label(totals.left)} left`]
  ]
  return `<div class="tiles">${cells.map(([value, text]) => `<div><b>${value}</b><span>${escapeText(text)}</span></div>`).join('')}</div>`
}

function charts({ samples, turnaround }: Report): string {
  const days = samples.map(({ atMs }) => atMs / DAY_MS)
  const of = (pick: (sample: Sample) => number): number[] => samples.map(pick)
  const rate = (pick: (sample: Sample) => number, perMs: number): number[] =>
    samples.map((sample, index) => {
      const before = samples[index - 1]
      return before === undefined ? 0 : ((pick(sample) - pick(before)) / (sample.atMs - before.atMs)) * perMs
    })
  const total = turnaround.reduce((sum, { count }) => sum + count, 0)
  return [
    lineChart({ title: 'Throughput', unit: 'an hour' }, days, [
      { name: 'tasks ready', colour: 'var(--a)', values: rate(({ ready }) => ready, HOUR_MS) },
      { name: 'results reported', colour: 'var(--c)', values: rate(({ reported }) => reported, HOUR_MS) }
    ]),
    lineChart({ title: 'Hosts', unit: 'at a time' }, days, [
      { name: 'online', colour: 'var(--a)', values: of(({ online }) => online) },
      { name: 'leases held', colour: 'var(--c)', values: of(({ held }) => held) }
    ]),
    barChart(
      { title: 'Turnaround', unit: '% of the tasks' },
      turnaround.map(({ toMs, count }) => ({ label: hours(toMs), value: (100 * count) / Math.max(1, total) })),
      'var(--a)'
    ),
    lineChart({ title: 'Queue', unit: 'tasks that wait for a host' }, days, [{ name: 'waiting', colour: 'var(--d)', values: of(({ waiting }) => waiting) }]),
    lineChart({ title: 'Replication', unit: 'replicas leased for each task that got ready' }, days, [
      { name: 'so far', colour: 'var(--c)', values: of(({ leased, ready }) => (ready === 0 ? 0 : leased / ready)) }
    ]),
    lineChart({ title: 'Work that came to nothing', unit: 'replicas an hour' }, days, [
      { name: 'failed and said so', colour: 'var(--d)', values: rate(({ errors }) => errors, HOUR_MS) },
      { name: 'taken back', colour: 'var(--c)', values: rate(({ cancelled }) => cancelled, HOUR_MS) },
      { name: 'wrong', colour: 'var(--b)', values: rate(({ reportedWrong }) => reportedWrong, HOUR_MS) }
    ]),
    lineChart({ title: 'Wrong answers accepted', unit: 'so far' }, days, [{ name: 'wrong', colour: 'var(--b)', values: of(({ wrong }) => wrong) }]),
    lineChart({ title: 'Coordinator', unit: 'events a second' }, days, [{ name: 'events', colour: 'var(--c)', values: rate(({ applied }) => applied, 1000) }]),
    lineChart({ title: 'Moved', unit: 'MB a second' }, days, [{ name: 'bytes', colour: 'var(--a)', values: rate(({ movedBytes }) => movedBytes / 1e6, 1000) }])
  ].join('')
}

function facts({ seed, hash, hosts, totals }: Report): string {
  const rows = Object.entries({ seed, hash, 'hosts at first': hosts, ...totals })
  return `<details><summary>All counts</summary><table>${rows.map(([key, value]) => `<tr><td>${escapeText(key)}</td><td>${escapeText(String(value))}</td></tr>`).join('')}</table></details>`
}

function hours(ms: number): string {
  return ms < HOUR_MS ? `${label(ms / 60_000)} min` : `${label(ms / HOUR_MS)} h`
}
