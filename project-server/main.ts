/** The project server: makes a project's folder, and leads the project in it. */

import { ContentError } from '#protocol/content/content'
import { openContentStore } from '#protocol/content/live/store'
import { serveContent } from '#protocol/content/serve'
import type { PeerIdString } from '#protocol/ids'
import { serveLan } from '#protocol/lan/live/lan'
import { isPrivateAddress } from '#protocol/peer/addresses'
import { HostError } from '#protocol/peer/host'
import { createHost } from '#protocol/peer/live/host'
import { Callers } from './callers.ts'
import { Checkpoints } from './checkpoints.ts'
import { Committer } from './commit.ts'
import { Comparators } from './comparators.ts'
import { agreeBy, Comparisons } from './comparisons.ts'
import { Completions } from './completions.ts'
import { ControlService } from './control-service.ts'
import { Coordinator } from './coordinator/coordinator.ts'
import type { Effect } from './coordinator/events.ts'
import { DONE_PREFIX } from './coordinator/keys.ts'
import { type CoordinatorPolicy, DEFAULT_COORDINATOR_POLICY } from './coordinator/policy.ts'
import { ServerError } from './errors.ts'
import { Hints } from './hints.ts'
import { KnownPairs } from './known-pairs.ts'
import { systemClock } from './live/clock.ts'
import { contentPath, createProjectFolder, programsPath, readProjectFolder, statePath, wipeProject } from './live/files.ts'
import { createLogger } from './live/logger.ts'
import { systemRandom } from './live/random.ts'
import { openStore } from './live/store.ts'
import type { Logger } from './logger.ts'
import { Changes, EVERYTHING } from './owner/changes.ts'
import { DataNames } from './owner/data.ts'
import { Members } from './owner/grants.ts'
import { ownerHandler } from './owner/handler.ts'
import { storeViews } from './owner/store-views.ts'
import { OwnerService } from './owner-service.ts'
import { NEIGHBOURS_DOMAIN, TICK_MS } from './policy.ts'
import { type Clock, type Programs, type ProgramsTools, type Store, StoreError } from './ports.ts'
import { administratorOf, DEFAULT_LISTEN, DEFAULT_PROGRAMS, type DhtSettings } from './project.ts'
import { Pulls } from './pulls.ts'
import { Rechecks } from './rechecks.ts'
import { publishRecord, signedRecord } from './record.ts'
import { Sources } from './sources.ts'
import { SweepLooks } from './sweep-looks.ts'

export const VERSION = '0.1.0'

export interface ProjectSettings {
  readonly name: string
  /** Peer ids of those who may submit and ask. */
  readonly owners: readonly PeerIdString[]
  readonly listen?: readonly string[]
  readonly announce?: readonly string[]
  /** Relays through which it is to be reached, with `/p2p/<peer>`. */
  readonly relays?: readonly string[]
  readonly dht?: DhtSettings
}

/** For tests and benchmarks: what stands between the server and the world. */
export interface ServerHooks {
  readonly wrapStore?: (store: Store) => Store
  readonly clock?: Clock
  /** In place of the project file's. */
  readonly policy?: CoordinatorPolicy
}

export interface ServerOptions {
  readonly dir: string
  /** In place of the project file's addresses. */
  readonly listen?: readonly string[]
  /** Begin anew: removes all state and content of the project first. The caller has asked the person. */
  readonly clean?: boolean
  readonly logger?: Logger
  /** In place of the project file's. */
  readonly dht?: DhtSettings
  /** What runs programs of the project's clients on this machine; absent: none is run. */
  readonly programs?: (tools: ProgramsTools) => Promise<Programs>
  readonly hooks?: ServerHooks
}

/** What the server has done since it started. */
export interface ServerCounts {
  readonly commits: number
  readonly events: number
  readonly changes: number
  readonly receipts: number
  readonly failures: number
  readonly nodes: number
  /** Control streams closed by the server, and owners' requests refused, by reason. */
  readonly closed: Readonly<Record<string, number>>
  readonly refused: Readonly<Record<string, number>>
}

export interface ProjectServer {
  readonly peerId: PeerIdString
  readonly epoch: number
  /** Multiaddrs with `/p2p/<peer>`. */
  addresses(): string[]
  /** Relays through which it can be reached, whether or not it can at this moment. */
  readonly relays: readonly string[]
  counts(): ServerCounts
  /** Commits what was accepted and ends; nodes keep their work and come back. */
  stop(): Promise<void>
  /** Resolves when the server has stopped; rejects with ServerError when it could not go on. */
  readonly stopped: Promise<void>
}

