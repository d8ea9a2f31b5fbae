/**
 * A template: a task, map or sweep written once, with named parameters that a call fills in. `{{name}}` stands for the value of
 * a parameter, anywhere in a word; a word stays one word whatever the value, and nothing is evaluated. Pure.
 *
 * ```yaml
 * template: run                    # or map, or sweep
 * about: counts the lines that have a word
 * parameters:
 *   word: { type: text, about: what is looked for }
 *   text: { type: input }
 *   memory: { type: bytes, default: 512M }
 *   mode: { type: choice, of: [any, exact], default: any }
 * image: alpine
 * command: [sh, -c, 'grep -c "$WORD" /in/text']
 * options:                         # as on the command line of that verb; a list or a map for those that may repeat
 *   input: { text: "{{text}}" }
 *   env: { WORD: "{{word}}", MODE: "{{mode}}" }
 *   memory: "{{memory}}"
 * ```
 *
 * A map has `over` beside these, the input that is split.
 */
import { isMap, isSeq, type Node } from 'yaml'
import { parseBytes, parseDuration } from '../client/units.ts'
import { ClientError } from '../errors.ts'
import { YamlFile } from '../yaml.ts'

export const TEMPLATE_VERBS = ['run', 'map', 'sweep'] as const
export type TemplateVerb = (typeof TEMPLATE_VERBS)[number]

/** text: anything. whole, number: between `min` and `max`. bytes (512M), time (90s): as the options have them. flag: true or false. choice: one of `of`. input: a path here, ID[/path] or a name, not empty. */
const TYPES = ['text', 'whole', 'number', 'bytes', 'time', 'flag', 'choice', 'input'] as const
export type ParameterType = (typeof TYPES)[number]

export interface TemplateParameter {
  readonly name: string
  readonly type: ParameterType
  /** Undefined: a call has to give it. */
  readonly default?: string
  readonly about: string
  /** Of a choice. */
  readonly of?: readonly string[]
  readonly min?: number
  readonly max?: number
}

export interface Template {
  /** Where it is from, for what is said of it. */
  readonly from: string
  readonly verb: TemplateVerb
  readonly about: string
  readonly parameters: readonly TemplateParameter[]
  /** The verb's words, before `--` and after it. */
  readonly words: readonly string[]
  readonly command: readonly string[]
  /** By the long name, each value of one that may repeat by itself. */
  readonly options: readonly { readonly name: string; readonly values: readonly string[] }[]
}

/** A call of the verb. */
export interface Filled {
  readonly words: readonly string[]
  readonly options: readonly { readonly name: string; readonly values: readonly string[] }[]
}

export const TEMPLATE_CHARS_MAX = 65_536
export const PARAMETERS_MAX = 64
const KEYS = ['template', 'about', 'parameters', 'image', 'over', 'command', 'options']
const PARAMETER_KEYS = ['type', 'default', 'about', 'of', 'min', 'max']
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/
const HOLE = /\{\{ *([A-Za-z_][A-Za-z0-9_-]*) *\}\}/g

/** Throws ClientError `usage` that names the file, and the line or the parameter. */
export function parseTemplate(text: string, from: string): Template {
  const yaml = new YamlFile(text, { what: 'a template', charsMax: TEMPLATE_CHARS_MAX, place: `${from}, ` })
  const file = yaml.fields(yaml.root, 'a template', KEYS)
  const verb = TEMPLATE_VERBS.find((one) => one === yaml.text(file.get('template')))
  if (verb === undefined) return yaml.refuse(file.get('template') ?? yaml.root, `\`template\` says for which verb it is: ${TEMPLATE_VERBS.join(', ')}`)
  const parameters = file.has('parameters') ? yaml.pairs(file.get('parameters') as Node, 'parameters').map(([name, node]) => parameterOf(yaml, name, node)) : []
  if (parameters.length > PARAMETERS_MAX) yaml.refuse(file.get('parameters') as Node, `a template has at most ${PARAMETERS_MAX} parameters`)
  const image = yaml.text(file.get('image'))
  const over = yaml.text(file.get('over'))
  if ((over === undefined) === (verb === 'map')) yaml.refuse(file.get('over') ?? yaml.root, 'a map, and nothing else, has `over`: the input that is split')
  const command = yaml.command(file.get('command'))
  const options = file.has('options')
    ? yaml.pairs(file.get('options') as Node, 'options').map(([name, node]) => ({ name, values: valuesOf(yaml, name, node) }))
    : []
  if (command.length === 0 && !options.some(({ name }) => name === 'step'))
    yaml.refuse(file.get('command') ?? yaml.root, 'a template has a `command`, or commands in order as the option `step`')
  // Where the verb takes its image from.
  if (verb === 'map' && image !== undefined) options.push({ name: 'image', values: [image] })
  const word = verb === 'map' ? over : image
  const template = { from, verb, about: yaml.text(file.get('about')) ?? '', parameters, words: word === undefined ? [] : [word], command, options }
  const used = new Set(
    [...template.words, ...command, ...options.flatMap(({ values }) => values)].flatMap((part) => [...part.matchAll(HOLE)].map(([, name]) => name ?? ''))
  )
  const known = new Set(parameters.map(({ name }) => name))
  for (const name of used) if (!known.has(name)) throw new ClientError('usage', `${from}: {{${name}}} is no parameter of the template; ${listOf(parameters)}`)
  for (const { name } of parameters)
    if (!used.has(name)) throw new ClientError('usage', `${from}: parameter ${name} is used nowhere; write {{${name}}} where its value goes`)
  for (const parameter of parameters)
    if (parameter.default !== undefined) checked(parameter, parameter.default, `${from}: the default of parameter ${parameter.name}`)
  return template
}

