/** Options of `talko owner add` and `set`, and how clients are shown. */
import type { Command } from 'commander'
import { TAGS_MAX } from '#protocol/bundle/policy'
import { areGroups, type ClientSettings, type ClientView, DEFAULT_CLIENT_SETTINGS } from '#protocol/owner/clients'
import { isPeerId } from '../client/invite.ts'
import { parseBytes, parseDuration, parseWhole } from '../client/units.ts'
import { type Context, collect, flag, text, texts } from '../command.ts'
import { ClientError } from '../errors.ts'
import { formatBytes, formatDuration, formatTable } from '../output/text.ts'

const COUNT_MAX = 1_000_000_000

export function grantOptions(command: Command): void {
  command
    .argument('<peer>', 'a client, by its peer id')
    .option('--share <number>', 'of the slots while several clients contend for them, beside the shares of the others (at first 1)')
    .option('--disk <amount>', 'inputs and outputs that the project keeps for it (10GiB), or none for any amount')
    .option('--time <time>', 'time of runs within a period (100h), or none')
    .option('--per <time>', 'how long a period is (at first 30d)')
    .option('--parallel <number>', 'runs at once, or none')
    .option('--tasks <number>', 'tasks that are not over, or none')
    .option('--batches <number>', 'batches that are not over, or none')
    .option(
      '--group <name>',
      'it belongs to this group, whose nodes take its tasks (talko node join --group); or none; may repeat: they replace those that it had',
      collect
    )
  dryRunOption(command)
}

/** Those that are given. */
export function readGrant(options: Readonly<Record<string, unknown>>): Partial<ClientSettings> {
  const read = <T>(name: string, parse: (value: string, option: string) => T): T | undefined => {
    const value = text(options, name)
    return value === undefined ? undefined : parse(value, `--${name}`)
  }
  const limit =
    (parse: (value: string, option: string) => number) =>
    (value: string, option: string): number | null =>
      value === 'none' ? null : parse(value, option)
  const whole = limit((value, option) => parseWhole(value, option, 0, COUNT_MAX))
  const all: { readonly [Name in keyof ClientSettings]: ClientSettings[Name] | undefined } = {
    share: read('share', parseShare),
    diskBytes: read('disk', limit(parseBytes)),
    timeMs: read('time', limit(parseDuration)),
    periodMs: read('per', parseDuration),
    parallel: read('parallel', whole),
    tasks: read('tasks', whole),
    batches: read('batches', whole),
    groups: readGroups(texts(options, 'group'))
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

function readGroups(given: readonly string[]): readonly string[] | undefined {
  if (given.length === 0) return undefined
  const groups = given.length === 1 && given[0] === 'none' ? [] : [...new Set(given)].sort()
  if (!areGroups(groups) || groups.includes('none'))
    throw new ClientError('usage', `--group is a name of letters, digits and . _ : = / -, at most ${TAGS_MAX} of them; none alone takes them all away`)
  return groups
}

/** Grants it, or with --dry-run says what would be granted: the settings that it has now, changed. */
export async function grant(
  context: Context,
  peer: string,
  {
    options,
    settings = {},
    member
  }: { readonly options: Readonly<Record<string, unknown>>; readonly settings?: Partial<ClientSettings>; readonly member?: boolean }
): Promise<undefined> {
  const { io, signal } = context
  const id = readPeer(peer)
  const client = await context.client()
  if (!flag(options, 'dryRun')) {
    showClients(context, [await client.grant(id, { settings, ...(member === undefined ? {} : { member }), signal })])
    return
  }
  const known = (await client.clients({ signal })).find((one) => one.client === id)
  const would = { client: id, member: member ?? known?.member ?? false, settings: { ...DEFAULT_CLIENT_SETTINGS, ...known?.settings, ...settings } }
  if (io.json) io.outJson({ dryRun: true, ...would, known: known !== undefined })
  else {
    if (known === undefined) io.out(`${id} would be ${would.member ? 'a client' : 'removed'}: ${settingsText(would.settings)}`)
    else for (const line of clientTable([{ ...known, ...would }], io.nowMs)) io.out(line)
    io.say('nothing was changed')
  }
}

/** What differs from what anybody is granted. */
function settingsText(settings: ClientSettings): string {
  const said = Object.entries(settings).filter(([name, value]) => value !== DEFAULT_CLIENT_SETTINGS[name as keyof ClientSettings])
  return said.length === 0 ? 'as any other client' : said.map(([name, value]) => `${name} ${value ?? 'none'}`).join(', ')
}

export function dryRunOption(command: Command): void {
  command.option('--dry-run', 'say what would be granted, and change nothing')
}

function readPeer(peer: string): string {
  if (!isPeerId(peer)) throw new ClientError('usage', `a client is named by its peer id like 12D3Koo…, not ${JSON.stringify(peer)}`)
  return peer
}

export function showClients({ io }: Context, views: readonly ClientView[]): void {
  if (io.json) io.outJson(views)
  else for (const line of clientTable(views, io.nowMs)) io.out(line)
}

/** Used and granted, a line for each client. */
export function clientTable(views: readonly ClientView[], nowMs: number): string[] {
  return formatTable(
    ['CLIENT', 'ROLE', 'SHARE', 'DISK', 'TIME', 'PERIOD ENDS', 'RUNNING', 'TASKS', 'BATCHES', 'GROUPS'],
    views.map(({ client, administrator, member, settings, used, periodEndsAtMs }) => [
      client,
      administrator ? 'administrator' : member ? 'client' : 'removed',
      String(settings.share),
      of(formatBytes(used.inputBytes + used.outputBytes), settings.diskBytes, formatBytes),
      of(formatDuration(used.timeMs), settings.timeMs, formatDuration),
      `in ${formatDuration(Math.max(0, periodEndsAtMs - nowMs))}`,
      of(String(used.parallel), settings.parallel, String),
      of(String(used.tasks), settings.tasks, String),
      of(String(used.batches), settings.batches, String),
      settings.groups?.join(',') || '-'
    ])
  )
}

function of(used: string, max: number | null, format: (max: number) => string): string {
  return max === null ? used : `${used} of ${format(max)}`
}

function parseShare(value: string, option: string): number {
  const share = /^\d{1,4}(\.\d{1,3})?$/.test(value) ? Number(value) : Number.NaN
  if (!(share >= 0.001 && share <= 1000)) throw new ClientError('usage', `${option} is a number from 0.001 to 1000, not ${JSON.stringify(value)}`)
  return share
}
