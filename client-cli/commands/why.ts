import type { Command } from 'commander'
import type { NearestMiss, NodesWhy, WhyReason, WhyView } from '#protocol/owner/messages'
import { type Context, examples, type Verb } from '../command.ts'
import { formatBytes, formatDuration, formatGpus, formatProgress, heldText, printable } from '../output/text.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<id>', 'a task; of a batch, its first task that waits for a node')
    .addHelpText('after', examples('talko why k3vq.0', 'talko why k3vq', 'talko why k3vq -o json'))
  run(async (context: Context, [of = '']) => {
    const { io, signal } = context
    const view = await (await context.client()).why(of, { signal })
    if (io.json) io.outJson(view)
    else for (const line of whyLines(view)) io.out(line)
    return undefined
  })
}

/** What a person reads: what it waits for, what is in the way, when it should go on, and what can be done. */
export function whyLines(view: WhyView): string[] {
  const { task, name, waitedMs } = view
  const head = `${task}${name === '' ? '' : ` (${name})`}, ${view.waitsFor === 'nothing' ? 'after' : 'for'} ${formatDuration(waitedMs)}: `
  return [head + sentence(view), ...details(view), ...advice(view)].map(printable)
}

function sentence(view: WhyView): string {
  const { waitsFor, ahead, holders = [], wanted, runs, quorum, failure, status, sources = 0, awaits = [] } = view
  switch (waitsFor) {
    case 'nothing':
      return status === 'ready'
        ? 'it is ready'
        : status === 'killed'
          ? `it was killed${failure === undefined ? '' : `: ${failure.message}`}`
          : `it failed: ${failure?.message ?? 'for an unknown reason'}`
    case 'quota':
      return quotaSentence(view)
    case 'submission':
      return 'the rest of its batch has not been submitted yet; nothing of it runs before'
    case 'sources':
      return sources === 0
        ? 'all that it takes something from is over, and is being put together'
        : `it waits for ${counted(sources, 'source')} that is not over, tasks or batches that it takes something from, or that come before it${awaits.length === 0 ? '' : `: ${awaits.join(', ')}${awaits.length < sources ? ', …' : ''}`}`
    case 'output':
      return holders.length === 0
        ? 'it is decided, and that is being written down'
        : `${holders.length} of ${quorum} agreeing nodes ${holders.length === 1 ? 'has' : 'have'} its output, which the project ${holders.some(({ asked }) => asked) ? 'is fetching' : 'is waiting for'}`
    case 'runs':
      return `it is being run, ${counted(runs.length, 'time')} at once`
    case 'comparison':
      return comparisonSentence(view)
    case 'release':
      return 'it is held, and goes on when it is released (talko release)'
    case 'node':
      return `it waits for ${counted(wanted, 'node')}, and none can take it`
    case 'turn':
      return ahead === undefined || ahead.tasks === 0
        ? `it is the next to be run, ${counted(wanted, 'time')}, as soon as there is room`
        : `it waits for its turn: ${counted(ahead.tasks, 'task')} (${counted(ahead.replicas, 'run')}) ${ahead.tasks === 1 ? 'is' : 'are'} before it`
  }
}

function comparisonSentence({ comparing: { kind, bundle = '', trouble } = { kind: 'tolerance' } }: WhyView): string {
  if (kind === 'tolerance') return 'its results differ, and the project compares their outputs'
  if (trouble === undefined) return `its results differ, and the project compares their outputs by the program ${bundle}`
  return `its results differ, and the project cannot run the program that compares them (${bundle}) now: ${trouble}`
}

function quotaSentence({ quota }: WhyView): string {
  if (quota === undefined) return 'its client may have no more now (talko quota)'
  const { limit, used, max, untilMs = 0 } = quota
  if (limit === 'parallel') return `its client holds ${counted(used, 'slot')}, and may hold ${max} (talko quota)`
  if (limit === 'disk')
    return `the project keeps ${formatBytes(used)} for its client, and may keep ${formatBytes(max)}: it goes on when that limit is raised (talko quota)`
  return `its client used ${formatDuration(used)} of run time in this period, and may use ${formatDuration(max)}: it goes on in ${formatDuration(untilMs)}, when the next period begins, or when its limit is raised (talko quota)`
}

