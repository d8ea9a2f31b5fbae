/** A Client in the real world: its home, a libp2p host that only dials, and content of this process's own. */
import { mkdir, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { ContentStore } from '#protocol/content/content'
import { OWNER_PROTOCOL, REQUEST_BYTES_MAX } from '#protocol/owner/messages'
import { isPrivateAddress, throughRelay } from '#protocol/peer/addresses'
import type { FrameStream, Host } from '#protocol/peer/host'
import { HostError } from '#protocol/peer/host'
import { createHost } from '#protocol/peer/live/host'
import { projectAddresses, verifyRecord } from '#protocol/record/record'
import type { Client } from '../client/client.ts'
import type { Invite } from '../client/invite.ts'
import { ownerClient } from '../client/owner-client.ts'
import { OwnerLink } from '../client/owner-link.ts'
import { ClientError } from '../errors.ts'
import { systemClock, systemRandom } from './clock.ts'
import { Home } from './home.ts'

export interface ConnectOptions {
  /** The client's home folder; default `$TALKO_HOME` or `~/.talko`. */
  readonly home?: string
  /** An invite (`talko://…`) or a project's id; default `$TALKO_PROJECT` or the one chosen with `talko use`, `talko init` or `talko up`. */
  readonly project?: string
  /** Multiaddrs at which to find it, before those of the invite. */
  readonly addresses?: readonly string[]
  /** How long a lost coordinator is looked for before calls fail; default two minutes. */
  readonly reconnectMs?: number
  /** Ends connecting; a client once connected is ended with `close`. */
  readonly signal?: AbortSignal
  /** Told when the connection is lost and when it is back. */
  readonly onLink?: (up: boolean, why: string) => void
}

/** Own streams of an owner: the link, and the logs being followed. */
const STREAMS_MAX = 8
/** A record that came later than this is not asked for again. */
const RECORD_FRESH_MS = 600_000

/**
 * A client of one project. It dials at once, so that a project that cannot be reached is known here.
 * Throws ClientError `usage` (no project chosen), `unreachable`, `refused`.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const client = await offlineClient(options)
  try {
    await client.info(options.signal === undefined ? {} : { signal: options.signal })
    return client
  } catch (error) {
    await client.close()
    throw error
  }
}

/** The same without dialling before the first call that needs the project. */
export async function offlineClient(options: ConnectOptions = {}): Promise<Client> {
  const home = Home.at(options.home)
  const invite = await home.project(options.project)
  const signer = await home.signer()
  const host = await createHost({
    signer,
    listen: [],
    role: 'client',
    ...(invite.bootstrap.length === 0 ? {} : { dht: { bootstrap: invite.bootstrap, serve: false, allowPrivate: invite.bootstrap.some(isPrivateAddress) } })
  })
  const place = new ProjectPlace(home, host, invite)
  const connected = (signal?: AbortSignal): Promise<void> => place.connect(options.addresses ?? [], signal)
  const open = async (signal?: AbortSignal): Promise<FrameStream> => {
    await connected(signal)
    return host.open(invite.project, OWNER_PROTOCOL, { frameBytesMax: REQUEST_BYTES_MAX, streamsMax: STREAMS_MAX }, signal)
  }
  const link = new OwnerLink(
    { open, clock: systemClock, random: systemRandom, ...(options.onLink === undefined ? {} : { onLink: options.onLink }) },
    options.reconnectMs === undefined ? {} : { reconnectMs: options.reconnectMs }
  )
  const content = new OwnContent(home, host)
  return ownerClient({
    link,
    open,
    connected,
    host,
    project: invite.project,
    clock: systemClock,
    random: systemRandom,
    names: () => home.names(),
    addName: (entry) => home.addName(entry),
    existsHere: (path) =>
      stat(resolve(path)).then(
        () => true,
        () => false
      ),
    soon: (call) => {
      setImmediate(call)
    },
    store: () => content.store(),
    workFolder: (name) => content.folder(name),
    async close() {
      await host.stop()
      await content.close()
    }
  })
}

/** Where the project is: in its invite, at its relays, and in the last record of it that came here, which is asked for now and then. */
class ProjectPlace {
  readonly #home: Home
  readonly #host: Host
  readonly #invite: Invite
  #record: { readonly bytes: Uint8Array; readonly atMs: number } | undefined
  #asked = false

  constructor(home: Home, host: Host, invite: Invite) {
    this.#home = home
    this.#host = host
    this.#invite = invite
  }

  async connect(given: readonly string[], signal?: AbortSignal): Promise<void> {
    const { project, addresses, bootstrap } = this.#invite
    if (this.#host.isConnected(project)) return
    this.#record ??= await this.#home.record(project)
    const relayed = bootstrap.map((relay) => throughRelay(relay, project))
    const all = [...new Set([...given, ...addresses, ...this.#known(), ...relayed])]
    await connectTo(this.#host, { ...this.#invite, addresses: all }, signal)
    this.#refresh().catch(() => undefined)
  }

  #known(): readonly string[] {
    if (this.#record === undefined) return []
    try {
      return projectAddresses(verifyRecord(this.#record.bytes, { project: this.#invite.project, nowMs: systemClock.nowMs(), evenExpired: true }))
    } catch {
      return []
    }
  }

  /** Beside what the caller wants: a command that ends before it has come leaves it to the next. */
  async #refresh(): Promise<void> {
    const { project, bootstrap } = this.#invite
    const nowMs = systemClock.nowMs()
    if (bootstrap.length === 0 || this.#asked || nowMs - (this.#record?.atMs ?? 0) < RECORD_FRESH_MS) return
    this.#asked = true
    const bytes = await this.#host.findRecord(project)
    if (bytes === undefined) return
    verifyRecord(bytes, { project, nowMs })
    this.#record = { bytes, atMs: nowMs }
    await this.#home.keepRecord(project, bytes)
  }
}

/** First the addresses we were given; then the project's own signed record, where a DHT is configured. */
async function connectTo(host: Host, invite: Invite, signal?: AbortSignal): Promise<void> {
  const { project, addresses, bootstrap } = invite
  try {
    await host.connect(project, addresses, signal)
  } catch (error) {
    if (!(error instanceof HostError) || error.code !== 'unreachable') throw error
    const found = bootstrap.length === 0 ? [] : await recordAddresses(host, project, signal)
    if (found.length > 0) return host.connect(project, found, signal)
    const next = addresses.length === 0 ? 'give its invite (--project talko://…)' : 'is its server running (talko serve, or talko up for a local network)?'
    throw new ClientError('unreachable', `${error.message}; ${next}`, { cause: error })
  }
}

async function recordAddresses(host: Host, project: string, signal?: AbortSignal): Promise<readonly string[]> {
  try {
    const bytes = await host.findRecord(project, signal)
    if (bytes === undefined) return []
    const record = verifyRecord(bytes, { project, nowMs: systemClock.nowMs() })
    return projectAddresses(record)
  } catch {
    // No record, or one that is not to be believed: the addresses' own error is the better one to show.
    return []
  }
}

/** The content store of one process, made when first needed and removed at the end: nothing of it is worth keeping, uploads stay where they lie. */
class OwnContent {
  readonly #home: Home
  readonly #host: Host
  #opened: Promise<{ readonly store: ContentStore; readonly dir: string }> | undefined

  constructor(home: Home, host: Host) {
    this.#home = home
    this.#host = host
  }

  async store(): Promise<ContentStore> {
    this.#opened ??= this.#open()
    return (await this.#opened).store
  }

  async folder(name: string): Promise<string> {
    await this.store()
    const folder = join((await this.#opened)?.dir ?? '', name)
    await mkdir(folder, { recursive: true })
    return folder
  }

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined)
    if (opened === undefined) return
    await opened.store.close()
    await rm(opened.dir, { recursive: true, force: true })
  }

  async #open(): Promise<{ readonly store: ContentStore; readonly dir: string }> {
    const [{ openContentStore }, { serveContent }] = await Promise.all([import('#protocol/content/live/store'), import('#protocol/content/live/serve')])
    const dir = await this.#home.scratch()
    const store = await openContentStore(join(dir, 'content'))
    await serveContent(this.#host, store)
    return { store, dir }
  }
}
