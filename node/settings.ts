/** What `node.json` says. */
import { isTag, TAGS_MAX } from '#protocol/bundle/policy'
import type { PeerIdString } from '#protocol/ids'
import { areGroups } from '#protocol/owner/clients'

export interface NodeSettings {
  /** The project's id: the peer id of its key. */
  readonly project: PeerIdString
  /** Pinned multiaddrs of the coordinator; may be empty when `bootstrap` is not. */
  readonly addresses: readonly string[]
  /** Multiaddrs of relays: through them the project is reached when no pinned address answers, its record found, and this node reached by others. */
  readonly bootstrap?: readonly string[]
  /** Multiaddrs to listen on, so that others in the same network, or everywhere, fetch directly; none: they come through relays. */
  readonly listen?: readonly string[]
  /** Bytes a second given to other nodes, all together; 0 for nothing, default 2 MiB. */
  readonly uploadPerSecond?: number
  readonly name: string
  /** Replicas run at once. */
  readonly slots: number
  readonly engines: readonly ('docker' | 'process')[]
  /** What is lent; default all of the machine. */
  readonly cpuMillis?: number
  readonly memoryBytes?: number
  /** Data kept between runs; default 32 GiB, and no more than half of what is free on the disk. */
  readonly cacheBytes?: number
  /** Of results that other nodes leave here while the project is away; 0 keeps none. Default a GiB, and no more than a tenth of what is free on the disk. */
  readonly keepBytes?: number
  /** How long they are kept when the project does not ask for them; default 7. */
  readonly keepDays?: number
  /** How long the project may be away before finished results are left with other nodes; default a minute. */
  readonly parkAfterMs?: number
  /** What tasks may ask for. */
  readonly tags?: readonly string[]
  /** Of the tags, those without which a task gets nothing here. */
  readonly exclusiveTags?: readonly string[]
  /** `none`: no GPU is lent; default all that are found. */
  readonly gpus?: 'none'
  /** The client that signed that this node is its own. */
  readonly owner?: { readonly client: PeerIdString /** Base64. */; readonly signature: string }
  /** False: the project is told nothing of this node's log when it went down with tasks in hand, and no such log is kept; default true. */
  readonly tellCrashes?: boolean
  /** Its tasks are taken and no others. */
  readonly ownerOnly?: boolean
  /** It takes the tasks of clients of these groups of the project, and its owner's; default those of all. */
  readonly groups?: readonly string[]
}

const SLOTS_MAX = 1024
const NAME_CHARS_MAX = 64
const ADDRESSES_MAX = 64
const KEEP_DAYS_MAX = 365
const PARK_AFTER_MS_MAX = 86_400_000

export interface SettingsCheck {
  readonly isPeer: (text: string) => boolean
  readonly isAddress: (text: string) => boolean
}

