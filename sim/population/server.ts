/** The project's side of a population: the real coordinator, its owners, and what a store would be given. */

import { decodeBatchRecord } from '#project-server/coordinator/batch-records'
import { Coordinator } from '#project-server/coordinator/coordinator'
import type { Effect, Event, Unsigned } from '#project-server/coordinator/events'
import { taskKey } from '#project-server/coordinator/keys'
import { decodeRevisedRecord, type RevisedRecord } from '#project-server/coordinator/trust-records'
import type { Random } from '../random.ts'
import { batchNumberOf } from './batch-ids.ts'
import { Times, type Totals } from './meters.ts'
import type { WorldOptions } from './options.ts'
import { needsRegistry, registryOf } from './registry.ts'
import { SecondModel } from './second-model.ts'
import { Owner } from './workload.ts'

/** Signatures are the shell's business; here all are alike. */
export const SIGNATURE = new Uint8Array(64)
const NOTHING = new Uint8Array(0)
/** One commit of so many has all its records, from which those of the others are reckoned. A prime, so that it does not fall in with what comes every so many steps. */
const RECORDED_EVERY = 17

export class Server {
  readonly owner: Owner
  /** From a task's submission until its result is held. */
  readonly turnaround = new Times()
  /** Tasks for which nothing ran at the last look. */
  waiting = 0
  #first = 0x811c9dc5
  #second = 0x9e3779b9
  readonly #coordinator: Coordinator
  readonly #totals: Totals
  readonly #model: SecondModel | null
  /** Commits for each that has all its records. */
  readonly #recordedEvery: number
  /** Latest record of each batch that is not over. */
  readonly #records = new Map<number, Uint8Array>()
  /** By task, the wrong answers that were accepted. */
  readonly #wrong = new Map<string, string>()

  constructor({ policy, workload, check }: Pick<WorldOptions, 'policy' | 'workload' | 'check'>, random: Random, totals: Totals) {
    this.#totals = totals
    this.#model = check === true ? new SecondModel() : null
    this.#recordedEvery = check === true ? 1 : RECORDED_EVERY
    this.owner = new Owner(workload, random)
    this.#coordinator = new Coordinator({ project: 'the-project', epoch: 1, policy: { ...policy, restartGraceMs: 0 }, signer: { sign: () => SIGNATURE } })
    // What frames say is told without them: their bytes are the protocol level's business.
    this.#coordinator.framing = false
  }

  /** Tells it beforehand which nodes will come, when they are more than it takes in as new ones. Answers with the ids as it has them in memory: a second copy of each is found by comparing letters. */
  async expect(nodes: readonly string[]): Promise<readonly string[]> {
    if (!needsRegistry(nodes.length)) return nodes
    await this.#coordinator.load(registryOf(nodes), 0)
    return [...this.#coordinator.nodeIds()]
  }

  apply(event: Event, nowMs: number): void {
    this.#totals.events++
    this.#totals.applied++
    this.#fold(nowMs)
    this.#fold(event.kind.charCodeAt(0) * 256 + event.kind.length)
    if ('node' in event) this.#foldText(event.node)
    else if ('batch' in event) this.#foldText(event.batch)
    this.#coordinator.apply(event, nowMs)
  }

  /** Of every event that was applied, to whom and when, and of every vote that was agreed on: equal seeds have equal ones. */
  get hash(): string {
    return (this.#first >>> 0).toString(16).padStart(8, '0') + (this.#second >>> 0).toString(16).padStart(8, '0')
  }

  #fold(value: number): void {
    this.#first = Math.imul(this.#first ^ value, 0x01000193)
    this.#second = (Math.imul(this.#second ^ (this.#first >>> 15), 0x85ebca6b) + 0x632be5ab) | 0
  }

  #foldText(text: string): void {
    for (let at = 0; at < text.length; at++) this.#fold(text.charCodeAt(at))
  }

