/** Where the server writes what operators read; pino's shape. `live/logger.ts` makes the real one. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} }
