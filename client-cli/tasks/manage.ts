/** What the verbs share that do something to batches and tasks, those named or all that are selected. */
import type { Command } from 'commander'
import { BATCH_STATES, type BatchState, type Managed, type ManagedTarget } from '#protocol/owner/messages'
import type { Selection } from '../client/manage.ts'
import { parsePairs } from '../client/units.ts'
import { type Context, collect, flag, text, texts } from '../command.ts'
import { ClientError, type ClientErrorCode, explain } from '../errors.ts'
import type { Io } from '../output/io.ts'

type Options = Readonly<Record<string, unknown>>

/** After one of these the others would fail alike. */
const STOPPING: ReadonlySet<ClientErrorCode> = new Set(['unreachable', 'timeout', 'interrupted'])

/** `what`: what may be named in place of a selection. */
export function manageOptions(command: Command, what: string): void {
  command.argument('[ids...]', what)
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
export function readTargets(ids: readonly string[], options: Options): readonly string[] | readonly [Selection] {
  const selection = readSelection(options)
  if ((ids.length === 0) === (selection === undefined)) throw new ClientError('usage', 'which? give ids, or select with -l, --name or --state')
  return selection === undefined ? [...new Set(ids)] : [selection]
}

/**
 * Does it to each in turn, prints the ids of what it was done to, and to stderr in a sentence what that means: `done` follows
 * their kind and number. Where one of several cannot be, the others are done and that one is told of; throws the first such error.
 */
export async function manageEach(
  { io }: Context,
  targets: readonly (string | Selection)[],
  {
    act,
    options,
    done
  }: { readonly act: (target: string | Selection) => Promise<Managed>; readonly options: Options; readonly done: (tasks: number) => string }
): Promise<void> {
  const managed: ManagedTarget[] = []
  const errors: unknown[] = []
  for (const target of targets) {
    try {
      managed.push(...(await act(target)).targets)
    } catch (error) {
      errors.push(error)
      if (!(error instanceof ClientError) || STOPPING.has(error.code)) break
    }
  }
  if (managed.length > 0 || errors.length === 0) showManaged(io, managed, { dryRun: flag(options, 'dryRun'), done })
  for (const error of errors.slice(1)) io.say(`talko: ${explain(error).message}`)
  if (errors.length > 0) throw errors[0]
}

function showManaged(
  io: Io,
  targets: readonly ManagedTarget[],
  { dryRun, done }: { readonly dryRun: boolean; readonly done: (tasks: number) => string }
): void {
  if (io.json) {
    io.outJson({ targets, dryRun })
    return
  }
  for (const { id } of targets) io.out(id)
  const tasks = targets.reduce((total, one) => total + (one.tasks ?? 0), 0)
  const what = nameOf(targets)
  io.say(targets.length === 0 ? 'nothing is selected' : dryRun ? `would be done to ${what}; nothing was changed` : `${what}: ${done(tasks)}`)
}

function nameOf(targets: readonly ManagedTarget[]): string {
  const [first] = targets
  if (first !== undefined && targets.length === 1) return `${first.kind} ${first.id}`
  const kinds = new Set(targets.map(({ kind }) => kind))
  return `${targets.length} ${kinds.size > 1 ? 'tasks and batches' : kinds.has('task') ? 'tasks' : 'batches'}`
}
