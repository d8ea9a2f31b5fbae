/**
 * Tasks a second through the coordinator core alone: submit, lease, start, report, decide, with 16 nodes of 64 slots, quorum 1
 * and results that leave nothing. Beside what a disk makes of it: the same records in the same commits, synced, into LevelDB.
 * What nodes would do (decoding frames, encoding results) is not counted.
 */
import { join } from 'node:path'
import { CID } from 'multiformats/cid'
import { Coordinator } from '#project-server/coordinator/coordinator'
import type { Event } from '#project-server/coordinator/events'
import { openStore } from '#project-server/live/store'
import type { Change } from '#project-server/ports'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { decodeFrame } from '#protocol/control/messages'
import type { ReplicaId } from '#protocol/ids'
import { batchId, bundle, offer, PROJECT, result, SEAL, SIGNER, signedResult } from '../support/coordinator-parts.ts'
import { type BenchContext, type BenchLine, benchLine, median, seconds } from './runner.ts'

const NAME = 'coordinator core, tasks through it'
const TASKS = 50_000
const PART = 2_048
const NODES = 16
const SLOTS = 64
const POLICY = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1 }

const BUNDLES = Array.from({ length: PART }, (_, index) => bundle(`${index}`))
const CIDS = BUNDLES.map(({ cid }) => CID.parse(cid))

interface Node {
  readonly id: string
  seq: number
  leased: ReplicaId[]
  granted: ReplicaId[]
  received: number
}

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const ours: number[] = []
  const disk: number[] = []
  for (let round = 0; round < context.rounds; round++) {
    const { ms, commits } = throughCore()
    ours.push(TASKS / (ms / 1000))
    const store = await openStore(join(context.workFolder, `records-${round}`))
    const epoch = await store.beginEpoch()
    const took = await seconds(async () => {
      for (const changes of commits) await store.batch(epoch, changes)
    })
    await store.close()
    disk.push(TASKS / took)
    context.log(`core ${ours.at(-1)?.toFixed(0)} tasks/s, LevelDB ${disk.at(-1)?.toFixed(0)} tasks/s in ${commits.length} commits`)
  }
  return [
    benchLine({ name: NAME, value: median(ours), unit: 'tasks/s', peer: 'LevelDB, the same records, synced', peerValue: median(disk), must: 'value >= 15000' })
  ]
}

/** Milliseconds inside the core, and what it would have written. */
function throughCore(): { ms: number; commits: (readonly Change[])[] } {
  const core = new Coordinator({ project: PROJECT, epoch: 1, signer: SIGNER })
  const commits: (readonly Change[])[] = []
  const nodes = new Map(
    Array.from({ length: NODES }, (_, index) => [`node ${index}`, { id: `node ${index}`, seq: 0, leased: [], granted: [], received: 0 } as Node])
  )
  let ms = 0
  let nowMs = 0
  const pass = (events: readonly Event[]): void => {
    const from = performance.now()
    for (const event of events) core.apply(event, nowMs)
    const { changes, effects } = core.take()
    ms += performance.now() - from
    nowMs++
    commits.push(changes)
    for (const effect of effects) if (effect.kind === 'send') take(nodes.get(effect.node), effect.frame, effect.seq)
  }
  pass([...nodes.keys()].map((node) => ({ kind: 'hello', node, link: 'link', spare: 'link', received: 0, offer: offer(SLOTS), replicas: [] })))
  for (let from = 0; from < TASKS; from += PART) {
    const bundles = BUNDLES.slice(0, Math.min(PART, TASKS - from))
    pass([{ kind: 'submit', batch: batchId(1 + from), name: '', by: 'owner', bundles, policy: POLICY, more: false, seed: from }])
  }
  for (let done = 0; done < TASKS; ) {
    const events: Event[] = []
    for (const node of nodes.values()) {
      done += node.granted.length
      events.push(...speak(node))
    }
    pass(events)
  }
  return { ms, commits }
}

function take(node: Node | undefined, bytes: Uint8Array, seq: number): void {
  const frame = decodeFrame(bytes)
  if (node === undefined || frame === undefined) throw new Error('a frame for nobody')
  node.received = seq
  for (const { replica } of frame.assign?.leases ?? []) node.leased.push(replica)
  node.granted.push(...(frame.grant?.granted ?? []))
}

/** Asks to start what it was leased, reports what it was granted. */
function speak(node: Node): Event[] {
  const events: Event[] = [{ kind: 'ack', node: node.id, seq: node.received }]
  const { leased, granted } = node
  node.leased = []
  node.granted = []
  if (leased.length > 0) events.push({ kind: 'start', node: node.id, seq: ++node.seq, replicas: leased.map((replica) => ({ replica, epoch: 1 })) })
  const results = granted.map((replica) => signedResult(result(node.id, replica, CIDS[Number(replica.split('.')[1])] as CID, {})))
  if (results.length > 0) events.push({ kind: 'reports', node: node.id, seq: ++node.seq, results, seal: SEAL })
  return events
}
