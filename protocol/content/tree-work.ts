/** Turns the blocks of one tree into files: the plan says what a block means, the sink puts it on disk. */
import { type BlockId, RAW } from './cid.ts'
import type { PlannedFile, TreePlan, Want } from './plan.ts'
import type { Work } from './pull.ts'

/** Where a tree is being written. Paths are below its root, '' for the root itself. Throws ContentError. */
export interface TreeSink {
  directory(path: string): void
  /** A file of one block. */
  file(path: string, id: BlockId, data: Uint8Array): void
  /** A file of many blocks begins. */
  open(file: PlannedFile): void
  /** `id` is undefined for bytes that stood within a node. */
  write(file: PlannedFile, offset: number, id: BlockId | undefined, data: Uint8Array): Promise<void>
  /** All of the file is written. */
  finish(file: PlannedFile): void
  /** A node of the DAG, with the path of the file or folder it is the root of. */
  node(id: BlockId, bytes: Uint8Array, path: string | undefined): void
  /** How many bytes of exactly this leaf an earlier attempt left in place; undefined when it must be written. */
  kept(want: Want): number | undefined
  /** Checks and writes leaves beside this thread, if it can: says which were right. Their bytes, which stand in `frame`, are gone afterwards. */
  readonly aside?: ((wants: readonly Want[], blocks: readonly Uint8Array[], frame: Uint8Array) => Promise<readonly boolean[]>) | undefined
  /** Lets others have a turn and keeps what waits for the index bounded. */
  turn(): Promise<void> | undefined
}

export class TreeWork implements Work<Want> {
  readonly #plan: TreePlan
  readonly #sink: TreeSink
  readonly #local: (want: Want) => Promise<Uint8Array | undefined> | undefined
  readonly #onBlock: (bytes: number) => void

  /** `local` finds verified blocks that are here already; `onBlock` counts what was accepted. */
  constructor(plan: TreePlan, sink: TreeSink, local: (want: Want) => Promise<Uint8Array | undefined> | undefined, onBlock: (bytes: number) => void) {
    this.#plan = plan
    this.#sink = sink
    this.#local = local
    this.#onBlock = onBlock
  }

  next(): Want | undefined {
    return this.#plan.next()
  }

  again(want: Want): void {
    this.#plan.again(want)
  }

  present(want: Want): boolean | Promise<boolean> {
    const turn = this.#sink.turn()
    if (turn !== undefined) return turn.then(() => this.#presentNow(want))
    return this.#presentNow(want)
  }

  #presentNow(want: Want): boolean | Promise<boolean> {
    const kept = want.cid.code === RAW ? this.#sink.kept(want) : undefined
    if (kept !== undefined) {
      this.#plan.skip(kept)
      this.#onBlock(kept)
      if (want.place.kind === 'part') this.#partDone(want.place.file)
      return true
    }
    return (
      this.#local(want)?.then(async (bytes) => {
        if (bytes === undefined) return false
        await this.accept(want, bytes)
        return true
      }) ?? false
    )
  }

  /** Leaves whose length is right may be checked and written beside this thread. */
  takesAside({ cid, place }: Want, bytes: Uint8Array): boolean {
    if (cid.code !== RAW || bytes.length === 0 || this.#sink.aside === undefined) return false
    return place.kind === 'part' ? bytes.length === place.bytes : place.kind === 'entry'
  }

  async aside(wants: readonly Want[], blocks: readonly Uint8Array[], frame: Uint8Array): Promise<readonly boolean[]> {
    const lengths = blocks.map((block) => block.length)
    for (const length of lengths) this.#plan.skip(length)
    const right = (await this.#sink.aside?.(wants, blocks, frame)) ?? []
    for (const [index, { place }] of wants.entries()) {
      if (right[index] !== true) continue
      this.#onBlock(lengths[index] ?? 0)
      if (place.kind === 'part') this.#partDone(place.file)
    }
    return right
  }

  accept(want: Want, block: Uint8Array): Promise<void> | undefined {
    const { cid, id, place } = want
    // the ids of a node's links are views into it, and outlive the frame it came in
    const bytes = cid.code === RAW ? block : new Uint8Array(block)
    const step = this.#plan.accept(want, bytes)
    this.#onBlock(bytes.length)
    const leaf = cid.code === RAW ? id : undefined
    if (leaf === undefined) this.#sink.node(id, bytes, place.kind === 'entry' ? place.path : undefined)
    switch (step.kind) {
      case 'nothing':
        return undefined
      case 'directory':
        this.#sink.directory(step.path)
        return undefined
      case 'file':
        this.#sink.file(step.path, id, step.data)
        return this.#sink.turn()
      case 'open': {
        const { file, data } = step
        this.#sink.open(file)
        file.left++
        if (data.length > 0) return this.#sink.write(file, 0, undefined, data).then(() => this.#partDone(file))
        this.#partDone(file)
        return undefined
      }
      case 'part': {
        const { file, offset, data } = step
        if (data.length > 0) return this.#sink.write(file, offset, leaf, data).then(() => this.#partDone(file))
        this.#partDone(file)
        return undefined
      }
    }
  }

  #partDone(file: PlannedFile): void {
    if (--file.left === 0) this.#sink.finish(file)
  }
}
