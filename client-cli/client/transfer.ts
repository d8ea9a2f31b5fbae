/** Content between this machine and the project: uploads are pulled by the project, downloads are verified block by block. */
import { CID } from 'multiformats/cid'
import { manifestCidText } from '#protocol/bundle/manifest'
import { fetchAgain } from '#protocol/content/again'
import { DAG_CBOR } from '#protocol/content/cid'
import type { ContentStore, TransferProgress } from '#protocol/content/content'
import { ContentError, EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import { splitPath } from '#protocol/content/names'
import type { Host } from '#protocol/peer/host'
import { ClientError } from '../errors.ts'
import type { Clock } from '../ports.ts'
import type { TransferOptions, Uploaded } from './client.ts'
import type { NameEntry } from './names.ts'
import { checkName } from './names.ts'
import type { OwnerLink } from './owner-link.ts'
import type { Input } from './spec.ts'
import { pullProgress, readBody } from './views.ts'

export interface TransferPorts {
  readonly link: Pick<OwnerLink, 'ask'>
  readonly clock: Clock
  readonly project: string
  readonly host: Pick<Host, never> & Host
  /** Connects when not connected. */
  readonly connected: (signal?: AbortSignal) => Promise<void>
  /** A store of this process's own, opened and served at first use. */
  readonly store: () => Promise<ContentStore>
  /** A folder that stays while the store is open, for what has to be written before it is added. */
  readonly workFolder: (name: string) => Promise<string>
  readonly addName: (entry: NameEntry) => Promise<void>
}

type UploadOptions = TransferOptions & { readonly name?: string; readonly dryRun?: boolean }

/** Adds a file or folder where it lies and has the project pull it. */
export async function upload(ports: TransferPorts, path: string, options: UploadOptions = {}): Promise<Uploaded & { readonly executables: readonly string[] }> {
  const { signal, onProgress } = options
  if (options.name !== undefined) checkName(options.name)
  const store = await ports.store()
  const added = await store.addTree(path, {
    ...(signal === undefined ? {} : { signal }),
    onProgress: ({ bytes }) => onProgress?.('reading', { bytes, totalBytes: 0 })
  })
  if (options.dryRun !== true) {
    await pull(ports, added.root, options)
    await note(ports, 'data', { root: added.root.toString(), bytes: added.bytes, executables: added.executables, source: path }, options.name)
  }
  return { root: added.root.toString(), bytes: added.bytes, files: added.files, executables: added.executables }
}

/** Imports an image into content and has the project pull it. */
export async function uploadImage(ports: TransferPorts, source: string, options: UploadOptions = {}): Promise<Uploaded> {
  const { signal, onProgress } = options
  if (options.name !== undefined) checkName(options.name)
  const [{ importImage }, store] = await Promise.all([import('#protocol/image/live/import'), ports.store()])
  const imported = await importImage(source, store, await ports.workFolder('images'), {
    ...(signal === undefined ? {} : { signal }),
    onProgress: (progress) => onProgress?.('reading', progress)
  })
  const root = imported.image.toString()
  if (options.dryRun !== true) {
    await pull(ports, imported.image, options)
    await note(ports, 'image', { root, bytes: imported.bytes, executables: [], source }, options.name)
  }
  return { root, bytes: imported.bytes, files: imported.layers.length }
}

/** Hands the project a bundle's manifest as content, with whatever it names that the project lacks. */
export async function uploadBundle(ports: TransferPorts, manifest: Uint8Array, options: UploadOptions = {}): Promise<string> {
  if (options.dryRun === true) return manifestCidText(manifest)
  const root = await (await ports.store()).putBlock(DAG_CBOR, manifest)
  await pull(ports, root, options)
  return root.toString()
}

async function pull(ports: TransferPorts, root: CID, { signal, onProgress, name }: UploadOptions): Promise<void> {
  await ports.link.ask(
    { pull: { root: root.bytes as Uint8Array<ArrayBuffer>, name: name ?? '' } },
    {
      ...(signal === undefined ? {} : { signal }),
      onBody: (body) => onProgress?.('sending', readBody(body, pullProgress))
    }
  )
}

async function note(
  ports: TransferPorts,
  kind: NameEntry['kind'],
  what: Pick<NameEntry, 'root' | 'bytes' | 'executables' | 'source'>,
  name: string | undefined
): Promise<void> {
  await ports.addName({ ...what, kind, name: name ?? '', project: ports.project, atMs: ports.clock.nowMs() })
}

/** Brings a tree (or what `path` needs of it) into this process's store. */
export async function fetchTree(ports: TransferPorts, input: Input, options: TransferOptions = {}): Promise<CID> {
  const root = CID.parse(input.root)
  const store = await ports.store()
  if (input.root === EMPTY_DIRECTORY || input.root === EMPTY_FILE || store.has(root)) return root
  await ports.connected(options.signal)
  const again = (): Promise<void> => ports.connected(options.signal)
  const how = {
    host: ports.host,
    from: [ports.project],
    ...(input.path === undefined || input.path === '' ? {} : { path: input.path }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    onProgress: (progress: TransferProgress) => options.onProgress?.('fetching', progress)
  }
  try {
    await fetchAgain(store, root, how, again)
  } catch (error) {
    if (!(error instanceof ContentError && error.code === 'not_found') || (await neverHad(store, root, input.path ?? ''))) throw error
    const help = 'a task that takes it (--dep) has it computed again, and so has the same command once more; what was uploaded has to be uploaded again'
    throw new ClientError('not_found', `${input.root} is no longer whole at the project: ${help}`, { cause: error })
  }
  return root
}

/** Whether the folders that are here say that the tree has no such path. */
async function neverHad(store: Pick<ContentStore, 'list'>, root: CID, path: string): Promise<boolean> {
  const names = splitPath(path)
  for (const [depth, name] of names.entries()) {
    const entries = await store.list(root, names.slice(0, depth).join('/')).catch(() => undefined)
    if (entries === undefined) return false
    if (!entries.some((entry) => entry.name === name)) return true
  }
  return false
}

/** Fetches a tree, or the file or folder at a path in it, to a new path on this machine. */
export async function download(ports: TransferPorts, input: Input, destination: string, options: TransferOptions = {}): Promise<{ readonly bytes: number }> {
  const root = await fetchTree(ports, input, options)
  const store = await ports.store()
  let bytes = 0
  await store.restore(root, destination, {
    ...(input.path === undefined || input.path === '' ? {} : { path: input.path }),
    executables: input.executables ?? [],
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    onProgress: (progress) => {
      bytes = progress.bytes
      options.onProgress?.('writing', progress)
    }
  })
  return { bytes: input.path === undefined || input.path === '' ? (store.sizeOf(root) ?? bytes) : bytes }
}

export async function* readFileOf(ports: TransferPorts, input: Input, options: TransferOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
  const root = await fetchTree(ports, input, options)
  yield* (await ports.store()).read(root, input.path)
}

/** A whole small file as text. Throws ClientError `refused` beyond `bytesMax`. */
export async function readText(ports: TransferPorts, root: string, bytesMax: number): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of readFileOf(ports, { root })) {
    bytes += piece.length
    if (bytes > bytesMax) throw new ClientError('refused', `more than ${bytesMax} bytes; read it in pieces`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}
