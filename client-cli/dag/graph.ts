/** From a file of steps to the tasks of one batch, and from what became of them to a file that runs the rest. Pure. */
import { parseDocument } from 'yaml'
import type { Source, Sources } from '#protocol/bundle/sources'
import type { TaskView } from '#protocol/owner/messages'
import type { Input, TaskSpec } from '../client/spec.ts'
import { ClientError } from '../errors.ts'
import type { Dag, Step } from './file.ts'

export interface Graph {
  /** Steps that are run, each at its task's index. */
  readonly steps: readonly Step[]
  readonly specs: readonly TaskSpec[]
  readonly sources: ReadonlyMap<number, Sources>
}

/** The tasks of a graph: what is done already is an input like any other. Throws ClientError `usage`. */
export function graphOf({ steps, final }: Dag): Graph {
  const run = steps.filter(({ done }) => done === undefined)
  const done = new Map(steps.filter((step) => step.done !== undefined).map((step) => [step.name, step]))
  if (final !== undefined) run.push(final)
  if (run.length === 0) throw new ClientError('usage', 'every step is done: nothing is left to be run')
  const indexes = new Map(run.map(({ name }, index) => [name, index]))
  if (final !== undefined && steps.some(({ name }) => name === final.name))
    throw new ClientError('usage', 'a step cannot be called final beside the final step')
  const sources = new Map<number, Sources>()
  const specs = run.map((step, index): TaskSpec => {
    const inputs: Record<string, string | Input> = { ...step.inputs }
    const list: Source[] = []
    for (const { name, step: of, part, path } of step.takes) {
      const from = indexes.get(of)
      if (from !== undefined) list.push({ name, of: '', from, count: 1, part, path })
      else inputs[name] = { root: done.get(of)?.done?.[part] ?? missing(step, of, part), ...(path === '' ? {} : { path }) }
    }
    for (const of of step.after) {
      const from = indexes.get(of)
      if (from !== undefined) list.push(after(from, 1))
    }
    if (step === final && index > 0) list.push(after(0, index))
    if (list.length > 0) sources.set(index, { allowFailed: step.allowFailed || step === final, list })
    const { image, engine, command, environment, resources, gpus, platform, ignoreStdout } = step
    return {
      ...(image === undefined ? {} : { image }),
      engine,
      command,
      environment,
      resources,
      inputs,
      ...(gpus === undefined ? {} : { gpus }),
      ...(platform === undefined ? {} : { platform }),
      ...(ignoreStdout ? { compareStdout: false } : {})
    }
  })
  return { steps: run, specs, sources }
}

/** The same file without the need to run what is ready. `tasks` are those of the batch that was made of it. Throws ClientError `usage` when they are not. */
export function rescueOf(text: string, { steps }: Graph, tasks: readonly TaskView[]): string {
  if (tasks.length !== steps.length)
    throw new ClientError('usage', `the file has ${steps.length} steps to run, the batch ${tasks.length} tasks: it was made of another`)
  const document = parseDocument(text)
  for (const [index, { name, command }] of steps.entries()) {
    const task = tasks[index]
    if (task === undefined || task.command.join('\0') !== command.join('\0'))
      throw new ClientError('usage', `step ${name} is not what task ${task?.id ?? index} runs: the batch was made of another file`)
    // The final step runs again: it is about how the others ended.
    if (task.status !== 'ready' || !document.hasIn(['steps', name])) continue
    document.setIn(['steps', name, 'done'], document.createNode({ output: task.output, stdout: task.stdout }))
  }
  return document.toString()
}

function after(from: number, count: number): Source {
  return { name: '', of: '', from, count, part: 'after', path: '' }
}

function missing(step: Step, of: string, part: string): never {
  throw new ClientError('usage', `line ${step.line}: step ${step.name} takes the ${part} of ${of}, which is done and has none`)
}
