/**
 * The command of a task as people write it: words, or several commands that are run in order (`--step`, `commands:`), with
 * `{input}` where the path of an input goes. Pure.
 */
import { commandOfSteps, INPUTS_HOLE, type Step, stepsFault } from '#protocol/bundle/steps'
import { ClientError } from '../errors.ts'

export interface AskedCommand {
  /** One command; empty where there are several. */
  readonly words: readonly string[]
  /** In order; none for one command. */
  readonly steps: readonly Step[]
  /** Names of all inputs that the task has, whether they are there yet or not. */
  readonly inputs: readonly string[]
  readonly engine: 'docker' | 'process'
  /** The input that `{input}` means among several: a map's part. */
  readonly main?: string
}

/** `{input}`: the only one. `{input:NAME}`: this one. */
const HOLE = /\{input(?::([A-Za-z0-9_][A-Za-z0-9._-]*))?\}/g

/** What the manifest says. Throws ClientError `usage`. */
export function commandOf({ words, steps, inputs, engine, main }: AskedCommand): readonly string[] {
  if (words.length > 0 && steps.length > 0) throw new ClientError('usage', 'one command, or several by --step: not both')
  const asked = steps.length === 0 ? [{ name: 'command', command: words }] : steps
  // Where inputs lie on a bare machine its node knows: a shell there puts it in.
  const folder = engine === 'docker' ? '/in' : INPUTS_HOLE
  const filled = asked.map(({ name, command }) => ({ name, command: command.map((word) => fill(word, { inputs, folder, main })) }))
  const needsShell = steps.length > 0 || filled.some(({ command }) => command.some((word) => word.includes(INPUTS_HOLE)))
  if (!needsShell) return filled[0]?.command ?? []
  const fault = stepsFault(filled)
  if (fault !== undefined) throw new ClientError('usage', fault)
  return commandOfSteps(filled)
}

/** Each a shell's line, called as its program: `make`, `make-2`. */
export function stepsOfLines(lines: readonly string[]): readonly Step[] {
  const names = new Set<string>()
  return lines.map((line, at) => {
    const [first = ''] = line.trim().split(/\s+/)
    const stem = /[A-Za-z0-9][A-Za-z0-9._-]{0,50}$/.exec(first)?.[0] ?? String(at + 1)
    let name = stem
    for (let more = 2; names.has(name); more++) name = `${stem}-${more}`
    names.add(name)
    if (line.trim() === '') throw new ClientError('usage', `--step ${at + 1} is empty`)
    return { name, command: ['/bin/sh', '-c', line] }
  })
}

/** What is no name of an input stays as it is where there is none: programs have braces of their own. */
function fill(
  word: string,
  { inputs, folder, main }: { readonly inputs: readonly string[]; readonly folder: string; readonly main: string | undefined }
): string {
  return word.replace(HOLE, (hole, name: string | undefined) => {
    if (inputs.length === 0) return hole
    if (name !== undefined) {
      if (!inputs.includes(name)) throw new ClientError('usage', `${hole}: there is no input ${name}, but ${inputs.join(', ')}`)
      return `${folder}/${name}`
    }
    const only = main ?? (inputs.length === 1 ? inputs[0] : undefined)
    if (only === undefined) throw new ClientError('usage', `{input}: there are ${inputs.length}; say which, like {input:${inputs[0]}}`)
    return `${folder}/${only}`
  })
}
