/** What the verbs share that do something to batches and tasks. */
import type { Command } from 'commander'
import type { Managed } from '#protocol/owner/messages'
import { type Context, flag } from '../command.ts'

type Options = Readonly<Record<string, unknown>>

export function manageOptions(command: Command): void {
  command.argument('<id>', 'a task or a batch').option('--dry-run', 'say what it would be done to, and change nothing')
}

/** Prints the ids of what it was done to, and to stderr in a sentence what that means: `done` follows the ids' kind and number. */
export function showManaged({ io }: Context, { targets }: Managed, options: Options, done: string): void {
  const dryRun = flag(options, 'dryRun')
  if (io.json) {
    io.outJson({ targets, dryRun })
    return
  }
  for (const { id } of targets) io.out(id)
  const [first] = targets
  const what = first === undefined ? 'nothing' : targets.length === 1 ? `${first.kind} ${first.id}` : `${targets.length} batches`
  io.say(dryRun ? `would be done to ${what}; nothing was changed` : `${what} ${targets.length > 1 ? 'are' : 'is'} ${done}`)
}
