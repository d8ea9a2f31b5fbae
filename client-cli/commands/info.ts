import type { Command } from 'commander'
import type { Source } from '#protocol/bundle/sources'
import type { BatchView, CheckpointView, ProjectView, ReplicaView, TaskView } from '#protocol/owner/messages'
import { type Context, examples, type Verb } from '../command.ts'
import { formatBytes, formatCommand, formatDuration, formatProgress, formatTable, heldText, printable } from '../output/text.ts'
import { stepTable, stepViews } from '../tasks/step-logs.ts'
import { outcome } from '../tasks/waiting.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[id]', 'a task or batch (default: the project itself)')
    .addHelpText('after', examples('talko info', 'talko info k3vq.0', 'talko info k3vq -o json'))
  run(info)
}

async function info(context: Context, [of]: readonly string[]): Promise<undefined> {
  const { io, signal } = context
  const client = await context.client()
  if (of === undefined) {
    const project = await client.info({ signal, programs: true })
    if (io.json) io.outJson({ ...project, you: client.peerId })
    else for (const line of projectLines(project, client.peerId)) io.out(line)
    return
  }
  const resolved = await client.resolve(of, { signal })
  if (resolved.kind === 'data') {
    if (io.json) io.outJson(resolved)
    else
      for (const line of fields([
        ['data', resolved.id],
        ['name', resolved.name]
      ]))
        io.out(line)
    return
  }
  const batch = await oneBatch(client, resolved.id.split('.')[0] ?? '', signal)
  if (resolved.kind === 'batch' && batch.tasks !== 1) {
    if (io.json) io.outJson(batch)
    else for (const line of batchLines(batch, io.nowMs)) io.out(line)
    return
  }
  const task = await client.task(resolved.id, { signal })
  const steps = await stepViews(client, task, signal)
  if (io.json) io.outJson({ ...task, policy: batch.policy, ...(steps === undefined ? {} : { steps }) })
  else for (const line of [...taskLines(task, io.nowMs, batch.policy), ...(steps === undefined ? [] : ['', ...stepTable(steps)])]) io.out(line)
}

async function oneBatch(client: Awaited<ReturnType<Context['client']>>, batch: string, signal: AbortSignal): Promise<BatchView> {
  // The first state of a watch is the present one.
  for await (const view of client.watch(batch, { signal })) return view
  return client.wait(batch, { signal })
}

function fields(rows: readonly (readonly [name: string, value: string | undefined])[]): string[] {
  const shown = rows.filter((row): row is readonly [string, string] => row[1] !== undefined && row[1] !== '')
  const width = Math.max(...shown.map(([name]) => name.length)) + 2
  return shown.map(([name, value]) => `${name.padEnd(width)}${printable(value)}`)
}

/** What a task takes from others, in a line. */
function sourceText({ name, of, from, count, part, path }: Source, batch: string): string {
  const whom = of !== '' ? of : count === 1 ? `${batch}.${from}` : `${batch}.${from} to ${from + count - 1}`
  if (part === 'after') return `nothing of ${whom}, but comes after it`
  return `${name}: ${part === 'all' ? 'output and stdout of each' : part} of ${whom}${path === '' ? '' : `, ${path}`}`
}

export function projectLines(project: ProjectView, you: string): string[] {
  return fields([
    ['project', project.id],
    ['name', project.name],
    ['nodes', String(project.nodes)],
    ['epoch', String(project.epoch)],
    ['version', project.version],
    ['you', you],
    ['programs', programsText(project)],
    ...project.addresses.map((address, index) => [index === 0 ? 'addresses' : '', address] as const)
  ])
}

/** Whether clients' programs can compare results here (`--compare-program`). */
function programsText({ programs }: ProjectView): string | undefined {
  if (programs === undefined) return undefined
  if (programs.engines.length === 0) return 'runs none of its clients: they cannot compare results by programs of theirs'
  if (programs.trouble !== '') return `cannot be run now, so that none can compare results: ${printable(programs.trouble)}`
  return `run by ${programs.engines.join(' and ')} on ${programs.platform}: they may compare results (--compare-program)`
}

