/** What happened in a run, for people: one line an event, with names instead of ids. */
import type { Case } from '../faults/case.ts'
import { identityOf } from '../protocol/identities.ts'
import { batchIdOf } from '../protocol/owner.ts'
import type { Ran } from './run.ts'

const LINES_MAX = 80
const FRESH_MAX = 16

/** As much of a case as its story tells. */
type Told = Pick<Case, 'nodes' | 'hostile' | 'batches' | 'faultsMs'> & { readonly faults: { readonly length: number } }

export function storyOf(one: Told, { story, complaint }: Pick<Ran, 'story' | 'complaint'>): string {
  const name = namesOf(one)
  const nodes = one.nodes.filter(({ joinsMs }) => joinsMs >= 0)
  const liars = nodes.filter(({ role }) => role !== 'honest').map(({ name: liar, role }) => `${liar} is ${role}`)
  const unruly = nodes.filter((node) => node.unruly !== undefined).map(({ name: which }) => `control frames of ${which} are lost, doubled and late`)
  const tasks = one.batches.reduce((sum, batch) => sum + batch.tasks.length, 0)
  const head = `${nodes.length} nodes (${nodes.map((node) => node.name).join(', ') || 'none'}), ${one.hostile} hostile peers, ${tasks} tasks, ${one.faults.length} faults in ${one.faultsMs / 1000} s`
  const lines = story.map(({ atMs, text }) => `${(atMs / 1000).toFixed(3).padStart(10)} s  ${name(text)}`)
  const left = lines.length - LINES_MAX
  const shown = left > 0 ? [...lines.slice(0, LINES_MAX / 2), `        ... ${left} lines more ...`, ...lines.slice(-LINES_MAX / 2)] : lines
  return [head, ...liars, ...unruly, ...shown, `in the end: ${name(complaint ?? 'all was well')}`].join('\n')
}

function namesOf(one: Told): (text: string) => string {
  const names = new Map<string, string>([[identityOf('project').peerId, 'the server']])
  for (const { name } of one.nodes) names.set(identityOf(name).peerId, name)
  for (let index = 0; index < one.hostile; index++) names.set(identityOf(`hostile ${index}`).peerId, `hostile ${index}`)
  for (let index = 0; index < FRESH_MAX; index++) names.set(identityOf(`fresh ${index}`).peerId, `fresh ${index}`)
  const batches = new Map(one.batches.map((_, index) => [batchIdOf(index), index]))
  return (text) =>
    text
      .replace(/12D3\w+/g, (peer) => names.get(peer) ?? peer)
      .replace(/([a-z2-7]{26})(?:\.(\d+))?(?:\.(\d+))?/g, (whole, batch: string, task?: string, attempt?: string) => {
        const index = batches.get(batch)
        if (index === undefined) return whole
        return [`batch ${index}`, ...(task === undefined ? [] : [`task ${task}`]), ...(attempt === undefined ? [] : [`replica ${attempt}`])].join(' ')
      })
}
