/** One replica in the hands of the runner. */
import type { RunManifest } from '#protocol/bundle/manifest'
import type { ReplicaId } from '#protocol/ids'
import { FIGURE_FIRST_TICKS, FIGURE_TICKS } from './policy.ts'
import type { Execution, Running, Workspace } from './ports.ts'
import type { Figure } from './progress-file.ts'

/** Preparing or publishing, which can be given up. */
interface Work {
  readonly abort: AbortController
  readonly over: Promise<void>
}

/** What is known of one replica until it is removed. */
export class Run {
  work: Work | undefined
  /** Resolves when the executor has started it, or could not. */
  started: Promise<void> | undefined
  running: Running | undefined
  /** Asked to be killed, perhaps before it runs. */
  graceMs: number | undefined
  /** It began before the node's last start: that life may have published what it left. */
  ofEarlierLife = false
  /** Its executor knows where its folder is: there may be one. */
  folderTold = true

  /** See BELIEVED_TICKS. */
  believed = 0
  /** A snapshot of it is being added. */
  snapshotting: Promise<void> | undefined
  /** That its snapshot may have. */
  diskBytes = 0
  /** An earlier life may have taken one, and not come to say so. */
  takesUpSnapshot = false
  /** From one snapshot to the next, in ticks; 0 when it may leave none. */
  #everyTicks = 0
  #sinceTicks = 0
  /** The project was told of one and has not taken it yet. */
  #offers = false
  #moved = false
  #ticks = 0
  /** What it said last of how far it is; and whether that is news. */
  #figure: Figure | undefined
  #figureNew = false

  /** Bytes of its inputs came, or of its output were added. */
  move(): void {
    this.#moved = true
  }

  takeMoved(): boolean {
    const moved = this.#moved || this.believed > 0
    this.#moved = false
    if (this.believed > 0) this.believed--
    return moved
  }

  /** Counts a tick: true when it is to be read how far it is. */
  figureDue(): boolean {
    return this.running !== undefined && this.folderTold && ++this.#ticks % FIGURE_TICKS === FIGURE_FIRST_TICKS
  }

  /** It may leave snapshots so often, and so large. */
  leavesSnapshots({ everyTicks, diskBytes }: { readonly everyTicks: number; readonly diskBytes: number }): void {
    this.#everyTicks = everyTicks
    this.diskBytes = diskBytes
    this.takesUpSnapshot = this.ofEarlierLife
    // The first one is wanted as soon as it comes.
    this.#sinceTicks = everyTicks
  }

  /** Counts a tick: true when it is to be looked for a snapshot. */
  snapshotDue(): boolean {
    if (this.#everyTicks === 0 || this.running === undefined) return false
    this.#sinceTicks++
    return this.#sinceTicks >= this.#everyTicks && !this.#offers && this.snapshotting === undefined
  }

  /** There was one. */
  tookSnapshot(): void {
    this.#sinceTicks = 0
    this.#offers = true
  }

  snapshotSaved(): void {
    this.#offers = false
  }

  setFigure(figure: Figure): void {
    if (figure.donePpm === this.#figure?.donePpm && figure.note === this.#figure.note) return
    this.#figure = figure
    this.#figureNew = true
  }

  takeFigure(): Figure | undefined {
    const figure = this.#figureNew ? this.#figure : undefined
    this.#figureNew = false
    return figure
  }

  /** It ran here and ended, and nobody can have made a folder for it: no disk needs to be asked. */
  get leftNothing(): boolean {
    return !this.folderTold && this.work === undefined
  }

  /** It was removed, and leased again before that was done: what prepares it anew goes on. */
  beginAgain(): void {
    this.started = undefined
    this.running = undefined
    this.graceMs = undefined
    this.folderTold = true
    this.#ticks = 0
    this.#figure = undefined
    this.#figureNew = false
    this.#everyTicks = 0
    this.#offers = false
  }
}

/** Notes when its executor asks for the folder. */
export class WatchedExecution implements Execution {
  readonly replica: ReplicaId
  readonly manifest: RunManifest
  readonly inputs: Execution['inputs']
  readonly gpus?: readonly string[]
  readonly snapshots?: true
  readonly #run: Run
  readonly #workspace: Workspace

  constructor({ replica, manifest, inputs, gpus, snapshots }: Omit<Execution, 'folder'>, run: Run, workspace: Workspace) {
    this.replica = replica
    this.manifest = manifest
    this.inputs = inputs
    if (gpus !== undefined) this.gpus = gpus
    if (snapshots !== undefined) this.snapshots = snapshots
    this.#run = run
    this.#workspace = workspace
    run.folderTold = false
  }

  get folder(): string {
    this.#run.folderTold = true
    return this.#workspace.pathOf(this.replica)
  }
}
