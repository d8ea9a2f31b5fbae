/** Amounts as people write them. Pure; each throws ClientError `usage` that shows what works. */
import { GPUS_MAX, type GpuNeeds } from '#protocol/bundle/manifest'
import { ClientError } from '../errors.ts'

const BYTES: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 }
const GRACE_MS_MAX = 20 * 86_400_000
const MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `512M`, `1.5GiB`, `2gb`, `4096`: powers of 1024. */
export function parseBytes(text: string, option: string): number {
  const match = /^(\d{1,15}(?:\.\d{1,6})?)\s*([kmgt]?)(?:i?b)?$/i.exec(text.trim())
  const bytes = Math.round(Number(match?.[1]) * (BYTES[(match?.[2] ?? '').toLowerCase()] ?? Number.NaN))
  if (!Number.isSafeInteger(bytes)) throw new ClientError('usage', `${option} is an amount like 512M or 2G, not ${JSON.stringify(text)}`)
  return bytes
}

/** `90s`, `10m`, `1h30m`, `2d`; a bare number is seconds. */
export function parseDuration(text: string, option: string): number {
  const trimmed = text.trim()
  if (/^\d{1,10}(\.\d{1,3})?$/.test(trimmed)) return Math.round(Number(trimmed) * 1000)
  if (!/^(\d{1,10}(ms|s|m|h|d))+$/.test(trimmed)) throw new ClientError('usage', `${option} is a time like 90s, 10m or 1h30m, not ${JSON.stringify(text)}`)
  let ms = 0
  for (const [, count, unit] of trimmed.matchAll(/(\d+)(ms|s|m|h|d)/g)) ms += Number(count) * (MS[unit ?? ''] ?? Number.NaN)
  return ms
}

/** A duration that a node's timer can hold. */
export function parseGrace(text: string, option: string): number {
  const ms = parseDuration(text, option)
  if (ms > GRACE_MS_MAX) throw new ClientError('usage', `${option} is at most ${GRACE_MS_MAX / 86_400_000} days, not ${text}`)
  return ms
}

/** `2`, or `1:model=a100,memory=40G,driver=535`. */
export function parseGpus(text: string, option: string): Partial<GpuNeeds> {
  const [count = '', ...rest] = text.split(':')
  const gpus: { count: number; memoryBytes?: number; model?: string; driver?: string } = { count: parseWhole(count, option, 1, GPUS_MAX) }
  for (const part of rest.join(':').split(',')) {
    const [name = '', value = ''] = part.split('=')
    if (name === 'memory') gpus.memoryBytes = parseBytes(value, `${option} memory`)
    else if ((name === 'model' || name === 'driver') && value !== '') gpus[name] = value
    else if (part !== '') throw new ClientError('usage', `${option} is like 1 or 2:model=a100,memory=40G,driver=535, not ${JSON.stringify(text)}`)
  }
  return gpus
}

export function parseWhole(text: string, option: string, min: number, max: number): number {
  const value = /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max)) throw new ClientError('usage', `${option} is a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`)
  return value
}

/** CPUs as a number (`0.5`, `4`) in thousandths. */
export function parseCpus(text: string, option: string): number {
  const millis = /^\d{1,4}(\.\d{1,3})?$/.test(text.trim()) ? Math.round(Number(text) * 1000) : 0
  if (millis < 1) throw new ClientError('usage', `${option} is a number of CPUs like 2 or 0.5, not ${JSON.stringify(text)}`)
  return millis
}

/** `NAME=VALUE`; the value may be empty and may hold `=`. */
export function parsePair(text: string, option: string): readonly [name: string, value: string] {
  const pair = pairIn(text)
  if (pair === undefined) throw new ClientError('usage', `${option} is NAME=VALUE, not ${JSON.stringify(text)}`)
  return pair
}

/** What stands before and after the first `=`; undefined when there is none, or nothing before it. */
export function pairIn(text: string): readonly [name: string, value: string] | undefined {
  const at = text.indexOf('=')
  return at < 1 ? undefined : [text.slice(0, at), text.slice(at + 1)]
}

/** Pairs by name; the same name twice is a mistake. */
export function parsePairs(texts: readonly string[], option: string): Record<string, string> {
  const pairs: Record<string, string> = {}
  for (const text of texts) {
    const [name, value] = parsePair(text, option)
    if (Object.hasOwn(pairs, name)) throw new ClientError('usage', `${option} ${name} is given twice`)
    pairs[name] = value
  }
  return pairs
}
