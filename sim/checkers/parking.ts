/**
 * Results that nodes leave with each other: whoever says that it keeps one has it on its disk, with all that it names, and whoever
 * hands one over hands over what its node said; in the end nobody keeps anything. Known from frames and disks alone.
 */
import * as dagCbor from '@ipld/dag-cbor'
import type { Effect } from '#project-server/coordinator/events'
import type { Change } from '#project-server/ports'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import { decodeFrame } from '#protocol/control/messages'
import { isNumbered } from '#protocol/control/sequence'
import { type PeerIdString, parseReplicaId, type ReplicaId } from '#protocol/ids'
import { decodeAnswer } from '#protocol/parking/messages'
import { decodeResult } from '#protocol/result/result'
import { peekTask } from '../stored-tasks.ts'
import type { Complaints } from './complaints.ts'
import type { Scene, SceneNode } from './scene.ts'

const RECORD = 'parked/'

export class Parking {
  readonly #world: Scene
  readonly #complaints: Complaints
  /** Handed over while its node was away, and not reported on the server's disk by then. */
  readonly #handed = new Set<ReplicaId>()

  constructor(world: Scene, complaints: Complaints) {
    this.#world = world
    this.#complaints = complaints
  }

  /** One node to another. */
  said(from: PeerIdString, to: PeerIdString, frame: Uint8Array): void {
    const answer = decodeAnswer(frame)
    if (answer === undefined) return
    const { replica, code } = answer
    this.#world.see(code === 'kept' ? 'a result was left with another node' : `a result was not kept: ${code}`)
    if (code !== 'kept') return
    const machine = this.#world.nodeOf(from)?.machine
    const record = machine?.recordOf(RECORD + replica)
    const [, state, body] = record === undefined ? [] : dagCbor.decode<[number, string, Uint8Array]>(record)
    this.#complaints.expect(state === 'kept', () => `${from} says that it keeps ${replica}, and on its disk it is ${state ?? 'not'}`)
    const result = body === undefined ? undefined : decodeResult(body)
    this.#complaints.expect(result?.node === to, () => `${from} keeps ${replica} for ${to}, and it is of ${result?.node}`)
    for (const root of result === undefined ? [] : [result.output, result.stdout, result.stderr].map(String))
      this.#complaints.expect(
        root === EMPTY_DIRECTORY || root === EMPTY_FILE || machine?.kept.has(root) === true,
        () => `${from} says that it keeps ${replica}, and does not have ${root}`
      )
  }

  /** A node to the server. */
  toServer(from: PeerIdString, bytes: Uint8Array): void {
    if (isNumbered(bytes) || !this.#world.isNode(from)) return
    for (const { result: body } of decodeFrame(bytes)?.parked?.results ?? []) {
      const result = decodeResult(body)
      if (result === undefined || this.#world.serves?.(result.node) !== false) continue
      if (this.#replicaOf(result.replica)?.state !== 'reported') this.#handed.add(result.replica)
    }
  }

  /** The server's disk is about to be looked at: what was handed over, and is reported now, came so. */
  committed(changes: readonly Change[]): void {
    if (this.#handed.size === 0 || !changes.some(({ key }) => key.startsWith('task/'))) return
    for (const id of this.#handed) {
      const replica = this.#replicaOf(id)
      if (replica?.state !== 'reported') continue
      this.#handed.delete(id)
      if (this.#world.serves?.(replica.node) === false) this.#world.see('a result came through another node')
    }
  }

  effects(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind !== 'pull' || effect.nodes.length === 0) continue
      const nodes = peekTask(this.#world.disk.records, effect.task)?.replicas.map(({ node }) => node) ?? []
      if (!nodes.includes(effect.nodes[0] ?? '')) this.#world.see('an output was asked of who kept it')
    }
  }

  /** What this node still keeps for others, in words; empty for nothing. */
  left({ machine }: SceneNode): string {
    const record = machine.recordKeys.find((key) => key.startsWith(RECORD))
    if (record !== undefined) return `${machine.name} still keeps ${record} for another`
    const [root] = machine.kept.keys()
    return root === undefined ? '' : `${machine.name} keeps content that no result which it keeps names`
  }

  #replicaOf(id: ReplicaId): { readonly state: string; readonly node: PeerIdString } | undefined {
    const { task = '', attempt = 0 } = parseReplicaId(id) ?? {}
    return peekTask(this.#world.disk.records, task)?.replicas[attempt - 1]
  }
}
