/** A project's clients, the administrator among them: their programs submit batches part by part and ask again until they are answered. */

import { hash } from 'node:crypto'
import * as dagCbor from '@ipld/dag-cbor'
import type { Committer } from '#project-server/commit'
import type { Submissions } from '#project-server/owner/submit'
import { encodeManifest, type RunManifest } from '#protocol/bundle/manifest'
import { encodeSources, type Source, type Sources } from '#protocol/bundle/sources'
import { type BatchId, batchIdFrom, type PeerIdString, type TaskId } from '#protocol/ids'
import type { Submit } from '#protocol/owner/messages'
import type { Engine } from '../engine/engine.ts'
import type { Process } from '../engine/process.ts'
import type { BatchCase, TaskCase } from '../faults/case.ts'
import type { Random } from '../random.ts'
import { identityOf } from './identities.ts'
import type { Pace } from './pace.ts'
import { commandOf, idOf, inputOf, MEMORY_BYTES } from './truth.ts'
import type { Witness } from './witness.ts'

const ANSWER_MS_MAX = 5_000
const AGAIN_MS = 1_000
/** How soon an owner mends what compares. */
const MEND_MS = 5_000

/** As much of the project server's process as an owner asks. */
export interface OwnersServer {
  readonly process: Process
  readonly submissions: Submissions | undefined
  readonly committer: Committer | undefined
}

export interface OwnerPorts {
  readonly engine: Engine
  readonly random: Random
  readonly pace: Pace
  readonly witness: Witness
  readonly server: () => OwnersServer | undefined
}

interface Sent {
  readonly id: BatchId
  readonly by: PeerIdString
  readonly parts: readonly Submit[]
  readonly tasks: number
  /** Parts that were answered. */
  done: number
  killed: boolean
  /** Or about to be. */
  held: boolean
}

/** Numbers of batches that are equal to others. */
const EQUAL_FROM = 1_000

export class Owner {
  readonly #ports: OwnerPorts
  readonly #banned = new Set<PeerIdString>()
  readonly #limited = new Set<PeerIdString>()
  readonly #sent = new Map<number, Sent>()
  readonly #administrator = clientOf(0)
  readonly #cases = new Map<number, BatchCase>()
  #equal = 0
  /** Requests that wait for their answer. */
  waiting = 0

  constructor(ports: OwnerPorts) {
    this.#ports = ports
  }

  submit(index: number, batch: BatchCase): void {
    this.#cases.set(index, batch)
    const id = batchBytes(index)
    const size = Math.max(1, Math.ceil(batch.tasks.length / batch.parts))
    const parts: Submit[] = []
    for (let first = 0; first < batch.tasks.length; first += size) {
      const manifests = batch.tasks.slice(first, first + size).map((task) => new Uint8Array(encodeManifest(manifestOf(task))))
      const policy = new Uint8Array(dagCbor.encode(batch.policy))
      parts.push({
        batch: new Uint8Array(id),
        name: `batch ${index}`,
        manifests,
        policy,
        more: first + size < batch.tasks.length,
        first,
        ...sourcesOf(batch, first, first + size)
      })
    }
    const sent: Sent = { id: batchIdFrom(id), by: clientOf(batch.client), parts, tasks: batch.tasks.length, done: 0, killed: false, held: false }
    this.#sent.set(index, sent)
    this.#next(sent)
  }

