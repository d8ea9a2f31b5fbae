/** What is to be run: scenario files with changes, each with its variants, on one or several seeds. Nothing is run here. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { messageOf } from '#protocol/message-of'
import { DAY_MS } from './availability.ts'
import { type Change, parseScenario, placeOf, type Scenario, ScenarioError, scenarioOf, VARIANTS_MAX, type Written } from './scenario.ts'
import { readTrace, type Trace, TraceError } from './trace.ts'

export type Changes = readonly (readonly [path: string, value: string])[]

/** All that a variant was made of: it can be made again from this. */
export interface Recipe {
  /** Empty for a scenario without variants. */
  readonly name: string
  readonly file: string
  readonly source: string
  readonly changes: Changes
  /** A recording that it plays. */
  readonly trace: { readonly path: string; readonly sha256: string } | null
}

export interface PlannedVariant extends Recipe {
  readonly scenario: Scenario
  readonly written: Written
}

export interface Plan {
  readonly name: string
  readonly question: string
  readonly answer: string
  readonly variants: readonly PlannedVariant[]
  readonly seeds: readonly (number | string)[]
}

export interface Choice {
  readonly changes: Changes
  /** In place of the scenario's; as it was typed. */
  readonly hosts?: string | undefined
  /** In place of the scenario's. */
  readonly seed: number | undefined
  /** So many, counted up from the first. */
  readonly seeds: number
}

/** Folder of the scenarios that come with talko. */
const SHIPPED = join(import.meta.dirname, 'scenarios')

/** Where a scenario is: a file, or the name of one that comes with talko. */
export function scenarioPath(name: string): string {
  return /[./\\]/.test(name) ? name : join(SHIPPED, `${name}.yaml`)
}

export interface Shipped {
  readonly file: string
  readonly name: string
  readonly question: string
  readonly hosts: number
  readonly days: number
}

/** The scenarios that come with talko. */
export async function shipped(): Promise<readonly Shipped[]> {
  const files = (await readdir(SHIPPED)).sort()
  return await Promise.all(
    files.map(async (file) => {
      const { name, question, hosts, length } = parseScenario(file, await read(join(SHIPPED, file)), [])
      return { file: basename(file, '.yaml'), name, question, hosts, days: length / DAY_MS }
    })
  )
}

/** One scenario with its own variants. Throws ScenarioError, as all here do. */
export async function planRun(name: string, choice: Choice): Promise<Plan> {
  return planOf(await variantsOf('', name, asked(name, choice)), choice)
}

/** Several beside each other. */
export async function planComparison(names: readonly string[], choice: Choice): Promise<Plan> {
  const variants: PlannedVariant[] = []
  for (const [index, name] of apart(names).entries()) {
    const file = names[index] ?? name
    variants.push(...(await variantsOf(name, file, asked(file, choice))))
  }
  return { ...planOf(variants, choice), ...beside(variants), question: 'which is better, and is the difference more than chance?' }
}

/** One, with each of several values of a key. */
export async function planSweep(name: string, key: string, values: readonly string[], choice: Choice): Promise<Plan> {
  const variants: PlannedVariant[] = []
  // A value is what the sweep says, whatever a variant of the scenario sets: variants are left out.
  for (const value of values) {
    const by = `--over ${key}=${value}: ${basename(name)}, as changed`
    const changes = [...asked(name, choice), ['variants', '[]', by], ['answer', '', by], [key, value, by]] as const
    variants.push(...(await variantsOf(`${key}=${value}`, name, changes)))
  }
  const plan = planOf(variants, choice)
  return { ...plan, name: `${plan.name}: ${key}`, answer: '' }
}

/** What a person asks for, with the words that he asked with. */
function asked(file: string, { changes, hosts }: Choice): readonly Change[] {
  const changed = `${basename(file)}, as changed`
  const sets = changes.map(([path, value]): Change => [path, value, `--set ${path}=${value}: ${changed}`])
  return hosts === undefined ? sets : [...sets, ['hosts', hosts, `--hosts ${hosts}: ${changed}`]]
}

