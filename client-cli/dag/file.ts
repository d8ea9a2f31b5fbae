/**
 * A graph of steps written as YAML: what each runs and what it takes from others. Whatever does not fit is refused with its
 * line. Pure.
 *
 * ```yaml
 * name: genome
 * attempts: 5                      # of every step, as the options of talko run; also quorum, target, total, success, priority, estimate,
 *                                  # queue-limit, deadline, retry-memory, same-class, copies, trust, confidence; and true or false:
 * adaptive: true                   # independent, adaptive, commit, force
 * nodes: [ann, bob]                # no others
 * tags: [big]                      # nodes need them, for every step
 * labels: { experiment: 7 }
 * compare: ["*.csv: rel=1e-6"]     # outputs that are close agree; or { program: compare.yaml }: a program says so
 * defaults: { image: alpine }      # of every step that says nothing else
 * steps:
 *   cut:
 *     command: cut -f1 {input}/table > /out/names      # {input:NAME} of several
 *     input: { data: ./tables }
 *   count:
 *     command: [wc, -l, /in/names]
 *     take: { names: cut/names }   # STEP, STEP/path, or STEP:stdout
 *     after: [other]               # takes nothing, comes later
 *     allow-failed: true
 *   build:                         # in order in one container, until one ends with another status than 0
 *     commands: [make, [./test, --all], { name: pack, command: tar cf /out/all.tar . }]
 * final:                           # runs when all steps are over, however they ended
 *   command: echo done
 * ```
 */
import { isMap, isSeq, type Node } from 'yaml'
import type { GpuNeeds, Resources } from '#protocol/bundle/manifest'
import { isTag, type TaskPolicy } from '#protocol/bundle/policy'
import type { Step as RunStep } from '#protocol/bundle/steps'
import { parseRules } from '#protocol/compare/rules'
import { labelsOf } from '../client/manage.ts'
import type { TaskSpec } from '../client/spec.ts'
import { parseBytes, parseCpus, parseDuration, parseGpus } from '../client/units.ts'
import { ClientError } from '../errors.ts'
import { commandOf, stepsOfLines } from '../tasks/command-of.ts'
import { POLICY_FLAG_KEYS, POLICY_VALUE_KEYS, readPolicy, timeWithin } from '../tasks/policy-options.ts'
import { type Fields, YamlFile } from '../yaml.ts'

export interface Take {
  /** The input's name. */
  readonly name: string
  readonly step: string
  readonly part: 'output' | 'stdout'
  readonly path: string
}

export interface Step {
  readonly name: string
  readonly line: number
  readonly image?: string
  readonly engine: 'docker' | 'process'
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly inputs: Readonly<Record<string, string>>
  readonly takes: readonly Take[]
  readonly after: readonly string[]
  readonly allowFailed: boolean
  readonly resources: Partial<Resources>
  readonly gpus?: Partial<GpuNeeds>
  readonly platform?: string
  readonly ignoreStdout: boolean
  /** It is not run: this is what came out of it, as ids. */
  readonly done?: { readonly output?: string; readonly stdout?: string }
}

export interface Dag {
  readonly name: string
  readonly policy: Partial<TaskPolicy>
  /** Ids, prefixes or names of the only nodes that may run them; none for any. */
  readonly nodes: readonly string[]
  /** A file or a bundle's id: the program that compares outputs. */
  readonly comparator?: string
  readonly labels: Readonly<Record<string, string>>
  /** Each after those that it takes something from; the final one last. */
  readonly steps: readonly Step[]
  readonly final: Step | undefined
}

export const DAG_CHARS_MAX = 4_000_000
export const STEPS_MAX = 10_000
const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/
const STEP_KEYS = [
  'image',
  'engine',
  'command',
  'commands',
  'env',
  'input',
  'take',
  'after',
  'allow-failed',
  'cpus',
  'memory',
  'time',
  'silence',
  'disk',
  'gpus',
  'platform',
  'ignore-stdout',
  'done'
]
const FILE_KEYS = ['name', ...POLICY_VALUE_KEYS, ...POLICY_FLAG_KEYS, 'nodes', 'tags', 'labels', 'compare', 'defaults', 'steps', 'final']
const DEFAULT_KEYS = ['image', 'engine', 'env', 'cpus', 'memory', 'time', 'silence', 'disk', 'gpus', 'platform', 'ignore-stdout']

