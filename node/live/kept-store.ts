/** Where a node keeps what others left with it: a content store of its own, so that what is counted for others is all that is there, and opened only when there is something. */
import { rm } from 'node:fs/promises'
import type { ContentStore } from '#protocol/content/content'
import { openContentStore } from '#protocol/content/live/store'
import type { BlockServer } from '#protocol/content/serve'

export class KeptFolder implements BlockServer {
  readonly #folder: string
  #opening: Promise<ContentStore & BlockServer> | undefined
  #store: (ContentStore & BlockServer) | undefined

  constructor(folder: string) {
    this.#folder = folder
  }

  /** What nothing is known of any more goes. */
  async begin(needed: boolean): Promise<void> {
    if (needed) return
    this.#opening = undefined
    await rm(this.#folder, { recursive: true, force: true })
  }

  open(): Promise<ContentStore> {
    // Who left it here goes, and does not come back for it.
    this.#opening ??= openContentStore(this.#folder, { durable: true }).then((store) => {
      this.#store = store
      return store
    })
    return this.#opening
  }

  serveBlock: BlockServer['serveBlock'] = (id, room) => this.#store?.serveBlock(id, room)

  async close(): Promise<void> {
    await (await this.#opening?.catch(() => undefined))?.close()
  }
}
