/**
 * What a task needs of a node, and what a node has: what lasts (platform, engine, tags, kinds of GPU, whose it is, how much of
 * everything in all) and what passes (how much of it is free). Nothing here is ever given twice: `roomLack` counts what every
 * replica may use, not what it uses.
 */
import type { GpuNeeds, RunManifest } from '#protocol/bundle/manifest'
import { NONE } from '#protocol/lists'
import type { WhyReason } from '#protocol/owner/messages'
import type { Client } from './clients.ts'
import type { Gpu, NodeOffer } from './events.ts'
import type { Group, Needs, Node, Occupant } from './model.ts'

/** Of a manifest whose image, if it has one, is for `platform`. */
export function needsOf(manifest: RunManifest, platform: string | undefined): Needs {
  const { engine, resources, gpus } = manifest
  const { cpuMillis, memoryBytes, diskBytes } = resources
  return keyed({ engine, cpuMillis, memoryBytes, diskBytes, platform: manifest.platform ?? platform ?? null, gpus: gpus ?? null })
}

/** The same with other memory. */
export function withMemory(needs: Needs, memoryBytes: number): Needs {
  return keyed({ ...needs, memoryBytes })
}

function keyed(needs: Omit<Needs, 'key'>): Needs {
  const { engine, cpuMillis, memoryBytes, diskBytes, platform, gpus } = needs
  const key = `${engine} ${cpuMillis} ${memoryBytes} ${diskBytes} ${platform ?? '-'}${gpus === null ? '' : ` ${JSON.stringify(gpus)}`}`
  return { ...needs, key }
}

/** What lasts. */
export type Lack = Extract<
  WhyReason,
  'engine' | 'platform' | 'tags' | 'reserved' | 'private' | 'other_group' | 'gpus' | 'other_class' | 'not_own' | 'not_trusted' | 'cpu' | 'memory' | 'disk'
>

/** What of a group a node must suit. */
export type Asked = Pick<Group, 'needs' | 'tags' | 'sameClass' | 'trust'> & { readonly client: Pick<Client, 'id' | 'settings'> }

/** What of a node suits a group or not. */
type Offering = Pick<Node, 'offer' | 'believed'>

/** What keeps the node from ever running them, as it is: the first thing. */
export function lackOf(node: Offering, group: Asked): Lack | undefined {
  return kindLack(node, group) ?? amountLack(node.offer, group.needs)
}

/** The node could run them, did it run nothing else. */
export function suits(node: Offering & Pick<Node, 'id'>, group: Group): boolean {
  return lackOf(node, group) === undefined && (group.nodes === null || group.nodes.has(node.id))
}

/** The same without amounts: what all nodes of one kind lack or have alike. */
export function kindLack({ offer, believed }: Offering, { needs, tags, client, sameClass, trust }: Asked): Lack | undefined {
  if (!offer.engines.includes(needs.engine)) return 'engine'
  if (needs.platform !== null && needs.platform !== offer.platform) return 'platform'
  if (!tags.every((tag) => offer.tags.includes(tag))) return 'tags'
  if (!offer.exclusive.every((tag) => tags.includes(tag))) return 'reserved'
  if (offer.ownerOnly && offer.owner !== client.id) return 'private'
  if (sameClass === 'cpu' && offer.cpu === '') return 'other_class'
  const { gpus } = needs
  if (gpus !== null && offer.gpus.filter((gpu) => serves(gpu, gpus)).length < gpus.count) return 'gpus'
  const isOwn = offer.owner === client.id
  if (offer.groups !== undefined && !isOwn && !sharesGroup(offer.groups, client)) return 'other_group'
  if (trust === 'any' || isOwn) return undefined
  if (trust === 'own') return 'not_own'
  // What passes by itself comes last: nothing else keeps it from them.
  return believed ? undefined : 'not_trusted'
}

function sharesGroup(groups: readonly string[], { settings }: Asked['client']): boolean {
  return settings.groups?.some((group) => groups.includes(group)) === true
}

function amountLack(offer: NodeOffer, needs: Needs): Lack | undefined {
  if (needs.cpuMillis > offer.cpuMillis) return 'cpu'
  if (needs.memoryBytes > offer.memoryBytes) return 'memory'
  return needs.diskBytes > offer.diskBytes ? 'disk' : undefined
}

/** What is not free now. */
export function roomLack(node: Node, needs: Needs): WhyReason | undefined {
  if (needs.cpuMillis > node.freeCpuMillis) return 'cpu_taken'
  if (needs.memoryBytes > node.freeMemoryBytes) return 'memory_taken'
  if (needs.diskBytes > node.freeDiskBytes) return 'disk_taken'
  return needs.gpus !== null && freeGpus(node, needs.gpus).length < needs.gpus.count ? 'gpus_taken' : undefined
}

/** UUIDs for one replica: the smallest that do, so that large ones stay free for who needs them. There must be enough. */
export function pickGpus(node: Node, { gpus }: Needs): readonly string[] {
  if (gpus === null) return NONE
  const free = freeGpus(node, gpus).sort((a, b) => a.memoryBytes - b.memoryBytes || (a.uuid < b.uuid ? -1 : 1))
  return free.slice(0, gpus.count).map(({ uuid }) => uuid)
}

/** The node has less for others. */
export function occupy(node: Node, { needs, gpus }: Occupant): void {
  node.freeCpuMillis -= needs.cpuMillis
  node.freeMemoryBytes -= needs.memoryBytes
  node.freeDiskBytes -= needs.diskBytes
  if (gpus.length === 0) return
  node.gpusTaken ??= new Set()
  for (const uuid of gpus) node.gpusTaken.add(uuid)
}

export function vacate(node: Node, { needs, gpus }: Occupant): void {
  node.freeCpuMillis += needs.cpuMillis
  node.freeMemoryBytes += needs.memoryBytes
  node.freeDiskBytes += needs.diskBytes
  for (const uuid of gpus) node.gpusTaken?.delete(uuid)
  if (node.gpusTaken?.size === 0) node.gpusTaken = null
}

function freeGpus({ offer, gpusTaken }: Node, needs: GpuNeeds): Gpu[] {
  return offer.gpus.filter((gpu) => gpusTaken?.has(gpu.uuid) !== true && serves(gpu, needs))
}

function serves(gpu: Gpu, needs: GpuNeeds): boolean {
  return gpu.memoryBytes >= needs.memoryBytes && gpu.model.toLowerCase().includes(needs.model) && isAtLeast(gpu.driver, needs.driver)
}

/** Versions are numbers with dots between them; '' is any. */
function isAtLeast(version: string, least: string): boolean {
  if (least === '') return true
  const have = version.split('.').map(Number)
  const want = least.split('.').map(Number)
  for (const [at, number] of want.entries()) {
    const difference = (have[at] ?? 0) - number
    if (difference !== 0) return difference > 0
  }
  return true
}
