/** Waiting for a batch with its progress shown, and what its end means for the exit status. */
import type { Engine } from '#protocol/bundle/manifest'
import type { TaskPolicy } from '#protocol/bundle/policy'
import type { BatchView, NodeView, TaskView } from '#protocol/owner/messages'
import type { Client } from '../client/client.ts'
import { isTerminal } from '../client/results.ts'
import type { Context } from '../command.ts'
import { ClientError, EXIT } from '../errors.ts'
import type { Io } from '../output/io.ts'
import { renderBatch } from '../output/progress.ts'
import { formatBytes, formatTable, shorten, shortId } from '../output/text.ts'

/** Tasks shown in a table of results; the rest is counted. */
export const ROWS_MAX = 50

/** Waits until the batch is decided. Ctrl-C leaves it running and says how to go on. */
export async function waitFor(context: Context, client: Client, batch: string): Promise<BatchView> {
  const { io, signal } = context
  let last: BatchView | undefined
  try {
    for await (const view of client.watch(batch, { signal })) {
      last = view
      io.progress(`batch ${batch}`, view.ready + view.failed + view.killed, view.tasks, (meter, columns) => renderBatch(view, meter, columns))
    }
  } catch (error) {
    sayItGoesOn(context, batch)
    throw error
  } finally {
    io.progressEnd()
  }
  if (last === undefined) throw new ClientError('refused', `the project said nothing about batch ${batch}`)
  return last
}

/** Why a task of this policy cannot be decided by the nodes there are; undefined when it can. */
export function fewNodes(nodes: readonly Pick<NodeView, 'id' | 'state' | 'engines'>[], engine: Engine, policy: TaskPolicy): string | undefined {
  const able = nodes.filter(
    ({ id, state, engines }) =>
      (state === 'online' || state === 'set aside') && engines.includes(engine) && (policy.nodes.length === 0 || policy.nodes.includes(id))
  )
  if (able.length >= policy.minQuorum) return undefined
  const have = able.length === 1 ? '1 node that may run it is' : `${able.length} nodes that may run it are`
  return `${policy.minQuorum} different nodes must agree and ${have} online (engine ${engine}): it waits for more (see talko nodes; or ask for less with --quorum)`
}

/** Says so before waiting for `of`, which is submitted. */
export async function warnFewNodes(context: Context, client: Client, of: string, { engine, policy }: { engine: Engine; policy: TaskPolicy }): Promise<void> {
  try {
    const why = fewNodes(await client.nodes({ signal: context.signal }), engine, policy)
    if (why !== undefined) context.io.warn(why)
  } catch (error) {
    sayItGoesOn(context, of)
    throw error
  }
}

/** After Ctrl-C and `--timeout`: how to come back. */
function sayItGoesOn({ io, signal }: Context, of: string): void {
  if (signal.aborted) io.say(`${of} goes on without us: talko info ${of} · talko kill ${of}`)
}

/** What shells and engines say with these. */
const USUALLY: Readonly<Record<number, string>> = { 126: ' (not executable?)', 127: ' (no such command?)' }

/** `ready`, or how it went wrong, in a few words. */
export function outcome(task: Pick<TaskView, 'status' | 'exitCode' | 'failure' | 'held'>): string {
  if (task.held !== undefined && task.status === 'staged') return 'held'
  if (task.status === 'killed' && task.failure?.code === 'queue_limit') return 'killed: waited too long'
  if (task.status !== 'failed') return task.status
  const { failure, exitCode } = task
  if (failure === undefined) return 'failed'
  if (failure.code === 'exit') return `failed: exit status ${exitCode ?? '?'}${USUALLY[exitCode ?? 0] ?? ''}`
  const words: Readonly<Record<string, string>> = {
    time: 'time limit',
    memory: 'memory limit',
    disk: 'disk limit',
    pids: 'process limit',
    too_many_errors: 'too many errors',
    no_agreement: 'no agreement',
    input: 'input missing',
    output_lost: 'output lost',
    source: 'what it needs failed'
  }
  return `failed: ${words[failure.code] ?? 'unknown reason'}`
}