  /** Submits what its owners want now, as far as it is accepted. */
  submit(nowMs: number): void {
    this.waiting = 0
    for (const number of this.#records.keys()) this.waiting += this.#coordinator.batch(this.owner.batches[number]?.id ?? '')?.created ?? 0
    for (let event = this.owner.next(nowMs, this.waiting); event !== undefined; event = this.owner.next(nowMs, this.waiting)) {
      if (this.#coordinator.refusal(event) !== undefined) {
        this.#totals.refused += event.bundles.length
        return
      }
      this.owner.accepted(nowMs)
      this.waiting += event.bundles.length
      this.#totals.submitted += event.bundles.length
      this.#records.set(batchNumberOf(event.batch), NOTHING)
      this.apply(event, nowMs)
    }
  }

  /** One group commit; its effects may be carried out now. */
  commit(nowMs: number): readonly Effect[] {
    const { changes, effects, unsigned } = this.#coordinator.take()
    const recorded = this.#totals.commits++ % this.#recordedEvery === 0
    this.#coordinator.recording = this.#totals.commits % this.#recordedEvery === 0
    if (recorded) this.#totals.changes += this.#recordedEvery * changes.length
    if (this.#model !== null) {
      this.#model.committed(changes)
      this.#totals.checked = this.#model.ended
    }
    const over: number[] = []
    for (const { key, value } of changes) {
      if (recorded) this.#totals.changedBytes += this.#recordedEvery * (key.length + (value?.length ?? 0))
      if (value !== null && key.startsWith('batch/')) this.#records.set(batchNumberOf(key.slice('batch/'.length)), value)
      else if (value !== null && key.startsWith('revised/')) this.#revised(key, decodeRevisedRecord(value))
      else if (value === null && key.startsWith('open/')) over.push(batchNumberOf(key.slice('open/'.length)))
    }
    for (const number of over) this.#close(number)
    for (const one of unsigned) this.#judge(one, nowMs)
    return effects
  }

  /** As the shell does, which would read the records. A task whose output is still fetched is decided, too. */
  recheck(wish: Extract<Effect, { kind: 'recheck' }>, nowMs: number): void {
    const batch = this.owner.batches[batchNumberOf(wish.batch)]
    if (batch === undefined) throw new Error(`a recheck of no batch: ${wish.batch}`)
    const { batch: id, seed, bundle, policy } = this.owner.again(batch, nowMs)
    const of = wish.tasks.map(({ task, node }) => ({
      earned: null,
      task,
      node,
      vote: this.#coordinator.task(task)?.decision?.vote ?? this.#wrong.get(taskKey(task)) ?? batch.vote
    }))
    const bundles = of.map(() => bundle)
    const asked = { ...policy, adaptive: false, minQuorum: Math.max(2, policy.minQuorum), targetResults: Math.max(2, policy.targetResults) }
    this.#totals.submitted += of.length
    this.#records.set(batchNumberOf(id), NOTHING)
    this.apply({ kind: 'recheck', batch: id, submit: { name: '', by: 'the-owner', bundles, policy: asked, seed }, of, dropped: [] }, nowMs)
  }

  #revised(key: string, { verdict }: RevisedRecord): void {
    if (verdict !== 'revoked') return
    if (this.#wrong.has(`task/${key.slice('revised/'.length)}`)) this.#totals.revoked++
    else this.#totals.revokedRight++
  }

  /** A batch is over: what failed in it is known now. */
  #close(number: number): void {
    const record = this.#records.get(number)
    this.#records.delete(number)
    if (record !== undefined && record !== NOTHING && this.owner.batches[number]?.recheck !== true) this.#totals.failed += decodeBatchRecord(record).failed
  }

  /** A task was decided: the world knows the truth. */
  #judge({ receipt: { task, vote } }: Unsigned, nowMs: number): void {
    const batch = this.owner.batches[batchNumberOf(task)]
    if (batch === undefined) throw new Error(`a receipt of no task: ${task}`)
    this.#foldText(task)
    this.#foldText(vote)
    if (batch.recheck) return
    this.#totals.ready++
    if (vote !== batch.vote) {
      this.#totals.wrong++
      this.#wrong.set(taskKey(task), vote)
    }
    this.turnaround.add(nowMs - batch.submittedAtMs)
  }
}
