import type { Command } from 'commander'
import { type Context, examples, type Verb } from '../command.ts'
import { banTable } from '../tasks/bans.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command.addHelpText('after', examples('talko ban list', 'talko ban list -o json'))
  run(async (context: Context) => {
    const { io, signal } = context
    const bans = await (await context.client()).bans({ signal })
    if (io.json) io.outJson(bans)
    else for (const line of banTable(bans, io.nowMs)) io.out(line)
    return undefined
  })
}
