/** The reports of the scenarios that come with talko, small, in a real browser: drawn without errors, and the answer where one looks first. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { conduct, htmlOf, planRun, shipped } from '../../sim/main.ts'
import { openPage } from '../support/browser.ts'

/** A chart that one can read. */
const CHART_PX_MIN = 100
const SMALL: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'media-day': [['population.crowds', '[{ at: 4 h, for: 2 h, grows: 5 }]']],
  'weekend-outage': [['outages', '[{ at: 4 h, for: 2 h }]']],
  'slow-tail': [['workload.every', '6 h']]
}

async function pageOf(name: string): Promise<string> {
  const waiting = name === 'slow-tail' ? [] : ([['workload.waiting', '20']] as const)
  const changes = [['hosts', '60'], ['length', '12 h'], ['workload.tasks', '20'], ['workload.runtime', '20 min'], ...waiting, ...(SMALL[name] ?? [])] as const
  const plan = await planRun(name, { changes, seed: 1, seeds: 1 })
  return htmlOf(await conduct(plan, { nowMs: () => 0, signal: new AbortController().signal, progress: () => undefined }))
}

describe('a report in Chromium', async () => {
  for (const { file, question } of await shipped())
    it(file, async () => {
      const { errors, loaded, boxes, texts, window, pageWidth } = await openPage(await pageOf(file), [
        'svg',
        'p.question',
        'p.answer',
        '.tiles, .beside',
        'figcaption'
      ])
      assert.deepEqual(errors, [])
      assert.deepEqual(loaded, [])
      assert.ok((boxes.svg ?? []).length >= 9)
      for (const [index, { width, height }] of (boxes.svg ?? []).entries())
        assert.ok(width >= CHART_PX_MIN && height >= CHART_PX_MIN, `${texts.figcaption?.[index]}: ${width} x ${height}`)
      assert.deepEqual(texts['p.question'], [question])
      assert.match(texts['p.answer']?.[0] ?? '', /\d/)
      for (const selector of ['p.question', 'p.answer', '.tiles, .beside']) {
        const [box] = boxes[selector] ?? []
        assert.ok(
          box !== undefined && box.height > 0 && box.top >= 0 && box.bottom <= window.height,
          `${selector} is on the first screen: ${JSON.stringify(box)}`
        )
      }
      assert.ok(pageWidth <= window.width, `it scrolls sideways: ${pageWidth}`)
    })
})
