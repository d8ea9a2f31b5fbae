/** Images from content into the engine: through a pipe, once for all who ask, checked afterwards. */
import { Readable } from 'node:stream'
import type { CID } from 'multiformats/cid'
import { ImageError } from '#protocol/image/errors'
import { type ImageNode, imageId, readConfig } from '#protocol/image/image'
import { type ImageContent, imageTag, loadStream, readImage } from '#protocol/image/load'
import { messageOf } from '#protocol/message-of'
import { OldestFirst } from '#protocol/oldest-first'
import { ExecutorError } from '../../ports.ts'
import { type Engine, statusOf } from './engine.ts'

/** Images remembered as loaded; the oldest are asked for again. */
const READY_MAX = 1024
const ANSWER_BYTES_MAX = 64 * 1024

interface ReadyImage {
  /** What the engine calls it. */
  readonly reference: string
  readonly volumes: readonly string[]
}

export class Images {
  readonly #engine: Engine
  readonly #store: ImageContent
  readonly #ready = new OldestFirst<string, ReadyImage>()
  readonly #loading = new Map<string, Promise<ReadyImage>>()

  constructor(engine: Engine, store: ImageContent) {
    this.#engine = engine
    this.#store = store
  }

  /** The image in the engine, loaded when it is not there. Concurrent calls share one load, which goes on when one caller gives up. */
  async ready(image: CID, signal?: AbortSignal): Promise<ReadyImage> {
    const key = image.toString()
    const known = this.#ready.get(key)
    if (known !== undefined) return known
    let loading = this.#loading.get(key)
    if (loading === undefined) {
      loading = this.#prepare(image).finally(() => this.#loading.delete(key))
      this.#loading.set(key, loading)
    }
    const made = signal === undefined ? await loading : await orAborted(loading, signal)
    this.#ready.set(key, made)
    this.#ready.keep(READY_MAX)
    return made
  }

  /** The engine lost it (somebody removed it there). */
  forget(image: CID): void {
    this.#ready.delete(image.toString())
  }

  async #prepare(image: CID): Promise<ReadyImage> {
    try {
      const node = await readImage(image, this.#store)
      const { volumes } = readConfig(node.config)
      const present = await this.#find(node)
      if (present !== undefined) return { reference: present, volumes }
      await this.#load(image)
      const loaded = await this.#find(node)
      if (loaded === undefined) throw new ExecutorError('image', `Docker made another image of ${image} than its id ${imageId(node)} says`)
      return { reference: loaded, volumes }
    } catch (cause) {
      if (cause instanceof ExecutorError) throw cause
      throw new ExecutorError('image', `image ${image} cannot be loaded: ${messageOf(cause)}`, { cause })
    }
  }

  /** By Docker's id; by our tag in engines that give images other ids (those that store images with containerd), where the layers must be the same. */
  async #find(node: ImageNode): Promise<string | undefined> {
    const id = imageId(node)
    if ((await this.#inspect(id))?.Id === id) return id
    const tagged = await this.#inspect(imageTag(node))
    if (tagged === undefined) return undefined
    const layers = tagged.RootFS.Layers ?? []
    return layers.length === node.diffIds.length && layers.every((layer, index) => layer === node.diffIds[index]) ? tagged.Id : undefined
  }

  async #inspect(name: string): Promise<{ Id: string; RootFS: { Layers?: string[] | undefined } } | undefined> {
    try {
      return await this.#engine.inTime(this.#engine.docker.getImage(name).inspect())
    } catch (cause) {
      if (statusOf(cause) === 404) return undefined
      throw this.#engine.failure('inspect an image', cause)
    }
  }

  async #load(image: CID): Promise<void> {
    const source = Readable.from(loadStream(image, this.#store), { objectMode: false, highWaterMark: 1024 * 1024 })
    let broken: Error | undefined
    source.once('error', (error) => {
      broken = error
    })
    let answer = ''
    try {
      const stream = await this.#engine.docker.loadImage(source, { quiet: true })
      for await (const chunk of stream) if (answer.length < ANSWER_BYTES_MAX) answer += chunk.toString()
    } catch (cause) {
      if (broken !== undefined) throw broken
      throw this.#engine.failure('load an image', cause)
    } finally {
      source.destroy()
    }
    const error = /"error":"((?:[^"\\]|\\.)*)"/.exec(answer)?.[1]
    if (error === undefined) return
    if (/no space left/.test(error)) throw new ExecutorError('disk_full', 'Docker cannot load an image: its disk is full; free some space')
    throw new ImageError('unsupported', `Docker refuses it: ${error}`)
  }
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