function details(view: WhyView): string[] {
  const { held, runs, faults = [], nodes = [], nearest, holders = [], next = [], startMs, endMs, runMs } = view
  const lines = [
    ...(held === undefined ? [] : [`held by ${heldText(held)}${runs.length > 0 ? '; what runs goes on' : ''}`]),
    ...runs.map(
      ({ attempt, node, nodeName, state, forMs, straggles, copy, progress, from, checkpoint }) =>
        `attempt ${attempt} is ${state} on ${called(nodeName, node)} for ${formatDuration(forMs)}${from === undefined ? '' : `, going on from a checkpoint of attempt ${from}`}${checkpoint === undefined ? '' : `; its last checkpoint is ${formatDuration(checkpoint.agoMs)} old, after ${formatDuration(checkpoint.doneMs)} of work`}${progress === undefined ? '' : `, and says that it is at ${formatProgress(progress)}`}${straggles ? ', far longer than was to be expected: it is run a second time' : ''}${copy === true ? ', as a copy on a node that was idle: it yields to any task that waits' : ''}`
    ),
    ...faults.map(
      ({ attempt, node, nodeName, state, message }) =>
        `attempt ${attempt} on ${called(nodeName, node)} ${state === 'lost' ? 'was lost' : state === 'returned' ? 'was given back' : 'came to nothing'}${message === '' ? '' : `: ${message}`}`
    ),
    ...holders.map(
      ({ id, name, here, asked }) =>
        `${called(name, id)} has the output and ${here ? (asked ? 'is handing it over' : 'could not hand it over yet') : 'is away'}`
    ),
    ...next.map(
      ({ id, name, here }) =>
        `it is next on ${called(name, id)}, ${here ? 'which has what it needs' : 'to which what it needs is being brought'}, unless another is free first`
    ),
    ...shareLines(view),
    ...nodes.map((one) => nodesLine(one, view)),
    ...(nearest === undefined
      ? []
      : [
          `the nearest is ${called(nearest.nodeName, nearest.node)}: it ${nearest.requirement === 'trust' ? 'has' : 'lends'} ${amount(nearest, nearest.offers)}, needed ${PLURAL.has(nearest.requirement) ? 'are' : 'is'} ${amount(nearest, nearest.needs)}`
        ])
  ]
  if (endMs !== undefined && runMs !== undefined)
    lines.push(
      `${startMs === undefined ? '' : `it should start in about ${formatDuration(startMs)} and `}${startMs === undefined ? 'it should ' : ''}be done in about ${formatDuration(endMs)}: a run takes ${formatDuration(runMs)} here lately`
    )
  return lines.map((line) => `  ${line}`)
}

/** Whose turn it is before this client's, and why. */
function shareLines({ shares }: WhyView): string[] {
  if (shares === undefined) return []
  const { own, before, others } = shares
  const you = `you hold ${counted(own.slots, 'slot')} for your share of ${own.share}`
  if (others === 0) return [`of the clients that wait it is your turn: ${you}`]
  const rows = before.map(
    ({ client, slots, share }) => `client ${client} stands before you because of its share: it holds ${counted(slots, 'slot')} for a share of ${share}, ${you}`
  )
  return others > before.length ? [...rows, `and ${counted(others - before.length, 'client')} more before you`] : rows
}

function nodesLine({ reason, count, nodes }: NodesWhy, view: WhyView): string {
  const names = nodes.map(({ id, name }) => called(name, id)).join(', ')
  // A newer server may know more reasons.
  const text = Object.hasOwn(REASONS, reason) ? REASONS[reason](view, count === 1) : `cannot take it (${reason})`
  return `${counted(count, 'node')} ${text}${names === '' ? '' : `: ${names}${count > nodes.length ? ', …' : ''}`}`
}

