/** How the verbs use templates: where one is read from, and the call that it stands for. */
import { readFile } from 'node:fs/promises'
import { Command } from 'commander'
import type { Client } from '../client/client.ts'
import { type Context, collect, texts, type VerbModule } from '../command.ts'
import { ClientError } from '../errors.ts'
import { type Filled, fillTemplate, parseTemplate, TEMPLATE_CHARS_MAX, type Template, type TemplateVerb } from './file.ts'

type Options = Readonly<Record<string, unknown>>

/** One word alone that ends like a file of YAML: no image and no command is called so. */
export function namesTemplate(args: readonly string[]): boolean {
  return args.length === 1 && /\.ya?ml$/.test(args[0] ?? '')
}

/** A file here, else one that was given to the project under this name or id. Throws ClientError `not_found`, `usage`. */
export async function readTemplate(of: string, { client, signal }: Pick<Context, 'client' | 'signal'>): Promise<Template> {
  const here = await readFile(of, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && !of.includes('/')) return undefined
    throw new ClientError('not_found', `the template ${of} cannot be read: ${error.code ?? error.message}`, { cause: error })
  })
  return parseTemplate(here ?? (await readPublished(of, await client(), signal)), of)
}

async function readPublished(of: string, client: Client, signal: AbortSignal): Promise<string> {
  const { root, path = '' } = await client.find(of, { signal }).catch((error: unknown) => {
    if (!(error instanceof ClientError) || error.code !== 'not_found') throw error
    throw new ClientError('not_found', `there is no template ${of}: no file here, and nothing in the project has this name (talko upload ${of} --name ${of})`)
  })
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of client.read({ root, path }, { signal })) {
    bytes += part.length
    // A character has four bytes at the most.
    if (bytes > 4 * TEMPLATE_CHARS_MAX) throw new ClientError('usage', `${of} is no template: it has more than ${4 * TEMPLATE_CHARS_MAX} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

export function setOption(command: Command): void {
  command.option('--set <name=value>', 'with a template: a value for one of its parameters; may repeat', collect)
}

/** The words and options of the call that the template and what was given beside it make; as they are where no template is named. */
export async function withTemplate(
  context: Context,
  verb: TemplateVerb,
  { module, args, options }: { readonly module: VerbModule; readonly args: readonly string[]; readonly options: Options }
): Promise<{ readonly args: readonly string[]; readonly options: Options }> {
  const [of = ''] = args
  if (!namesTemplate(args)) {
    if (verb !== 'sweep' && texts(options, 'set').length > 0)
      throw new ClientError('usage', `--set fills in a template, like: talko ${verb} template.yaml --set name=value; for many values see talko sweep`)
    return { args, options }
  }
  const template = await readTemplate(of, context)
  if (template.verb !== verb) throw new ClientError('usage', `${of} is a template for talko ${template.verb}, not for talko ${verb}`)
  return callOf(template, fillTemplate(template, texts(options, 'set')), { module, beside: options })
}

/** What commander makes of the call; what is given beside the template goes before what that says, and is added to what may repeat. */
export function callOf(
  { from, verb }: Pick<Template, 'from' | 'verb'>,
  { words, options }: Filled,
  { module, beside = {} }: { readonly module: VerbModule; readonly beside?: Options }
): { readonly args: readonly string[]; readonly options: Options } {
  const command = new Command(verb).exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} })
  module.define(command, () => undefined)
  const refuse = (message: string): never => {
    throw new ClientError('usage', `${from}: ${message}`)
  }
  const argv: string[] = []
  for (const { name, values } of options) {
    const option = command.options.find(({ long }) => long === `--${name}`)
    if (option === undefined || (name === 'set' && verb !== 'sweep'))
      return refuse(`talko ${verb} has no option ${JSON.stringify(name)} (talko ${verb} --help)`)
    // One that takes no value is there or not.
    if (!option.required) {
      const [value] = values
      if (values.length !== 1 || (value !== 'true' && value !== 'false'))
        return refuse(`option ${name} is true or false, not ${JSON.stringify(values.join(', '))}`)
      if (value === 'true') argv.push(`--${name}`)
    } else {
      if (values.length > 1 && option.parseArg === undefined) return refuse(`option ${name} has one value, not ${values.length}`)
      for (const value of values) argv.push(`--${name}=${value}`)
    }
  }
  try {
    command.parse([...argv, ...words], { from: 'user' })
  } catch (error) {
    return refuse(error instanceof Error ? error.message.replace(/^error: /, '') : String(error))
  }
  const filled: Record<string, unknown> = { ...command.opts() }
  for (const [name, value] of Object.entries(beside)) {
    const option = command.options.find((one) => one.attributeName() === name)
    if (name === 'set' || value === undefined || (option !== undefined && value === option.defaultValue)) continue
    filled[name] = Array.isArray(value) && Array.isArray(filled[name]) ? [...filled[name], ...value] : value
  }
  return { args: command.args, options: filled }
}