function parameterOf(yaml: YamlFile, name: string, node: Node): TemplateParameter {
  if (!NAME.test(name)) yaml.refuse(node, `a parameter's name is letters, digits, _ and -, not ${JSON.stringify(name)}`)
  const fields = yaml.fields(node, `parameter ${name}`, PARAMETER_KEYS)
  const given = yaml.text(fields.get('type')) ?? 'text'
  const type = TYPES.find((one) => one === given)
  if (type === undefined) return yaml.refuse(fields.get('type') ?? node, `the type of parameter ${name} is ${TYPES.join(', ')}, not ${JSON.stringify(given)}`)
  const of = fields.has('of') ? yaml.list(fields.get('of'), `of of parameter ${name}`) : undefined
  if ((of === undefined) === (type === 'choice'))
    yaml.refuse(fields.get('of') ?? node, `parameter ${name}: a choice, and nothing else, has a list \`of\` what it may be`)
  const bound = (key: 'min' | 'max'): number | undefined => {
    const text = yaml.text(fields.get(key))
    if (text === undefined) return undefined
    const value = numberIn(text)
    if (value === undefined || (type !== 'whole' && type !== 'number'))
      yaml.refuse(fields.get(key) ?? node, `parameter ${name}: ${key} is a number, of a whole or a number`)
    return value
  }
  const fallback = yaml.text(fields.get('default'))
  const [min, max] = [bound('min'), bound('max')]
  return {
    name,
    type,
    about: yaml.text(fields.get('about')) ?? '',
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(of === undefined ? {} : { of }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max })
  }
}

/** A map stands for `name=value` of each, a list for itself. */
function valuesOf(yaml: YamlFile, name: string, node: Node): readonly string[] {
  if (isMap(node)) return Object.entries(yaml.texts(node, `option ${name}`)).map(([key, value]) => `${key}=${value}`)
  return isSeq(node) ? yaml.list(node, `option ${name}`) : [yaml.text(node) ?? '']
}

/** The call with these values, `name=value` each. Throws ClientError `usage` that names the file and the parameter. */
export function fillTemplate(template: Template, settings: readonly string[]): Filled {
  const { from, parameters } = template
  const given = new Map<string, string>()
  for (const setting of settings) {
    const at = setting.indexOf('=')
    const name = setting.slice(0, at)
    if (at < 1) throw new ClientError('usage', `--set is name=value, not ${JSON.stringify(setting)}; ${from}: ${listOf(parameters)}`)
    if (!parameters.some((one) => one.name === name)) throw new ClientError('usage', `${from} has no parameter ${JSON.stringify(name)}; ${listOf(parameters)}`)
    if (given.has(name)) throw new ClientError('usage', `${from}: parameter ${name} is set twice`)
    given.set(name, setting.slice(at + 1))
  }
  const missing = parameters.filter(({ name, default: fallback }) => fallback === undefined && !given.has(name))
  if (missing.length > 0)
    throw new ClientError(
      'usage',
      `${from}: ${missing.length === 1 ? 'parameter' : 'parameters'} ${missing.map(({ name }) => name).join(', ')} must be set, like: ${missing.map(({ name }) => `--set ${name}=…`).join(' ')}`
    )
  const values = new Map(parameters.map((one) => [one.name, checked(one, given.get(one.name) ?? one.default ?? '', `${from}: parameter ${one.name}`)]))
  // A value that looks like a hole is a value.
  const fill = (text: string): string => text.replace(HOLE, (_, name: string) => values.get(name) ?? '')
  return {
    words: [...template.words.map(fill), '--', ...template.command.map(fill)],
    options: template.options.map(({ name, values: all }) => ({ name, values: all.map(fill) }))
  }
}

/** The value as it is written, if it is one of the parameter's type. `what` begins what is said of one that is not. */
function checked({ type, of = [], min, max }: TemplateParameter, value: string, what: string): string {
  const refuse = (expected: string): never => {
    throw new ClientError('usage', `${what} is ${expected}, not ${JSON.stringify(value)}`)
  }
  switch (type) {
    case 'text':
      return value
    case 'input':
      return value.trim() === '' ? refuse('an input: a path here, an ID[/path] or a name') : value
    case 'flag':
      return value === 'true' || value === 'false' ? value : refuse('true or false')
    case 'choice':
      return of.includes(value) ? value : refuse(`one of ${of.join(', ')}`)
    case 'bytes':
      parseBytes(value, what)
      return value
    case 'time':
      parseDuration(value, what)
      return value
    case 'whole':
    case 'number': {
      const number = numberIn(value)
      const kind = type === 'whole' ? 'a whole number' : 'a number'
      if (number === undefined || (type === 'whole' && !Number.isSafeInteger(number))) return refuse(kind)
      if (number < (min ?? number)) return refuse(`${kind} of at least ${min}`)
      return number > (max ?? number) ? refuse(`${kind} of at most ${max}`) : value
    }
  }
}

function numberIn(text: string): number | undefined {
  return /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined
}

function listOf(parameters: readonly TemplateParameter[]): string {
  return parameters.length === 0 ? 'it has no parameters' : `it has ${parameters.map(({ name }) => name).join(', ')}`
}