  /** Says a part again that was answered long ago. */
  again(index: number): void {
    const sent = this.#sent.get(index)
    const part = sent?.parts[index % Math.max(1, sent.done)]
    if (sent === undefined || part === undefined || sent.done === 0) return
    this.#ask(
      (server) => server.submissions?.submit(part, sent.by),
      () => undefined
    )
  }

  /** The whole batch, or one task of it, once its owner knows that it was accepted. */
  kill(index: number, task: number | undefined): void {
    const sent = this.#sent.get(index)
    if (sent === undefined || sent.done === 0) return
    if (task === undefined) sent.killed = true
    const id: TaskId | undefined = task === undefined ? undefined : `${sent.id}.${task % sent.tasks}`
    const killed = id === undefined ? Array.from({ length: sent.tasks }, (_, at) => `${sent.id}.${at}`) : [id]
    this.#ask(
      (server) => server.committer?.commit({ kind: 'kill', batch: sent.id, by: sent.by, ...(id === undefined ? {} : { task: id }) }),
      () => this.#ports.witness.killed(killed)
    )
  }

  /** As the project's administrator; lifted when that long is over. One at a time: a lift undoes every ban of its node. */
  ban(node: PeerIdString, forMs: number): void {
    if (node === '' || this.#banned.has(node)) return
    this.#banned.add(node)
    const target = { kind: 'node' as const, value: node }
    let bans = false
    this.#ask(
      (server) =>
        bans ? undefined : server.committer?.commit({ kind: 'ban', by: this.#administrator, target, reason: 'to see what becomes of it', lift: false }),
      () => {
        bans = true
        this.#ports.engine.after(forMs, () => {
          this.#ask(
            (server) =>
              this.#banned.has(node) ? server.committer?.commit({ kind: 'ban', by: this.#administrator, target, reason: '', lift: true }) : undefined,
            () => {
              this.#banned.delete(node)
            }
          )
        })
      }
    )
  }

  /** The client of that batch may have so many replicas at once, and as many as there are nodes for when that long is over. One at a time of a client. */
  limit(index: number, { parallel, share, forMs }: { readonly parallel: number; readonly share: number; readonly forMs: number }): void {
    const client = this.#sent.get(index)?.by
    if (client === undefined || this.#limited.has(client)) return
    this.#limited.add(client)
    let limits = false
    const grant = (server: OwnersServer, settings: { parallel: number | null; share: number }): Promise<unknown> | undefined =>
      server.committer?.commit({ kind: 'client', client, settings })
    this.#ask(
      (server) => (limits ? undefined : grant(server, { parallel, share })),
      () => {
        limits = true
        this.#ports.engine.after(forMs, () => {
          this.#ask(
            (server) => (this.#limited.has(client) ? grant(server, { parallel: null, share: 1 }) : undefined),
            () => {
              this.#limited.delete(client)
            }
          )
        })
      }
    )
  }

  /** The whole batch, or one task of it, once its owner knows that it was accepted; released when that long is over. One at a time of a batch: a release of it undoes every hold. */
  hold(index: number, task: number | undefined, { forMs, stop }: { readonly forMs: number; readonly stop: boolean }): void {
    const sent = this.#sent.get(index)
    if (sent === undefined || sent.done === 0 || sent.held) return
    sent.held = true
    const id: TaskId | undefined = task === undefined ? undefined : `${sent.id}.${task % sent.tasks}`
    const tasks = id === undefined ? Array.from({ length: sent.tasks }, (_, at) => `${sent.id}.${at}`) : [id]
    const aim = { batch: sent.id, by: sent.by, ...(id === undefined ? {} : { task: id }) }
    const { engine, witness } = this.#ports
    // What is asked again comes once at the most: a hold could come after its release, a release after the next hold.
    let holds = false
    this.#ask(
      (server) => (holds ? undefined : server.committer?.commit({ kind: 'hold', ...aim, reason: 'to look at it', stop })),
      () => {
        holds = true
        witness.held(tasks)
        engine.after(forMs, () => {
          witness.released(tasks)
          this.#ask(
            (server) => (sent.held ? server.committer?.commit({ kind: 'release', ...aim }) : undefined),
            () => {
              sent.held = false
            }
          )
        })
      }
    )
  }

  /** The program that compares a batch's results was at fault, and is mended: what the project held for it goes on. Who holds it meanwhile releases it first. */
  mend(batch: BatchId): void {
    const { engine, witness } = this.#ports
    const sent = [...this.#sent.values()].find(({ id }) => id === batch)
    if (sent === undefined) return
    engine.after(MEND_MS, () => {
      if (sent.held) {
        this.mend(batch)
        return
      }
      sent.held = true
      witness.mended(batch)
      this.#ask(
        (server) => server.committer?.commit({ kind: 'release', batch, by: sent.by }),
        () => {
          sent.held = false
        }
      )
    })
  }

  /** The same tasks as another batch: those that are decided are answered at once, unless more of them are to agree now. */
  submitEqual(index: number, more: boolean): void {
    const batch = this.#cases.get(index)
    if (batch === undefined) return
    const { policy } = batch
    const minQuorum = more ? Math.min(3, policy.minQuorum + 1) : policy.minQuorum
    const targetResults = Math.max(policy.targetResults, minQuorum)
    this.submit(EQUAL_FROM + this.#equal++, { ...batch, policy: { ...policy, minQuorum, targetResults } })
  }

  #next(sent: Sent): void {
    const part = sent.parts[sent.done]
    if (part === undefined) return
    this.#ask(
      (server) => server.submissions?.submit(part, sent.by),
      (answer) => {
        sent.done++
        if (answer !== undefined && !sent.killed) this.#ports.witness.accepted(sent.id, answer.tasks)
        this.#next(sent)
      }
    )
  }

  /** Until there is an answer. A refusal that does not pass ends it too. */
  #ask<T>(ask: (server: OwnersServer) => Promise<T> | undefined, done: (answer: T | undefined) => void): void {
    const { engine, random, pace, server, witness } = this.#ports
    const delayMs = pace.ownerMs(random)
    let over = false
    this.waiting++
    const end = (answer: T | undefined): void => {
      if (over) return
      over = true
      this.waiting--
      done(answer)
    }
    const attempt = (): void => {
      if (over) return
      let tried = true
      const again = (): void => {
        if (tried) engine.after(AGAIN_MS, attempt)
        tried = false
      }
      engine.after(delayMs, () => {
        const to = server()
        to?.process.enter(() => {
          ask(to)?.then(
            (answer) => engine.after(delayMs, () => end(answer)),
            (error: unknown) => {
              if (codeOf(error) === 'disk_full') witness.see('the server could not write and said so')
              engine.after(delayMs, () => (PASSING.includes(codeOf(error)) ? again() : end(undefined)))
            }
          )
        })
      })
      engine.after(ANSWER_MS_MAX, () => {
        if (!over) again()
      })
    }
    attempt()
  }
}

