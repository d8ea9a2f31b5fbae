import type { Io } from '../output/io.ts'
import { printable } from '../output/text.ts'

/** The status a node gives of itself: a line for each thing it says. */
export function showStatus(io: Io, status: Readonly<Record<string, unknown>>): void {
  if (io.json) {
    io.outJson(status)
    return
  }
  for (const line of statusLines(status)) io.out(line)
}

export function statusLines(status: Readonly<Record<string, unknown>>): string[] {
  const width = Math.max(...Object.keys(status).map((name) => name.length))
  return Object.entries(status).flatMap(([name, value]) => {
    if (value === '' || value === undefined || (Array.isArray(value) && value.length === 0)) return []
    if (Array.isArray(value) && value.some((item) => typeof item === 'object')) return [`${name}:`, ...value.map((item) => `  ${inLine(item)}`)]
    return [`${`${name}:`.padEnd(width + 2)}${inLine(value)}`]
  })
}

function inLine(value: unknown): string {
  if (typeof value === 'string') return printable(value)
  if (Array.isArray(value)) return value.map(inLine).join(', ')
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([name, item]) => `${name} ${inLine(item)}`)
      .join(', ')
  return String(value)
}
