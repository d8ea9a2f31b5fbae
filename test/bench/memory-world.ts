/** One process of the benchmark `memory`: idle nodes, then waiting tasks with a manifest each, in the coordinator's core alone. Needs --expose-gc. Arguments: nodes, tasks. Prints JSON. */
import { Coordinator } from '#project-server/coordinator/coordinator'
import type { Event } from '#project-server/coordinator/events'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { batchId, offer, PROJECT, plainBundle, SIGNER } from '../support/coordinator-parts.ts'

/** Bytes of one node or task: in memory, and as its records in the store. */
export interface Held {
  readonly memory: number
  readonly records: number
}

const PART = 2_000

const core = new Coordinator({ project: PROJECT, epoch: 1, signer: SIGNER })
const [nodes = 1, tasks = 1] = process.argv.slice(2).map(Number)
/** As long as peer ids, and no two strings share their letters. */
const ids = Array.from({ length: nodes }, (_, index) => Buffer.from(`12D3KooW${String(index).padStart(44, 'x')}`).toString('latin1'))
const node = held(nodes, (index) => ({ kind: 'hello', node: ids[index] ?? '', link: 'link', spare: 'link', received: 0, offer: offer(1), replicas: [] }))
const task = held(tasks, (index) => {
  if (index % PART !== 0) return undefined
  const bundles = Array.from({ length: Math.min(PART, tasks - index) }, (_, at) => plainBundle(`${index + at}`))
  const policy = { ...DEFAULT_POLICY, tags: ['nobody'] }
  return { kind: 'submit', batch: batchId(1 + index), name: '', by: 'owner', bundles, policy, more: false, seed: index }
})
console.log(JSON.stringify({ node, task }))

function held(count: number, eventOf: (index: number) => Event | undefined): Held {
  const before = used()
  let records = 0
  for (let index = 0; index < count; index++) {
    const event = eventOf(index)
    if (event !== undefined) core.apply(event, 1)
    if (index % PART !== 0 && index !== count - 1) continue
    for (const { key, value } of core.take().changes) records += key.startsWith('event/') ? 0 : key.length + (value?.length ?? 0)
  }
  return { memory: (used() - before) / count, records: records / count }
}

function used(): number {
  for (let pass = 0; pass < 3; pass++) globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
