import type { Command } from 'commander'
import { parseInvite } from '../client/invite.ts'
import { type Context, examples, flag, type Verb } from '../command.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<invite>', "the project's invite: talko://…")
    .option('--dry-run', 'only show what the invite says')
    .addHelpText(
      'after',
      examples("talko use 'talko://12D3Koo…?a=/ip4/203.0.113.7/tcp/4600'", 'Its administrator must let you in (talko owner add); your id is printed.')
    )
  run(async (context: Context, [given = ''], options) => {
    const { io } = context
    const invite = parseInvite(given)
    const { Home } = await import('../live/home.ts')
    const home = Home.at(context.home)
    const dryRun = flag(options, 'dryRun')
    if (!dryRun) await home.choose(invite)
    const me = dryRun ? undefined : (await home.signer()).peerId
    if (io.json) io.outJson({ ...invite, ...(me === undefined ? { dryRun: true } : { you: me }) })
    else {
      io.out(invite.project)
      io.say(me === undefined ? 'nothing was changed' : `the other commands talk to it now; you are ${me}`)
    }
    return undefined
  })
}
