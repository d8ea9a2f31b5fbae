/** Options that `run` and `map` share, and what they mean. */
import type { Command } from 'commander'
import type { Engine, Resources } from '#protocol/bundle/manifest'
import type { TaskPolicy } from '#protocol/bundle/policy'
import { parseRules } from '#protocol/compare/rules'
import { acceptCid } from '#protocol/content/cid'
import { messageOf } from '#protocol/message-of'
import type { NodeView } from '#protocol/owner/messages'
import type { Client } from '../client/client.ts'
import type { TaskSpec } from '../client/spec.ts'
import { parseBytes, parseCpus, parseDuration, parseGpus, parsePairs } from '../client/units.ts'
import { type Context, collect, flag, text, texts } from '../command.ts'
import { parseComparator } from '../dag/file.ts'
import { ClientError } from '../errors.ts'
import { commandOf, stepsOfLines } from './command-of.ts'
import { readPolicy, timeWithin } from './policy-options.ts'
import { showTransfer } from './show-transfer.ts'

type Options = Readonly<Record<string, unknown>>

export function taskOptions(command: Command): void {
  command
    .option(
      '-i, --input <name=ID[/path]>',
      'show data at /in/<name>: an id, a name, a finished task, or a path here (./data), which is uploaded; may repeat',
      collect
    )
    .option(
      '--step <line>',
      'in place of the command, a shell’s line; may repeat: they run in order in one container, until one ends with another status than 0',
      collect
    )
    .option('-e, --env <NAME=VALUE>', 'set an environment variable; may repeat', collect)
    .option('--cpus <n>', 'CPUs (default 1)')
    .option('--memory <amount>', 'memory limit, like 512M (default: a fifth more than earlier runs of the same program took, or 2G)')
    .option('--retry-memory <amount>', 'when a run is ended for its memory, try once more with so much')
    .option('--time <time>', 'time limit of one execution, like 90s or 1h (default 1h)')
    .option(
      '--silence <time>',
      'end a run that prints nothing, changes no file at the top of /out and uses hardly any processor for so long, and try it elsewhere'
    )
    .option('--disk <amount>', 'limit of output and /tmp together (default 4G)')
    .option('--quorum <n>', 'agreeing results from different nodes that decide (default 2)')
    .option('--target <n>', 'executions that are begun at once: --quorum 3 --target 5 asks five nodes, and three that agree decide (default: the quorum)')
    .option('--total <n>', 'executions in all, those included that fail or are lost, before the task fails (default 8, or twice the target)')
    .option('--success <n>', 'results without agreement before the task fails (default 6, or twice the quorum, or the target)')
    .option(
      '--compare <rule>',
      'outputs whose numbers are close agree: rel=1e-6 for all files, "*.csv: rel=1e-6 abs=0.01", "*.log: ignore", "*.dat: as=text rel=1e-9"; may repeat',
      collect
    )
    .option(
      '--compare-program <what>',
      'outputs that differ agree when a program of yours, run on the project’s machine, says so: a YAML file of what to run, or a bundle’s id'
    )
    .option('--same-class <class>', 'all runs of a task on hosts alike: platform, or cpu (its vendor and family, and the GPU), for floating-point work')
    .option('--independent', 'results of one owner, or from one network, count as one')
    .option(
      '--adaptive',
      'one result is enough of a node whose results were confirmed ten times in a row; some are checked, and all since the last check when it errs'
    )
    .option('--commit', 'nodes commit themselves to their results before any of them says its own, so that none can copy what another says')
    .option('--confidence <share>', 'weigh votes by what is known of their nodes, until a decision is right with this probability, like 99.9%')
    .option('--attempts <n>', 'executions that may fail or be lost before the task fails (default 3)')
    .option('--copies <when>', 'run tasks twice where nodes are idle: never, tail (the last slow ones of a batch), or idle (any) (default tail)')
    .option('--priority <n>', 'higher first (default 0)')
    .option(
      '--estimate <time>',
      'what a run takes, as you expect: local nodes take short tasks first, and of the first runs what takes four times as long is run a second time (default: as earlier ones took)'
    )
    .option(
      '--checkpoint <time>',
      'what the command leaves in $TALKO_CHECKPOINT is kept this often, like 10m, and a run that is lost goes on from there on another node'
    )
    .option('--queue-limit <time>', 'end a task that no node was given in this time, like 100h (default: it waits)')
    .option('--force', 'run it although the same was decided before; without it such a task is ready at once, with the receipt that there is')
    .option('--deadline <time>', 'results are of use this long after a node took the task; nodes that are not expected to make it are not asked')
    .option('--platform <os/architecture>', 'only on such nodes, like linux/arm64 (default: what the image is for)')
    .option('--gpus <n[:what]>', 'GPUs, like 1, or 2:model=a100,memory=40G,driver=535: so many, of that model, memory and driver at least')
    .option('--tag <tag>', 'only on nodes with this tag; may repeat', collect)
    .option(
      '--trust <class>',
      'only on nodes of this class: own (yours), trusted (yours, the administrator’s, and those that the project has come to believe by their results), or any (default any)'
    )
    .option('--node <node>', 'only on this node (id, unique prefix, or name); may repeat', collect)
    .option('--name <name>', 'name of the batch')
    .option('-l, --label <key=value>', 'a label of the batch, by which talko ps, kill, hold, release and retry find it; may repeat', collect)
    .option('--engine <engine>', 'docker, or process: on the bare machine of nodes that chose it, without an image', 'docker')
    .option('--ignore-stdout', 'results agree by their output files alone, whatever they print')
    .option('--dry-run', 'say what would be submitted, and submit nothing')
}

