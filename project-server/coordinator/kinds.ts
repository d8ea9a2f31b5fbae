/**
 * Nodes that are alike in what they can run (engines, platform, tags, GPUs, and whose they are and whether they are believed
 * where that matters) are one kind, so that a group of tasks knows the kinds that can take it, and a node the groups that it can take. A decision looks
 * at these alone, however many other nodes and groups there are. How much a node has free is not its kind's but its own.
 */
import type { PeerIdString } from '#protocol/ids'
import { NONE } from '#protocol/lists'
import type { Client } from './clients.ts'
import type { NodeOffer } from './events.ts'
import { FreeNodes, inOrderOf } from './free-nodes.ts'
import { GroupList } from './heads.ts'
import type { KnownNodes } from './known-nodes.ts'
import type { Group, Node } from './model.ts'
import { kindLack } from './needs.ts'
import { NODE_KINDS_MAX } from './policy.ts'

export interface NodeKind {
  readonly key: string
  /** Of any node of the kind; null for the one kind of all nodes beyond so many kinds, which are looked at one by one. */
  readonly offer: NodeOffer | null
  readonly believed: boolean
  readonly free: FreeNodes
  /** Groups that it can take, by their clients; those for named nodes are elsewhere. */
  readonly groups: Map<Client, GroupList>
  /** The one of them that was looked for last: mostly the next decision looks for it, too. */
  last: GroupList
  nodes: number
}

/** Kinds that can take a group: of nodes of its client, and of strangers. */
export interface GroupKinds {
  readonly own: NodeKind[]
  readonly others: NodeKind[]
}

const MIXED = 'mixed'

export class Kinds {
  readonly #kinds = new Map<string, NodeKind>()
  /** Clients with live groups: a node's owner makes a kind of its own only while it asks for something. */
  readonly #askers = new Map<PeerIdString, Client>()
  readonly #owned = new Map<PeerIdString, Set<Node>>()
  /** Groups for named nodes, by node. */
  readonly #named = new Map<PeerIdString, Set<Group>>()
  readonly #nodes: Pick<KnownNodes, 'get' | 'values'>
  readonly #platforms = new Map<string, Set<NodeKind>>()
  /** Who became free last, and is in no file yet: mostly it is given a task at once, and nobody looks for it. One at most. */
  #unfiled: readonly Node[] = NONE
  #free = 0
  #slots = 0
  /** Some group asked for nodes that are believed; from then on they are kinds of their own. Most projects never ask. */
  #tellsBelief = false

  constructor(nodes: Pick<KnownNodes, 'get' | 'values'>) {
    this.#nodes = nodes
  }

  /** Nodes with a free slot. */
  get size(): number {
    return this.#free
  }

  /** Free slots of all of them together. */
  get slots(): number {
    return this.#slots
  }

  /** Of nodes that were there since the coordinator began. */
  get platforms(): number {
    return this.#platforms.size
  }

  /** Files the node under its number of free slots; 0 takes it out. It has a kind. */
  set(node: Node, free: number): void {
    if (node.kind === null || node.free === free) return
    this.#free += Number(free > 0) - Number(node.free > 0)
    this.#slots += free - node.free
    if (this.#unfiled[0] === node) {
      node.free = free
      if (free === 0) this.#unfiled = NONE
      return
    }
    this.#fileLast()
    if (node.free > 0) node.kind.free.set(node, free)
    else {
      node.free = free
      this.#unfiled = [node]
    }
  }

