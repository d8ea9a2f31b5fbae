/**
 * What one decision costs: a node gains a slot and is given the first task that it can take. With many nodes and waiting tasks
 * beside few of them, of as many kinds (tags and amounts), so that nothing differs but how many nodes and tasks there are; and
 * beside a project that is small in kinds, too. Everywhere a node can take as many kinds. Tasks are those of sweeps: as many of
 * them as the coordinator holds are made. And what a report costs there, which decides its task and then the next
 * lease: its time is spent on checks and in memory that was not touched lately, as every node and task is another one. Before
 * each the node's stream is looked for by its id, untimed, as the server does with every frame.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { CID } from 'multiformats/cid'
import { Coordinator } from '#project-server/coordinator/coordinator'
import type { Event } from '#project-server/coordinator/events'
import { manifestCid } from '#protocol/bundle/manifest'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { decodeFrame } from '#protocol/control/messages'
import type { ReplicaId } from '#protocol/ids'
import { batchId, offer, PROJECT, plainBundle, result, SEAL, SIGNER, signedResult } from '../support/coordinator-parts.ts'
import { type BenchContext, type BenchLine, benchLine, median } from './runner.ts'

const LARGE = { nodes: 100_000, tags: 100, groups: 1_000, tasks: 1_000_000 }
const SMALL = { nodes: 1_000, tags: 100, groups: 1_000, tasks: 10_000 }
const SMALLER = { nodes: 1_000, tags: 10, groups: 100, tasks: 10_000 }
const DECISIONS = 2_000
/** Single rounds differ by a fifth, as what of each world lies where in the memory does. */
const ROUNDS = 7
const POLICY = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1 }

/** A hundred thousand hellos in a second leave more than a project ever would: while the collector goes through it, each decision costs twice as much. */
setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

interface Size {
  readonly nodes: number
  readonly tags: number
  readonly groups: number
  readonly tasks: number
}

/** Medians, in microseconds. */
interface Cost {
  readonly decisionUs: number
  readonly reportUs: number
}

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const sizes = [LARGE, SMALL, SMALLER]
  const costs = sizes.map((): Cost[] => [])
  // Compiled before any is timed: the first large one was measured as it ran for the first time, and no small one ever was.
  costOf(SMALL)
  for (let round = 0; round < Math.max(context.rounds, ROUNDS); round++) {
    for (const [at, size] of sizes.entries()) {
      const cost = costOf(size)
      costs[at]?.push(cost)
      context.log(`${size.nodes} nodes, ${size.groups} kinds: a decision ${cost.decisionUs.toFixed(1)} us, a report ${cost.reportUs.toFixed(1)} us`)
    }
  }
  const [large = [], small = [], smaller = []] = costs
  const line = (name: string, of: (cost: Cost) => number, peer: readonly Cost[], peerName: string, must: string): BenchLine =>
    benchLine({ name, value: median(large.map(of)), unit: 'us', peer: `1,000 nodes, 10,000 tasks${peerName}`, peerValue: median(peer.map(of)), must })
  const decisionUs = (cost: Cost): number => cost.decisionUs
  const reportUs = (cost: Cost): number => cost.reportUs
  return [
    line('a decision, 100,000 nodes, 1,000,000 tasks of 1,000 kinds', decisionUs, small, ' of as many kinds', 'value <= 20, ratio <= 2'),
    line('the same', decisionUs, smaller, ' of 100 kinds', 'value <= 20, ratio <= 2'),
    line('a report that decides a task, and the lease that follows', reportUs, small, ' of as many kinds', 'value <= 100')
  ]
}

function costOf({ nodes, tags, groups, tasks }: Size): Cost {
  const core = new Coordinator({ project: PROJECT, epoch: 1, signer: SIGNER })
  const leased = new Map<string, { readonly replica: ReplicaId; readonly bundle: CID }>()
  let leases = 0
  let nowMs = 0
  const take = (): void => {
    for (const effect of core.take().effects) {
      if (effect.kind !== 'send') continue
      const frame = decodeFrame(effect.frame)
      for (const { replica, manifest } of frame?.assign?.leases ?? []) {
        leases++
        leased.set(effect.node, { replica, bundle: manifestCid(manifest) })
      }
      core.apply({ kind: 'ack', node: effect.node, seq: effect.seq }, nowMs)
    }
  }
  const ids = Array.from({ length: nodes }, (_, index) => `node ${index}`)
  /** Of the nodes, by their ids: control-service.ts. */
  const streams = new Set(ids)
  for (const [index, node] of ids.entries()) {
    core.apply({ kind: 'hello', node, link: node, spare: node, received: 0, offer: offer(1, { tags: [`t${index % tags}`] }), replicas: [] }, nowMs)
    if (index % 1000 === 0) take()
  }
  take()
  const sweep = { mode: 'product', parameters: [{ name: 'x', values: { from: 1, to: tasks / groups, step: 1 } }] } as const
  for (let index = 0; index < groups; index++) {
    const template = plainBundle(`${index} {x}`, { memoryBytes: 2 ** 23 + Math.floor(index / tags) })
    // Nobody is here to look up what was decided before.
    const policy = { ...POLICY, tags: [`t${index % tags}`], force: true }
    const head = { batch: batchId(1 + index), name: '', by: 'owner', bundles: [], policy, more: false, seed: index } as const
    core.apply({ kind: 'submit', ...head, sweep: { template, sweep } }, nowMs)
    take()
  }
  collect()
  // Far apart, so that no node is the neighbour of the one before.
  const chosen = (index: number): string => ids[(index * 7919) % nodes] ?? ''
  /** Median of what these events cost, each of which must end in a lease. */
  const timed = (eventOf: (index: number) => (Event & { readonly node: string }) | undefined): number => {
    const times: number[] = []
    for (let index = 0; index < DECISIONS; index++) {
      const event = eventOf(index)
      if (event === undefined || !streams.has(event.node)) continue
      nowMs++
      const before = leases
      const from = performance.now()
      core.apply(event, nowMs)
      times.push(performance.now() - from)
      take()
      if (leases !== before + 1) throw new Error(`${leases - before} leases of one decision`)
    }
    return median(times) * 1000
  }
  const seqs = new Map<string, number>()
  const reportUs = timed((index) => {
    const node = chosen(index)
    const lease = leased.get(node)
    if (lease === undefined) return undefined
    const seq = (seqs.get(node) ?? 0) + 1
    seqs.set(node, seq)
    return { kind: 'reports', node, seq, results: [signedResult(result(node, lease.replica, lease.bundle, {}))], seal: SEAL }
  })
  const decisionUs = timed((index) => ({ kind: 'demand', node: chosen(index), slots: 2 + Math.floor(index / nodes) }))
  return { decisionUs, reportUs }
}