/** Makes a project in `dir`: its key and project.json. Throws ServerError `exists`, `bad_key`, `bad_project_file` for settings that make no sense. */
export async function initProject(dir: string, settings: ProjectSettings): Promise<{ readonly id: PeerIdString }> {
  const { name, owners, listen = [DEFAULT_LISTEN], announce = [], relays = [], dht } = settings
  const signer = await createProjectFolder(dir, {
    v: 1,
    name,
    listen,
    announce,
    owners,
    ...(relays.length === 0 ? {} : { relays }),
    ...(dht === undefined ? {} : { dht })
  })
  return { id: signer.peerId }
}

/**
 * Leads the project of `dir` until stopped: opens its state (begun where the last server ended, however it ended), begins an
 * epoch, and serves nodes and owners. Throws ServerError: `not_a_project`, `bad_project_file`, `bad_key`, `locked`,
 * `port_in_use`, `corrupt`, `disk_full`, `failed`.
 */
export async function startProjectServer(options: ServerOptions): Promise<ProjectServer> {
  const { dir, hooks = {}, logger = createLogger('project-server') } = options
  const { file, signer } = await readProjectFolder(dir)
  const project = signer.peerId
  const clock = hooks.clock ?? systemClock
  const policy = hooks.policy ?? { ...DEFAULT_COORDINATOR_POLICY, ...file.policy }
  await using opened = new AsyncDisposableStack()

  if (options.clean === true) {
    // Opened first: a folder in use is never wiped.
    await (await opening(dir, () => openStore(statePath(dir)))).close()
    await wipeProject(dir)
  }
  const real = await opening(dir, () => openStore(statePath(dir), { rare: DONE_PREFIX }))
  opened.defer(() => real.close())
  const store = hooks.wrapStore?.(real) ?? real
  const epoch = await opening(dir, () => store.beginEpoch())
  const coordinator = new Coordinator({ project, epoch, policy, signer })
  await opening(dir, () => coordinator.load(store, clock.nowMs()))
  const data = await DataNames.load(store)
  const content = await opening(dir, () => openContentStore(contentPath(dir), { durable: true }))
  opened.defer(() => content.close())
  const relays = file.relays ?? []
  const dht = options.dht ?? file.dht ?? dhtOf(relays)
  const host = await listening(() =>
    createHost({
      signer,
      listen: options.listen ?? file.listen,
      announce: file.announce,
      role: 'server',
      relays,
      logger,
      ...(dht === undefined ? {} : { dht })
    })
  )
  opened.defer(() => host.stop())

  const changes = new Changes()
  const ended = Promise.withResolvers<void>()
  ended.promise.catch(() => undefined)
  const carryOut = (effects: readonly Effect[]): void => {
    for (const effect of effects) {
      if (effect.kind === 'pull') pulls.pull(effect)
      else if (effect.kind === 'save') checkpoints.save(effect)
      else if (effect.kind === 'unsave') checkpoints.unsave(effect.root)
      else if (effect.kind === 'compare') comparisons.compare(effect)
      else if (effect.kind === 'compared_enough') comparisons.enough(effect.task)
      else if (effect.kind === 'recheck') rechecks.recheck(effect)
      else if (effect.kind === 'complete' || effect.kind === 'inputs') completions.ask(effect)
      else if (effect.kind === 'look') sweepLooks.look(effect)
      else if (effect.kind === 'hint') hints.hint(effect)
      else if (effect.kind === 'changed') changes.changed(effect.batch)
      else control.carry(effect)
    }
    changes.changed(EVERYTHING)
    control.flush()
  }
  const onFatal = (error: ServerError): void => {
    logger.error({ code: error.code, err: error }, error.message)
    ended.reject(error)
    void stop()
  }
  const committer: Committer = new Committer({ core: coordinator, store, clock, signer, logger, carryOut, onFatal }, { epoch })
  const callers = new Callers({ host, clock, logger }, relays)
  const control = new ControlService(
    { host, committer, clock, logger, callers },
    { project, administrator: administratorOf(file), epoch, heartbeatMs: policy.heartbeatMs }
  )
  const record = () => signedRecord({ host, signer, clock }, epoch)
  // The same after a restart, and nobody else's.
  const secret = signer.sign(NEIGHBOURS_DOMAIN, new Uint8Array(0))
  const sources = new Sources({ host, coordinator, clock, random: systemRandom, record, secret })
  const hints = new Hints({ host, clock, signer, neighboursOf: (node) => sources.neighboursOf(node) }, epoch)
  const rechecks = new Rechecks({ store, committer, random: systemRandom, logger })
  const pulls = new Pulls({ content, host, clock, logger, done: (event) => committer.apply(event) })
  const checkpoints = new Checkpoints({
    content,
    host,
    clock,
    logger,
    committer,
    keeps: (root) => coordinator.keepsCheckpoint(root),
    done: (event) => committer.apply(event)
  })
  const engines = file.programs ?? DEFAULT_PROGRAMS
  const programs = engines.length === 0 ? undefined : await options.programs?.({ store: content, id: project, folder: programsPath(dir), engines, logger })
  await programs?.begin()
  const comparators = new Comparators({ content, host, programs })
  const known = await KnownPairs.load(store)
  const comparisons = new Comparisons({
    content,
    host,
    clock,
    logger,
    committer,
    done: (event) => committer.apply(event),
    agree: agreeBy(content, comparators),
    known
  })
  const completions = new Completions({
    store,
    content,
    clock,
    logger,
    random: systemRandom,
    done: (...events) => {
      for (const event of events) committer.apply(event)
    }
  })
  const sweepLooks = new SweepLooks({ store, content, committer, logger })
  // A commit carries out what loading wished for: everything that does must be there.
  await Comparisons.begin({ content, committer }, store)
  await checkpoints.begin(store)
  const projectView = () => ({ id: project, name: file.name, epoch, addresses: host.addresses(), relays, nodes: control.connected, version: VERSION })
  const members = new Members(file, coordinator)
  const views = (client: PeerIdString) => storeViews(store, coordinator, { client, all: members.isAdministrator(client) })
  const handler = ownerHandler({
    host,
    nodes: control,
    content,
    store,
    coordinator,
    committer,
    views,
    data,
    members,
    changes,
    clock,
    random: systemRandom,
    signer,
    comparators,
    project: projectView
  })
  const owners = new OwnerService({ host, clock, logger }, { owners: members, handler })

  await serveContent(host, content)
  await sources.start()
  callers.start()
  await control.start()
  await owners.start()
  for (const { client, bytes } of data.sizes()) committer.apply({ kind: 'brought', client, bytes })
  // What the last server left to be done is taken up at once.
  committer.apply({ kind: 'tick' })
  const stopTicks = every(clock, TICK_MS, () => committer.apply({ kind: 'tick' }))
  const stopLan = serveLan(project, () => signedRecord({ host, signer, clock }, epoch, 'lan'))
  const stopRecord = dht === undefined ? () => undefined : publishRecord({ host, signer, clock, logger }, epoch)
  const resources = opened.move()
  logger.info({ project, epoch, addresses: host.addresses() }, 'the project server serves')

  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      stopTicks()
      stopRecord()
      stopLan()
      hints.stop()
      callers.stop()
      owners.stop()
      control.stop()
      await Promise.all([pulls.stop(), checkpoints.stop(), comparisons.stop(), completions.stop(), sweepLooks.stop(), rechecks.stop(), programs?.stop()])
      await committer.stop()
      await resources.disposeAsync()
      logger.info({ project, epoch }, 'the project server has stopped')
      ended.resolve()
    })()
    return stopping
  }
  return {
    peerId: project,
    epoch,
    addresses: () => host.addresses(),
    relays,
    counts: () => ({ ...committer.counts, nodes: control.connected, closed: Object.fromEntries(control.closed), refused: Object.fromEntries(owners.refused) }),
    stop,
    stopped: ended.promise
  }
}

