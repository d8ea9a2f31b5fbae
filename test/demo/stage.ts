/** What the demo stands on: a temporary folder, the real command `talko`, processes, and the certainty that all of it goes away again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import Docker from 'dockerode'

const ROOT = resolve(import.meta.dirname, '../..')
const TALKO = join(ROOT, 'client-cli/bin/talko.js')
const GRACE_MS = 10_000
const POLL_MS = 100
const WAIT_MS_MAX = 90_000
const LAST_WORDS = 8

export interface Finished {
  readonly exitCode: number
  readonly stdout: string
}

export interface Actor {
  /** kill -9 */
  kill(): Promise<void>
}

/** A failure of the demo that is told in one line. */
export class DemoError extends Error {
  override readonly name: string = 'DemoError'
}

/** Somebody pressed Ctrl-C. */
export class Interrupted extends DemoError {
  override readonly name = 'Interrupted'
}

export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'talko-demo-'))
  readonly #children = new Set<ChildProcess>()
  readonly #nodes = new Set<string>()
  readonly #images = new Set<string>()
  readonly #logs = new Map<string, readonly string[]>()
  readonly #docker = new Docker()
  readonly #env = { ...process.env, TALKO_HOME: join(this.folder, 'home'), NO_COLOR: '1' }
  readonly #interrupted = Promise.withResolvers<never>()

  constructor() {
    this.#interrupted.promise.catch(() => undefined)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.#interrupted.reject(new Interrupted(`stopped by ${signal}`)))
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts)
  }

  /** The play, or its end when somebody presses Ctrl-C. */
  play<T>(scenes: Promise<T>): Promise<T> {
    return Promise.race([scenes, this.#interrupted.promise])
  }

  /** Runs `talko` to its end and shows how a person would type it; what it says on stderr goes to `onLine`. */
  async talko(args: readonly string[], options: { readonly onLine?: (line: string) => void; readonly allow?: readonly number[] } = {}): Promise<Finished> {
    const said: string[] = []
    const child = this.#spawn([TALKO, ...args])
    let stdout = ''
    child.stdout?.on('data', (data: Buffer) => {
      stdout += data.toString()
    })
    if (child.stderr !== null)
      createInterface({ input: child.stderr }).on('line', (line) => {
        said.push(line)
        options.onLine?.(line)
      })
    const exitCode = await this.#end(child)
    if (exitCode !== 0 && !options.allow?.includes(exitCode))
      throw new DemoError(`\`talko ${args.join(' ')}\` ended with ${exitCode}: ${said.slice(-5).join('; ')}`)
    return { exitCode, stdout: stdout.trim() }
  }

  /** Starts a process that stays; resolves when it has printed its first line on stdout. */
  async start(name: string, program: 'talko' | string, args: readonly string[]): Promise<Actor> {
    const child = this.#spawn([program === 'talko' ? TALKO : program, ...args])
    const said: string[] = []
    this.#logs.set(name, said)
    if (child.stderr !== null) createInterface({ input: child.stderr }).on('line', (line) => said.push(line))
    const ended = this.#end(child).then((exitCode): never => {
      throw new DemoError(`${name} ended with ${exitCode}: ${said.slice(-5).join('; ')}`)
    })
    ended.catch(() => undefined)
    const { stdout } = child
    if (stdout === null) throw new DemoError(`${name} has no output`)
    await Promise.race([once(stdout, 'data'), ended])
    stdout.resume()
    return {
      kill: async () => {
        child.kill('SIGKILL')
        await ended.catch(() => undefined)
      }
    }
  }

  /** Follows `talko` line by line until `enough` of them came, then presses Ctrl-C for it. */
  async lines(args: readonly string[], enough: number): Promise<string[]> {
    const child = this.#spawn([TALKO, ...args])
    const lines: string[] = []
    if (child.stdout !== null)
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(line)
        if (lines.length >= enough) break
      }
    child.kill('SIGINT')
    await this.#end(child)
    return lines
  }

  /** The last lines of every process that stayed, for when something went wrong. */
  lastWords(): string[] {
    return [...this.#logs].flatMap(([name, said]) => said.slice(-LAST_WORDS).map((line) => `${name}: ${line}`))
  }

  /** A node whose containers have to be gone at the end. */
  remember(node: string): void {
    this.#nodes.add(node)
  }

  /** Ends every process, removes every container, image and file of the demo. */
  async clear(): Promise<void> {
    const living = [...this.#children]
    for (const child of living) child.kill('SIGTERM')
    const gone = Promise.all(living.map((child) => this.#end(child)))
    const late = setTimeout(() => {
      for (const child of living) child.kill('SIGKILL')
    }, GRACE_MS)
    await gone
    clearTimeout(late)
    await this.#removeContainers().catch((error: unknown) => console.error(`the demo's containers could not be removed: ${String(error)}`))
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Notes the image that the nodes loaded into Docker, as long as one of their containers shows it. */
  async noteImage(): Promise<void> {
    for (const { ImageID } of await this.#containers()) this.#images.add(ImageID)
  }

  async #containers(): Promise<Docker.ContainerInfo[]> {
    const found = [...this.#nodes].map((node) => this.#docker.listContainers({ all: true, filters: { label: [`talko.node=${node}`] } }))
    return (await Promise.all(found)).flat()
  }

  async #removeContainers(): Promise<void> {
    await this.noteImage()
    for (const { Id } of await this.#containers()) await this.#docker.getContainer(Id).remove({ force: true })
    for (const image of this.#images)
      await this.#docker
        .getImage(image)
        .remove({ force: true })
        .catch(() => undefined)
  }

  #spawn(args: readonly string[]): ChildProcess {
    // A process group of its own: Ctrl-C reaches the demo, which then ends its actors in order.
    const child = spawn(process.execPath, args, { cwd: this.folder, env: this.#env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    this.#children.add(child)
    return child
  }

  async #end(child: ChildProcess): Promise<number> {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    this.#children.delete(child)
    return child.exitCode ?? 1
  }
}

/** Asks again until the answer is not undefined. Throws DemoError with `what` when it takes too long. */
export async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + WAIT_MS_MAX
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (Date.now() > deadline) throw new DemoError(`waited too long for ${what}`)
    await new Promise((go) => setTimeout(go, POLL_MS))
  }
}