/** The administrator without a number. */
function clientOf(index = 0): PeerIdString {
  return identityOf(index === 0 ? 'owner' : `owner ${index}`).peerId
}

/** The id of the so-manieth batch that an owner submits. */
export function batchIdOf(index: number): BatchId {
  return batchIdFrom(batchBytes(index))
}

function batchBytes(index: number): Uint8Array {
  return new Uint8Array(hash('sha256', `batch ${index}`, 'buffer').subarray(0, 16))
}

/** How long a run may give no sign of life, where most hang. */
const SILENCE_MS = 5_000

/** Refusals that may not come again. */
const PASSING: readonly string[] = ['disk_full', 'unavailable', 'stale_epoch', 'corrupt', 'failed']

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** What the tasks of one part take from others. */
function sourcesOf({ tasks }: BatchCase, from: number, to: number): Pick<Submit, 'sources'> {
  const found = new Map<number, Sources>()
  for (const [index, { takes = [], allowFailed = false }] of tasks.entries()) {
    if (index < from || index >= to) continue
    const list = takes
      .filter((back) => back <= index)
      .map((back, at): Source => ({ name: `from${at}`, of: '', from: index - back, count: 1, part: at === 2 ? 'after' : 'output', path: '' }))
      .map((source) => (source.part === 'after' ? { ...source, name: '' } : source))
    if (list.length > 0) found.set(index, { allowFailed, list })
  }
  return found.size === 0 ? {} : { sources: new Uint8Array(encodeSources(found)) }
}

function manifestOf({ kind, name, runMs, needsInput }: TaskCase): RunManifest {
  return {
    kind: 'run',
    v: 1,
    engine: 'process',
    image: null,
    command: commandOf(kind, name, runMs),
    dependencies: needsInput ? [{ name: 'data', root: idOf(inputOf(name)), path: '', executables: [] }] : [],
    environment: {},
    resources: {
      cpuMillis: 1000,
      memoryBytes: MEMORY_BYTES,
      timeMs: 60_000,
      diskBytes: 1024 ** 2,
      pids: 16,
      ...(kind === 'fragile' ? { silenceMs: SILENCE_MS } : {})
    },
    network: 'none',
    compareStdout: kind === 'plain'
  }
}
