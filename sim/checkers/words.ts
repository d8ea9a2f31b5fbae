/** What both sides say to each other, against what is on the disk of who says it: durable before visible. */
import * as dagCbor from '@ipld/dag-cbor'
import type { Effect } from '#project-server/coordinator/events'
import { linkKey, outKey } from '#project-server/coordinator/keys'
import { decodeLinkRecord } from '#project-server/coordinator/link-records'
import type { Change } from '#project-server/ports'
import { decodeFrame } from '#protocol/control/messages'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import { parseReplicaId } from '#protocol/ids'
import type { Sometimes } from '../sometimes.ts'
import type { MemoryStore } from '../store.ts'
import { peekTask } from '../stored-tasks.ts'
import type { Complaints } from './complaints.ts'
import { LIVE } from './live.ts'

interface NodeDisk {
  /** Numbers of the frames that it keeps. */
  readonly out: Set<number>
  /** Highest number of the server's that it has. */
  cursor: number
  /** Highest number that it used. */
  sent: number
}

export class Words {
  readonly #records: MemoryStore
  readonly #complaints: Complaints
  readonly #sometimes: Sometimes
  readonly #disks = new Map<PeerIdString, NodeDisk>()

  constructor(records: MemoryStore, complaints: Complaints, sometimes: Sometimes) {
    this.#records = records
    this.#complaints = complaints
    this.#sometimes = sometimes
  }

  /** A node's disk changed. */
  wrote(node: PeerIdString, changes: readonly Change[]): void {
    const disk = this.#diskOf(node)
    for (const { key, value } of changes) {
      if (key.startsWith('out/')) {
        const seq = Number.parseInt(key.slice('out/'.length), 16)
        if (value === null) disk.out.delete(seq)
        else disk.out.add(seq)
      } else if (key === 'link' && value !== null) {
        const { cursor, nextSeq } = dagCbor.decode<{ cursor: number; nextSeq: number }>(value)
        disk.cursor = cursor
        disk.sent = nextSeq - 1
      }
    }
  }

  /** The first message for the node that it has not made durable; undefined when it has all. */
  missing(node: PeerIdString): number | undefined {
    const record = this.#records.peek(linkKey(node))
    const sent = record === undefined ? 0 : decodeLinkRecord(record).sent
    const { cursor } = this.#diskOf(node)
    return cursor < sent ? cursor + 1 : undefined
  }

  wiped(node: PeerIdString): void {
    this.#disks.delete(node)
  }

  /** A node writes to the server. [11] */
  fromNode(node: PeerIdString, bytes: Uint8Array): void {
    const frame = decodeFrame(bytes)
    if (frame === undefined) {
      this.#complaints.expect(false, () => `${node} sent something that does not decode`)
      return
    }
    const disk = this.#diskOf(node)
    const { seq, ack } = frame
    this.#complaints.expect(seq === 0 || disk.out.has(seq), () => `${node} sent message ${seq}, which is not on its disk`)
    this.#complaints.expect(ack <= disk.cursor, () => `${node} acknowledged ${ack}, on its disk is ${disk.cursor}`)
    if (frame.hello !== undefined) {
      const { received } = frame.hello
      this.#complaints.expect(received <= disk.cursor, () => `${node} says that it has ${received}, on its disk is ${disk.cursor}`)
    }
  }

  /** The server writes to a node. [7, 11, 16] */
  fromServer(node: PeerIdString, bytes: Uint8Array): void {
    const frame = decodeFrame(bytes)
    if (frame === undefined) {
      this.#complaints.expect(false, () => `the server sends ${node} something that does not decode`)
      return
    }
    const { seq, ack, welcome, assign, grant, cancel, release } = frame
    const record = this.#records.peek(linkKey(node))
    const link = record === undefined ? undefined : decodeLinkRecord(record)
    this.#complaints.expect(
      seq === 0 || link?.waiting.some((message) => message.seq === seq) === true || this.#records.peek(outKey(node, seq)) !== undefined,
      () => `message ${seq} for ${node} left and is not on the server's disk`
    )
    const said = Math.max(ack, welcome?.received ?? 0)
    if (said > 0) {
      const received = link?.received ?? 0
      this.#complaints.expect(said <= received, () => `the server told ${node} that it has ${said}, on its disk is ${received}`)
    }
    for (const { replica, granted } of assign?.leases ?? []) {
      this.#stillWanted(node, replica, granted === true ? 'granted' : 'leased')
      if (granted === true) this.#sometimes.see('granted with its lease')
    }
    for (const replica of grant?.granted ?? []) this.#stillWanted(node, replica, 'granted')
    if ((grant?.refused.length ?? 0) > 0) this.#sometimes.see('a start was refused')
    if (cancel !== undefined) this.#sometimes.see(`cancelled: ${cancel.reason}`)
    if (release !== undefined) this.#sometimes.see('released')
  }

  /** The server carries these out. */
  effects(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case 'welcome':
          this.#sometimes.see(effect.resumed ? 'link resumed' : 'link begun')
          if (effect.unknown.length > 0) this.#sometimes.see('a node held what nobody wants any more')
          break
        case 'disconnect':
          this.#sometimes.see(`node sent away: ${effect.code}`)
          break
        case 'pull':
          this.#sometimes.see('an output was asked for')
          break
        case 'ack':
        case 'send':
        case 'changed':
          break
      }
    }
  }

  /** [7, 16] Only what is this node's on disk, of a task that goes on. */
  #stillWanted(node: PeerIdString, replica: ReplicaId, how: string): void {
    const { task = '', attempt = 0 } = parseReplicaId(replica) ?? {}
    const record = peekTask(this.#records, task)
    const leased = record?.replicas[attempt - 1]
    this.#complaints.expect(leased?.node === node, () => `${replica} was ${how} to ${node}, on disk it is with ${leased?.node}`)
    this.#complaints.expect(
      leased === undefined || LIVE.includes(leased.state),
      () => `${replica} was ${how} to ${node}, on disk it is ${leased?.state}, its task ${record?.state}`
    )
    if (how === 'granted') this.#complaints.expect(leased?.granted === true, () => `${replica} was granted to ${node}, on disk it is not`)
  }

  #diskOf(node: PeerIdString): NodeDisk {
    const known = this.#disks.get(node)
    if (known !== undefined) return known
    const disk: NodeDisk = { out: new Set(), cursor: 0, sent: 0 }
    this.#disks.set(node, disk)
    return disk
  }
}
