import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { parseDag } from '../dag/file.ts'
import { graphOf } from '../dag/graph.ts'
import { ClientError } from '../errors.ts'
import { describePlan } from '../tasks/plan.ts'
import { POLICY_FLAG_KEYS, POLICY_VALUE_KEYS } from '../tasks/policy-options.ts'
import { showTransfer } from '../tasks/show-transfer.ts'
import { imageRoot, withComparator, withNodes } from '../tasks/task-options.ts'
import { showResults, summarize, waitFor } from '../tasks/waiting.ts'

/** Under which name the file of a batch is kept in the project. */
export function fileNameOf(batch: string): string {
  return `dag.${batch}`
}

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[file]', 'steps as YAML')
    .option('--name <name>', 'name of the batch (default: the one in the file)')
    .option('-W, --wait', 'wait for the results and show the progress')
    .option('--dry-run', 'check the file and say what would be submitted, and submit nothing')
    .addHelpText(
      'after',
      examples(
        'talko dag submit pipeline.yaml -W',
        'Commands in order: `commands: [make, make test]` in place of `command`; `{input}` is the path of an input.',
        'A step: `name: {image, command, input: {in: ./data}, take: {in: STEP/path}, after: [STEP], allow-failed: true, cpus, memory, time, disk, gpus, env}`.',
        '`take: {x: STEP:stdout}` is what a step printed. `final:` is a step that runs when all are over, however they ended.',
        `For all steps, as the options of talko run: name, ${[...POLICY_VALUE_KEYS, ...POLICY_FLAG_KEYS].join(', ')}, nodes, tags, labels, compare.`,
        '`defaults`, of each step that says nothing else: image, engine, env, cpus, memory, time, silence, disk, gpus, platform, ignore-stdout.',
        'After a failure: talko dag rescue ID > rest.yaml; talko dag submit rest.yaml'
      )
    )
  run(submit)
}

async function submit(context: Context, [path]: readonly string[], options: Readonly<Record<string, unknown>>): Promise<number | undefined> {
  const { io, signal } = context
  if (path === undefined) throw new ClientError('usage', 'which file? like: talko dag submit pipeline.yaml')
  const dag = parseDag(await read(path))
  const { specs, sources, steps } = graphOf(dag)
  const name = text(options, 'name') ?? dag.name
  const dryRun = flag(options, 'dryRun')
  const client = await context.client()
  const images = new Map<string, string>()
  for (const { image } of specs) if (image !== undefined && !images.has(image)) images.set(image, await imageRoot(context, client, image, dryRun))
  const resolved = specs.map((spec) => (spec.image === undefined ? spec : { ...spec, image: images.get(spec.image) ?? spec.image }))
  const manifests = await client.prepare(resolved, { signal, dryRun, onProgress: showTransfer(io) })
  io.progressEnd()
  const named = await withNodes(client, dag.policy, dag.nodes, signal)
  const policy = await withComparator(context, client, named, { comparator: dag.comparator, dryRun })
  if (dryRun) {
    describePlan(io, { manifests, count: 1, policy, name, sources, labels: dag.labels })
    return
  }
  const batch = await client.submit(manifests, { policy, name, labels: dag.labels, signal, ...(sources.size === 0 ? {} : { sources }) })
  await client.upload(path, { name: fileNameOf(batch.id), signal })
  io.progressEnd()
  if (!flag(options, 'wait')) {
    if (io.json) io.outJson({ batch: batch.id, steps: Object.fromEntries(steps.map((step, index) => [step.name, batch.tasks[index]])) })
    else io.out(batch.id)
    return
  }
  if (!io.json) io.out(batch.id)
  await waitFor(context, client, batch.id)
  const summary = await summarize(client.tasks(batch.id, { signal }))
  if (io.json) io.outJson({ batch: batch.id, tasks: summary.shown })
  else showResults(io, summary)
  return summary.exit
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new ClientError('not_found', `the file ${path} cannot be read`, { cause })
  }
}
