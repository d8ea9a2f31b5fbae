/** Running a bundle on different nodes to see whether it always leaves the same, and saying what differs. */
import { decodeManifest } from '#protocol/bundle/manifest'
import type { TaskPolicy } from '#protocol/bundle/policy'
import type { DifferenceView, FileDifferenceView, NodeView, TaskView } from '#protocol/owner/messages'
import type { Client } from '../client/client.ts'
import type { Context } from '../command.ts'
import { ClientError, EXIT } from '../errors.ts'
import { formatBytes, printable } from '../output/text.ts'
import { outcome, waitFor } from './waiting.ts'

/** Nodes that one policy may name. */
const NAMED_MAX = 64
/** The second run begins so much after the first: what a program makes of the time of day, mostly in seconds, differs then. */
const LATER_MS = 2_000

export interface Apart {
  readonly nodes: readonly string[]
  /** Of other policies than who runs it. */
  readonly policy: Partial<TaskPolicy>
  readonly name: string
}

/**
 * Nodes in two sets, so that what each set runs is run by different nodes; equal platforms lie next to each other, so that both
 * sets have all there are. `not`: left out while there are two others. Throws ClientError `refused` for fewer than two.
 */
export function twoSets(nodes: readonly NodeView[], engine: string, not: ReadonlySet<string> = new Set()): readonly [string[], string[]] {
  const able = nodes.filter(({ state, engines }) => state === 'online' && engines.includes(engine)).sort((a, b) => (a.platform < b.platform ? -1 : 1))
  const others = able.filter(({ id }) => !not.has(id))
  const chosen = (others.length > 1 ? others : able).map(({ id }) => id)
  if (chosen.length < 2)
    throw new ClientError('refused', `two nodes with engine ${engine} must be online, there ${chosen.length === 1 ? 'is one' : 'are none'}; see talko nodes`)
  const half = (odd: number): string[] => chosen.filter((_, index) => index % 2 === odd).slice(0, NAMED_MAX)
  return [half(0), half(1)]
}

/** What `--self-test` cannot heed. Throws ClientError `usage`. */
export function checkSelfTest(options: Readonly<Record<string, unknown>>): void {
  const no = (name: string, why: string): void => {
    if (options[name] !== undefined) throw new ClientError('usage', why)
  }
  for (const source of ['dep', 'after']) no(source, `--self-test runs at once and waits for no task: leave --${source} out, and give a finished task with -i`)
  no('count', '--self-test runs it twice: leave --count out')
  no('follow', '--self-test says what differs, and not what is printed: leave -f out')
  no('compareProgram', '--self-test compares byte for byte: leave --compare-program out')
  no('compare', '--self-test compares byte for byte and says which rules would help: leave --compare out')
}

/** The policy of one run, whose result is the only one that counts. */
export function alone(policy: Partial<TaskPolicy>): Partial<TaskPolicy> {
  return { ...policy, minQuorum: 1, targetResults: 1, doubtPpm: 0, compare: null, force: true }
}

/** One run of the bundle by one of these nodes, as a task of its own. */
export async function runOn(context: Context, client: Client, manifest: Uint8Array, { nodes, policy, name }: Apart): Promise<TaskView> {
  const { signal } = context
  const { id } = await client.submit([manifest], { name, policy: { ...alone(policy), nodes }, signal })
  await waitFor(context, client, id)
  return client.task(`${id}.0`, { signal })
}

/** Runs it on two nodes, the second a little later, and prints what came of it: 0 for the same, 5 for a difference, 1 when it fails. */
export async function selfTest(context: Context, client: Client, manifest: Uint8Array, policy: Partial<TaskPolicy>): Promise<number> {
  const { signal } = context
  const { engine, compareStdout } = decodeManifest(manifest)
  const nodes = await client.nodes({ signal })
  const sets = twoSets(policy.nodes === undefined ? nodes : nodes.filter(({ id }) => policy.nodes?.includes(id)), engine)
  const on = (nodes: readonly string[]): Promise<TaskView> => runOn(context, client, manifest, { nodes, policy, name: 'self-test' })
  const tasks = await Promise.all([on(sets[0]), context.pause(LATER_MS).then(() => on(sets[1]))])
  return report(context, client, tasks, compareStdout)
}

