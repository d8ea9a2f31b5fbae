import type { Command } from 'commander'
import { stepsOfCommand } from '#protocol/bundle/steps'
import { type Sweep, sweepCount } from '#protocol/bundle/sweep'
import { policyOf } from '../client/spec.ts'
import { type Context, collect, examples, flag, texts, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { describePlan } from '../tasks/plan.ts'
import { showTransfer } from '../tasks/show-transfer.ts'
import { readSources, sourceOptions } from '../tasks/sources.ts'
import { parseParameter } from '../tasks/sweep-values.ts'
import { imageRoot, inputsOf, readCommand, readTaskOptions, taskOptions, withComparator, withNodes } from '../tasks/task-options.ts'
import { showResults, summarize, waitFor, warnFewNodes } from '../tasks/waiting.ts'
import { withTemplate } from '../template/use.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  taskOptions(command)
  sourceOptions(command)
  command
    .usage('[options] IMAGE -- COMMAND…, or TEMPLATE.yaml --set NAME=VALUE…')
    .argument('[words...]', 'the image, then the command, with {name} where a value goes; or a template (talko template check --help)')
    .option(
      '--set <name=values>',
      'FROM:TO, FROM:TO:STEP (whole numbers, both ends), A,B,C, or @FILE (a value a line); with a template a value for one of its parameters; may repeat',
      collect
    )
    .option('--zip', 'the values of several --set go together, instead of every combination')
    .option('-W, --wait', 'wait for the results and show the progress')
    .addHelpText(
      'after',
      examples(
        "talko sweep alpine --set x=0:999999 -- sh -c 'echo $(({x} * {x})) > /out/square'",
        'talko sweep python:3 -i code=./code --set rate=0.1,0.2 --set seed=1:50 -- python3 /in/code/train.py {rate} {seed}',
        'm=$(talko run python:3 -- python3 train.py); talko sweep python:3 --dep model=$m --set seed=1:1000 -- python3 /in/model/try.py {seed}',
        'The project keeps the sweep as it is written here, and makes its tasks when there are nodes for them.',
        'What --dep and --after name is for every task: none is made before it is over.',
        '{index} and {count} are the number of a task and of all; -e NAME={x} sets a variable.'
      )
    )
  run(submitSweep)
}

async function submitSweep(context: Context, given: readonly string[], beside: Readonly<Record<string, unknown>>): Promise<number | undefined> {
  const { io, signal } = context
  const { args, options } = await withTemplate(context, 'sweep', { module: { define }, args: given, options: beside })
  const { spec, nodes, comparator } = readTaskOptions(options)
  const image = spec.engine === 'process' ? undefined : args[0]
  const command = readCommand(spec.engine === 'process' ? args : args.slice(1), options)
  if (command.length === 0) throw new ClientError('usage', 'which command? write it after --, like: talko sweep alpine --set x=1:9 -- echo {x}')
  if (texts(options, 'set').length === 0) throw new ClientError('usage', 'which values? like: --set x=1:9')
  const parameters = await Promise.all(texts(options, 'set').map(parseParameter))
  const taken = parameters.find(
    ({ name }) => (name === 'input' && inputsOf(options).length > 0) || (name === 'TALKO_IN' && stepsOfCommand(command) !== undefined)
  )
  if (taken !== undefined) throw new ClientError('usage', `--set ${taken.name}: {${taken.name}} stands for the path of an input here; choose another name`)
  const unused = parameters.filter(({ name }) => ![...command, ...Object.values(spec.environment ?? {})].some((word) => word.includes(`{${name}}`)))
  for (const { name } of unused) io.say(`{${name}} is neither in the command nor in an -e: its values make tasks that are equal`)
  const sweep: Sweep = { mode: flag(options, 'zip') ? 'zip' : 'product', parameters }
  const dryRun = flag(options, 'dryRun')

  const client = await context.client()
  const root = image === undefined ? undefined : await imageRoot(context, client, image, dryRun)
  const policy = await withComparator(context, client, await withNodes(client, spec.policy, nodes, signal), { comparator, dryRun })
  const sources = await readSources(client, options, signal)
  const takes = sources === undefined ? {} : { sources }
  const [template] = await client.prepare([{ ...spec, command, ...(root === undefined ? {} : { image: root }) }], {
    signal,
    dryRun,
    onProgress: showTransfer(io)
  })
  io.progressEnd()
  if (template === undefined) throw new ClientError('usage', 'nothing to run')
  if (dryRun) {
    describePlan(io, {
      manifests: [template],
      count: sweepCount(sweep),
      policy,
      name: spec.name ?? '',
      ...(sources === undefined ? {} : { sources: new Map([[0, sources]]) })
    })
    return
  }
  const batch = await client.submitSweep(template, sweep, { policy, name: spec.name ?? '', labels: spec.labels ?? {}, signal, ...takes })
  if (io.json && !flag(options, 'wait')) io.outJson({ batch: batch.id, count: batch.count })
  else if (!io.json) io.out(batch.id)
  if (!flag(options, 'wait')) return
  await warnFewNodes(context, client, batch.id, { engine: spec.engine ?? 'docker', policy: policyOf(policy) })
  const view = await waitFor(context, client, batch.id)
  const summary = await summarize(client.tasks(batch.id, { signal }))
  if (io.json) io.outJson(view)
  else showResults(io, summary)
  return summary.exit
}
