/** What is known of the commands that a task runs in order: read from the marks in its log. */
import { cutSteps, type Step, type StepLog, stepsOfCommand } from '#protocol/bundle/steps'
import type { TaskView } from '#protocol/owner/messages'
import type { Client } from '../client/client.ts'
import { ClientError } from '../errors.ts'
import { formatDuration, formatStep, formatTable } from '../output/text.ts'

/** More of a log is not read for its marks. */
const LOG_BYTES_MAX = 64 * 1024 ** 2

export interface StepView extends Omit<StepLog, 'stdout' | 'stderr'> {
  readonly command: readonly string[]
  /** not_run: the run ended before it. ended: by a limit or from outside, so that it has no exit status. */
  readonly state: 'waits' | 'running' | 'ready' | 'failed' | 'ended' | 'not_run'
}

/** Undefined for a task of one command. Without a log that can be read nothing is known to have begun. */
export async function stepViews(client: Client, task: TaskView, signal: AbortSignal): Promise<readonly StepView[] | undefined> {
  const steps = stepsOfCommand(task.command)
  if (steps === undefined || steps.length < 2) return undefined
  return viewsOf(steps, await logOf(client, task, signal), isOver(task))
}

export function viewsOf(steps: readonly Step[], stderr: string, over: boolean): StepView[] {
  const logs = cutSteps(steps, { stdout: '', stderr })
  return steps.map(({ name, command }, at) => {
    const log = logs[at]
    const known = { number: at + 1, name, command }
    if (log === undefined) return { ...known, state: over ? 'not_run' : 'waits' }
    const { exitCode, seconds } = log
    if (exitCode === undefined) return { ...known, state: over ? 'ended' : 'running' }
    return { ...known, state: exitCode === 0 ? 'ready' : 'failed', exitCode, ...(seconds === undefined ? {} : { seconds }) }
  })
}

export function stepTable(views: readonly StepView[]): string[] {
  const rows = views.map(({ number, name, state, exitCode, seconds, command }) => [
    String(number),
    name,
    state.replace('_', ' '),
    exitCode === undefined ? '' : String(exitCode),
    seconds === undefined ? '' : formatDuration(seconds * 1000),
    formatStep(command)
  ])
  return formatTable(['STEP', 'NAME', 'STATE', 'EXIT', 'TOOK', 'COMMAND'], rows)
}

/** One step's part of a log. `which`: its number, from 1, or its name. Throws ClientError `usage`, `not_found`. */
export function stepOf(command: readonly string[], which: string, { file, log }: { readonly file: 'stdout' | 'stderr'; readonly log: string }): string {
  const steps = stepsOfCommand(command) ?? []
  if (steps.length < 2) throw new ClientError('usage', '--step is for tasks that run several commands in order; this one runs one')
  const named = steps.findIndex(({ name }) => name === which)
  const at = named >= 0 ? named : /^\d{1,2}$/.test(which) ? Number(which) - 1 : -1
  if (steps[at] === undefined)
    throw new ClientError('usage', `there is no step ${JSON.stringify(which)}: they are ${steps.map(({ name }, index) => `${index + 1} (${name})`).join(', ')}`)
  // Both files have the marks that one is cut at.
  const part = cutSteps(steps, { stdout: log, stderr: log })[at]
  if (part === undefined) throw new ClientError('not_found', `step ${which} has not begun, or never did (talko info shows them)`)
  return part[file]
}

/** A log as far as it can be read now. Throws ClientError. */
export async function wholeLog(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const piece of pieces) {
    bytes += piece.length
    if (bytes > LOG_BYTES_MAX)
      throw new ClientError('refused', `the log has more than ${LOG_BYTES_MAX} bytes: read it whole (talko logs) and cut it at its marks`)
    parts.push(piece)
  }
  return Buffer.concat(parts).toString('utf8')
}

async function logOf(client: Client, task: TaskView, signal: AbortSignal): Promise<string> {
  try {
    return await wholeLog(client.logs(task.id, { file: 'stderr', signal }))
  } catch (error) {
    // It waits, or its node is away: what a task is can be shown all the same.
    if (error instanceof ClientError && error.code !== 'interrupted') return ''
    throw error
  }
}

function isOver({ status }: TaskView): boolean {
  return status === 'ready' || status === 'failed' || status === 'killed'
}
