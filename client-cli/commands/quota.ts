import type { Command } from 'commander'
import { type Context, examples, type Verb } from '../command.ts'
import { showClients } from '../tasks/grants.ts'

/** `talko quota` and `talko owner list`: to the administrator all clients, to another itself. */
export function define(command: Command, run: (verb: Verb) => void): void {
  command.addHelpText(
    'after',
    `${examples('talko quota', 'talko quota -o json', 'talko owner list')}\nShows what you used and may use; to the administrator of the project, all its clients.\n`
  )
  run(async (context: Context) => {
    showClients(context, await (await context.client()).clients({ signal: context.signal }))
    return undefined
  })
}
