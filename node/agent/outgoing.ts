/** Gathers what one step wants to tell the coordinator and makes as few frames of it as possible. Each step with something to say has its own. */
import type { Commit, ProgressOne, ReturnedOne, StartOne } from '#protocol/control/messages'
import type { ReplicaId } from '#protocol/ids'
import { RESULT_DOMAIN } from '#protocol/result/result'
import { leavesOf, rootOf } from '#protocol/signing/batch'
import type { Signer } from '#protocol/signing/keys'
import type { Figure } from '../progress-file.ts'
import type { Fault } from './events.ts'
import type { FrameBody } from './outbox.ts'
import { FAULT_CODE_MAX, FAULT_MESSAGE_MAX, ITEMS_PER_FRAME } from './policy.ts'

export class Outgoing {
  readonly #signer: Pick<Signer, 'sign'>
  readonly #starts: StartOne[] = []
  readonly #progress: ProgressOne[] = []
  readonly #results: Uint8Array[] = []
  readonly #commits: Commit[] = []
  readonly #returned: ReturnedOne[] = []
  #bye = false

  constructor(signer: Pick<Signer, 'sign'>) {
    this.#signer = signer
  }

  start(replica: ReplicaId, epoch: number): void {
    this.#starts.push({ replica, epoch })
  }

  progress(replica: ReplicaId, state: string): void {
    this.#progress.push({ replica, state, again: true })
  }

  /** Of one that runs. */
  figure(replica: ReplicaId, { donePpm, note }: Figure): void {
    this.#progress.push({ replica, state: 'running', donePpm, ...(note === '' ? {} : { note }) })
  }

  /** The canonical bytes of a result. */
  result(body: Uint8Array): void {
    this.#results.push(body)
  }

  /** What a sealed result is bound to. */
  commit(replica: ReplicaId, digest: Uint8Array): void {
    this.#commits.push({ replica, digest: own(digest) })
  }

  returned(replica: ReplicaId, fault: Fault): void {
    this.#returned.push({
      replica,
      class: fault.class,
      code: fault.code.slice(0, FAULT_CODE_MAX),
      message: fault.message.slice(0, FAULT_MESSAGE_MAX)
    })
  }

  bye(): void {
    this.#bye = true
  }

  /** The gathered frames, in an order in which each makes sense; all results of a frame are one signed batch. */
  take(): FrameBody[] {
    const frames: FrameBody[] = []
    for (const replicas of parts(this.#progress)) frames.push({ progress: { replicas } })
    for (const replicas of parts(this.#starts)) frames.push({ start: { replicas } })
    for (const bodies of parts(this.#results)) {
      const signature = own(this.#signer.sign(RESULT_DOMAIN, rootOf(leavesOf(bodies))))
      frames.push({ reports: { results: bodies.map(own), signature } })
    }
    for (const replicas of parts(this.#commits)) frames.push({ commits: { replicas } })
    for (const replicas of parts(this.#returned)) frames.push({ returned: { replicas } })
    if (this.#bye) frames.push({ bye: {} })
    return frames
  }
}

function* parts<T>(items: readonly T[]): Generator<T[]> {
  for (let from = 0; from < items.length; from += ITEMS_PER_FRAME) yield items.slice(from, from + ITEMS_PER_FRAME)
}

/** The generated types want bytes over a plain ArrayBuffer. */
export function own(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : new Uint8Array(bytes)
}
