import type { Command } from 'commander'
import { unended } from '#protocol/owner/counts'
import type { BatchView, TaskView } from '#protocol/owner/messages'
import type { Client } from '../client/client.ts'
import { isTerminal } from '../client/results.ts'
import { parseWhole } from '../client/units.ts'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { formatCommand, formatDuration, formatProgress, formatTable, shorten, shortId } from '../output/text.ts'
import { readSelection, selectionOptions } from '../tasks/manage.ts'
import { outcome } from '../tasks/waiting.ts'

const ROWS_DEFAULT = 100
const ROWS_MAX = 1_000_000
/** How far back unfinished batches are looked for. */
const SCAN_MAX = 10_000
const COMMAND_CHARS = 48

export function define(command: Command, run: (verb: Verb) => void): void {
  command.argument('[batch]', "show this batch's tasks instead of all batches").option('-a, --all', 'what is over, too')
  selectionOptions(command)
  command
    .option('-n, --limit <n>', 'at most so many rows', String(ROWS_DEFAULT))
    .addHelpText('after', examples('talko ps', 'talko ps -a', 'talko ps -a -l experiment=7', 'talko ps k3vq -a', 'talko ps -a -o json'))
  run(ps)
}

async function ps(context: Context, [of]: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io } = context
  const limit = parseWhole(text(options, 'limit') ?? '', '--limit', 1, ROWS_MAX)
  const all = flag(options, 'all')
  const selection = readSelection(options)
  if (of !== undefined && selection !== undefined)
    throw new ClientError('usage', '-l, --name and --state select batches; a batch that is named is shown with its tasks')
  const client = await context.client()
  if (of !== undefined) {
    const tasks = await someTasks(client, of, { all, limit, signal: context.signal })
    if (io.json) io.outJson(tasks)
    else for (const line of taskTable(tasks, io.nowMs)) io.out(line)
    if (tasks.length === 0 && !all) io.say('all its tasks are over: -a shows them')
    return
  }
  const batches = (await client.batches(all ? limit : SCAN_MAX, { signal: context.signal, ...(selection === undefined ? {} : { of: selection }) }))
    .filter((batch) => all || unended(batch) > 0)
    .slice(0, limit)
  if (io.json) io.outJson(batches)
  else for (const line of batchTable(batches, io.nowMs, client.peerId)) io.out(line)
  if (batches.length === 0 && !all) io.say('nothing waits or runs: -a shows what is over')
}

async function someTasks(client: Client, of: string, { all, limit, signal }: { all: boolean; limit: number; signal: AbortSignal }): Promise<TaskView[]> {
  const tasks: TaskView[] = []
  for await (const task of client.tasks(of, { signal })) {
    if (all || !isTerminal(task)) tasks.push(task)
    if (tasks.length >= limit) break
  }
  return tasks
}

/** Whose a batch is, too, where some are not one's own: an administrator sees those of all clients. */
export function batchTable(batches: readonly BatchView[], nowMs: number, you: string): string[] {
  const others = batches.some(({ by }) => by !== undefined && by !== you)
  return formatTable(
    ['BATCH', 'TASKS', 'READY', 'FAILED', 'RUNNING', 'WAITING', 'AGE', ...(others ? ['CLIENT'] : []), 'NAME', 'LABELS'],
    batches.map((batch) => [
      shortId(batch.id),
      String(batch.tasks),
      String(batch.ready),
      String(batch.failed + batch.killed),
      String(batch.running + batch.validating),
      String(batch.created),
      formatDuration(nowMs - batch.createdAtMs),
      ...(others ? [batch.by === you ? 'you' : (batch.by ?? '')] : []),
      batch.held === undefined ? batch.name : `${batch.name} (held)`.trimStart(),
      (batch.labels ?? []).join(' ')
    ])
  )
}

/** How far tasks are, too, where some say it. */
export function taskTable(tasks: readonly TaskView[], nowMs: number): string[] {
  const told = tasks.some(({ progress }) => progress !== undefined)
  return formatTable(
    ['TASK', 'STATE', 'AGREE', 'RUNS', 'AGE', ...(told ? ['PROGRESS'] : []), 'COMMAND'],
    tasks.map((task) => [
      shortId(task.id),
      outcome(task),
      `${task.agreeing}/${task.quorum}`,
      String(task.replicasIssued),
      formatDuration((task.decidedAtMs ?? nowMs) - task.createdAtMs),
      ...(told ? [task.progress === undefined ? '' : formatProgress(task.progress)] : []),
      shorten(formatCommand(task.command), COMMAND_CHARS)
    ])
  )
}
