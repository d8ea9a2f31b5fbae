import type { Command } from 'commander'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { banOptions, readBanTarget, showBan } from '../tasks/bans.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  banOptions(command)
  command.addHelpText(
    'after',
    `${examples('talko ban add 12D3KooW… --reason "wrong results"', 'talko ban add 203.0.113.0/24 --dry-run', 'talko ban add 12D3KooW… --owner')}
Their runs go to others at once, and what they said of tasks that are not decided does not count. What was decided stays.
`
  )
  run(async (context: Context, [whom = ''], options) => {
    const target = readBanTarget(whom, options)
    const client = await context.client()
    const answer = await client.ban(target, { reason: text(options, 'reason') ?? '', dryRun: flag(options, 'dryRun'), signal: context.signal })
    showBan(context, answer, options)
    return undefined
  })
}
