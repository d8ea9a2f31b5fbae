/** What the verbs of `talko ban` share: who is meant, and how it is shown. */
import type { Command } from 'commander'
import { type BanAnswer, type BanTarget, type BanView, banTargetFault } from '#protocol/owner/bans'
import { isPeerId } from '../client/invite.ts'
import { type Context, flag } from '../command.ts'
import { ClientError } from '../errors.ts'
import { formatDuration, formatTable } from '../output/text.ts'

type Options = Readonly<Record<string, unknown>>

export function banOptions(command: Command): void {
  command
    .argument('<whom>', 'a node by its peer id, or a network as 203.0.113.0/24')
    .option('--owner', 'the peer id is of a client: all nodes that are its own')
    .option('--reason <text>', 'why; the node is told, too')
    .option('--dry-run', 'say which nodes are meant, and change nothing')
}

/** Throws ClientError `usage`. */
export function readBanTarget(whom: string, options: Options): BanTarget {
  const owner = flag(options, 'owner')
  const kind = owner ? 'owner' : isPeerId(whom) ? 'node' : 'network'
  const target = { kind, value: whom } as const
  const fault = banTargetFault(target, isPeerId)
  if (kind === 'network' && !whom.includes('/'))
    throw new ClientError(
      'usage',
      `${JSON.stringify(whom)} is no peer id, by which a node or owner is named (talko nodes shows them), and no network such as 203.0.113.0/24`
    )
  if (fault !== undefined) throw new ClientError('usage', `${fault}, not ${JSON.stringify(whom)}`)
  return target
}

/** A node that is meant on each line, and to stderr in a sentence what that means. */
export function showBan({ io }: Context, answer: BanAnswer, options: Options): void {
  const dryRun = flag(options, 'dryRun')
  if (io.json) {
    io.outJson({ ...answer, dryRun })
    return
  }
  const { target, banned, nodes, more } = answer
  for (const { id, name, runs, results } of nodes)
    io.out(banned ? `${id} ${name}: ${counted(runs, 'run')}, ${counted(results, 'result')} of undecided tasks` : `${id} ${name}`)
  const count = nodes.length + more
  const known = count === 1 ? '1 known node' : `${count} known nodes`
  const what = `${target.kind} ${target.value}, ${known}`
  if (dryRun) io.say(`would ${banned ? 'ban' : 'let in again'} ${what}; nothing was changed`)
  else io.say(banned ? `banned ${what}: their runs go to others (talko ban remove)` : `${what}: may come back`)
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

export function banTable(bans: readonly BanView[], nowMs: number): string[] {
  return formatTable(
    ['BANNED', 'WHO', 'SINCE', 'BY', 'REASON'],
    bans.map(({ kind, value, by, atMs, reason }) => [kind, value, `${formatDuration(Math.max(0, nowMs - atMs))} ago`, by.slice(-8), reason || '-'])
  )
}
