/** The volunteer daemon's front door: makes a node's folder, and starts a node in it. */
import { join, resolve } from 'node:path'
import type { ContentStore } from '#protocol/content/content'
import { bootId } from '#protocol/content/live/durable'
import { openContentStore } from '#protocol/content/live/store'
import { serveContent } from '#protocol/content/serve'
import type { Ownership } from '#protocol/control/owner'
import type { PeerIdString } from '#protocol/ids'
import { findOnLan } from '#protocol/lan/live/lan'
import { messageOf } from '#protocol/message-of'
import { isPrivateAddress } from '#protocol/peer/addresses'
import { createHost } from '#protocol/peer/live/host'
import type { RelayState } from '#protocol/peer/live/reservations'
import { RECORD_BYTES_MAX } from '#protocol/record/record'
import { decodeFound, SOURCES_FRAME_BYTES_MAX } from '#protocol/sources/messages'
import type { AgentView } from './agent/events.ts'
import { Crowding, type CrowdingView, counted } from './crowding.ts'
import { NodeError } from './errors.ts'
import { Exchange, type ExchangeView } from './exchange.ts'
import { findGpus } from './gpus.ts'
import { HintsService } from './hints/service.ts'
import { systemClock, systemRandom, turn } from './live/clock.ts'
import { createDockerExecutor } from './live/docker/executor.ts'
import { makeNodeFolder, readNodeFolder, watchFolder } from './live/folder.ts'
import { nvidiaSmi } from './live/gpus.ts'
import { KeptFolder } from './live/kept-store.ts'
import { openLevelStore } from './live/level-store.ts'
import { openLocalControl } from './live/local-control.ts'
import { type LogSource, serveLogs } from './live/logs.ts'
import { capabilitiesOf, coresHere } from './live/machine.ts'
import { createProcessExecutor } from './live/process-executor.ts'
import { RecentLog } from './live/recent-log.ts'
import { RecordFile } from './live/record-file.ts'
import { openWorkspace } from './live/workspace.ts'
import { KEEP_BYTES, KEEP_DAYS } from './parking/policy.ts'
import { ParkingService } from './parking/service.ts'
import { STOCK_BYTES, UPLOAD_PER_SECOND } from './policy.ts'
import type { Executor, Logger } from './ports.ts'
import { NodeService } from './service.ts'
import type { NodeSettings } from './settings.ts'

export { NodeError } from './errors.ts'
export { examine } from './live/doctor.ts'
export { Programs } from './live/programs.ts'
export type { NodeSettings } from './settings.ts'

export const AGENT = 'talko/0.1.0'

export interface ExecutorTools {
  readonly store: ContentStore
  readonly nodeId: PeerIdString
  /** The folder of replicas' folders. */
  readonly folder: string
  readonly logger: Logger
}

export interface NodeStatus extends AgentView {
  readonly peerId: PeerIdString
  readonly name: string
  readonly project: PeerIdString
  readonly engines: readonly string[]
  /** How many cores there are, and what runs have of them, also when more go on at once than there are. */
  readonly processors: CrowdingView
  /** Where others reach it: directly, and through relays. */
  readonly addresses: readonly string[]
  readonly relays: readonly RelayState[]
  /** What was fetched from and given to other nodes. */
  readonly exchange: ExchangeView
  /** Nodes that it may ask for news of the project, those that it is connected with for that, and what is known of them. */
  readonly hints: ReturnType<HintsService['view']>
  /** Why no work is taken, or why there is no connection; empty when all is well. */
  readonly trouble: string
}

export interface StartNodeOptions {
  readonly dir: string
  /** In place of the engines named in node.json. */
  readonly executors?: readonly Executor[] | ((tools: ExecutorTools) => Promise<readonly Executor[]>)
  readonly logger?: Logger
}

export interface StartedNode {
  readonly peerId: PeerIdString
  status(): NodeStatus
  /** `now`: what runs is ended, too. */
  pause(now?: boolean): void
  resume(): void
  /** `finish` takes nothing more, waits for what runs and for its results to be taken, `graceMs` at most; `now` kills what runs and gives it back. Resolves when all is closed; asked twice, the more urgent counts. */
  stop(mode: 'finish' | 'now', graceMs?: number): Promise<void>
  /** Resolves when the node has stopped, also when it was asked to through `node.sock`; rejects with NodeError when it could not go on. */
  readonly stopped: Promise<void>
}