const COMPARATOR_KEYS = ['image', 'engine', 'command', 'env', 'input', 'cpus', 'memory', 'time', 'silence', 'disk']

/** Throws ClientError `usage` that names the line. */
export function parseDag(text: string): Dag {
  return new Reader(text).dag()
}

/**
 * A program that compares, of the file `name`: one step that takes nothing. Throws ClientError `usage` that names the line.
 *
 * ```yaml
 * image: python:3
 * command: [python3, /in/code/compare.py, /in/a, /in/b]   # exit status 0: they agree, 1: they do not
 * input: { code: ./code }
 * memory: 1G                                             # default 512M; time 1m, disk 256M, cpus 1
 * ```
 */
export function parseComparator(text: string, name: string): Omit<TaskSpec, 'policy'> {
  try {
    return new Reader(text).comparator()
  } catch (error) {
    if (error instanceof ClientError) throw new ClientError(error.code, `${name}, ${error.message}`, { cause: error })
    throw error
  }
}

class Reader {
  readonly #yaml: YamlFile

  constructor(text: string) {
    this.#yaml = new YamlFile(text, { what: 'a file of steps', charsMax: DAG_CHARS_MAX })
  }

  dag(): Dag {
    const file = this.#yaml.fields(this.#yaml.root, 'the file', FILE_KEYS)
    const defaults = file.has('defaults') ? this.#yaml.fields(file.get('defaults') ?? null, 'defaults', DEFAULT_KEYS) : new Map<string, Node>()
    const policy = this.#policy(file)
    const named = this.#yaml.pairs(file.get('steps') ?? null, 'steps')
    if (named.length === 0) this.#yaml.refuse(file.get('steps') ?? this.#yaml.root, 'there are no steps')
    if (named.length > STEPS_MAX) this.#yaml.refuse(file.get('steps') ?? this.#yaml.root, `at most ${STEPS_MAX} steps, not ${named.length}`)
    const steps = new Map(named.map(([name, node]) => [name, this.#step(name, node, defaults, timeWithin(policy.deadlineMs))]))
    for (const [name, node] of named)
      if (!NAME.test(name)) this.#yaml.refuse(node, `a step's name is letters, digits, dots and dashes, not ${JSON.stringify(name)}`)
    const final = file.get('final')
    const comparator = this.#comparator(file.get('compare'))
    const last = final === undefined ? undefined : this.#step('final', final, defaults, timeWithin(policy.deadlineMs))
    for (const step of [...steps.values(), ...(last === undefined ? [] : [last])])
      for (const of of [...step.takes.map((take) => take.step), ...step.after])
        if (!steps.has(of)) throw new ClientError('usage', `line ${step.line}: step ${step.name} needs ${JSON.stringify(of)}, and there is no such step`)
    return {
      name: this.#yaml.text(file.get('name')) ?? '',
      policy,
      nodes: this.#yaml.list(file.get('nodes'), 'nodes'),
      ...(comparator === undefined ? {} : { comparator }),
      labels: this.#labels(file.get('labels')),
      steps: inOrder(steps),
      final: last
    }
  }

  comparator(): Omit<TaskSpec, 'policy'> {
    const root = this.#yaml.root ?? this.#yaml.refuse(null, 'the file is empty')
    this.#yaml.fields(root, 'a comparator', COMPARATOR_KEYS)
    const { image, engine, command, environment, inputs, resources } = this.#step('of the comparator', root, new Map())
    return { engine, command, environment, inputs, resources, ...(image === undefined ? {} : { image }) }
  }

  /** `timeMs`: how long it may run where nothing else is said. */
  #step(name: string, node: Node, defaults: Fields, timeMs?: number): Step {
    const own = this.#yaml.fields(node, `step ${name}`, STEP_KEYS)
    const at = (key: string): Node | undefined => own.get(key) ?? defaults.get(key)
    const image = this.#yaml.text(at('image'))
    const engine = this.#yaml.text(at('engine')) ?? 'docker'
    if (engine !== 'docker' && engine !== 'process') this.#yaml.refuse(at('engine') ?? node, `engine is docker or process, not ${JSON.stringify(engine)}`)
    const done = own.get('done')
    if (done === undefined && !own.has('command') && !own.has('commands')) this.#yaml.refuse(node, `step ${name} has no command`)
    if (own.has('command') && own.has('commands')) this.#yaml.refuse(node, `step ${name} has one command, or several commands: not both`)
    if (done === undefined && engine === 'docker' && image === undefined)
      this.#yaml.refuse(node, `step ${name} has no image; name one, or choose engine: process`)
    const amount = <T>(key: string, parse: (text: string, what: string) => T): T | undefined => {
      const found = at(key)
      return found === undefined ? undefined : this.#yaml.tried(found, () => parse(this.#yaml.text(found) ?? '', key))
    }
    const resources = {
      cpuMillis: amount('cpus', parseCpus),
      memoryBytes: amount('memory', parseBytes),
      timeMs: amount('time', parseDuration) ?? timeMs,
      diskBytes: amount('disk', parseBytes),
      silenceMs: amount('silence', parseDuration)
    }
    const gpus = amount('gpus', parseGpus)
    const platform = this.#yaml.text(at('platform'))
    const inputs = this.#yaml.texts(own.get('input'), `input of ${name}`)
    const takes = Object.entries(this.#yaml.texts(own.get('take'), `take of ${name}`)).map(([input, from]) => takeOf(input, from))
    const twice = takes.find((take) => Object.hasOwn(inputs, take.name))
    if (twice !== undefined) this.#yaml.refuse(node, `step ${name} has two inputs named ${twice.name}`)
    const words = this.#yaml.command(own.get('command'))
    const steps = this.#commands(own.get('commands'), name)
    const named = [...Object.keys(inputs), ...takes.map((take) => take.name)]
    return {
      name,
      line: this.#yaml.line(node),
      ...(image === undefined || engine === 'process' ? {} : { image }),
      engine,
      command: this.#yaml.tried(own.get('command') ?? own.get('commands') ?? node, () => commandOf({ words, steps, inputs: named, engine })),
      environment: { ...this.#yaml.texts(defaults.get('env'), 'env'), ...this.#yaml.texts(own.get('env'), `env of ${name}`) },
      inputs,
      takes,
      after: this.#yaml.list(own.get('after'), `after of ${name}`),
      allowFailed: this.#yaml.flag(own.get('allow-failed')),
      resources: Object.fromEntries(Object.entries(resources).filter(([, value]) => value !== undefined)),
      ...(gpus === undefined ? {} : { gpus }),
      ...(platform === undefined ? {} : { platform }),
      ignoreStdout: this.#yaml.flag(at('ignore-stdout')),
      ...(done === undefined ? {} : { done: this.#done(done) })
    }
  }

  /** A text is a shell's line, a list the words of a command; a map has its name beside the command. */
  #commands(node: Node | undefined, name: string): readonly RunStep[] {
    if (node === undefined) return []
    if (!isSeq(node) || node.items.length === 0) return this.#yaml.refuse(node, `commands of ${name} is a list`)
    const items = node.items.map((item): { readonly words: readonly string[]; readonly called: string | undefined } => {
      const one = item as Node
      if (!isMap(one)) return { words: this.#yaml.command(one), called: undefined }
      const fields = this.#yaml.fields(one, `a command of ${name}`, ['name', 'command'])
      return { words: this.#yaml.command(fields.get('command')), called: this.#yaml.text(fields.get('name')) }
    })
    const named = stepsOfLines(items.map(({ words, called }) => called ?? words.at(words[0] === 'sh' ? -1 : 0) ?? ''))
    return items.map(({ words, called }, at) => ({ name: called ?? named[at]?.name ?? '', command: words }))
  }

  #done(node: Node): NonNullable<Step['done']> {
    const fields = this.#yaml.fields(node, 'done', ['output', 'stdout'])
    const output = this.#yaml.text(fields.get('output'))
    const stdout = this.#yaml.text(fields.get('stdout'))
    return { ...(output === undefined ? {} : { output }), ...(stdout === undefined ? {} : { stdout }) }
  }

  #policy(file: Fields): Partial<TaskPolicy> {
    let policy: Partial<TaskPolicy> = {}
    const add = (key: string, node: Node, given: { readonly value?: string; readonly flag?: boolean }): void => {
      const read = () =>
        readPolicy(
          (one) => (one === key ? given.value : undefined),
          (one) => one === key && given.flag === true,
          (one) => one
        )
      policy = { ...policy, ...this.#yaml.tried(node, read) }
    }
    for (const key of POLICY_VALUE_KEYS) {
      const node = file.get(key)
      if (node !== undefined) add(key, node, { value: this.#yaml.text(node) ?? '' })
    }
    for (const key of POLICY_FLAG_KEYS) {
      const node = file.get(key)
      if (node !== undefined) add(key, node, { flag: this.#yaml.flag(node) })
    }
    const tags = this.#tags(file.get('tags'))
    const compare = this.#compare(file.get('compare'))
    return { ...policy, ...(tags === undefined ? {} : { tags }), ...(compare === undefined ? {} : { compare }) }
  }

  #tags(node: Node | undefined): readonly string[] | undefined {
    if (node === undefined) return undefined
    const tags = this.#yaml.list(node, 'tags')
    const wrong = tags.find((tag) => !isTag(tag))
    if (wrong !== undefined) this.#yaml.refuse(node, `${JSON.stringify(wrong)} is no tag: letters, digits and . _ : = / -, 63 at most`)
    return [...new Set(tags)].sort()
  }

  #compare(node: Node | undefined): TaskPolicy['compare'] | undefined {
    if (node === undefined || isMap(node)) return undefined
    return this.#yaml.tried(node, () => ({ kind: 'tolerance', rules: parseRules(this.#yaml.list(node, 'compare')) }))
  }

  #comparator(node: Node | undefined): string | undefined {
    if (node === undefined || !isMap(node)) return undefined
    const program = this.#yaml.fields(node, 'compare', ['program']).get('program')
    return this.#yaml.text(program) ?? this.#yaml.refuse(node, 'compare is a list of rules, or { program: FILE or ID }')
  }

  #labels(node: Node | undefined): Readonly<Record<string, string>> {
    const labels = this.#yaml.texts(node, 'labels')
    if (node !== undefined) this.#yaml.tried(node, () => labelsOf(labels))
    return labels
  }
}

/** `STEP`, `STEP/path`, `STEP:stdout`. */
function takeOf(name: string, from: string): Take {
  if (from.endsWith(':stdout')) return { name, step: from.slice(0, -':stdout'.length), part: 'stdout', path: '' }
  const at = from.indexOf('/')
  return at < 0 ? { name, step: from, part: 'output', path: '' } : { name, step: from.slice(0, at), part: 'output', path: from.slice(at + 1) }
}

/** Each after those that it needs; those of a circle are named. Steps that are free to go come in the order they are written. */
function inOrder(steps: ReadonlyMap<string, Step>): Step[] {
  const order: Step[] = []
  const state = new Map<string, 'open' | 'done'>()
  for (const first of steps.keys()) {
    const path = [first]
    while (path.length > 0) {
      const name = path.at(-1) ?? ''
      const step = steps.get(name)
      if (step === undefined || state.get(name) === 'done') {
        path.pop()
        continue
      }
      state.set(name, 'open')
      const next = [...step.takes.map((take) => take.step), ...step.after].find((of) => state.get(of) !== 'done')
      if (next === undefined) {
        state.set(name, 'done')
        order.push(step)
        path.pop()
      } else if (state.get(next) === 'open') {
        const circle = [...path.slice(path.indexOf(next)), next]
        throw new ClientError('usage', `line ${step.line}: steps wait for one another in a circle: ${circle.join(' needs ')}`)
      } else path.push(next)
    }
  }
  return order
}
