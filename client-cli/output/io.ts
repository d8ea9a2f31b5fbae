/** Where a command writes: ids and results on stdout, talk on stderr, progress on whichever way stderr can show it. */
import { advance, drawDue, type Meter, startMeter } from './progress.ts'
import { paint } from './text.ts'

export interface IoPorts {
  readonly stdout: (text: string | Uint8Array) => void
  readonly stderr: (text: string) => void
  /** stderr is a terminal. */
  readonly terminal: boolean
  readonly colour: boolean
  readonly columns: () => number
  readonly nowMs: () => number
}

export class Io {
  readonly #ports: IoPorts
  #meter: Meter | undefined
  #drawnAtMs: number | undefined
  /** A progress line stands on the terminal and must be wiped before other text. */
  #drawn = false
  json = false

  constructor(ports: IoPorts) {
    this.#ports = ports
  }

  get nowMs(): number {
    return this.#ports.nowMs()
  }

  /** A line of results. */
  out(line: string): void {
    this.#wipe()
    this.#ports.stdout(`${line}\n`)
  }

  /** Results as they are: a log, a file. */
  raw(bytes: Uint8Array): void {
    this.#wipe()
    this.#ports.stdout(bytes)
  }

  /** One JSON document. */
  outJson(value: unknown): void {
    this.out(JSON.stringify(value, (_key, item) => (item instanceof Uint8Array ? Buffer.from(item).toString('base64') : item)))
  }

  /** A line for people. */
  say(line: string): void {
    this.#wipe()
    this.#ports.stderr(`${line}\n`)
  }

  rawSay(text: string): void {
    this.#wipe()
    this.#ports.stderr(text)
  }

  warn(line: string): void {
    this.say(paint(line, 'yellow', this.#ports.colour))
  }

  good(line: string): string {
    return paint(line, 'green', this.#ports.colour)
  }

  bad(line: string): string {
    return paint(line, 'red', this.#ports.colour)
  }

  /** Shows how far something is, when it is time to; `render` makes the line. */
  progress(what: string, done: number, total: number, render: (meter: Meter, columns: number) => string): void {
    const { nowMs, terminal, columns, stderr } = this.#ports
    const now = nowMs()
    const before = this.#meter?.what === what ? this.#meter : startMeter(what, now)
    const meter = advance(before, done, total, now)
    this.#meter = meter
    if (!drawDue({ startedAtMs: meter.startedAtMs, drawnAtMs: this.#drawnAtMs, nowMs: now, terminal })) return
    this.#drawnAtMs = now
    const line = render(meter, columns())
    stderr(terminal ? `\r\u001b[2K${line}` : `${line}\n`)
    this.#drawn = terminal
  }

  /** The thing in progress is over. */
  progressEnd(): void {
    this.#wipe()
    this.#meter = undefined
    this.#drawnAtMs = undefined
  }

  #wipe(): void {
    if (this.#drawn) this.#ports.stderr('\r\u001b[2K')
    this.#drawn = false
  }
}
