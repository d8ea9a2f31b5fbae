/** The content store as the rest of talko sees it. `content/live/store.ts` makes it from a folder on disk. */
import type { CID } from 'multiformats/cid'
import type { PeerIdString } from '../ids.ts'
import type { Host } from '../peer/host.ts'

export interface AddedTree {
  readonly root: CID
  readonly bytes: number
  readonly files: number
  /** Relative paths of files with an executable bit, sorted. */
  readonly executables: readonly string[]
}

export interface TransferProgress {
  readonly bytes: number
  /** 0 until known. */
  readonly totalBytes: number
  readonly blocks: number
}

export interface AddOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: { bytes: number; files: number }) => void
  /** Default `refuse`: a tree with links, fifos, sockets, devices or names that are not UTF-8 is refused whole, naming the first. `skip` leaves them out (a node publishing a hostile output tree) and counts them. */
  readonly special?: 'refuse' | 'skip'
  /** Pinned trees are never evicted. */
  readonly pin?: boolean
  /** Bounds on hostile trees; ContentError `too_large` beyond. */
  readonly bytesMax?: number
  readonly entriesMax?: number
}

export interface ContentStore {
  /** Adds a file or folder where it lies, without a second copy: ids are those of kubo's unixfs-v1-2025 profile. The files must stay unchanged; size, time and inode are checked before a block is served. */
  addTree(path: string, options?: AddOptions): Promise<AddedTree & { readonly skipped: number }>
  /** Adds a file with explicit leaf boundaries (image layers). `cuts` are ascending offsets, the last being the size. */
  addFileCut(path: string, cuts: readonly number[], options?: AddOptions): Promise<AddedTree>
  /** Small bytes kept in the store itself, as one block of the given codec (see cid.ts). */
  putBlock(codec: number, bytes: Uint8Array): Promise<CID>
  /** A verified block, or undefined when it is not here (or its file has changed). */
  getBlock(cid: CID): Promise<Uint8Array | undefined>
  /** True when the whole DAG below the root is here. */
  has(root: CID): boolean
  /** It was here before the machine was started again, and may be: `fetch` compares it and brings what is torn, `remove` removes it. */
  isDoubted(root: CID): boolean
  /**
   * As `has`, of what `path` below the root names, after a look at the files on disk: for whoever is about to count on them. A
   * tree with a file that is gone or changed is not here any more; fetching it brings what is missing.
   */
  check(root: CID, path?: string): Promise<boolean>
  /** What `path` below the root names; the root itself without one. Undefined when what leads there is not here, or when it does not exist. */
  resolve(root: CID, path?: string): CID | undefined
  /** Bytes of a complete DAG; undefined when it is not here. */
  sizeOf(root: CID): number | undefined
  /** Where a complete tree (or the file or folder at `path` below it) lies on disk, to be mounted read-only; undefined when not here. Never a path outside the store's or the publisher's own folder. */
  locate(root: CID, path?: string): string | undefined
  /** Entries of a complete directory, sorted by name; throws ContentError `not_found` or `not_a_directory`. */
  list(root: CID, path?: string): Promise<readonly { name: string; cid: CID; bytes: number; directory: boolean }[]>
  /** Whole content of a file in order, verified. */
  read(root: CID, path?: string, range?: { from: number; to: number }): AsyncGenerator<Uint8Array, void, undefined>
  /** Fetches a DAG (or only what `path` needs) from any of these peers, verified block by block, resumable: what arrived before a failure is kept. Concurrent calls for one root share one transfer; one caller's abort does not stop the others. Throws ContentError. */
  fetch(root: CID, options: FetchOptions): Promise<{ /** Received from peers; 0 when all was here. */ readonly bytes: number }>
  /** Copies a complete tree to a new path (`talko get`): refuses to overwrite, marks `executables`. */
  restore(
    root: CID,
    destination: string,
    options?: { path?: string; executables?: readonly string[]; signal?: AbortSignal; onProgress?: (progress: TransferProgress) => void }
  ): Promise<void>
  pin(root: CID): Promise<void>
  unpin(root: CID): Promise<void>
  /** Forgets a tree like `remove`, unless it is pinned or part of another. */
  drop(root: CID): Promise<void>
  /** Forgets a tree; what the store restored itself is deleted, what a user published stays on disk. */
  remove(root: CID): Promise<void>
  close(): Promise<void>
}

export interface FetchOptions {
  readonly host: Host
  /** Connected peers that may hold it, tried in order. */
  readonly from: readonly PeerIdString[]
  readonly path?: string
  /** Paths below `root` of files to be marked executable where they are restored. */
  readonly executables?: readonly string[]
  readonly pin?: boolean
  /** Bound on all blocks of the DAG together; ContentError `too_large` beyond. */
  readonly bytesMax?: number
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: TransferProgress) => void
}

export const CONTENT_PROTOCOL = '/talko/content/1.0.0'

/** The empty directory and the empty file have well-known ids; every store holds them from the start. */
export const EMPTY_DIRECTORY = 'bafybeiczsscdsbs7ffqz55asqdf3smv6klcw3gofszvwlyarci47bgf354'
export const EMPTY_FILE = 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'

export type ContentErrorCode =
  | 'not_found'
  | 'not_a_directory'
  | 'bad_tree'
  | 'special_file'
  | 'changed'
  | 'too_large'
  | 'corrupt'
  | 'unreachable'
  | 'disk_full'
  | 'exists'
  /** Another process has this store open. */
  | 'in_use'

export class ContentError extends Error {
  override readonly name = 'ContentError'
  readonly code: ContentErrorCode
  constructor(code: ContentErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