/** What is wrong with settings from disk or from a caller, for a person; undefined when nothing is. Then the value is NodeSettings. */
export function settingsFault(value: unknown, { isPeer, isAddress }: SettingsCheck): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'not a map of settings'
  const settings: Partial<Record<keyof NodeSettings | 'v', unknown>> = value
  if (settings.v !== undefined && settings.v !== 1) return `version ${JSON.stringify(settings.v)} is not known; this talko reads version 1`
  if (typeof settings.project !== 'string' || !isPeer(settings.project))
    return '`project` is not a project id (it begins with 12D3Koo); take it from the invite'
  const { name, slots, engines, addresses, bootstrap = [], listen = [] } = settings
  if (typeof name !== 'string' || name.length === 0 || name.length > NAME_CHARS_MAX || /\p{Cc}/u.test(name))
    return `\`name\` has 1 to ${NAME_CHARS_MAX} printable characters`
  if (!isWhole(slots, 1, SLOTS_MAX)) return `\`slots\` is a whole number from 1 to ${SLOTS_MAX}`
  if (!Array.isArray(engines) || engines.length === 0 || engines.some((engine) => engine !== 'docker' && engine !== 'process'))
    return '`engines` is a list of docker and process'
  for (const [key, list] of Object.entries({ addresses, bootstrap, listen })) {
    if (!Array.isArray(list) || list.length > ADDRESSES_MAX) return `\`${key}\` is a list of at most ${ADDRESSES_MAX} addresses`
    const bad = list.find((address) => typeof address !== 'string' || !isAddress(address))
    if (bad !== undefined) return `\`${key}\`: ${JSON.stringify(bad)} is not a multiaddr like /ip4/192.0.2.1/tcp/4600`
  }
  const nameless = Array.isArray(bootstrap) ? bootstrap.find((address) => !String(address).includes('/p2p/')) : undefined
  if (nameless !== undefined) return `\`bootstrap\`: ${nameless} must end with /p2p/ and the peer's id`
  if (Array.isArray(addresses) && addresses.length === 0 && Array.isArray(bootstrap) && bootstrap.length === 0)
    return 'neither `addresses` nor `bootstrap` says how to reach the project'
  if (settings.cpuMillis !== undefined && !isWhole(settings.cpuMillis, 1, 10_000_000)) return '`cpuMillis` is a whole number of thousandths of a core'
  if (settings.memoryBytes !== undefined && !isWhole(settings.memoryBytes, 1, 2 ** 50)) return '`memoryBytes` is a whole number of bytes'
  if (settings.cacheBytes !== undefined && !isWhole(settings.cacheBytes, 0, 2 ** 50)) return '`cacheBytes` is a whole number of bytes'
  if (settings.keepBytes !== undefined && !isWhole(settings.keepBytes, 0, 2 ** 50)) return '`keepBytes` is a whole number of bytes'
  if (settings.keepDays !== undefined && !isWhole(settings.keepDays, 1, KEEP_DAYS_MAX)) return `\`keepDays\` is a whole number from 1 to ${KEEP_DAYS_MAX}`
  if (settings.parkAfterMs !== undefined && !isWhole(settings.parkAfterMs, 0, PARK_AFTER_MS_MAX))
    return '`parkAfterMs` is a whole number of milliseconds, a day at most'
  if (settings.uploadPerSecond !== undefined && !isWhole(settings.uploadPerSecond, 0, 2 ** 40)) return '`uploadPerSecond` is a whole number of bytes'
  const { tags = [], exclusiveTags = [], owner, ownerOnly = false, gpus = 'none', tellCrashes = true, groups = [] } = settings
  for (const [key, list] of Object.entries({ tags, exclusiveTags }))
    if (!Array.isArray(list) || list.length > TAGS_MAX || !list.every((tag) => typeof tag === 'string' && isTag(tag)))
      return `\`${key}\` is a list of at most ${TAGS_MAX} tags: letters, digits and . _ : = / -`
  if (Array.isArray(exclusiveTags) && Array.isArray(tags) && !exclusiveTags.every((tag) => tags.includes(tag))) return '`exclusiveTags` are among the `tags`'
  if (!areGroups(groups)) return `\`groups\` is a list of at most ${TAGS_MAX} different names: letters, digits and . _ : = / -`
  if (gpus !== 'none') return '`gpus` is none, or left out for all'
  if (owner !== undefined && !isOwner(owner)) return '`owner` is a client and its signature; make the node anew with talko node join --mine'
  if (typeof tellCrashes !== 'boolean') return '`tellCrashes` is true or false'
  if (typeof ownerOnly !== 'boolean' || (ownerOnly && owner === undefined)) return '`ownerOnly` is true only for a node that has an `owner`'
  return undefined
}

function isOwner(owner: unknown): boolean {
  if (typeof owner !== 'object' || owner === null) return false
  const { client, signature }: { client?: unknown; signature?: unknown } = owner
  return typeof client === 'string' && typeof signature === 'string' && Buffer.from(signature, 'base64').length === 64
}

function isWhole(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
}
