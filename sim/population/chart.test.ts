import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { barChart, escapeText, label, lineChart } from './chart.ts'

const values = fc.array(fc.double({ min: 0, max: 1e12, noNaN: true }), { minLength: 0, maxLength: 50 })

it('any numbers make a chart within its frame', () => {
  fc.assert(
    fc.property(values, values, (first, second) => {
      const xs = first.map((_, index) => index / 24)
      const series = [first, second].map((list, index) => ({ name: `line ${index}`, colour: 'red', values: list }))
      for (const svg of [
        lineChart({ title: 'a', unit: 'b' }, xs, series),
        barChart(
          { title: 'a', unit: 'b' },
          first.map((value) => ({ label: 'x', value })),
          'red'
        )
      ]) {
        assert.doesNotMatch(svg, /NaN|Infinity|undefined/)
        for (const [, y] of svg.matchAll(/[\d.]+,(-?[\d.]+)/g)) assert.ok(Number(y) >= 7 && Number(y) <= 179, `${y}`)
      }
    })
  )
})

it('numbers are short, text is harmless', () => {
  assert.equal(label(1_234_567), '1.23 M')
  assert.equal(label(0.5), '0.5')
  assert.equal(escapeText('<a href="x">&\''), '&#60;a href=&#34;x&#34;&#62;&#38;&#39;')
})
