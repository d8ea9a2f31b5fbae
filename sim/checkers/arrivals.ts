/**
 * Nothing that was said is passed over: whoever has a number on its disk was given all up to it, on whatever stream. Known from
 * the frames as they are written and as they come and from the records of both ends alone, without the rules of the link.
 */
import * as dagCbor from '@ipld/dag-cbor'
import { linkKey } from '#project-server/coordinator/keys'
import { decodeLinkRecord } from '#project-server/coordinator/link-records'
import type { Change } from '#project-server/ports'
import { decodeFrame } from '#protocol/control/messages'
import { isNumbered } from '#protocol/control/sequence'
import type { PeerIdString } from '#protocol/ids'
import type { Sometimes } from '../sometimes.ts'
import type { MemoryStore } from '../store.ts'
import type { Complaints } from './complaints.ts'

/** Said by one that leads no more: its link may be another than the one on the disk now. */
const SOME_LINK = ''

interface Said {
  readonly link: string
  readonly seq: number
}

/** One end of a node's link. */
interface End {
  link: string
  /** On its disk. */
  received: number
  /** Came, and is not on the disk yet. */
  readonly came: Map<number, Set<string>>
}

export class Arrivals {
  readonly #records: MemoryStore
  readonly #complaints: Complaints
  readonly #sometimes: Sometimes
  readonly #said = new WeakMap<Uint8Array, Said>()
  readonly #nodes = new Map<PeerIdString, End>()
  /** The project's ends, by node. */
  readonly #server = new Map<PeerIdString, End>()
  /** Those that have a link on their disk. Who follows no rules has none, and nobody knows on which link it said something. */
  readonly #linked = new Set<PeerIdString>()
  /** Not every world tells what arrives. */
  #told = false

  constructor(records: MemoryStore, complaints: Complaints, sometimes: Sometimes) {
    this.#records = records
    this.#complaints = complaints
    this.#sometimes = sometimes
  }

  fromNode(node: PeerIdString, bytes: Uint8Array): void {
    this.#note(bytes, () => endOf(this.#nodes, node).link)
  }

  fromServer(node: PeerIdString, bytes: Uint8Array, leads: boolean): void {
    this.#note(bytes, () => {
      const record = leads ? this.#records.peek(linkKey(node)) : undefined
      return record === undefined ? SOME_LINK : decodeLinkRecord(record).id
    })
  }

  toNode(node: PeerIdString, bytes: Uint8Array): void {
    this.#came(endOf(this.#nodes, node), bytes, 'node')
  }

  toServer(node: PeerIdString, bytes: Uint8Array): void {
    this.#came(endOf(this.#server, node), bytes, 'server')
  }

  /** A node's disk changed. */
  wrote(node: PeerIdString, changes: readonly Change[]): void {
    for (const { key, value } of changes) {
      if (key !== 'link' || value === null) continue
      this.#linked.add(node)
      const { link, cursor } = dagCbor.decode<{ link: Uint8Array; cursor: number }>(value)
      this.#has(endOf(this.#nodes, node), { link: Buffer.from(link).toString('hex'), seq: cursor }, node)
    }
  }

  wiped(node: PeerIdString): void {
    this.#nodes.delete(node)
  }

  /** The server's disk changed. */
  committed(changes: readonly Change[]): void {
    for (const { key, value } of changes) {
      if (value === null || !key.startsWith('link/')) continue
      const node = key.slice('link/'.length)
      if (!this.#linked.has(node)) continue
      const { id, received } = decodeLinkRecord(value)
      this.#has(endOf(this.#server, node), { link: id, seq: received }, 'the server')
    }
  }

  #note(bytes: Uint8Array, link: () => string): void {
    const seq = isNumbered(bytes) ? (decodeFrame(bytes)?.seq ?? 0) : 0
    if (seq > 0) this.#said.set(bytes, { link: link(), seq })
  }

  #came(end: End, bytes: Uint8Array, who: 'server' | 'node'): void {
    this.#told = true
    const said = this.#said.get(bytes)
    if (said === undefined || (said.link === end.link && said.seq <= end.received)) return
    const links = end.came.get(said.seq)
    if (links?.has(said.link) === true) this.#sometimes.see('a message came again')
    if (said.link === end.link && said.seq > end.received + 1 && end.came.get(said.seq - 1) === undefined)
      this.#sometimes.see(who === 'server' ? 'the server missed a message' : 'a node missed a message')
    if (links === undefined) end.came.set(said.seq, new Set([said.link]))
    else links.add(said.link)
  }

  #has(end: End, { link, seq }: Said, who: string): void {
    if (link !== end.link) {
      end.link = link
      end.received = 0
    }
    while (end.received < seq) {
      const links = end.came.get(++end.received)
      const came = links?.delete(link) === true || links?.delete(SOME_LINK) === true
      if (links?.size === 0) end.came.delete(end.received)
      this.#complaints.expect(came || !this.#told, () => `${who} has everything up to message ${seq}, message ${end.received} never came`)
    }
  }
}

function endOf(ends: Map<PeerIdString, End>, node: PeerIdString): End {
  const known = ends.get(node)
  if (known !== undefined) return known
  const end: End = { link: '', received: 0, came: new Map() }
  ends.set(node, end)
  return end
}
