import type { Command } from 'commander'
import { policyOf } from '../client/spec.ts'
import { parseWhole } from '../client/units.ts'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { describePlan } from '../tasks/plan.ts'
import { alone, checkSelfTest, selfTest } from '../tasks/self-test.ts'
import { showTransfer } from '../tasks/show-transfer.ts'
import { forEach, readSources, sourceOptions } from '../tasks/sources.ts'
import { imageRoot, readCommand, readTaskOptions, taskOptions, withComparator, withNodes } from '../tasks/task-options.ts'
import { allTasks, follow, showResults, summarize, waitFor, warnFewNodes } from '../tasks/waiting.ts'
import { setOption, withTemplate } from '../template/use.ts'

const COUNT_MAX = 1_000_000

export function define(command: Command, run: (verb: Verb) => void): void {
  taskOptions(command)
  sourceOptions(command)
  setOption(command)
  command
    .usage('[options] IMAGE -- COMMAND…, or TEMPLATE.yaml --set NAME=VALUE…')
    .argument(
      '[words...]',
      'the image (an id, a prefix, a name, or what `talko image import` takes), then the command; or a template (talko template check --help)'
    )
    .option('--count <n>', 'run it as so many tasks of one batch')
    .option('--self-test', 'only run it on two different nodes, and say which files differ and what to do about it')
    .option('-W, --wait', 'wait for the result and show the progress')
    .option('-f, --follow', 'print what the task prints, as it does; implies --wait')
    .addHelpText(
      'after',
      examples(
        'talko run alpine -W -- echo hello',
        'talko run python:3 -i data=./numbers -W -- python3 /in/data/sum.py',
        'talko run alpine -i part=bafy…/part1.txt --memory 512M --time 10m -- sort /in/part',
        'a=$(talko run alpine -- sh -c "seq 9 > /out/n"); talko run alpine --dep n=$a/n -W -- wc -l /in/n',
        'id=$(talko run alpine -- sleep 60); talko logs -f $id',
        'talko run alpine --self-test -- sh -c "date > now"      # before thousands of them never agree',
        'talko run grep.yaml --set word=seven --set text=./book.txt -W      # a template, from a file or uploaded by that name',
        "talko run gcc -i src=./src -W --step 'cp -r {input}/. .' --step make --step './test'      # in order, until one fails",
        'talko run --engine process -W -- hostname      # on the bare machine of nodes that allow it',
        '{input} is the path of the input, {input:NAME} of that one of several. `talko info` shows each --step, `talko logs --step` what it printed.',
        'Outputs: files written to /out (the working directory) come back with `talko get TASK`.'
      )
    )
  run(submitRun)
}

async function submitRun(context: Context, given: readonly string[], beside: Readonly<Record<string, unknown>>): Promise<number | undefined> {
  const { io, signal } = context
  const { args, options } = await withTemplate(context, 'run', { module: { define }, args: given, options: beside })
  const { spec, nodes, comparator } = readTaskOptions(options)
  const image = spec.engine === 'process' ? undefined : args[0]
  const command = readCommand(spec.engine === 'process' ? args : args.slice(1), options)
  if (spec.engine === 'docker' && image === undefined) throw new ClientError('usage', 'which image and command? like: talko run alpine -- echo hello')
  if (command.length === 0) throw new ClientError('usage', 'which command? write it after --, like: talko run alpine -- echo hello')
  const count = parseWhole(text(options, 'count') ?? '1', '--count', 1, COUNT_MAX)
  const dryRun = flag(options, 'dryRun')
  const following = flag(options, 'follow')
  const waiting = flag(options, 'wait') || following
  if (following && count > 1) throw new ClientError('usage', '-f follows one task; with --count use -W, and `talko logs` for one of them')

  const testing = flag(options, 'selfTest')
  if (testing) checkSelfTest(options)

  const client = await context.client()
  const root = image === undefined ? undefined : await imageRoot(context, client, image, dryRun)
  const policy = await withComparator(context, client, await withNodes(client, spec.policy, nodes, signal), { comparator, dryRun })
  const sources = forEach(await readSources(client, options, signal), count)
  const [manifest] = await client.prepare([{ ...spec, command, ...(root === undefined ? {} : { image: root }) }], {
    signal,
    dryRun,
    onProgress: showTransfer(io)
  })
  io.progressEnd()
  if (manifest === undefined) throw new ClientError('usage', 'nothing to run')
  if (dryRun) {
    const takes = sources === undefined ? {} : { sources }
    describePlan(io, { manifests: [manifest], ...(testing ? { count: 2, policy: alone(policy) } : { count, policy }), name: spec.name ?? '', ...takes })
    return
  }
  if (testing) return selfTest(context, client, manifest, policy)
  const batch = await client.submit(
    Array.from({ length: count }, () => manifest),
    { policy, name: spec.name ?? '', labels: spec.labels ?? {}, signal, ...(sources === undefined ? {} : { sources }) }
  )
  const ids = count === 1 ? [batch.tasks[0] ?? batch.id] : [batch.id]
  if (!waiting) {
    if (io.json) io.outJson({ batch: batch.id, tasks: batch.tasks })
    else for (const id of ids) io.out(id)
    return
  }
  if (!io.json) {
    // With -f, stdout is the task's own.
    if (following) io.say(`task ${ids[0]}`)
    else for (const id of ids) io.out(id)
  }
  await warnFewNodes(context, client, ids[0] ?? batch.id, { engine: spec.engine ?? 'docker', policy: policyOf(policy) })
  if (following && !io.json) await follow(context, client, batch.tasks[0] ?? '')
  await waitFor(context, client, batch.id)
  if (io.json) {
    const tasks = await allTasks(client, batch.id, signal)
    io.outJson({ batch: batch.id, tasks })
    return (await summarize(tasks)).exit
  }
  const summary = await summarize(client.tasks(batch.id, { signal }))
  showResults(io, summary)
  return summary.exit
}
