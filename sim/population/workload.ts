/** What the project's owners submit: batches of alike tasks, and how their runs come out. */
import type { CID } from 'multiformats/cid'
import type { AcceptedBundle, Event } from '#project-server/coordinator/events'
import { BATCH_TASKS_MAX } from '#project-server/coordinator/policy'
import { encodeManifest, manifestCid, type RunManifest } from '#protocol/bundle/manifest'
import type { TaskPolicy } from '#protocol/bundle/policy'
import { acceptCid, cidOfBytes, RAW } from '#protocol/content/cid'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import { type Result, voteOf } from '#protocol/result/result'
import type { Random } from '../random.ts'
import { batchIdOf } from './batch-ids.ts'
import { type TaskSizes, taskMillionOps } from './runs.ts'

export interface Workload {
  /** `saturating`: a batch more whenever fewer than `waitingMin` tasks wait. `stream`: a batch every so often. */
  readonly arrives: { readonly kind: 'saturating'; readonly waitingMin: number } | { readonly kind: 'stream'; readonly everyMs: number }
  readonly batchTasks: number
  readonly sizes: TaskSizes
  readonly inputBytes: number
  /** 0: nothing to hand over, a decided task is ready at once. */
  readonly outputBytes: number
  readonly policy: TaskPolicy
  /** The manifest's time limit: a run that is not back an hour after it is lost. */
  readonly timeMs: number
  readonly memoryBytes: number
}

export interface SimulatedBatch {
  readonly id: string
  readonly submittedAtMs: number
  readonly truth: CID
  /** What an honest quorum votes. */
  readonly vote: string
  /** It looks at decisions of another batch again. */
  readonly recheck: boolean
}

const PROJECT: PeerIdString = 'the-project'
const TEXT = new TextEncoder()

function known(text: string): CID {
  const cid = acceptCid(text)
  if (cid === undefined) throw new Error(`${text} is no content id`)
  return cid
}

const NO_OUTPUT = known(EMPTY_DIRECTORY)
const NO_TEXT = known(EMPTY_FILE)

/** The owner's side. All batches run one bundle; a batch's tasks have one right answer, which saves a hash for each run. */
export class Owner {
  readonly batches: SimulatedBatch[] = []
  readonly #workload: Workload
  readonly #random: Random
  readonly #bundle: AcceptedBundle
  readonly #bundleCid: CID
  #nextAtMs = 0

  constructor(workload: Workload, random: Random) {
    if (!(workload.batchTasks >= 1 && workload.batchTasks <= BATCH_TASKS_MAX)) throw new RangeError(`a batch has 1 to ${BATCH_TASKS_MAX} tasks`)
    this.#workload = workload
    this.#random = random
    const manifest: RunManifest = {
      kind: 'run',
      v: 1,
      engine: 'process',
      image: null,
      command: ['work'],
      dependencies: [{ name: 'data', root: cidOfBytes(RAW, TEXT.encode('the data')), path: '', executables: [] }],
      environment: {},
      network: 'none',
      compareStdout: false,
      resources: { cpuMillis: 1000, memoryBytes: workload.memoryBytes, timeMs: workload.timeMs, diskBytes: 0, pids: 16 }
    }
    const bytes = encodeManifest(manifest)
    this.#bundleCid = manifestCid(bytes)
    this.#bundle = { cid: this.#bundleCid.toString(), bytes, manifest }
  }

  /** What is to be submitted now, `waiting` being how many tasks wait for a host; the same again until it is accepted. */
  next(nowMs: number, waiting: number): Extract<Event, { kind: 'submit' }> | undefined {
    const { arrives, batchTasks, policy } = this.#workload
    if (arrives.kind === 'saturating' ? waiting >= arrives.waitingMin : nowMs < this.#nextAtMs) return undefined
    const number = this.batches.length
    const bundles = new Array<AcceptedBundle>(batchTasks).fill(this.#bundle)
    const seed = this.#random.fork('seed', number).word()
    return { kind: 'submit', batch: batchIdOf(number), name: '', by: 'the-owner', bundles, policy, more: false, from: 0, seed }
  }

  accepted(nowMs: number): void {
    const { arrives, outputBytes } = this.#workload
    if (arrives.kind === 'stream') this.#nextAtMs += arrives.everyMs
    const number = this.batches.length
    const truth = outputBytes === 0 ? NO_OUTPUT : cidOfBytes(RAW, TEXT.encode(`truth ${number}`))
    const batch: SimulatedBatch = { id: batchIdOf(number), submittedAtMs: nowMs, truth, vote: '', recheck: false }
    this.batches.push({ ...batch, vote: voteOf(this.result(batch, '', '', truth), false) })
  }

  /** What a batch of rechecks is drawn from, and that it was submitted. */
  again(of: SimulatedBatch, nowMs: number): { readonly batch: string; readonly seed: number; readonly bundle: AcceptedBundle; readonly policy: TaskPolicy } {
    const number = this.batches.length
    this.batches.push({ ...of, id: batchIdOf(number), submittedAtMs: nowMs, recheck: true })
    return { batch: batchIdOf(number), seed: this.#random.fork('seed', number).word(), bundle: this.#bundle, policy: this.#workload.policy }
  }

  millionOps(into: Random, batch: number, index: number): number {
    const { sizes } = this.#workload
    return sizes.sigma === 0 ? sizes.medianMillionOps : taskMillionOps(this.#random.forkInto(into, 'task', batch, index), sizes)
  }

  result({ truth }: SimulatedBatch, node: PeerIdString, replica: ReplicaId, output: CID = truth): Result {
    const { outputBytes } = this.#workload
    const said = { v: 1 as const, project: PROJECT, replica, bundle: this.#bundleCid, node, reason: 'exit' as const, exitCode: 0 }
    return { ...said, output, stdout: NO_TEXT, stderr: NO_TEXT, bytes: outputBytes, startedAtMs: 0, endedAtMs: 0, cpuMs: 0, memoryPeakBytes: 0 }
  }

  /** An answer that is wrong; equal names agree. */
  wrong(name: string): CID {
    return cidOfBytes(RAW, TEXT.encode(name))
  }
}