/** What a table of results shows, and what all of them together mean. */
export interface Summary {
  /** The failed ones first, since they are what is looked for. */
  readonly shown: readonly TaskView[]
  readonly left: number
  /** Those that were decided before, and not run. */
  readonly repeats: number
  /** 0 when all are ready; 5 when only agreement was missing; 1 otherwise. */
  readonly exit: number
}

/** Reads the tasks of a decided batch through; memory does not grow with their number. */
export async function summarize(tasks: AsyncIterable<TaskView> | Iterable<TaskView>): Promise<Summary> {
  const ready: TaskView[] = []
  const bad: TaskView[] = []
  let count = 0
  let repeats = 0
  let exit: number = EXIT.ok
  for await (const task of tasks) {
    count++
    if (task.repeats !== undefined) repeats++
    const list = task.status === 'ready' ? ready : bad
    if (list.length < ROWS_MAX) list.push(task)
    if (task.status === 'ready') continue
    if (exit === EXIT.ok || exit === EXIT.noAgreement) exit = task.failure?.code === 'no_agreement' ? EXIT.noAgreement : EXIT.taskFailed
  }
  const shown = [...bad, ...ready].slice(0, ROWS_MAX)
  return { shown, left: count - shown.length, repeats, exit }
}

function resultRows(tasks: readonly TaskView[]): string[][] {
  return tasks.map((task) => [
    task.id,
    outcome(task),
    task.outputBytes === undefined ? '' : formatBytes(task.outputBytes),
    task.output ?? shorten(task.failure?.message ?? '', 80)
  ])
}

export function showResults(io: Io, { shown, left, repeats }: Pick<Summary, 'shown' | 'left' | 'repeats'>): void {
  const rows = resultRows(shown)
  const [head, ...lines] = formatTable(['TASK', 'RESULT', 'BYTES', 'OUTPUT'], rows)
  io.say(head ?? '')
  for (const [index, line] of lines.entries()) io.say(rows[index]?.[1] === 'ready' ? line : io.bad(line))
  if (left > 0) io.say(`and ${left} more`)
  if (repeats > 0) io.say(`${repeats} of them ${repeats === 1 ? 'was' : 'were'} decided before and not run again (--force runs what was)`)
  const [bad] = shown.filter(({ status }) => status === 'failed')
  if (bad === undefined) return
  const id = shortId(bad.id)
  io.say(bad.failure?.code === 'exit' ? `see talko logs --stderr ${id} · talko info ${id}` : `see talko info ${id}`)
}

/** All tasks of a batch. */
export async function allTasks(client: Client, batch: string, signal: AbortSignal): Promise<TaskView[]> {
  const tasks: TaskView[] = []
  for await (const task of client.tasks(batch, { signal })) tasks.push(task)
  return tasks
}

/** The task's logs to stdout and stderr until it ends. */
export async function follow(context: Context, client: Client, task: string): Promise<void> {
  const { io, signal } = context
  const stop = new AbortController()
  const both = AbortSignal.any([signal, stop.signal])
  const decode = new TextDecoder()
  const copy = async (file: 'stdout' | 'stderr'): Promise<void> => {
    try {
      for await (const piece of client.logs(task, { file, follow: true, signal: both })) {
        if (file === 'stdout') io.raw(piece)
        else io.rawSay(decode.decode(piece, { stream: true }))
      }
    } catch (error) {
      // A task that ended before it printed anything (or was killed) has no log.
      if (!(error instanceof ClientError) || error.code !== 'not_found' || !isTerminal(await client.task(task, { signal }))) throw error
    }
  }
  try {
    await Promise.all([copy('stdout'), copy('stderr')])
  } catch (error) {
    sayItGoesOn(context, task)
    throw error
  } finally {
    stop.abort(new ClientError('interrupted', 'given up'))
  }
}
