import type { Command } from 'commander'
import { taskId } from '#protocol/ids'
import type { Client } from '../client/client.ts'
import { policyOf, type TaskSpec } from '../client/spec.ts'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { ClientError, EXIT } from '../errors.ts'
import { parseSplit } from '../split/split.ts'
import { uploadParts } from '../tasks/map-input.ts'
import { describePlan } from '../tasks/plan.ts'
import { ofMap, readSources, sourceOptions } from '../tasks/sources.ts'
import { imageRoot, readCommand, readTaskOptions, taskOptions, withComparator, withNodes } from '../tasks/task-options.ts'
import { allTasks, showResults, summarize, waitFor, warnFewNodes } from '../tasks/waiting.ts'
import { setOption, withTemplate } from '../template/use.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  taskOptions(command)
  sourceOptions(command)
  setOption(command)
  command
    .usage('[options] INPUT -- COMMAND…, or TEMPLATE.yaml --set NAME=VALUE…')
    .argument('[words...]', 'the input (a file here, or ID[/path]), then the command that maps one part; or a template (talko template check --help)')
    .option('--split <how>', 'lines=N (parts of N lines) or parts=N (N parts of about equal size, cut at ends of lines)')
    .option('--image <image>', 'the image the commands run in')
    .option('--reduce <command>', 'a shell command run once over all map outputs; waits (but see --detach), and prints what it prints')
    .option('--reduce-image <image>', 'the image of the reduce (default: --image)')
    .option('--detach', 'with --reduce: print the id of the reduce task and go; the project does the rest')
    .option('-W, --wait', 'wait for the results and show the progress')
    .addHelpText(
      'after',
      examples(
        "talko map numbers.txt --split lines=1000 --image alpine --reduce 'cat /in/maps/*/stdout | wc -l' -- grep 7 /in/part",
        'talko map big.csv --split parts=50 --image python:3 -i code=./code -- python3 /in/code/map.py /in/part',
        'A map task finds its part at /in/part, and its number and their count in TALKO_INDEX and TALKO_COUNT.',
        'The reduce finds, for map task 7, its output files in /in/maps/0007/out and what it printed in /in/maps/0007/stdout (of more than 4,096 parts: /in/maps/000/000007/…).',
        'What --dep and --after name is for the map tasks; the reduce comes after those.',
        '{input} in the command is the path of the part.',
        'With --engine process, /in is the folder named by $TALKO_IN.'
      )
    )
  run(map)
}

async function map(context: Context, given: readonly string[], beside: Readonly<Record<string, unknown>>): Promise<number | undefined> {
  const { io, signal } = context
  const { args, options } = await withTemplate(context, 'map', { module: { define }, args: given, options: beside })
  const [input, ...words] = args
  const how = text(options, 'split')
  if (how === undefined) throw new ClientError('usage', 'how is it split? --split lines=N or parts=N')
  const split = parseSplit(how)
  const { spec, nodes, comparator } = readTaskOptions(options)
  const image = text(options, 'image')
  const reduce = text(options, 'reduce')
  const command = readCommand(words, options, ['part'])
  if (input === undefined || command.length === 0)
    throw new ClientError('usage', 'which input and command? like: talko map numbers.txt --split parts=8 --image alpine -- wc -l /in/part')
  if (spec.engine === 'docker' && image === undefined)
    throw new ClientError('usage', 'which image? like: --image alpine (or --engine process for the bare machine)')
  if (spec.inputs !== undefined && Object.hasOwn(spec.inputs, 'part'))
    throw new ClientError('usage', '-i part is taken: a map task finds its part of the input there')
  const dryRun = flag(options, 'dryRun')

  const client = await context.client()
  const policy = await withComparator(context, client, await withNodes(client, spec.policy, nodes, signal), { comparator, dryRun })
  const root = image === undefined ? undefined : await imageRoot(context, client, image, dryRun)
  const reduceImage = text(options, 'reduceImage')
  const reduceRoot = reduceImage === undefined ? root : await imageRoot(context, client, reduceImage, dryRun)
  const taken = await readSources(client, options, signal)
  const parts = await uploadParts(context, client, input, split, dryRun)
  const count = parts.paths.length
  const base = { ...spec, command, ...(root === undefined ? {} : { image: root }) }
  const specs = parts.paths.map(
    (path, index): TaskSpec => ({
      ...base,
      inputs: { ...spec.inputs, part: { root: parts.root, path } },
      environment: { ...spec.environment, TALKO_INDEX: String(index), TALKO_COUNT: String(count) }
    })
  )
  const reducing = reduce === undefined ? [] : [{ ...base, command: ['sh', '-c', reduce], ...(reduceRoot === undefined ? {} : { image: reduceRoot }) }]
  const manifests = await client.prepare([...specs, ...reducing], { signal, dryRun })
  // The reduce is a task of the same batch.
  const takes = ofMap(taken, { count, reduces: reduce !== undefined })
  const sources = takes.size === 0 ? {} : { sources: takes }
  if (dryRun) {
    describePlan(io, { manifests, count: 1, policy, name: spec.name ?? '', ...sources })
    return
  }
  const batch = await client.submit(manifests, { policy, name: spec.name ?? '', labels: spec.labels ?? {}, signal, ...sources })
  if (reduce === undefined ? !flag(options, 'wait') : flag(options, 'detach')) {
    if (io.json) io.outJson({ batch: batch.id, tasks: batch.tasks })
    else io.out(reduce === undefined ? batch.id : (batch.tasks[count] ?? batch.id))
    return
  }
  // With --reduce, stdout is the reduce's own.
  if (!io.json && reduce === undefined) io.out(batch.id)
  else if (!io.json) io.say(`batch ${batch.id}: ${count} map tasks`)
  await warnFewNodes(context, client, batch.id, { engine: spec.engine ?? 'docker', policy: policyOf(policy) })
  await waitFor(context, client, batch.id)
  if (reduce === undefined) {
    const maps = await allTasks(client, batch.id, signal)
    const summary = await summarize(maps)
    if (io.json) io.outJson({ batch: batch.id, tasks: maps })
    else showResults(io, summary)
    return summary.exit
  }
  return showReduced(context, client, batch.id, count)
}

/** What the reduce printed; of one that never ran, why. */
async function showReduced(context: Context, client: Client, batch: string, count: number): Promise<number> {
  const { io, signal } = context
  const task = await client.task(taskId(batch, count), { signal })
  if (io.json) {
    const maps = (await allTasks(client, batch, signal)).slice(0, count)
    const stdout = task.stdout === undefined ? '' : await client.result(task).stdout()
    io.outJson({ batch, reduce: task, maps, stdout })
    return (await summarize([task])).exit
  }
  if (task.failure?.code === 'source' || task.status === 'killed') {
    const summary = await summarize(client.tasks(batch, { signal }))
    showResults(io, summary)
    io.say(`nothing was reduced: not every map task is ready; talko retry ${batch} runs the others again, and then the reduce`)
    return summary.exit
  }
  const summary = await summarize([task])
  if (task.stdout !== undefined) for await (const piece of client.read({ root: task.stdout }, { signal })) io.raw(piece)
  if (summary.exit === EXIT.ok) io.say(`reduced by ${task.agreeing} agreeing nodes; output ${task.output ?? 'none'} (talko get ${task.id})`)
  else showResults(io, summary)
  return summary.exit
}
