import { pino } from 'pino'
import type { Logger } from '../logger.ts'

/** JSON lines on stderr; the level comes from `TALKO_LOG` (debug, info, warn, error, silent), `info` otherwise. */
export function createLogger(name: string): Logger {
  return pino({ name, level: process.env.TALKO_LOG ?? 'info' }, pino.destination({ fd: 2, sync: true }))
}