/** Names of files, longer where two are alike, and counted where that does not help. */
function apart(files: readonly string[]): readonly string[] {
  const short = files.map((file) => basename(file, '.yaml'))
  const names = short.map((name, index) => (files.some((other, at) => short[at] === name && other !== files[index]) ? (files[index] ?? name) : name))
  return names.map((name, index) => {
    const before = names.slice(0, index).filter((other) => other === name).length
    return before === 0 ? name : `${name} (${before + 1})`
  })
}

function beside(variants: readonly PlannedVariant[]): { readonly name: string; readonly answer: string } {
  return { name: variants.map(({ name }) => name).join(' beside '), answer: '' }
}

function planOf(variants: readonly PlannedVariant[], { seed, seeds }: Choice): Plan {
  const [first] = variants
  if (first === undefined || variants.length > VARIANTS_MAX) throw new ScenarioError(`1 to ${VARIANTS_MAX} variants are expected, not ${variants.length}`)
  const { name, question, answer, options } = first.scenario
  const from = seed ?? options.seed
  return { name, question, answer, variants, seeds: typeof from === 'number' ? Array.from({ length: seeds }, (_, index) => from + index) : [from] }
}

async function variantsOf(name: string, file: string, changes: readonly Change[]): Promise<PlannedVariant[]> {
  const path = scenarioPath(file)
  const source = await sourceOf(file, path)
  const { variants } = parseScenario(path, source, changes)
  if (variants.length === 0) return [await planned({ name, file: path, source, changes })]
  const all: PlannedVariant[] = []
  // What a person asks for at the command line holds for all variants.
  for (const { name: own, set, line } of variants) {
    const by = `${line === 0 ? `${path}, as changed` : `${path}:${line}`}: variant ${JSON.stringify(own)}`
    const sets = set.map(([key, value]): Change => [key, value, by])
    all.push(await planned({ name: name === '' ? own : `${name}, ${own}`, file: path, source, changes: [...sets, ...changes] }))
  }
  return all
}

/** One that is called by its name comes with talko. */
async function sourceOf(name: string, path: string): Promise<string> {
  if (path === name) return await read(path)
  const names = (await readdir(SHIPPED)).map((file) => basename(file, '.yaml')).sort()
  if (!names.includes(name))
    throw new ScenarioError(
      `no scenario that comes with talko is called ${JSON.stringify(name)}; there are ${names.join(', ')}, and a file of yours is ./${name}.yaml`
    )
  return await read(path)
}

/** The same variant again. */
export async function replanned({ trace, ...recipe }: Recipe): Promise<PlannedVariant> {
  const variant = await planned(recipe)
  if (variant.trace?.sha256 !== trace?.sha256) throw new ScenarioError(`${trace?.path ?? recipe.file} is not the recording that was played`)
  return variant
}

async function planned({ name, file, source, changes }: Omit<Recipe, 'trace' | 'changes'> & { readonly changes: readonly Change[] }): Promise<PlannedVariant> {
  const written = parseScenario(file, source, changes)
  const { recording, trace } = await traceOf(file, written, () => placeOf(file, source, changes, 'trace'))
  const pairs = changes.map(([path, value]) => [path, value] as const)
  return { name, file, source, changes: pairs, trace, written, scenario: scenarioOf(written, recording) }
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new ScenarioError(`${file}: cannot be read: ${messageOf(cause)}`, { cause })
  }
}

/** A recording lies beside its scenario. */
async function traceOf(file: string, { trace }: Written, place: () => string): Promise<{ recording: Trace | null; trace: Recipe['trace'] }> {
  if (trace === null) return { recording: null, trace: null }
  const path = resolve(dirname(file), trace)
  try {
    const sha256 = createHash('sha256')
      .update(await readFile(path))
      .digest('hex')
    return { recording: await readTrace(path), trace: { path, sha256 } }
  } catch (cause) {
    throw new ScenarioError(`${place()}: trace: ${path}: ${cause instanceof TraceError ? '' : 'cannot be read: '}${messageOf(cause)}`, { cause })
  }
}