async function report({ io, signal }: Context, client: Client, [a, b]: readonly [TaskView, TaskView], compareStdout: boolean): Promise<number> {
  const ended = (task: TaskView): string => `${task.id} on ${nodeOf(task)}: ${outcome(task)}`
  if (a.status !== 'ready' || b.status !== 'ready') {
    if (io.json) io.outJson({ same: outcome(a) === outcome(b), tasks: [a, b] })
    else for (const task of [a, b]) io.out(ended(task))
    if (!io.json && outcome(a) !== outcome(b)) io.out('they ended differently: a quorum would not agree')
    return outcome(a) === outcome(b) ? EXIT.taskFailed : EXIT.noAgreement
  }
  const found = await client.difference(a.id, b.id, { signal })
  const same = isSame(found, compareStdout)
  if (io.json) io.outJson({ same, tasks: [a.id, b.id], ...found })
  else for (const line of differenceLines(found, { a, b, compareStdout })) io.out(printable(line))
  return same ? EXIT.ok : EXIT.noAgreement
}

export function isSame({ files, stdout, program }: DifferenceView, compareStdout: boolean): boolean {
  if (program !== undefined && 'agree' in program) return program.agree
  return files.length === 0 && (!compareStdout || stdout === undefined)
}

interface Compared {
  readonly a: TaskView
  readonly b: TaskView
  readonly compareStdout: boolean
}

/** What a person reads. */
export function differenceLines(found: DifferenceView, { a, b, compareStdout }: Compared): string[] {
  const who = `${nodeOf(a)} and ${nodeOf(b)}`
  const { program } = found
  if (program !== undefined && isSame(found, compareStdout)) return [`outputs on ${who} that agree: ${a.output}, as its program ${program.bundle} says`]
  if (isSame(found, compareStdout))
    return [
      found.near === undefined
        ? `the same output on ${who}: ${a.output}`
        : `outputs on ${who} that agree: ${a.output}, ${countOf(found.near)} within what --compare allows`
    ]
  const { files, more, stdout } = found
  const lines = [`the outputs of ${who} differ:`, ...files.map(fileLine)]
  if (more) lines.push('  and more files')
  if (program !== undefined)
    return [
      ...lines,
      'fault' in program
        ? `the program ${program.bundle} does not say whether they agree: ${program.fault}`
        : `the program ${program.bundle} says that they do not agree`
    ]
  if (stdout !== undefined && compareStdout) lines.push(`  what it prints: ${stdout.hint?.message ?? 'differs'}`)
  return [...lines, ...advice(files, compareStdout ? stdout : undefined)]
}

function countOf(files: number): string {
  return files === 1 ? 'one file' : `${files} files`
}

function fileLine({ path, what, bytesA, bytesB, hint }: FileDifferenceView): string {
  const how = {
    only_a: `only the first left it (${formatBytes(bytesA)})`,
    only_b: `only the second left it (${formatBytes(bytesB)})`,
    kind: 'a file in one, a folder in the other',
    differs: hint?.message ?? `${formatBytes(bytesA)} and ${formatBytes(bytesB)}`
  }
  return `  ${path}: ${how[what]}`
}

function advice(files: readonly FileDifferenceView[], stdout: FileDifferenceView | undefined): string[] {
  const rules = [...new Set(files.flatMap(({ hint }) => (hint?.rule === undefined ? [] : [hint.rule])))]
  const fixed = files.filter(({ hint }) => hint?.kind === 'numbers').length === files.length && files.length > 0
  return [
    ...(rules.length === 0 ? [] : [`numbers that are close agree with ${rules.map((rule) => `--compare ${JSON.stringify(rule)}`).join(' ')}`]),
    ...(rules.length === 0 ? [] : ['hosts of one kind mostly agree to the last digit: --same-class cpu']),
    ...(fixed ? [] : ['a file that does not matter is left out with --compare "NAME: ignore"']),
    ...(stdout === undefined ? [] : ['what it prints does not count with --ignore-stdout'])
  ]
}

function nodeOf({ replicas = [] }: TaskView): string {
  return replicas.find(({ verdict }) => verdict === 'valid')?.node ?? replicas.at(-1)?.node ?? 'no node'
}
