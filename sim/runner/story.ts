/** What happened in a run, for people: one line an event, with names instead of ids. */
import { type Case, comes } from '../faults/case.ts'
import { present } from '../faults/shrink.ts'
import { identityOf } from '../protocol/identities.ts'
import { batchIdOf } from '../protocol/owner.ts'
import type { StackCase } from '../stack/case.ts'
import type { StackRan } from '../stack/one.ts'

const LINES_MAX = 80
const FRESH_MAX = 16

/** As much of a case as its story tells. */
type Told = Pick<Case, 'nodes' | 'batches' | 'faultsMs'> & { readonly faults: { readonly length: number } }

interface Happened {
  readonly story: StackRan['story']
  readonly complaint: string | null | undefined
}

export function storyOf(one: Case, ran: Happened): string {
  return tell(one, ran, { others: `${one.hostile} hostile peers`, names: Array.from({ length: one.hostile }, (_, index) => `hostile ${index}`) })
}

export function stackStoryOf(one: StackCase, ran: Pick<StackRan, 'story' | 'complaint'>): string {
  const keepers = present(one.keepers)
  return tell(one, ran, { others: `${keepers.length} keepers of the DHT`, names: keepers })
}

/** Who is there beside the nodes and the server. */
interface Others {
  readonly others: string
  readonly names: readonly string[]
}

function tell(one: Told, { story, complaint }: Happened, { others, names }: Others): string {
  const name = namesOf(one, names)
  const nodes = one.nodes.filter(comes)
  const liars = nodes.filter(({ role }) => role !== 'honest').map(({ name: liar, role }) => `${liar} is ${role}`)
  const unruly = nodes.filter((node) => node.unruly !== undefined).map(({ name: which }) => `control frames of ${which} are lost, doubled and late`)
  const tasks = one.batches.reduce((sum, batch) => sum + batch.tasks.length, 0)
  const head = `${nodes.length} nodes (${nodes.map((node) => node.name).join(', ') || 'none'}), ${others}, ${tasks} tasks, ${one.faults.length} faults in ${one.faultsMs / 1000} s`
  const lines = story.map(({ atMs, text }) => `${(atMs / 1000).toFixed(3).padStart(10)} s  ${name(text)}`)
  const left = lines.length - LINES_MAX
  const shown = left > 0 ? [...lines.slice(0, LINES_MAX / 2), `        ... ${left} lines more ...`, ...lines.slice(-LINES_MAX / 2)] : lines
  return [head, ...liars, ...unruly, ...shown, `in the end: ${name(complaint ?? 'all was well')}`].join('\n')
}

function namesOf(one: Pick<Told, 'nodes' | 'batches'>, others: readonly string[]): (text: string) => string {
  const names = new Map<string, string>([[identityOf('project').peerId, 'the server']])
  for (const name of [...one.nodes.map((node) => node.name), ...others]) names.set(identityOf(name).peerId, name)
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