const REASONS: Readonly<Record<WhyReason, (view: WhyView, one: boolean) => string>> = {
  not_named: (_, one) => `${one ? 'is' : 'are'} not among those it is for (--node)`,
  banned: (_, one) => `${one ? 'is' : 'are'} banned from the project (talko ban list)`,
  away: (_, one) => `${one ? 'is' : 'are'} away`,
  engine: ({ needs }, one) => `${one ? 'does' : 'do'} not offer the engine ${needs?.engine ?? ''}`,
  platform: ({ needs }, one) => `${one ? 'has' : 'have'} another system or processor than ${needs?.platform ?? 'the one that it began on'}`,
  tags: ({ needs }, one) => `${one ? 'has' : 'have'} not all of the tags ${needs?.tags?.join(', ') ?? ''}`,
  reserved: (_, one) => `${one ? 'is' : 'are'} kept for tasks that ask for ${one ? 'its' : 'their'} tag (--tag)`,
  private: (_, one) => `${one ? 'takes' : 'take'} the tasks of ${one ? 'its owner' : 'their owners'} only`,
  other_group: (_, one) => `${one ? 'takes' : 'take'} the tasks of ${one ? 'its' : 'their'} groups' clients only`,
  not_own: (_, one) => `${one ? 'is' : 'are'} not your own (--trust own)`,
  not_trusted: (_, one) => `${one ? 'has' : 'have'} too few confirmed results in a row to be trusted (--trust trusted)`,
  gpus: ({ needs }, one) => `${one ? 'does' : 'do'} not offer ${needs?.gpus === undefined ? 'the GPUs' : formatGpus(needs.gpus)}`,
  deadline: ({ needs }, one) => `${one ? 'is' : 'are'} not expected to be done within ${formatDuration(needs?.deadlineMs ?? 0)}, being slow or seldom there`,
  cpu: ({ needs }, one) => `${one ? 'lends' : 'lend'} fewer than ${(needs?.cpuMillis ?? 0) / 1000} CPUs`,
  memory: ({ needs }, one) => `${one ? 'lends' : 'lend'} less than ${formatBytes(needs?.memoryBytes ?? 0)} of memory`,
  disk: ({ needs }, one) => `${one ? 'lends' : 'lend'} less than ${formatBytes(needs?.diskBytes ?? 0)} of disk`,
  not_independent: (_, one) => `${one ? 'shares' : 'share'} an owner or a network with a node that has or had a run of it (others are waited for)`,
  other_class: (_, one) => `${one ? 'is' : 'are'} of another class than what runs it or ran it (--same-class)`,
  data_elsewhere: (_, one) => `${one ? 'has' : 'have'} room and not its data: it waits a while for one that has`,
  had_it: (_, one) => `${one ? 'has' : 'have'} or had a run of it (results count only from different nodes)`,
  newcomer: (_, one) => `${one ? 'is' : 'are'} new here, and ${one ? 'runs' : 'run'} few tasks at once until more is known`,
  set_aside: (_, one) => `${one ? 'is' : 'are'} set aside for a while, having failed at several tasks in a row`,
  takes_none: (_, one) => `${one ? 'takes' : 'take'} no tasks now (paused, or ending)`,
  full: (_, one) => `${one ? 'has' : 'have'} no free slot`,
  cpu_taken: (_, one) => `${one ? 'needs its' : 'need their'} CPUs for other tasks`,
  memory_taken: (_, one) => `${one ? 'needs its' : 'need their'} memory for other tasks`,
  disk_taken: (_, one) => `${one ? 'needs its' : 'need their'} disk for other tasks`,
  gpus_taken: (_, one) => `${one ? 'needs its' : 'need their'} GPUs for other tasks`,
  free: (_, one) => `${one ? 'is' : 'are'} about to take this or another task`
}

/** What its owner can do, by what keeps most of the nodes that matter. */
function advice({ waitsFor, nodes = [], nearest }: WhyView): string[] {
  if (waitsFor !== 'node') return []
  const has = (reason: WhyReason): boolean => nodes.some((one) => one.reason === reason)
  const steps = [
    nodes.length === 0 ? 'the project has no nodes: invite some (talko invite), or lend this machine (talko node join)' : '',
    nearest === undefined || !Object.hasOwn(OPTIONS, nearest.requirement)
      ? ''
      : `submit it again with a smaller --${OPTIONS[nearest.requirement]}, or add a node that has more`,
    has('not_trusted')
      ? 'give nodes other tasks with a quorum of two or more, by whose results they come to be trusted, or submit it again with --trust any'
      : '',
    has('not_own') ? 'add a node of your own (talko node join --mine), or submit it again with --trust trusted or any' : '',
    has('other_group') ? 'have the administrator add you to a group of theirs (talko owner set --group), or add a node for all' : '',
    has('other_class') ? 'lend more machines of its class, or submit it again without --same-class' : '',
    has('had_it') ? 'add a node, or submit it again with a smaller --quorum' : '',
    has('not_independent') ? 'add a node of another owner on another network, or submit it again without --independent' : '',
    has('engine') && nearest === undefined && !has('had_it') ? 'let a node offer that engine (talko node join --engine)' : '',
    has('platform') ? 'lend a machine of that kind' : '',
    has('tags') ? 'add a node that has the tags (talko node join --tag), or ask for fewer (--tag)' : '',
    has('gpus') ? 'lend a machine with such GPUs (talko nodes shows what there is), or ask for less (--gpus)' : '',
    has('deadline') ? 'allow more time (--deadline), or a run less (--time)' : '',
    has('reserved') ? 'ask for the tag (talko run --tag)' : '',
    has('set_aside') ? 'look what makes those that are set aside fail (talko info of a task that they gave back, and their own logs)' : '',
    has('takes_none') ? 'resume what is paused (talko node resume)' : '',
    has('away') ? 'start what is away (talko node start)' : ''
  ].filter((step) => step !== '')
  return steps.length === 0 ? [] : [`What helps: ${steps.join('; ')}.`]
}

const OPTIONS: Readonly<Partial<Record<NearestMiss['requirement'], string>>> = { cpu: 'cpus', memory: 'memory', disk: 'disk' }
const PLURAL: ReadonlySet<string> = new Set<NearestMiss['requirement']>(['cpu', 'trust'])

function amount({ requirement }: NearestMiss, value: number): string {
  if (requirement === 'trust') return `${counted(value, 'confirmed result')} in a row`
  return requirement === 'cpu' ? `${value / 1000} CPUs` : `${formatBytes(value)} of ${requirement}`
}

function called(name: string, id: string): string {
  return name === '' ? id : name
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
