/** What every verb is made of: its options in common, what it is given, and how it ends. */
import type { Command } from 'commander'
import type { Client } from './client/client.ts'
import type { Io } from './output/io.ts'

/** What a verb works with. */
export interface Context {
  readonly io: Io
  /** Aborted by Ctrl-C (`interrupted`) and when `--timeout` is over (`timeout`). */
  readonly signal: AbortSignal
  /** Waits; rejects when the signal is aborted first. */
  pause(ms: number): Promise<void>
  /** From now on the verb ends by itself, in order, when the signal is aborted, and is waited for: what a daemon has open is closed. `again` is for a second Ctrl-C (or TERM), which without it, or when it answers false, ends the process at once. */
  endsItself(again?: () => boolean): void
  /** `--home`, as given. */
  readonly home: string | undefined
  /** `--project`, as given. */
  readonly project: string | undefined
  /** Connects once; closed when the verb has ended. */
  client(): Promise<Client>
  /** The same without dialling until a call needs it. */
  offline(): Promise<Client>
}

/** Runs a verb; its exit status is 0 unless it answers with another. */
export type Verb = (context: Context, args: readonly string[], options: Readonly<Record<string, unknown>>) => Promise<number | undefined>

/** A verb's module: declares arguments and options on `command`, and says what to run. */
export interface VerbModule {
  readonly define: (command: Command, run: (verb: Verb) => void) => void
}

/** Options of every verb; those of a project only where it works with one. */
export function commonOptions(command: Command, ofProject: boolean): void {
  command
    .option('-o, --output <format>', 'how results are printed: text or json', 'text')
    .option('--timeout <time>', 'give up after this long (90s, 10m); the exit status is then 124')
  if (!ofProject) return
  command
    .option('--project <invite>', 'talk to this project: an invite (talko://…) or the id of the one chosen')
    .option('--home <dir>', 'the folder of your key and names (default $TALKO_HOME or ~/.talko)')
}

export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}\n`
}

/** For options that may be given several times. */
export function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value]
}

export function text(options: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

export function flag(options: Readonly<Record<string, unknown>>, name: string): boolean {
  return options[name] === true
}

export function texts(options: Readonly<Record<string, unknown>>, name: string): string[] {
  const value = options[name]
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
