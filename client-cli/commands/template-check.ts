import type { Command } from 'commander'
import { type Context, examples, texts, type Verb, type VerbModule } from '../command.ts'
import { formatTable } from '../output/text.ts'
import { fillTemplate, type Template, type TemplateParameter, type TemplateVerb } from '../template/file.ts'
import { callOf, readTemplate, setOption } from '../template/use.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command.argument('<template>', 'a file here (YAML), or one that was given to the project, by its name')
  setOption(command)
  command.addHelpText(
    'after',
    examples(
      'talko template check grep.yaml',
      'talko template check grep.yaml --set word=seven      # what it would fill in, too',
      'talko upload grep.yaml --name grep.yaml; talko run grep.yaml --set word=seven --set text=./book.txt -W',
      'A template:',
      '  template: run                  # or map (with `over: INPUT`), or sweep',
      '  about: counts the lines that have a word',
      '  parameters:',
      '    word: { type: text, about: what is looked for }',
      '    text: { type: input }',
      '    memory: { type: bytes, default: 512M }',
      '  image: alpine',
      '  command: [sh, -c, \'grep -c "$WORD" /in/text\']',
      '  options: { input: { text: "{{text}}" }, env: { WORD: "{{word}}" }, memory: "{{memory}}" }',
      'Types: text, whole and number (min, max), bytes, time, flag, choice (of), input. Values go into words as they are, and nothing is',
      'evaluated; what a shell reads is safe in a variable (env). Options are those of the verb, by their long names.'
    )
  )
  run(check)
}

async function check(context: Context, [of = '']: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io } = context
  const template = await readTemplate(of, context)
  const module = await moduleOf(template.verb)
  const set = texts(options, 'set')
  const open = template.parameters.filter(({ name, default: fallback }) => fallback === undefined && !set.some((one) => one.startsWith(`${name}=`)))
  // What is missing does not keep the rest from being checked.
  const filled = fillTemplate(template, [...set, ...open.map((one) => `${one.name}=${sampleOf(one)}`)])
  const call = callOf(template, filled, { module })
  if (io.json) {
    const { from, verb, about, parameters } = template
    io.outJson({ template: from, verb, about, parameters, ...(open.length === 0 ? { words: call.args, options: call.options } : {}) })
    return
  }
  for (const line of describe(template)) io.out(line)
  if (open.length === 0 && set.length > 0)
    io.say(
      `stands for: talko ${template.verb} ${[...filled.options.flatMap(({ name, values }) => values.map((value) => `--${name} ${shown(value)}`)), ...filled.words.map(shown)].join(' ')}`
    )
  else if (open.length > 0) io.say(`it is right; to run it: talko ${template.verb} ${of} ${open.map(({ name }) => `--set ${name}=…`).join(' ')}`)
}

function describe({ verb, about, parameters }: Template): string[] {
  const head = `a template for talko ${verb}${about === '' ? '' : `: ${about}`}`
  if (parameters.length === 0) return [head, 'it has no parameters']
  const rows = parameters.map((one) => [
    one.name,
    typeOf(one),
    one.default === undefined ? 'must be set' : one.default === '' ? '(empty)' : one.default,
    one.about
  ])
  return [head, ...formatTable(['PARAMETER', 'TYPE', 'DEFAULT', 'ABOUT'], rows)]
}

function typeOf({ type, of, min, max }: TemplateParameter): string {
  if (of !== undefined) return of.join(' | ')
  return `${type}${min === undefined ? '' : ` >= ${min}`}${max === undefined ? '' : ` <= ${max}`}`
}

/** Some value of its type. */
function sampleOf({ type, of, min, max }: TemplateParameter): string {
  switch (type) {
    case 'text':
    case 'input':
      return 'x'
    case 'whole':
    case 'number':
      return String(min ?? max ?? 1)
    case 'bytes':
      return '1M'
    case 'time':
      return '1m'
    case 'flag':
      return 'true'
    case 'choice':
      return of?.[0] ?? ''
  }
}

function shown(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

function moduleOf(verb: TemplateVerb): Promise<VerbModule> {
  switch (verb) {
    case 'run':
      return import('./run.ts')
    case 'map':
      return import('./map.ts')
    case 'sweep':
      return import('./sweep.ts')
  }
}
