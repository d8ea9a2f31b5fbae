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

/** `plain`: an output of a few bytes. `silent`: none. `broken`: the program fails. `chatty`: stderr differs from run to run. `dice`: the output does too. */
export const TASK_KINDS = ['plain', 'silent', 'broken', 'chatty', 'dice'] as const
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
    case 'plain':
      return { out: `truth of ${name}`, stdout: name, stderr: '', exitCode: 0 }
  }
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
