import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Source } from '#protocol/bundle/sources'
import { plainBundle } from '#test/support/coordinator-parts'
import type { Io } from '../output/io.ts'
import { describePlan, type Plan } from './plan.ts'

const source = (change: Partial<Source>): Source => ({ name: 'in', of: '', from: 0, count: 1, part: 'output', path: '', ...change })
const list = [source({ path: 'a/b' }), source({ name: 'said', of: 'k3vq.7', count: 0, part: 'stdout' }), source({ name: '', count: 2, part: 'after' })]
const PLAN: Plan = {
  manifests: [plainBundle('0').bytes, plainBundle('1').bytes],
  count: 1,
  policy: {},
  name: '',
  sources: new Map([[1, { allowFailed: false, list }]])
}

function shown(json: boolean): { readonly lines: string[]; readonly value: unknown } {
  const lines: string[] = []
  let value: unknown
  const outJson = (given: unknown): void => {
    value = given
  }
  describePlan({ json, out: (line: string) => lines.push(line), say: (line: string) => lines.push(line), outJson } as unknown as Io, PLAN)
  return { lines, value }
}

it('a dry run says what each task takes from others', () => {
  const takes = ['  /in/in is what task 0 leaves at a/b', '  /in/said is what k3vq.7 prints', '  after tasks 0 to 1']
  assert.deepEqual(
    shown(false).lines.filter((line) => takes.includes(line)),
    takes
  )
  const { bundles } = shown(true).value as { readonly bundles: readonly { readonly sources?: unknown }[] }
  assert.deepEqual(
    bundles.map(({ sources }) => sources),
    [undefined, { allowFailed: false, list }]
  )
})
