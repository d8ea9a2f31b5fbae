/** Parameters of a sweep as people write them: `x=0:99`, `x=0:99:10`, `x=a,b,c`, `x=@file` (a line each). */
import { readFile } from 'node:fs/promises'
import type { Parameter, Range } from '#protocol/bundle/sweep'
import { ClientError } from '../errors.ts'

/** Throws ClientError `usage`, `not_found`. */
export async function parseParameter(text: string): Promise<Parameter> {
  const at = text.indexOf('=')
  const name = text.slice(0, at)
  const rest = text.slice(at + 1)
  if (at < 1 || rest === '') throw new ClientError('usage', `--set is name=FROM:TO, name=FROM:TO:STEP, name=A,B,C or name=@FILE, not ${JSON.stringify(text)}`)
  if (rest.startsWith('@')) return { name, values: await linesOf(rest.slice(1)) }
  return { name, values: rangeOf(rest) ?? rest.split(',') }
}

function rangeOf(text: string): Range | undefined {
  const match = /^(-?\d{1,15}):(-?\d{1,15})(?::(-?\d{1,15}))?$/.exec(text)
  if (match === null) return undefined
  const from = Number(match[1])
  const to = Number(match[2])
  const step = match[3] === undefined ? (to < from ? -1 : 1) : Number(match[3])
  if (step === 0 || (to - from) / step < 0) throw new ClientError('usage', `${text} has no values: the step does not lead from ${from} to ${to}`)
  return { from, to, step }
}

async function linesOf(path: string): Promise<string[]> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    throw new ClientError('not_found', `the file ${path} of values cannot be read`, { cause })
  }
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  if (lines.length === 0) throw new ClientError('usage', `the file ${path} has no line`)
  return lines
}