/** Relays serve the DHT, and a project that needs them is no place that others could ask. */
function dhtOf(relays: readonly string[]): DhtSettings | undefined {
  return relays.length === 0 ? undefined : { bootstrap: relays, serve: false, allowPrivate: relays.some(isPrivateAddress) }
}

function every(clock: Clock, ms: number, call: () => void): () => void {
  let cancel = (): void => undefined
  const again = (): void => {
    cancel = clock.after(ms, () => {
      call()
      again()
    })
  }
  again()
  return () => cancel()
}

async function opening<T>(dir: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (cause) {
    if (!(cause instanceof StoreError || cause instanceof ContentError)) throw cause
    if (cause.code === 'locked' || cause.code === 'in_use')
      throw new ServerError('locked', `another project server runs on ${dir}: stop it first, or use its addresses`, { cause })
    const code = cause.code === 'disk_full' || cause.code === 'corrupt' || cause.code === 'stale_epoch' ? cause.code : 'failed'
    throw new ServerError(code, `the state of the project in ${dir} cannot be opened: ${cause.message}`, { cause })
  }
}

async function listening<T>(listen: () => Promise<T>): Promise<T> {
  try {
    return await listen()
  } catch (cause) {
    if (!(cause instanceof HostError)) throw cause
    const message = `${cause.message} (talko serve --listen ADDRESS, or "listen" in project.json)`
    if (cause.code === 'address_in_use') throw new ServerError('port_in_use', message, { cause })
    if (cause.code === 'bad_address') throw new ServerError('bad_project_file', message, { cause })
    throw new ServerError('failed', cause.message, { cause })
  }
}
