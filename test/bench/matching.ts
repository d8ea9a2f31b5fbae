/**
 * What one decision costs: a node gains a slot and is given the first task that it can take. With many nodes, waiting tasks and
 * kinds of needs (tags and amounts), beside a small project with few of each. The time is that of the core from the report
 * that frees the slot and decides its task to the next lease.
 */
import type { CID } from 'multiformats/cid'
import { Coordinator } from '#project-server/coordinator/coordinator'
import type { Event } from '#project-server/coordinator/events'
import { manifestCid } from '#protocol/bundle/manifest'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { decodeFrame } from '#protocol/control/messages'
import type { ReplicaId } from '#protocol/ids'
import { batchId, offer, PROJECT, plainBundle, result, SEAL, SIGNER, signedResult } from '../support/coordinator.ts'
import { type BenchContext, type BenchLine, benchLine, median } from './runner.ts'

const LARGE = { nodes: 100_000, groups: 1_000, tasks: 300_000 }
const SMALL = { nodes: 1_000, groups: 10, tasks: 10_000 }
const TAGS = 100
const DECISIONS = 5_000
const POLICY = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1 }

interface Size {
  readonly nodes: number
  readonly groups: number
  readonly tasks: number
}

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const large: number[] = []
  const small: number[] = []
  for (let round = 0; round < context.rounds; round++) {
    large.push(decisionUs(LARGE))
    small.push(decisionUs(SMALL))
    context.log(`a decision: ${large.at(-1)?.toFixed(1)} us with ${LARGE.nodes} nodes, ${small.at(-1)?.toFixed(1)} us with ${SMALL.nodes}`)
  }
  const measured = { name: 'a decision, 100,000 nodes, 1,000 kinds of needs, 300,000 tasks', unit: 'us', peer: '1,000 nodes, 10 kinds, 10,000 tasks' }
  return [benchLine({ ...measured, value: median(large), peerValue: median(small), must: 'value <= 20' })]
}

/** Median over many decisions, in microseconds. */
function decisionUs({ nodes, groups, tasks }: Size): number {
  const core = new Coordinator({ project: PROJECT, epoch: 1, signer: SIGNER })
  const leased = new Map<string, { readonly replica: ReplicaId; readonly bundle: CID }>()
  const seqs = new Map<string, number>()
  let nowMs = 0
  const take = (): void => {
    for (const effect of core.take().effects) {
      if (effect.kind !== 'send') continue
      const frame = decodeFrame(effect.frame)
      for (const { replica, manifest } of frame?.assign?.leases ?? []) leased.set(effect.node, { replica, bundle: manifestCid(manifest) })
      core.apply({ kind: 'ack', node: effect.node, seq: effect.seq }, nowMs)
    }
  }
  const tagsMax = Math.min(TAGS, groups)
  for (let index = 0; index < nodes; index++) {
    const id = `node ${index}`
    core.apply({ kind: 'hello', node: id, link: id, received: 0, offer: offer(1, { tags: [`t${index % tagsMax}`] }), replicas: [] }, nowMs)
    if (index % 1000 === 0) take()
  }
  take()
  const bundles = Array.from({ length: groups }, (_, index) => plainBundle(`${index}`, { memoryBytes: 2 ** 23 + Math.floor(index / tagsMax) }))
  for (let index = 0; index < groups; index++) {
    const one = bundles[index]
    if (one === undefined) continue
    const policy = { ...POLICY, tags: [`t${index % tagsMax}`] }
    core.apply(
      {
        kind: 'submit',
        batch: batchId(1 + index),
        name: '',
        by: 'owner',
        bundles: Array.from({ length: tasks / groups }, () => one),
        policy,
        more: false,
        seed: index
      },
      nowMs
    )
    take()
  }
  const times: number[] = []
  for (let index = 0; index < DECISIONS; index++) {
    const id = `node ${(index * 7919) % nodes}`
    const lease = leased.get(id)
    if (lease === undefined) continue
    const { replica, bundle } = lease
    const seq = (seqs.get(id) ?? 0) + 1
    seqs.set(id, seq)
    nowMs++
    const event: Event = { kind: 'reports', node: id, seq, results: [signedResult(result(id, replica, bundle, {}))], seal: SEAL }
    const from = performance.now()
    core.apply(event, nowMs)
    times.push(performance.now() - from)
    take()
  }
  return median(times) * 1000
}
