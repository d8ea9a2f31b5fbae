/** The client's home: its key, the project it talks to, the names it gave, and room for what passes through. */
import { appendFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { generateIdentity, identityOfText, keyText, type Signer } from '#protocol/signing/keys'
import { type Invite, isPeerId, parseInvite } from '../client/invite.ts'
import { decodeBook, encodeEntry, type NameEntry } from '../client/names.ts'
import { ClientError } from '../errors.ts'
import { readIfThere, readJson, writeWhole } from './files.ts'
import { isAlive } from './process.ts'

/** Bytes of the book of names after which its older lines are dropped. */
const BOOK_BYTES_MAX = 64 * 1024 * 1024

export class Home {
  readonly dir: string

  constructor(dir: string) {
    this.dir = dir
  }

  /** The given folder, or `$TALKO_HOME`, or `~/.talko`. */
  static at(dir?: string): Home {
    return new Home(resolve(dir ?? process.env.TALKO_HOME ?? join(homedir(), '.talko')))
  }

  /** The client's identity, made at first use and kept. */
  async signer(): Promise<Signer> {
    const path = join(this.dir, 'client.key')
    const text = await readIfThere(path)
    if (text !== undefined) {
      try {
        return identityOfText(text)
      } catch (cause) {
        throw new ClientError('refused', `${path} is not a key; restore it from a backup, or move it away and a new one is made (projects will not know it)`, {
          cause
        })
      }
    }
    const signer = await generateIdentity()
    await mkdir(this.dir, { recursive: true, mode: 0o700 })
    try {
      await writeFile(path, keyText(signer), { mode: 0o600, flag: 'wx' })
    } catch (error) {
      // Two commands at once: the first key counts.
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return this.signer()
      throw error
    }
    return signer
  }

  /** The project chosen last; undefined when none was. */
  async chosen(): Promise<Invite | undefined> {
    const value = (await readJson(join(this.dir, 'config.json'))) as { project?: unknown; addresses?: unknown; bootstrap?: unknown } | null | undefined
    if (typeof value?.project !== 'string' || !isPeerId(value.project)) return undefined
    const texts = (list: unknown): string[] => (Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [])
    return { project: value.project, addresses: texts(value.addresses), bootstrap: texts(value.bootstrap) }
  }

  async choose(invite: Invite): Promise<void> {
    await writeWhole(join(this.dir, 'config.json'), `${JSON.stringify({ v: 1, ...invite }, undefined, 2)}\n`)
  }

  /** The project to talk to: an invite or a project id given, `$TALKO_PROJECT`, or the one chosen. Throws ClientError `usage`. */
  async project(given?: string): Promise<Invite> {
    const text = given ?? process.env.TALKO_PROJECT
    const chosen = await this.chosen()
    if (text !== undefined && text !== '') {
      if (text === chosen?.project) return chosen
      return text.startsWith('talko:') ? parseInvite(text) : { project: parseInvite(`talko://${text}`).project, addresses: [], bootstrap: [] }
    }
    if (chosen === undefined)
      throw new ClientError(
        'usage',
        'which project? start one here with `talko up`, or choose one with `talko use INVITE` (its owner prints the invite with `talko invite`)'
      )
    return chosen
  }

  /** The last signed record of a project that came here, and when; undefined when none did. */
  async record(project: string): Promise<{ readonly bytes: Uint8Array; readonly atMs: number } | undefined> {
    try {
      const path = this.#recordPath(project)
      const [bytes, { mtimeMs }] = await Promise.all([readFile(path), stat(path)])
      return { bytes: new Uint8Array(bytes), atMs: mtimeMs }
    } catch {
      return undefined
    }
  }

  async keepRecord(project: string, bytes: Uint8Array): Promise<void> {
    const path = this.#recordPath(project)
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(`${path}.${process.pid}`, bytes)
    await rename(`${path}.${process.pid}`, path)
  }

  #recordPath(project: string): string {
    return join(this.dir, 'records', project)
  }

  async names(): Promise<NameEntry[]> {
    return decodeBook((await readIfThere(join(this.dir, 'names.jsonl'))) ?? '')
  }

  async addName(entry: NameEntry): Promise<void> {
    const path = join(this.dir, 'names.jsonl')
    await mkdir(this.dir, { recursive: true, mode: 0o700 })
    const line = encodeEntry(entry)
    const text = (await readIfThere(path)) ?? ''
    if (text.length + line.length > BOOK_BYTES_MAX) await writeWhole(path, shorten(decodeBook(text)))
    // One write: appending commands do not cut into each other.
    await appendFile(path, line)
  }

  /** A new folder of this process's own; those of processes that are gone are removed. */
  async scratch(): Promise<string> {
    const parent = join(this.dir, 'tmp')
    await mkdir(parent, { recursive: true, mode: 0o700 })
    for (const name of await readdir(parent)) {
      const pid = Number(/^(\d+)-/.exec(name)?.[1] ?? 0)
      if (pid !== process.pid && !isAlive(pid)) await rm(join(parent, name), { recursive: true, force: true })
    }
    return mkdtemp(join(parent, `${process.pid}-`))
  }
}

/** The newest half. */
function shorten(book: readonly NameEntry[]): string {
  return book
    .slice(Math.floor(book.length / 2))
    .map(encodeEntry)
    .join('')
}
