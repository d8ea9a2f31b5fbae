/** What the verbs share that do something to batches and tasks, one or all that are selected. */
import type { Command } from 'commander'
import { BATCH_STATES, type BatchState, type Managed } from '#protocol/owner/messages'
import type { Selection } from '../client/manage.ts'
import { parsePairs } from '../client/units.ts'
import { type Context, collect, flag, text, texts } from '../command.ts'
import { ClientError } from '../errors.ts'

type Options = Readonly<Record<string, unknown>>

/** `what`: what may be named in place of a selection. */
export function manageOptions(command: Command, what: string): void {
  command.argument('[id]', what)
  selectionOptions(command)
  command.option('--dry-run', 'say what it would be done to, and change nothing')
}

export function selectionOptions(command: Command): void {
  command
    .option('-l, --label <key=value>', 'all your batches of this label; may repeat, and all must be there', collect)
    .option('--name <name>', 'all your batches of this name')
    .option('--state <state>', `those with tasks that are: ${BATCH_STATES.join(', ')}`)
}

/** undefined when nothing was selected. Throws ClientError `usage`. */
export function readSelection(options: Options): Selection | undefined {
  const labels = parsePairs(texts(options, 'label'), '-l')
  const name = text(options, 'name')
  const state = text(options, 'state')
  const known = BATCH_STATES.find((one) => one === state)
  if (state !== undefined && known === undefined) throw new ClientError('usage', `--state is one of ${BATCH_STATES.join(', ')}, not ${JSON.stringify(state)}`)
  if (Object.keys(labels).length === 0 && name === undefined && known === undefined) return undefined
  return { labels, ...(name === undefined ? {} : { name }), ...(known === undefined ? {} : { state: known satisfies BatchState }) }
}

/** What is named, or what is selected: one of the two. Throws ClientError `usage`. */
export function readTarget(of: string | undefined, options: Options): string | Selection {
  const selection = readSelection(options)
  if ((of === undefined) === (selection === undefined)) throw new ClientError('usage', 'which? give an id, or select with -l, --name or --state')
  return selection ?? of ?? ''
}

/** Prints the ids of what it was done to, and to stderr in a sentence what that means: `done` follows their kind and number. */
export function showManaged({ io }: Context, { targets }: Managed, options: Options, done: string): void {
  const dryRun = flag(options, 'dryRun')
  if (io.json) {
    io.outJson({ targets, dryRun })
    return
  }
  for (const { id } of targets) io.out(id)
  const [first] = targets
  const what = first === undefined ? 'nothing' : targets.length === 1 ? `${first.kind} ${first.id}` : `${targets.length} batches`
  io.say(first === undefined ? 'nothing is selected' : dryRun ? `would be done to ${what}; nothing was changed` : `${what}: ${done}`)
}
