/** How things look to people. Pure. */
import type { GpuNeeds } from '#protocol/bundle/manifest'
import { stepsOfCommand } from '#protocol/bundle/steps'
import type { HeldView, RunProgress } from '#protocol/owner/messages'

const STEPS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** `1.5 MiB` */
export function formatBytes(bytes: number): string {
  let value = bytes
  let step = 0
  while (value >= 1024 && step < STEPS.length - 1) {
    value /= 1024
    step++
  }
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${STEPS[step]}`
}

/** `4 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h` */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`
}

/** How far a run says that it is, and how long it should go on. */
export function formatProgress({ done, note, leftMs }: RunProgress): string {
  const left = leftMs === undefined ? '' : `, about ${formatDuration(leftMs)} left`
  return `${Math.round(done * 1000) / 10} %${note === undefined ? '' : ` (${note})`}${left}`
}

/** A table with columns as wide as they need; the last is not padded. Cells hold no control characters. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const clean = rows.map((row) => row.map(printable))
  const widths = head.map((title, column) => Math.max(title.length, ...clean.map((row) => (row[column] ?? '').length)))
  return [head, ...clean].map((row) =>
    row
      .map((cell, column) => (column === head.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd()
  )
}

/** What a peer named or said, made harmless for a terminal. */
export function printable(text: string): string {
  return [...text].map((char) => (char < ' ' || (char >= '\u007f' && char <= '\u009f') ? '\ufffd' : char)).join('')
}

export function shorten(text: string, charsMax: number): string {
  const flat = printable(text)
  return flat.length <= charsMax ? flat : `${flat.slice(0, Math.max(0, charsMax - 1))}…`
}

/** Enough of a batch or task id to be unique in most projects: 12 of 26 characters are 60 random bits. */
export function shortId(id: string): string {
  const dot = id.indexOf('.')
  return dot < 0 ? id.slice(0, 12) : id.slice(0, 12) + id.slice(dot)
}

/** The command as one would type it; several that are run in order one after the other. */
export function formatCommand(command: readonly string[]): string {
  const steps = stepsOfCommand(command)
  if (steps !== undefined) return steps.map((step) => formatStep(step.command)).join(' && ')
  return command.map((part) => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(part) ? part : `'${part.replaceAll("'", "'\\''")}'`)).join(' ')
}

/** One of several commands: of a shell's line the line alone. */
export function formatStep(command: readonly string[]): string {
  const [shell, option, line, ...more] = command
  return (shell === '/bin/sh' || shell === 'sh') && option === '-c' && line !== undefined && more.length === 0 ? line : formatCommand(command)
}

const COLOURS = { red: 31, green: 32, yellow: 33, dim: 2 } as const

export function paint(text: string, colour: keyof typeof COLOURS, enabled: boolean): string {
  return enabled ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text
}

/** Who held something, and why. */
export function heldText({ by, reason }: HeldView): string {
  return reason === '' ? by : `${by}: ${reason}`
}

/** What is asked of GPUs. */
export function formatGpus({ count, memoryBytes, model, driver }: GpuNeeds): string {
  const what = [
    `${count} GPU${count === 1 ? '' : 's'}`,
    model === '' ? '' : `of model ${model}`,
    memoryBytes === 0 ? '' : `with ${formatBytes(memoryBytes)} of memory`,
    driver === '' ? '' : `with driver ${driver} or newer`
  ]
  return what.filter((text) => text !== '').join(' ')
}
