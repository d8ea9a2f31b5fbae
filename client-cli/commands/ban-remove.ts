import type { Command } from 'commander'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { banOptions, readBanTarget, showBan } from '../tasks/bans.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  banOptions(command)
  command.addHelpText(
    'after',
    `${examples('talko ban remove 203.0.113.0/24')}\nWritten as talko ban list shows it. Its nodes come back by themselves, as new ones.\n`
  )
  run(async (context: Context, [whom = ''], options) => {
    const target = readBanTarget(whom, options)
    const client = await context.client()
    const answer = await client.ban(target, { reason: text(options, 'reason') ?? '', lift: true, dryRun: flag(options, 'dryRun'), signal: context.signal })
    showBan(context, answer, options)
    return undefined
  })
}
