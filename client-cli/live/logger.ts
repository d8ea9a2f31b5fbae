/** What daemons log: JSON lines by pino in the background, short lines for people in the foreground. */
import { pino } from 'pino'
import { oneLine } from '../errors.ts'
import { BACKGROUND_ENV, logPath } from './daemon.ts'

export interface Logger {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

type Level = keyof Logger
const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error']
const FACT_CHARS_MAX = 200

/** The logger of the daemon of `dir`; the least level shown comes from `$TALKO_LOG` (default `info`). */
export function daemonLogger(dir: string, say: (line: string) => void): Logger {
  const wanted = process.env.TALKO_LOG ?? 'info'
  if (process.env[BACKGROUND_ENV] !== undefined) return pino({ level: wanted }, pino.destination({ dest: logPath(dir), append: true, sync: true }))
  const least = LEVELS.indexOf(wanted as Level)
  const write =
    (level: Level) =>
    (facts: object, message: string): void => {
      if (least < 0 || LEVELS.indexOf(level) >= least) say(formatLog(level, facts, message, new Date()))
    }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

/** `09:41:07 a lease ended replica=… node=…` */
export function formatLog(level: string, facts: object, message: string, at: Date): string {
  const parts = Object.entries(facts).map(([name, value]) => `${name}=${shown(value)}`)
  const time = at.toTimeString().slice(0, 8)
  return oneLine([time, ...(level === 'info' ? [] : [`${level}:`]), message, ...parts].join(' '))
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, FACT_CHARS_MAX)
  if (value instanceof Error) return value.message.slice(0, FACT_CHARS_MAX)
  return (JSON.stringify(value) ?? String(value)).slice(0, FACT_CHARS_MAX)
}
