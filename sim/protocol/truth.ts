/** What a task computes, and what those report who do not tell the truth. A task is known by its bundle's argument. */
import type { CID } from 'multiformats/cid'
import { cidOfBytes, RAW } from '#protocol/content/cid'

export interface Outcome {
  /** Text of the output tree, of stdout and of stderr; '' for none. */
  readonly out: string
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

/** `plain`: an output of a few bytes. `silent`: none. `broken`: the program fails. `chatty`: stderr differs from run to run. `dice`: the output does too. `noisy`: it does a little, which a tolerance may allow. `fragile`: most runs of it hang. `hungry`: it needs more memory than it asks for. */
export const TASK_KINDS = ['plain', 'silent', 'broken', 'chatty', 'dice', 'noisy', 'fragile', 'hungry'] as const
export type TaskKind = (typeof TASK_KINDS)[number]

/** Arguments of a task's command: its kind, its name, how long it runs. */
export function commandOf(kind: TaskKind, name: string, runMs: number): string[] {
  return ['work', kind, name, String(runMs)]
}

export function readCommand(command: readonly string[]): { readonly kind: TaskKind; readonly name: string; readonly runMs: number } {
  const [, kind = '', name = '', runMs = '0'] = command
  return { kind: TASK_KINDS.find((known) => known === kind) ?? 'plain', name, runMs: Number(runMs) }
}

export function honest(command: readonly string[], replica: string): Outcome {
  const { kind, name } = readCommand(command)
  switch (kind) {
    case 'silent':
      return { out: '', stdout: '', stderr: '', exitCode: 0 }
    case 'broken':
      return { out: `partial ${replica}`, stdout: '', stderr: `no ${name}`, exitCode: 3 }
    case 'chatty':
      return { out: `truth of ${name}`, stdout: name, stderr: `at ${replica}`, exitCode: 0 }
    case 'dice':
      return { out: `thrown for ${replica}`, stdout: '', stderr: '', exitCode: 0 }
    case 'noisy':
      return { out: noisy(name, sumOf(replica) % NOISES), stdout: '', stderr: '', exitCode: 0 }
    case 'fragile':
    case 'hungry':
    case 'plain':
      return { out: `truth of ${name}`, stdout: name, stderr: '', exitCode: 0 }
  }
}

/** What those say who lie together. */
export function lieAbout(command: readonly string[]): Outcome {
  return { out: `a lie about ${readCommand(command).name}`, stdout: '', stderr: '', exitCode: 0 }
}

/** Into so many steps a run that leaves snapshots is divided: it leaves one after each but the last. */
export const STEPS = 8

/** What it left after so many steps; `spoilt`: by who does not compute what it was asked to. */
export interface Snapshot {
  readonly step: number
  readonly spoilt: boolean
}

export function snapshotText(command: readonly string[], { step, spoilt }: Snapshot): string {
  return `${readCommand(command).name} after ${step} steps${spoilt ? ', spoilt' : ''}`
}

/** Which snapshot of the task has this root; undefined for none. */
export function snapshotOf(command: readonly string[], root: string): Snapshot | undefined {
  for (let step = 1; step < STEPS; step++)
    for (const spoilt of [false, true]) if (idOf(snapshotText(command, { step, spoilt })).toString() === root) return { step, spoilt }
  return undefined
}

/** The exit status of a run that is to go on elsewhere; and after how many steps a run does that, if it does. */
export const GOES_ON_EXIT = 85

export function goesOnAfter(replica: string, from: number): number | undefined {
  const after = from + 3
  // Twice, since those of one task that follow each other differ by one.
  return sumOf(`${replica} ${replica}`) % 5 === 0 && after < STEPS ? after : undefined
}

/** Whether this run gives no sign of life. */
export function hangs(command: readonly string[], replica: string): boolean {
  return readCommand(command).kind === 'fragile' && sumOf(replica) % 3 > 0
}

const GIB = 1024 ** 3
/** What tasks ask for, and what they may have when that was too little: most need no more than that. */
export const MEMORY_BYTES = GIB
export const MORE_MEMORY_BYTES = 4 * GIB

/** What a run of it needs. */
export function memoryOf(command: readonly string[]): number {
  const { kind, name } = readCommand(command)
  if (kind !== 'hungry') return 0
  return sumOf(name) % 4 === 0 ? 2 * MORE_MEMORY_BYTES : 2 * MEMORY_BYTES
}

/** Outputs that honest runs of a noisy task come out with, from one end to the other; those within a distance are close, so that three may be close in pairs and the ends are not. */
const NOISES = 6
const NEAR = 4

export function noisy(name: string, noise: number): string {
  return `about ${noise} of ${name}`
}

/** All that honest runs may come out with. */
export function truths(command: readonly string[]): readonly Outcome[] {
  const { kind, name } = readCommand(command)
  return kind === 'noisy' ? Array.from({ length: NOISES }, (_, noise) => ({ ...honest(command, ''), out: noisy(name, noise) })) : [honest(command, '')]
}

/** Whether two outputs of a task, by their roots, agree when they are compared. */
export function areNear(name: string, a: string, b: string): boolean {
  const noiseOf = (root: string): number => Array.from({ length: NOISES }, (_, noise) => idOf(noisy(name, noise)).toString()).indexOf(root)
  const [x, y] = [noiseOf(a), noiseOf(b)]
  return a === b || (x >= 0 && y >= 0 && Math.abs(x - y) <= NEAR)
}

function sumOf(text: string): number {
  let sum = 0
  for (const char of text) sum = (sum * 31 + char.charCodeAt(0)) % 1_000_003
  return sum
}

/** What tasks that need an input read: a small one, and some that are large enough to choose nodes by. */
const SMALL_INPUT = 'the input of many tasks'
const LARGE_INPUTS = Array.from({ length: 4 }, (_, index) => `large input ${index}`)
export const INPUTS: readonly string[] = [SMALL_INPUT, ...LARGE_INPUTS]
const LARGE_BYTES = 8 * 1024 ** 2

export function inputOf(name: string): string {
  return LARGE_INPUTS[sumOf(name) % (LARGE_INPUTS.length + 2)] ?? SMALL_INPUT
}

/** Of the content with this id, whatever its text. */
export function bytesOf(root: string): number {
  return largeRoots.has(root) ? LARGE_BYTES : 1
}

const IDS_MAX = 65_536
const ids = new Map<string, CID>()

/** Id of an output tree or file with this text. */
export function idOf(text: string): CID {
  const known = ids.get(text)
  if (known !== undefined) return known
  const id = cidOfBytes(RAW, new TextEncoder().encode(text))
  if (ids.size >= IDS_MAX) ids.clear()
  ids.set(text, id)
  return id
}

const largeRoots: ReadonlySet<string> = new Set(LARGE_INPUTS.map((text) => idOf(text).toString()))