const DAY_MS = 86_400_000
const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** Makes the node's folder: `node.json` and its key. `claim` signs that the node of that id is a client's own. Throws NodeError `exists` when there is a node in it already, `bad_settings`. */
export async function initNode(dir: string, settings: NodeSettings, claim?: (node: PeerIdString) => Ownership): Promise<{ readonly peerId: PeerIdString }> {
  const { peerId } = await makeNodeFolder(dir, settings, claim)
  return { peerId }
}

/**
 * Starts the node of a folder and keeps it going until it is stopped: a project that cannot be reached is tried for ever.
 * Throws NodeError `not_a_node_folder`, `bad_settings`, `bad_key`, `in_use`, `storage`.
 */
export async function startNode({ dir: given, executors, logger: outside = SILENT }: StartNodeOptions): Promise<StartedNode> {
  // Docker mounts absolute paths only.
  const dir = resolve(given)
  const { settings, signer } = await readNodeFolder(dir)
  await using opened = new AsyncDisposableStack()
  const store = await openLevelStore(join(dir, 'state'))
  opened.defer(() => store.close())
  const recent = settings.tellCrashes === false ? undefined : await RecentLog.open(dir)
  if (recent === undefined) await RecentLog.remove(dir)
  opened.defer(() => recent?.close())
  const logger = recent?.beside(outside) ?? outside
  const content = await openContentStore(join(dir, 'content'), { publishedPasses: true })
  opened.defer(() => content.close())
  const folder = join(dir, 'run')
  const workspace = await openWorkspace(folder)
  const record = await RecordFile.open(dir, 'project.record', RECORD_BYTES_MAX)
  opened.defer(() => record.close())
  const neighbours = await RecordFile.open(dir, 'neighbours', SOURCES_FRAME_BYTES_MAX)
  opened.defer(() => neighbours.close())
  const bootstrap = settings.bootstrap ?? []
  const host = await createHost({
    signer,
    listen: settings.listen ?? [],
    role: 'volunteer',
    relays: bootstrap,
    logger,
    ...(bootstrap.length === 0 ? {} : { dht: { bootstrap, serve: false, allowPrivate: bootstrap.some(isPrivateAddress) } })
  })
  opened.defer(() => host.stop())

  const hints: HintsService = new HintsService(
    {
      host,
      hold: (peer) => exchange.hold(peer),
      clock: systemClock,
      random: systemRandom,
      logger,
      onRecord: (bytes) => record.keep(bytes),
      onNeighbours: (bytes) => neighbours.keep(bytes)
    },
    settings.project,
    { record: record.bytes, neighbours: neighbours.bytes }
  )
  opened.defer(() => hints.stop())
  const uploadPerSecond = settings.uploadPerSecond ?? UPLOAD_PER_SECOND
  const kept = new KeptFolder(join(dir, 'kept'))
  opened.defer(() => kept.close())
  // Who gives nothing to other nodes leaves nothing with them either.
  const mayPark = uploadPerSecond > 0
  const exchange: Exchange = new Exchange(
    {
      host,
      isDirect: (peer) => host.connections(peer).some(({ relayed }) => !relayed),
      clock: systemClock,
      logger,
      onTold: (said, others) => {
        hints.told(said, others)
        if (mayPark) parking.meet(others)
      }
    },
    { project: settings.project, uploadPerSecond, kept }
  )
  opened.defer(() => exchange.stop())
  const parking: ParkingService = new ParkingService(
    { host: exchange.host, hold: (peer) => exchange.hold(peer), store: kept, signer, clock: systemClock, logger },
    settings.project
  )
  opened.defer(() => parking.stop())
  if (mayPark && neighbours.bytes !== undefined) parking.meet(decodeFound(neighbours.bytes)?.neighbours ?? [])
  const tools: ExecutorTools = { store: content, nodeId: signer.peerId, folder, logger }
  const made = typeof executors === 'function' ? await executors(tools) : (executors ?? (await enginesOf(settings, tools)))
  const crowding = new Crowding(coresHere())
  const engines = made.map((executor) => counted(executor, crowding))
  opened.defer(async () => {
    for (const executor of engines) await executor.stop()
  })
  const gpus = settings.gpus === 'none' ? [] : await findGpus(nvidiaSmi)
  const capabilities = await capabilitiesOf(settings, { dir, engines: engines.map(({ engine }) => engine), gpus })
  const done = Promise.withResolvers<void>()
  // It is waited for below; until then nobody has to listen.
  done.promise.catch(() => undefined)
  const ended = (error: NodeError | undefined): void => (error === undefined ? done.resolve() : done.reject(error))
  const service = new NodeService(
    {
      host,
      content,
      peers: exchange,
      hints,
      parking,
      store,
      workspace,
      executors: engines,
      signer,
      clock: systemClock,
      random: systemRandom,
      breath: turn,
      logger,
      ended,
      ...(recent === undefined ? {} : { before: recent.before })
    },
    {
      project: settings.project,
      addresses: settings.addresses,
      relays: bootstrap,
      known: () => record.bytes,
      onLan: (signal) => findOnLan(settings.project, signal),
      lookUp: bootstrap.length > 0,
      name: settings.name,
      agent: AGENT,
      slots: settings.slots,
      parkAfterMs: settings.parkAfterMs,
      boot: bootId(),
      keep: { bytesMax: settings.keepBytes ?? Math.min(KEEP_BYTES, Math.floor(capabilities.diskBytes / 10)), msMax: (settings.keepDays ?? KEEP_DAYS) * DAY_MS },
      stockBytesMax: settings.cacheBytes ?? Math.min(STOCK_BYTES, capabilities.diskBytes / 2),
      capabilities
    }
  )
  await serveContent(host, content, exchange)
  await hints.start()
  await serveLogs(host, settings.project, logSource(service, workspace.pathOf))

  const status = (): NodeStatus => ({
    ...service.view(),
    peerId: signer.peerId,
    name: settings.name,
    project: settings.project,
    engines: engines.map(({ engine }) => engine),
    processors: crowding.view(),
    addresses: host.addresses(),
    relays: host.relays(),
    exchange: exchange.view(),
    hints: hints.view()
  })
  const leave = (mode: 'finish' | 'now', graceMs?: number): void => {
    if (mode === 'now') service.quit()
    else service.drain(graceMs)
  }
  const closeControl = await openLocalControl(dir, { status, pause: (now) => service.pause(now), resume: () => service.resume(), stop: leave })
  opened.defer(closeControl)
  opened.defer(() => service.close())
  const stopWatching = watchFolder(dir, () => {
    logger.warn({ dir }, "the node's folder is gone: stopping")
    leave('now')
  })
  opened.defer(stopWatching)
  exchange.start()
  await service.start()
  recent?.watch(() => service.view().replicas.filter(({ phase }) => phase === 'running').length)
  logger.info({ peerId: signer.peerId, project: settings.project, dir }, 'the node has started')

  const all = opened.move()
  const stopped = done.promise.finally(() => all.disposeAsync())
  stopped.then(
    () => logger.info({}, 'the node has stopped'),
    (error: unknown) => logger.error({ code: error instanceof NodeError ? error.code : 'bug' }, messageOf(error))
  )
  return {
    peerId: signer.peerId,
    status,
    pause: (now) => service.pause(now),
    resume: () => service.resume(),
    async stop(mode, graceMs) {
      leave(mode, graceMs)
      await stopped
    },
    stopped
  }
}

async function enginesOf(settings: NodeSettings, tools: ExecutorTools): Promise<Executor[]> {
  const engines: Executor[] = []
  if (settings.engines.includes('docker'))
    engines.push(await createDockerExecutor({ ...tools, logger: { warn: (text: unknown) => tools.logger.warn({}, String(text)) } }))
  if (settings.engines.includes('process')) engines.push(createProcessExecutor(tools))
  return engines
}

function logSource(service: NodeService, pathOf: (replica: string) => string): LogSource {
  return {
    stateOf(replica) {
      const phase = service.phaseOf(replica)
      switch (phase) {
        case undefined:
          return undefined
        case 'preparing':
        case 'ready':
        case 'asking':
          return 'coming'
        case 'running':
        case 'killing':
          return 'running'
        case 'publishing':
        case 'reported':
          return 'complete'
      }
    },
    folderOf: pathOf
  }
}