/** What was asked for beyond what is usual. */
function policyText(policy: BatchView['policy'] = {}): string | undefined {
  const said = Object.entries(policy).map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return said.length === 0 ? undefined : said.join(', ')
}

export function batchLines(batch: BatchView, nowMs: number): string[] {
  const count = (name: keyof BatchView): readonly [string, string] => [name, String(batch[name])]
  return fields([
    ['batch', batch.id],
    ['name', batch.name],
    ['age', formatDuration(nowMs - batch.createdAtMs)],
    ['held', batch.held === undefined ? undefined : heldText(batch.held)],
    ['labels', batch.labels?.join(' ')],
    ['retry of', batch.retryOf],
    ['policy', policyText(batch.policy)],
    count('tasks'),
    ['waiting', String(batch.created)],
    count('running'),
    count('validating'),
    count('ready'),
    count('failed'),
    count('killed')
  ])
}

/** What a node says of itself, so nothing in it is believed to be fit for a terminal. */
function logLines({ attempt, log = '' }: ReplicaView): string[] {
  if (log === '') return []
  return ['', `the last that the node of attempt ${attempt} logged before it went down:`, ...log.split('\n').map((line) => `  ${printable(line)}`)]
}

function checkpointText({ atMs, doneMs, bytes }: CheckpointView, nowMs: number): string {
  return `left a checkpoint ${formatDuration(Math.max(0, nowMs - atMs))} ago, after ${formatDuration(doneMs)} of work (${formatBytes(bytes)})`
}

export function taskLines(task: TaskView, nowMs: number, policy?: BatchView['policy']): string[] {
  const { failure, held, progress, replicas = [] } = task
  const lines = fields([
    ['task', task.id],
    ['name', task.name],
    ['state', outcome(task)],
    ['progress', progress === undefined ? undefined : formatProgress(progress)],
    ['held', held === undefined ? undefined : heldText(held)],
    ['why', failure?.message],
    ['repeats', task.repeats === undefined ? undefined : `${task.repeats}, which decided the same before (--force runs it again)`],
    ['revised', task.revised === undefined ? undefined : `${task.revised.verdict} by ${task.revised.by}: its one voter turned out wrong elsewhere`],
    ['bundle', task.bundle],
    ['command', formatCommand(task.command)],
    ...(task.sources?.list ?? []).map((source, at) => [at === 0 ? 'takes' : '', sourceText(source, task.batch)] as const),
    ['even if', task.sources?.allowFailed === true ? 'some of these fail: then it runs with what there is' : undefined],
    ['age', formatDuration(nowMs - task.createdAtMs)],
    ['took', task.decidedAtMs === undefined ? undefined : formatDuration(task.decidedAtMs - task.createdAtMs)],
    ['policy', policyText(policy)],
    ['agreeing', `${task.agreeing} of ${task.quorum}`],
    ['failures', task.numFailures === 0 ? undefined : String(task.numFailures)],
    ['exit', task.exitCode === undefined ? undefined : String(task.exitCode)],
    ['output', task.output === undefined ? undefined : `${task.output}${task.outputBytes === undefined ? '' : ` (${formatBytes(task.outputBytes)})`}`],
    ['stdout', task.stdout],
    ['stderr', task.stderr]
  ])
  if (replicas.length === 0) return lines
  const rows = replicas.map((replica) => [
    String(replica.attempt),
    replica.state,
    replica.verdict ?? '',
    replica.exitCode === undefined ? '' : String(replica.exitCode),
    replica.node,
    [
      replica.reason ?? '',
      replica.message ?? '',
      replica.progress === undefined ? '' : formatProgress(replica.progress),
      replica.from === undefined ? '' : `goes on from attempt ${replica.from}`,
      replica.checkpoint === undefined ? '' : checkpointText(replica.checkpoint, nowMs),
      replica.alone === undefined ? '' : `believed after ${replica.alone} confirmed results`
    ]
      .filter((part) => part !== '')
      .join(': ')
  ])
  return [...lines, '', ...formatTable(['ATTEMPT', 'STATE', 'VERDICT', 'EXIT', 'NODE', 'NOTE'], rows), ...replicas.flatMap(logLines)]
}