/** Names of what -i and --dep show below /in. */
export function inputsOf(options: Options): readonly string[] {
  return [...texts(options, 'input'), ...texts(options, 'dep')].map((pair) => pair.slice(0, Math.max(0, pair.indexOf('='))))
}

/** The command that a task runs, of the words after `--` or of --step; `more` are inputs beside -i and --dep. Throws ClientError `usage`. */
export function readCommand(words: readonly string[], options: Options, more: readonly string[] = []): readonly string[] {
  const engine = text(options, 'engine') === 'process' ? 'process' : 'docker'
  const [main] = more
  return commandOf({
    words,
    steps: stepsOfLines(texts(options, 'step')),
    inputs: [...inputsOf(options), ...more],
    engine,
    ...(main === undefined ? {} : { main })
  })
}

/** What the options say by themselves; throws ClientError `usage`. */
export function readTaskOptions(options: Options): {
  readonly spec: Omit<TaskSpec, 'command'>
  readonly nodes: readonly string[]
  readonly comparator?: string
} {
  const amount = <T>(name: string, parse: (value: string, option: string) => T): T | undefined => {
    const value = text(options, name)
    return value === undefined ? undefined : parse(value, `--${name}`)
  }
  const decided = readPolicy(
    (key) => text(options, camel(key)),
    (key) => flag(options, camel(key)),
    (key) => `--${key}`
  )
  const resources: Partial<Resources> = defined({
    cpuMillis: amount('cpus', parseCpus),
    memoryBytes: amount('memory', parseBytes),
    timeMs: amount('time', parseDuration) ?? timeWithin(decided.deadlineMs),
    diskBytes: amount('disk', parseBytes),
    silenceMs: amount('silence', parseDuration)
  })
  const policy: Partial<TaskPolicy> = defined({
    ...decided,
    guessMemory: text(options, 'memory') === undefined ? true : undefined,
    tags: texts(options, 'tag').length === 0 ? undefined : texts(options, 'tag'),
    compare: comparing(texts(options, 'compare'))
  })
  const comparator = text(options, 'compareProgram')
  if (comparator !== undefined && texts(options, 'compare').length > 0)
    throw new ClientError('usage', '--compare and --compare-program are two ways to compare: choose one')
  const engine = text(options, 'engine')
  if (engine !== 'docker' && engine !== 'process') throw new ClientError('usage', `--engine is docker or process, not ${JSON.stringify(engine)}`)
  return {
    spec: {
      engine: engine satisfies Engine,
      resources,
      policy,
      inputs: parsePairs(texts(options, 'input'), '-i'),
      environment: parsePairs(texts(options, 'env'), '-e'),
      labels: parsePairs(texts(options, 'label'), '-l'),
      compareStdout: !flag(options, 'ignoreStdout'),
      ...defined({ name: text(options, 'name'), platform: text(options, 'platform'), gpus: amount('gpus', parseGpus) })
    },
    nodes: texts(options, 'node'),
    ...defined({ comparator })
  }
}