  /** The node said what it offers; `before` is whose it was. */
  file(node: Node, before: PeerIdString | null): void {
    const { owner } = node.offer
    if (before !== null && before !== owner) takeOut(this.#owned, before, node)
    if (owner !== null) putIn(this.#owned, owner, node)
    this.#move(node)
  }

  /** It is believed now, or no more. True when that matters to some group. */
  believe(node: Node): boolean {
    if (this.#tellsBelief && node.kind !== null) this.#move(node)
    return this.#tellsBelief
  }

  /** The client belongs to other groups: other nodes may take its tasks. */
  rejoin({ groups }: Client): void {
    for (const group of groups) {
      if (group.nodes !== null) continue
      for (const kind of group.kinds.own.splice(0)) leave(kind, group)
      for (const kind of group.kinds.others.splice(0)) leave(kind, group)
      for (const kind of this.#kinds.values()) join(kind, group)
    }
  }

  /** A group came into being. */
  add(group: Group): void {
    const { client } = group
    if (group.trust === 'trusted' && !this.#tellsBelief) {
      this.#tellsBelief = true
      for (const node of this.#nodes.values()) if (node.kind !== null) this.#move(node)
    }
    if (client.groups.size === 0) {
      this.#askers.set(client.id, client)
      for (const node of this.#owned.get(client.id) ?? []) this.#move(node)
    }
    client.groups.add(group)
    if (group.nodes === null) for (const kind of this.#kinds.values()) join(kind, group)
    else for (const id of group.nodes) putIn(this.#named, id, group)
  }

  /** Nobody waits or will wait in the group any more. */
  remove(group: Group): void {
    const { client } = group
    client.groups.delete(group)
    if (client.groups.size === 0) this.#askers.delete(client.id)
    for (const id of group.nodes ?? []) takeOut(this.#named, id, group)
    for (const kind of [...group.kinds.own, ...group.kinds.others]) leave(kind, group)
  }

  /** The client's groups that are for all nodes of its kind. */
  groupsOf({ kind }: Node, client: Client): GroupList {
    if (kind === null) return NO_GROUPS
    if (kind.last.client === client) return kind.last
    const found = kind.groups.get(client)
    if (found === undefined) return NO_GROUPS
    kind.last = found
    return found
  }

  /** The client's groups that name the node. */
  namedFor({ id }: Node, client: Client): readonly Group[] {
    const named = this.#named.size === 0 ? undefined : this.#named.get(id)
    return named === undefined ? NONE : [...named].filter((group) => group.client === client)
  }

  /** Every node with a free slot, most free first, equal ones from a place that `draw` (a whole number) decides. */
  inOrder(draw: number): Generator<Node, void, undefined> {
    this.#fileLast()
    return inOrderOf([...this.#kinds.values()], draw)
  }

  /** Those that may be able to take the group: its client's own, then strangers'; each in that order. */
  *inOrderFor(group: Group, draw: number): Generator<Node, void, undefined> {
    this.#fileLast()
    yield* this.ownFor(group, draw)
    if (group.nodes !== null) {
      yield* this.#namedOf(group, false)
      return
    }
    for (const node of inOrderOf(group.kinds.others, draw)) if (node.offer.owner !== group.client.id) yield node
  }

  /** Some node is the client's own. */
  hasOwn(client: Client): boolean {
    return this.#owned.has(client.id)
  }

  /** The client's own alone. */
  ownFor(group: Group, draw: number): Iterable<Node> {
    return this.hasOwn(group.client) ? this.#inOwn(group, draw) : NONE
  }

  *#inOwn(group: Group, draw: number): Generator<Node, void, undefined> {
    this.#fileLast()
    if (group.nodes !== null) {
      yield* this.#namedOf(group, true)
      return
    }
    yield* inOrderOf(group.kinds.own, draw)
    // Beyond so many kinds its nodes are among all others.
    const mixed = this.#kinds.get(MIXED)
    if (mixed === undefined) return
    for (const node of inOrderOf([mixed], draw)) if (node.offer.owner === group.client.id) yield node
  }

  #namedOf({ nodes, client }: Group, own: boolean): Node[] {
    const found: Node[] = []
    for (const id of nodes ?? []) {
      const node = this.#nodes.get(id)
      if (node !== undefined && node.free > 0 && (node.offer.owner === client.id) === own) found.push(node)
    }
    return found.sort((a, b) => b.free - a.free)
  }

  #fileLast(): void {
    const [node] = this.#unfiled
    if (node === undefined) return
    this.#unfiled = NONE
    const { free } = node
    node.free = 0
    node.kind?.free.set(node, free)
  }

  #move(node: Node): void {
    this.#fileLast()
    const believed = this.#tellsBelief && node.believed
    const key = `${this.#keyOf(node.offer)}${believed ? ' believed' : ''}`
    const known = this.#kinds.get(key)
    const kind =
      known ?? (this.#kinds.size < NODE_KINDS_MAX ? this.#begin(key, node.offer, believed) : (this.#kinds.get(MIXED) ?? this.#begin(MIXED, null, false)))
    const before = node.kind
    if (before === kind) return
    const { free } = node
    before?.free.set(node, 0)
    node.kind = kind
    kind.nodes++
    kind.free.set(node, free)
    if (before !== null && --before.nodes === 0) this.#end(before)
  }

  #begin(key: string, offer: NodeOffer | null, believed: boolean): NodeKind {
    const owner = offer !== null && offer.owner !== null && this.#askers.has(offer.owner) ? offer.owner : null
    const kind: NodeKind = {
      key,
      offer: offer === null ? null : { ...offer, owner },
      believed,
      free: new FreeNodes(),
      groups: new Map(),
      last: NO_GROUPS,
      nodes: 0
    }
    this.#kinds.set(key, kind)
    // Those of mixed kind may have any.
    if (offer === null) for (const one of ['', MIXED]) putIn(this.#platforms, one, kind)
    else putIn(this.#platforms, offer.platform, kind)
    for (const { groups } of this.#askers.values()) for (const group of groups) if (group.nodes === null) join(kind, group)
    return kind
  }

  #end(kind: NodeKind): void {
    this.#kinds.delete(kind.key)
    for (const platform of this.#platforms.keys()) takeOut(this.#platforms, platform, kind)
    for (const groups of kind.groups.values()) for (const { kinds } of groups.groups) for (const list of [kinds.own, kinds.others]) drop(list, kind)
  }

  #keyOf({ engines, platform, tags, exclusive, gpus, ownerOnly, groups = NONE, owner, cpu }: NodeOffer): string {
    const whose = owner !== null && this.#askers.has(owner) ? owner : ''
    if (tags.length + gpus.length + groups.length === 0) return `${engines.join(' ')} ${platform} ${whose} ${ownerOnly} ${cpu === ''}`
    const cards = gpus.map(({ model, memoryBytes, driver }) => `${model} ${memoryBytes} ${driver}`).sort()
    return JSON.stringify([engines, platform, whose, ownerOnly, cpu === '', [...tags].sort(), [...exclusive].sort(), cards, [...groups].sort()])
  }
}

const NO_GROUPS = new GroupList(null)

/** The group and the kind know each other, if it can take it. */
function join(kind: NodeKind, group: Group): void {
  const { offer, believed } = kind
  if (offer !== null && kindLack({ offer, believed }, group) !== undefined) return
  const list = kind.groups.get(group.client)
  if (list === undefined) kind.groups.set(group.client, new GroupList(group.client, group))
  else list.add(group)
  if (offer !== null && offer.owner === group.client.id) group.kinds.own.push(kind)
  else group.kinds.others.push(kind)
}

function leave(kind: NodeKind, group: Group): void {
  const list = kind.groups.get(group.client)
  list?.delete(group)
  if (list?.size !== 0) return
  kind.groups.delete(group.client)
  if (kind.last === list) kind.last = NO_GROUPS
}

function drop<T>(list: T[], item: T): void {
  const at = list.indexOf(item)
  if (at !== -1) list.splice(at, 1)
}

function putIn<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key)
  if (set === undefined) sets.set(key, new Set([value]))
  else set.add(value)
}

function takeOut<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key)
  set?.delete(value)
  if (set?.size === 0) sets.delete(key)
}
