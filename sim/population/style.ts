/** How pages look, and what they do when one points at a line. */
import { AREA, WIDTH } from './chart.ts'

export const STYLE = `:root{color-scheme:light dark;--ink:#16202c;--dim:#5d6874;--page:#f7f7f4;--card:#fff;--line:#e7e7e2;--shade:#c2410c;--on:#fff;
--a:#0f766e;--b:#c2410c;--c:#4f46e5;--d:#ca8a04;--e:#0284c7;--f:#be185d;--g:#65a30d;--h:#78716c}
@media(prefers-color-scheme:dark){:root{--ink:#e8ecef;--dim:#97a3ae;--page:#11161b;--card:#1a2128;--line:#2c353e;--shade:#fb923c;--on:#11161b;
--a:#2dd4bf;--b:#fb923c;--c:#a5b4fc;--d:#facc15;--e:#7dd3fc;--f:#f9a8d4;--g:#bef264;--h:#a8a29e}}
*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1240px;margin:0 auto;padding:24px 20px 60px}
h1{margin:0;font-size:15px;font-weight:600;color:var(--a);letter-spacing:.02em}
p.question{margin:2px 0 12px;font-size:25px;line-height:1.25;font-weight:650;text-wrap:balance}p.question::first-letter{text-transform:uppercase}
p.answer{margin:0 0 10px;padding:12px 16px;background:var(--card);border:1px solid var(--line);border-left:4px solid var(--a);border-radius:8px;font-size:17px;line-height:1.5}
p.about{margin:0 0 14px;color:var(--dim);font-size:12.5px}
p.complaint{padding:12px 16px;border-radius:8px;background:var(--b);color:var(--on);font-weight:600}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:12px;margin-bottom:14px}
.tiles div,figure,.beside{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 14px;margin:0}
.tiles b{display:block;font-size:24px;line-height:1.2;font-variant-numeric:tabular-nums}.tiles span{color:var(--dim);font-size:13px;line-height:1.35;display:block}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(440px,100%),1fr));gap:14px}
figcaption{margin-bottom:6px;min-height:22px}figcaption small{color:var(--dim)}figcaption span{margin-left:12px;font-size:13px;color:var(--dim);white-space:nowrap}
i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:5px}
figcaption output{float:right;font-size:12.5px;color:var(--ink);font-variant-numeric:tabular-nums}
svg{display:block;width:100%;height:auto}svg line{stroke:var(--line)}svg text{fill:var(--dim);font-size:11px}svg text.on{fill:var(--on);font-weight:600}
svg .shade{fill:var(--shade);opacity:.13}svg line.here{stroke:var(--dim);stroke-dasharray:3 3}
.beside{overflow-x:auto;margin-bottom:14px;padding:6px 14px}.beside table{width:100%;border-collapse:collapse;font-size:13.5px}
.beside th{text-align:left;font-weight:600;padding:5px 14px 5px 0;white-space:nowrap}.beside tr+tr>th{font-weight:400;color:var(--dim)}
.beside td{padding:4px 18px 4px 0;min-width:150px;font-variant-numeric:tabular-nums}.beside tr+tr>*{border-top:1px solid var(--line)}
.beside td div{height:4px;margin-top:2px;border-radius:2px;background:var(--line)}.beside td div span{display:block;height:4px;border-radius:2px}
.beside small{color:var(--dim)}.beside small.clear{color:var(--ink);font-weight:600}
details{margin-top:18px;color:var(--dim)}summary{cursor:pointer}.wide{overflow-x:auto}
details table{border-collapse:collapse;margin-top:8px;font-size:13px}details td{padding:2px 16px 2px 0;border-bottom:1px solid var(--line)}details td+td{text-align:right;font-variant-numeric:tabular-nums}`

/** Values of a line chart where the mouse is. */
export const READ_OUT = `for (const svg of document.querySelectorAll('svg[data-scale]')) {
  const [from, to, top] = svg.dataset.scale.split(' ').map(Number)
  const lines = [...svg.querySelectorAll('polyline')].map((line) => ({ name: line.dataset.name, points: [...line.points] }))
  const out = svg.parentElement.querySelector('figcaption').appendChild(document.createElement('output'))
  const here = document.createElementNS(svg.namespaceURI, 'line')
  here.setAttribute('class', 'here')
  const box = ${JSON.stringify(AREA)}
  const show = (value) => Number(value.toPrecision(3)).toLocaleString('en')
  svg.addEventListener('pointerleave', () => { out.textContent = ''; here.remove() })
  svg.addEventListener('pointermove', (event) => {
    const rect = svg.getBoundingClientRect()
    const x = Math.min(box.right, Math.max(box.left, (event.clientX - rect.left) * ${WIDTH} / rect.width))
    const near = (points) => points.reduce((best, point) => Math.abs(point.x - x) < Math.abs(best.x - x) ? point : best)
    const parts = lines.filter(({ points }) => points.length > 0).map(({ name, points }) => name + ' ' + show((box.bottom - near(points).y) / (box.bottom - box.top) * top))
    out.textContent = show(from + (x - box.left) / (box.right - box.left) * (to - from)) + ': ' + parts.join(', ')
    for (const [key, value] of Object.entries({ x1: x, x2: x, y1: box.top, y2: box.bottom })) here.setAttribute(key, value)
    svg.append(here)
  })
}`