function comparing(rules: readonly string[]): TaskPolicy['compare'] | undefined {
  if (rules.length === 0) return undefined
  try {
    return { kind: 'tolerance', rules: parseRules(rules) }
  } catch (error) {
    throw new ClientError('usage', `--compare: ${messageOf(error)}`)
  }
}

/** As commander names an option. */
function camel(key: string): string {
  return key.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** Peer ids of the nodes named. Throws ClientError `not_found`, `ambiguous`. */
export function findNodes(named: readonly string[], known: readonly Pick<NodeView, 'id' | 'name'>[]): string[] {
  return named.map((text) => {
    const exact = known.filter(({ id, name }) => id === text || name === text)
    const fits = exact.length > 0 ? exact : known.filter(({ id }) => id.startsWith(text))
    const [node, other] = fits
    if (node === undefined) throw new ClientError('not_found', `no node is known as ${JSON.stringify(text)}; see \`talko nodes\``)
    if (other !== undefined) throw new ClientError('ambiguous', `${JSON.stringify(text)} could be ${node.id} or ${other.id}; give the id`)
    return node.id
  })
}

/** The policy with the nodes named in it. */
export async function withNodes(
  client: Client,
  policy: Partial<TaskPolicy> | undefined,
  named: readonly string[],
  signal: AbortSignal
): Promise<Partial<TaskPolicy>> {
  if (named.length === 0) return policy ?? {}
  return { ...policy, nodes: findNodes(named, await client.nodes({ signal })) }
}

/** The policy with the program that compares in it: a bundle's id as it is, what a file says made and handed to the project. */
export async function withComparator(
  context: Context,
  client: Client,
  policy: Partial<TaskPolicy>,
  { comparator, dryRun }: { readonly comparator: string | undefined; readonly dryRun: boolean }
): Promise<Partial<TaskPolicy>> {
  if (comparator === undefined) return policy
  if (acceptCid(comparator) !== undefined) return { ...policy, compare: { kind: 'program', bundle: comparator } }
  const { io, signal } = context
  const spec = parseComparator(await readComparator(comparator), comparator)
  const image = spec.image === undefined ? {} : { image: await imageRoot(context, client, spec.image, dryRun) }
  const bundle = await client.comparator({ ...spec, ...image }, { signal, dryRun, onProgress: showTransfer(io) })
  io.progressEnd()
  return { ...policy, compare: { kind: 'program', bundle } }
}

async function readComparator(path: string): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new ClientError('not_found', `--compare-program is a bundle's id or a YAML file, and ${path} cannot be read`, { cause })
  }
}

/**
 * The root of an image; one that the project does not know yet is imported from Docker, an archive or a folder, so that
 * `talko run alpine -- cmd` needs nothing before it.
 */
export async function imageRoot(context: Context, client: Client, image: string, dryRun: boolean): Promise<string> {
  const { io, signal } = context
  try {
    return (await client.find(image, { kind: 'image', signal })).root
  } catch (error) {
    const unknown = error instanceof ClientError && (error.code === 'not_found' || (error.code === 'usage' && /^[./~]/.test(image)))
    if (!unknown) throw error
    io.say(`${dryRun ? 'would import' : 'importing'} image ${image}, which the project does not have yet`)
    const { root } = await client.importImage(image, { signal, dryRun, ...(/^[A-Za-z0-9]/.test(image) ? { name: image } : {}), onProgress: showTransfer(io) })
    io.progressEnd()
    return root
  }
}

function defined<T extends Record<string, unknown>>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: NonNullable<T[K]> }
}
