/** The node's last hours on its own disk, harmless as they are told (last-words.ts): two small files, so that a crash, which closes nothing, loses nothing of them. */
import { appendFileSync, renameSync, statSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { freemem, homedir, hostname, loadavg, totalmem, userInfo } from 'node:os'
import { join } from 'node:path'
import { parseWord, type Word, wordOf } from '../last-words.ts'
import type { Logger } from '../ports.ts'

const FILE = 'recent.log'
/** Of each of the two. */
const FILE_BYTES_MAX = 64 * 1024
/** How often the state of a machine that runs something is noted: what ends a node without a word is mostly a lack of memory. */
const VITALS_MS = 30_000
const GIB = 1024 ** 3

export class RecentLog {
  /** One process may have many nodes, and has one listener for all. */
  static readonly #watching = new Set<RecentLog>()
  readonly #path: string
  readonly #hidden: readonly string[]
  #bytes: number
  /** Its last line is cut off: what is added must not become a part of that. */
  #torn: boolean
  #timer: NodeJS.Timeout | undefined
  /** What lies there from before. */
  readonly before: readonly Word[]

  private constructor(
    path: string,
    { hidden, bytes, before, torn }: { readonly hidden: readonly string[]; readonly bytes: number; readonly before: readonly Word[]; readonly torn: boolean }
  ) {
    this.#torn = torn
    this.#path = path
    this.#hidden = hidden
    this.#bytes = bytes
    this.before = before
  }

  static readonly #onFatal = (error: unknown): void => {
    for (const log of RecentLog.#watching) log.#keep('error', { error }, 'an error ends the node')
  }

  static async open(dir: string): Promise<RecentLog> {
    const path = join(dir, FILE)
    const texts = await Promise.all([`${path}.old`, path].map((file) => readFile(file, 'utf8').catch(() => '')))
    const before = texts.flatMap((text) => text.split('\n').map(parseWord)).filter((word) => word !== undefined)
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    const torn = size > 0 && !texts.at(-1)?.endsWith('\n')
    return new RecentLog(path, { hidden: [dir, homedir(), hostname(), userName()], bytes: size, before, torn })
  }

  /** Nothing of it is to lie there. */
  static async remove(dir: string): Promise<void> {
    for (const file of [FILE, `${FILE}.old`]) await rm(join(dir, file), { force: true })
  }

  /** The same logger; what is said to it is kept here, too. */
  beside(logger: Logger): Logger {
    const both =
      (level: Word['level']) =>
      (facts: object, message: string): void => {
        this.#keep(level, facts, message)
        logger[level](facts, message)
      }
    return { debug: (facts, message) => logger.debug(facts, message), info: both('info'), warn: both('warn'), error: both('error') }
  }

  /** Notes how the machine is while `runs` go on, and an error that ends the process. */
  watch(runs: () => number): void {
    if (RecentLog.#watching.size === 0) process.on('uncaughtExceptionMonitor', RecentLog.#onFatal)
    RecentLog.#watching.add(this)
    this.#timer = setInterval(() => {
      const count = runs()
      if (count > 0) this.#keep('info', {}, `${count === 1 ? 'one run goes' : `${count} runs go`} on; ${vitals()}`)
    }, VITALS_MS)
    this.#timer.unref()
  }

  close(): void {
    clearInterval(this.#timer)
    if (RecentLog.#watching.delete(this) && RecentLog.#watching.size === 0) process.off('uncaughtExceptionMonitor', RecentLog.#onFatal)
  }

  /** At once, so that it is there after a crash; a disk that takes nothing more is no reason to stop. */
  #keep(level: Word['level'], facts: object, message: string): void {
    const line = `${this.#torn ? '\n' : ''}${JSON.stringify(wordOf({ level, facts, message, atMs: Date.now() }, this.#hidden))}\n`
    try {
      if (this.#bytes > FILE_BYTES_MAX) {
        renameSync(this.#path, `${this.#path}.old`)
        this.#bytes = 0
      }
      appendFileSync(this.#path, line, { mode: 0o600 })
      this.#torn = false
      this.#bytes += Buffer.byteLength(line)
    } catch {
      return
    }
  }
}

function vitals(): string {
  const [load = 0] = loadavg()
  return `memory ${gib(freemem())} free of ${gib(totalmem())}, load ${load.toFixed(1)}`
}

function gib(bytes: number): string {
  return `${(bytes / GIB).toFixed(1)} GiB`
}

/** A user without an entry has no name that could be told. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return ''
  }
}
