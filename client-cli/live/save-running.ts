/**
 * Copies what a running task has written so far to a new place here. Each file is as it was at one moment, the folder is not:
 * files are read one after another. Names come from a machine that may be hostile: none leads out of the destination.
 */
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseLivePath } from '#protocol/live/path'
import type { FilesView, FileView } from '#protocol/owner/messages'
import type { Client } from '../client/client.ts'
import { ClientError } from '../errors.ts'

/** Files and folders of one copy. */
const ENTRIES_MAX = 100_000
/** How often a file is read that is rewritten meanwhile. */
const TRIES_MAX = 3

export interface RunningPlace {
  readonly of: string
  readonly path: string
  /** 0 for the first that runs. */
  readonly attempt: number
  readonly signal: AbortSignal
}

export interface Saved {
  readonly attempt: number
  readonly node: string
  readonly files: number
  readonly bytes: number
  /** What is not there, and why. */
  readonly left: readonly { readonly path: string; readonly why: string }[]
}

type Running = Pick<Client, 'list' | 'logs'>

/** Throws ClientError `usage` of a task that is over, `refused` when the destination exists. */
export async function saveRunning(client: Running, place: RunningPlace, destination: string): Promise<Saved> {
  const { of, path, attempt, signal } = place
  const view = await listing(client, place)
  if (view?.attempt === 0) throw new ClientError('usage', `task ${view.task} is over: fetch what it left without --now`)
  const copy = new Copy(client, { of, path, attempt: view?.attempt ?? attempt, signal })
  if (view === undefined) await copy.file(path, destination, true)
  else await copy.folder(view, path, destination)
  return { attempt: copy.attempt, node: view?.node ?? copy.node, files: copy.files, bytes: copy.bytes, left: copy.left }
}

/** undefined for a file. */
async function listing(client: Running, { of, path, attempt, signal }: RunningPlace): Promise<FilesView | undefined> {
  try {
    return await client.list(of, path, { attempt, signal })
  } catch (error) {
    // A file, or something that reading it says better.
    if (error instanceof ClientError && error.code === 'refused' && path !== '') return undefined
    throw error
  }
}

class Copy {
  readonly left: { path: string; why: string }[] = []
  files = 0
  bytes = 0
  attempt: number
  node = ''
  #entries = 0
  readonly #client: Running
  readonly #place: RunningPlace

  constructor(client: Running, place: RunningPlace) {
    this.#client = client
    this.#place = place
    this.attempt = place.attempt
  }

  async folder(view: FilesView, path: string, destination: string): Promise<void> {
    await fresh(destination, () => mkdir(destination))
    if (view.more) this.left.push({ path, why: 'it holds more than is listed' })
    for (const entry of view.entries) await this.#entry(entry, path === '' ? entry.name : `${path}/${entry.name}`, join(destination, entry.name))
  }

  async #entry({ name, kind, target }: FileView, path: string, destination: string): Promise<void> {
    if (++this.#entries > ENTRIES_MAX) throw new ClientError('refused', `there are more than ${ENTRIES_MAX} files; copy a part of them (ID/path)`)
    if (parseLivePath(name)?.length !== 1 || parseLivePath(path) === undefined) this.left.push({ path, why: 'its name is none that can be asked for' })
    else if (kind === 'link') this.left.push({ path, why: `a link to ${target ?? ''}, not followed` })
    else if (kind === 'special') this.left.push({ path, why: 'a fifo, socket or device' })
    else if (kind === 'file') await this.file(path, destination, false)
    else {
      const { of, signal } = this.#place
      const view = await this.#orLeave(path, () => this.#client.list(of, path, { attempt: this.attempt, signal }))
      if (view !== undefined) await this.folder(view, path, destination)
    }
  }

  async file(path: string, destination: string, only: boolean): Promise<void> {
    if (only) await this.#read(path, destination)
    else await this.#orLeave(path, () => this.#read(path, destination))
  }

  async #read(path: string, destination: string): Promise<void> {
    const { of, signal } = this.#place
    const onPlace = ({ attempt, node }: { readonly attempt: number; readonly node: string }): void => {
      this.attempt = attempt
      this.node = node
    }
    const file = await fresh(destination, () => open(destination, 'wx'))
    try {
      for (let tries = 1; ; tries++) {
        let at = 0
        try {
          for await (const piece of this.#client.logs(of, { path, attempt: this.attempt, signal, onPlace })) {
            await file.write(piece, 0, piece.length, at)
            at += piece.length
          }
          this.files++
          this.bytes += at
          return
        } catch (error) {
          // What came of it would look like all of it.
          await file.truncate()
          if (!(error instanceof ClientError) || error.code !== 'refused' || tries === TRIES_MAX) {
            await rm(destination)
            throw error
          }
        }
      }
    } finally {
      await file.close()
    }
  }

  /** What is gone, or cannot be read, is left out and told. */
  async #orLeave<T>(path: string, call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof ClientError) || (error.code !== 'not_found' && error.code !== 'refused')) throw error
      this.left.push({ path, why: error.message })
      return undefined
    }
  }
}

async function fresh<T>(path: string, make: () => Promise<T>): Promise<T> {
  try {
    return await make()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      throw new ClientError('refused', `${path} exists already; choose a new path`, { cause: error })
    throw error
  }
}
