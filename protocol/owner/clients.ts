/** What a project grants its clients: shares and quotas, and what they used of them. */
import { isTag, TAGS_MAX } from '../bundle/policy.ts'
import type { PeerIdString } from '../ids.ts'

export interface ClientSettings {
  /** Of the project's slots while several clients contend for them, beside the others' shares. */
  readonly share: number
  /** Bytes of inputs and outputs that the project keeps for it; null for any number, as in all that follows. */
  readonly diskBytes: number | null
  /** Time of runs within one period, in milliseconds: a run counts for as long as it takes its slot. */
  readonly timeMs: number | null
  readonly periodMs: number
  /** Runs at once. */
  readonly parallel: number | null
  /** Tasks that are not over. */
  readonly tasks: number | null
  /** Batches with such tasks. */
  readonly batches: number | null
  /** Groups that it belongs to: nodes that are for one of them take its tasks. Left out for none. */
  readonly groups?: readonly string[]
}

export const DEFAULT_CLIENT_SETTINGS: ClientSettings = {
  share: 1,
  diskBytes: null,
  timeMs: null,
  periodMs: 30 * 86_400_000,
  parallel: null,
  tasks: null,
  batches: null
}

/** `clients`: of all to the administrator, of itself to any other. */
export interface ClientView {
  readonly client: PeerIdString
  readonly administrator: boolean
  /** It may submit and ask; one that was removed may not. */
  readonly member: boolean
  readonly settings: ClientSettings
  readonly used: {
    readonly inputBytes: number
    readonly outputBytes: number
    /** In this period, runs that go on included. */
    readonly timeMs: number
    /** Of all runs that have ended, ever, and how many they were. */
    readonly totalMs: number
    readonly runs: number
    readonly parallel: number
    readonly tasks: number
    readonly batches: number
  }
  readonly periodEndsAtMs: number
}

/** Why a project would not take these; undefined when it does. */
export function clientSettingsFault(settings: Readonly<Partial<Record<keyof ClientSettings, unknown>>>): string | undefined {
  const unknown = Object.keys(settings).find((name) => !(name in DEFAULT_CLIENT_SETTINGS) && name !== 'groups')
  if (unknown !== undefined) return `a client has no setting ${JSON.stringify(unknown.slice(0, 64))}`
  const { share, periodMs, groups, ...limits } = settings
  if (share !== undefined && !(typeof share === 'number' && share >= 0.001 && share <= 1000)) return 'a share is a number from 0.001 to 1000'
  if (periodMs !== undefined && !(Number.isSafeInteger(periodMs) && (periodMs as number) >= 60_000)) return 'a period is a minute at least'
  if (groups !== undefined && !areGroups(groups))
    return `the groups of a client are at most ${TAGS_MAX} different names: letters, digits and . _ : = / -, the first a letter or digit`
  const wrong = Object.entries(limits).find(([, value]) => value !== null && !(Number.isSafeInteger(value) && (value as number) >= 0))
  return wrong === undefined ? undefined : `the limit ${wrong[0]} is a whole number, or none`
}

/** Names of groups, of a client or a node; takes whatever was decoded. */
export function areGroups(groups: unknown): groups is readonly string[] {
  if (!Array.isArray(groups) || groups.length > TAGS_MAX) return false
  return groups.every((group) => typeof group === 'string' && isTag(group)) && new Set(groups).size === groups.length
}
