/** What is written in a project's folder: `project.json`. Pure. */
import type { Engine } from '#protocol/bundle/manifest'
import type { CoordinatorPolicy } from './coordinator/policy.ts'
import { ServerError } from './errors.ts'
import { readPolicy } from './settings.ts'

export interface DhtSettings {
  /** Multiaddrs with `/p2p/<peer>` of hosts that are in the DHT. */
  readonly bootstrap: readonly string[]
  /** Keep records for others. */
  readonly serve: boolean
  /** Keep private addresses in the routing table: for a local network. */
  readonly allowPrivate: boolean
}

export interface ProjectFile {
  readonly v: 1
  readonly name: string
  /** Multiaddrs to listen on. */
  readonly listen: readonly string[]
  /** Multiaddrs told to others in their place, for a server behind a forwarded port. */
  readonly announce: readonly string[]
  /** Peer ids that may submit and ask: the project's clients. The first administers it: it sees and ends everybody's batches, and sets the others' shares and quotas. */
  readonly owners: readonly string[]
  /** Multiaddrs with `/p2p/<peer>` of relays, through which a project behind a router is reached; they keep its record too. */
  readonly relays?: readonly string[]
  /** By which engines the project's machine runs programs of its clients, to compare results; absent for Docker alone, [] for none. `process` is no sandbox. */
  readonly programs?: readonly Engine[]
  /** Absent: the DHT of the relays; without relays the project is reached by its pinned addresses alone. */
  readonly dht?: DhtSettings
  /** Numbers of the coordinator that are not to be the default ones (settings.ts has their bounds). */
  readonly policy?: Partial<CoordinatorPolicy>
}

const KEYS = ['v', 'name', 'listen', 'announce', 'owners', 'relays', 'programs', 'dht', 'policy'] as const satisfies readonly (keyof ProjectFile)[]
const DHT_KEYS: readonly string[] = ['bootstrap', 'serve', 'allowPrivate'] satisfies readonly (keyof DhtSettings)[]

/** The sandbox in which volunteers run what strangers send them. */
export const DEFAULT_PROGRAMS: readonly Engine[] = ['docker']
export const DEFAULT_LISTEN = '/ip4/0.0.0.0/tcp/4600'
const NAME_CHARS_MAX = 128
const LIST_MAX = 1024

export function administratorOf({ owners }: Pick<ProjectFile, 'owners'>): string | undefined {
  return owners[0]
}

/** Throws ServerError `bad_project_file` that says which field is wrong. */
export function parseProjectFile(text: string, path: string): ProjectFile {
  const refuse = (what: string, cause?: unknown): never => {
    throw new ServerError('bad_project_file', `${path}: ${what}; correct it and start again`, { cause })
  }
  let value: Partial<Record<keyof ProjectFile, unknown>> | null
  try {
    value = JSON.parse(text)
  } catch (cause) {
    return refuse('it is not JSON', cause)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse('it is not a JSON object')
  const { v, name, listen, announce = [], owners, relays = [], dht, programs, policy } = value
  if (v !== 1) return refuse(`its version is ${JSON.stringify(v)}, this talko reads version 1`)
  const unknown = Object.keys(value).find((key) => !(KEYS as readonly string[]).includes(key))
  if (unknown !== undefined) return refuse(`it may not have ${JSON.stringify(unknown)}, only ${KEYS.join(', ')}`)
  if (typeof name !== 'string' || name === '' || name.length > NAME_CHARS_MAX) return refuse('"name" must be text')
  if (!isList(listen, isAddress) || listen.length === 0) return refuse(`"listen" must be a list of multiaddrs such as ${DEFAULT_LISTEN}`)
  if (!isList(announce, isAddress)) return refuse('"announce" must be a list of multiaddrs')
  if (!isList(owners, isPeer)) return refuse('"owners" must be a list of peer ids such as 12D3KooW…')
  if (!isList(relays, isRelay)) return refuse('"relays" must be a list of multiaddrs that end with /p2p/ and the id of the relay')
  if (programs !== undefined && !isEngines(programs)) return refuse('"programs" must be a list of the engines "docker" and "process", or [] for none')
  const read = policy === undefined ? undefined : readPolicy(policy)
  if (read !== undefined && 'fault' in read) return refuse(read.fault)
  const more = { ...(relays.length === 0 ? {} : { relays }), ...(programs === undefined ? {} : { programs }), ...read }
  const file = { v: 1, name, listen, announce, owners, ...more } as const
  if (dht === undefined) return file
  if (!isDht(dht)) return refuse('"dht" must be no more than {"bootstrap": [multiaddrs], "serve": true or false, "allowPrivate": true or false}')
  return { ...file, dht }
}

function isList(value: unknown, item: (one: unknown) => boolean): value is readonly string[] {
  return Array.isArray(value) && value.length <= LIST_MAX && value.every(item)
}

function isEngines(value: unknown): value is readonly Engine[] {
  return isList(value, (one) => one === 'docker' || one === 'process')
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('/') && value.length <= 256
}

function isRelay(value: unknown): boolean {
  return isAddress(value) && /\/p2p\/[1-9A-HJ-NP-Za-km-z]+$/.test(String(value))
}

export function isPeer(value: unknown): boolean {
  return typeof value === 'string' && /^[1-9A-HJ-NP-Za-km-z]{40,64}$/.test(value)
}

function isDht(value: unknown): value is DhtSettings {
  const { bootstrap, serve, allowPrivate } = (value ?? {}) as Partial<Record<keyof DhtSettings, unknown>>
  if (Object.keys(value ?? {}).some((key) => !DHT_KEYS.includes(key))) return false
  return isList(bootstrap, isAddress) && typeof serve === 'boolean' && typeof allowPrivate === 'boolean'
}
