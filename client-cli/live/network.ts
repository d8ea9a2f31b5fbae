/** A local network: one project server and N nodes as background processes, each in a folder of its own under one. */
import { mkdir, open, readdir, readFile, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '#protocol/message-of'
import { type Invite, shareable } from '../client/invite.ts'
import { ClientError } from '../errors.ts'
import { type DaemonRecord, readDaemon, runningDaemon, startDaemon, stopDaemon, untilReady } from './daemon.ts'
import { readIfThere, readJson, writeWhole } from './files.ts'
import type { Home } from './home.ts'
import { askNode } from './node-control.ts'
import { isRunning, ownProcess, type ProcessId } from './process.ts'

/** On a slow machine the processes start one after the other; more than this and something is wrong. */
const READY_MS_MAX = 60_000
const ANY_PORT = '/ip4/127.0.0.1/tcp/0'

/** What nodes lend. */
export interface NodeOptions {
  readonly engines?: readonly ('docker' | 'process')[]
  readonly slots?: number
}

export interface NetworkOptions {
  readonly dir: string
  readonly home: Home
  readonly nodes: number
  /** For all of them, also those that are there already, which are started anew where it changes something. What it does not say stays. */
  readonly given: NodeOptions
  readonly signal: AbortSignal
  readonly say: (line: string) => void
}

export interface Network {
  readonly invite: Invite
  readonly projectDir: string
  readonly nodes: readonly { readonly dir: string; readonly peer: string; readonly started: boolean }[]
}

export function localDir(dir: string | undefined, home: Home): string {
  return dir ?? join(home.dir, 'local')
}

/** Starts what does not run yet. Ready when every node is connected to the project. */
export async function startNetwork(options: NetworkOptions): Promise<Network> {
  const { dir, home, nodes, say } = options
  await mkdir(dir, { recursive: true })
  const unlock = await lock(dir)
  try {
    const projectDir = join(dir, 'project')
    const project = await startProject(projectDir, options)
    const invite = { project: project.peer ?? '', addresses: shareable(project.addresses ?? []), bootstrap: [] }
    await home.choose(invite)
    say(`project server ${project.pid} serves ${invite.project}`)
    const started = await Promise.all(
      Array.from({ length: nodes }, (_, index) => startNode(join(dir, `node-${index + 1}`), `local-${index + 1}`, invite, options))
    )
    return { invite, projectDir, nodes: started }
  } finally {
    await unlock()
  }
}

async function startProject(dir: string, { home, signal, say }: NetworkOptions): Promise<DaemonRecord> {
  const running = await runningDaemon(dir)
  if (running?.addresses !== undefined) return running
  const path = join(dir, 'project.json')
  if ((await readIfThere(path)) === undefined) {
    const { initProject } = await import('#project-server/main')
    await initProject(dir, { name: 'local', owners: [(await home.signer()).peerId], listen: [ANY_PORT] })
  }
  const start = async (listen?: string): Promise<DaemonRecord> => {
    const id = await startDaemon(dir, 'project', ['serve', dir, ...(listen === undefined ? [] : ['--listen', listen]), '--home', home.dir])
    return untilReady(
      dir,
      id,
      READY_MS_MAX,
      async () => {
        const record = await readDaemon(dir)
        return record?.addresses !== undefined && record.pid === id.pid ? record : undefined
      },
      signal
    )
  }
  const kept = await readListen(path)
  try {
    const record = await start()
    if (kept === ANY_PORT) await keepPort(path, record.addresses ?? [])
    return record
  } catch (error) {
    if (signal.aborted || kept === undefined || kept === ANY_PORT) throw error
    const record = await start(ANY_PORT)
    await keepPort(path, record.addresses ?? [])
    say(`${messageOf(error)}; from now on it listens on ${shareable(record.addresses ?? []).join(', ')}`)
    return record
  }
}

/** The one address of a local project's file; undefined when the file says something else. */
async function readListen(path: string): Promise<string | undefined> {
  const file = (await readJson(path)) as { listen?: unknown } | null | undefined
  const listen: unknown[] = Array.isArray(file?.listen) ? file.listen : []
  return listen.length === 1 && typeof listen[0] === 'string' ? listen[0] : undefined
}

/** A port once chosen is kept in the project's file, so that nodes and invites find a server that was started again. */
async function keepPort(path: string, addresses: readonly string[]): Promise<void> {
  const listen = shareable(addresses)
  const before = await readJson(path)
  if (listen.length === 0 || typeof before !== 'object' || before === null) return
  await writeWhole(path, `${JSON.stringify({ ...before, listen }, undefined, 2)}\n`)
}

async function startNode(dir: string, name: string, invite: Invite, options: NetworkOptions): Promise<Network['nodes'][number]> {
  const before = await runningDaemon(dir)
  const changed = await settle(dir, name, invite, options)
  if (changed && before !== undefined) await stopNode(dir, before)
  const running = changed ? undefined : before
  const id = running ?? (await startDaemon(dir, 'node', ['node', 'start', dir]))
  const status = await untilReady(
    dir,
    { logFrom: 0, ...id },
    READY_MS_MAX,
    async () => {
      const now = await askNode(dir, 'GET', '/status').catch(() => undefined)
      return now?.connected === true ? now : undefined
    },
    options.signal
  )
  if (typeof status.trouble === 'string' && status.trouble !== '') options.say(`${name}: ${status.trouble}`)
  return { dir, peer: String(status.peerId), started: running === undefined }
}

/** Makes the node's folder; one whose project has moved to another port is told the new address, as it is told what else is given, and then the answer is true. */
async function settle(dir: string, name: string, invite: Invite, { given }: NetworkOptions): Promise<boolean> {
  const path = join(dir, 'node.json')
  const before = await readIfThere(path)
  if (before === undefined) {
    const { initNode } = await import('#node/main')
    await initNode(dir, { project: invite.project, addresses: invite.addresses, name, slots: 1, engines: ['docker'], ...given })
    return false
  }
  let known: { project?: unknown; addresses?: unknown }
  try {
    known = JSON.parse(before)
  } catch (cause) {
    throw new ClientError('usage', `${path} is not JSON; correct it, or remove ${dir} and start again`, { cause })
  }
  if (known.project !== invite.project) throw new ClientError('refused', `${dir} is a node of another project; remove the folder, or use --dir`)
  const settings = { ...known, addresses: invite.addresses, ...given }
  if (JSON.stringify(settings) === JSON.stringify(known)) return false
  await writeWhole(path, `${JSON.stringify(settings, undefined, 2)}\n`)
  return true
}

/** Stops everything of the network that runs: nodes first, so that the project sees them leave. */
export async function stopNetwork(dir: string): Promise<readonly DaemonRecord[]> {
  const found = await daemonsOf(dir)
  const running = found.map(({ record }) => record).filter(isRunning)
  await Promise.all(found.filter(({ record }) => record.role === 'node' && isRunning(record)).map(({ folder, record }) => stopNode(folder, record)))
  await Promise.all(running.filter(({ role }) => role === 'project').map((id) => stopDaemon(id)))
  return running
}

/** Deletes what `up` made, and the folder itself when nothing else is in it. */
export async function deleteNetwork(dir: string): Promise<void> {
  const names = await readdir(dir).catch(() => [])
  for (const name of names.filter(isOurs)) await rm(join(dir, name), { recursive: true, force: true })
  await rmdir(dir).catch(() => {})
}

function isOurs(name: string): boolean {
  return name === 'project' || name === 'up.lock' || /^node-\d+$/.test(name)
}

/** Ends what it runs and gives it back, instead of finishing it as after a mere signal. */
async function stopNode(folder: string, record: DaemonRecord): Promise<void> {
  await askNode(folder, 'POST', '/stop?mode=now').catch(() => undefined)
  await stopDaemon(record)
}

/** The daemons recorded in the folders of a network, running or not. */
export async function networkDaemons(dir: string): Promise<DaemonRecord[]> {
  return (await daemonsOf(dir)).map(({ record }) => record)
}

async function daemonsOf(dir: string): Promise<{ readonly folder: string; readonly record: DaemonRecord }[]> {
  const names = await readdir(dir).catch(() => [])
  const folders = names.filter(isOurs).map((name) => join(dir, name))
  const found = await Promise.all(folders.map(async (folder) => ({ folder, record: await readDaemon(folder) })))
  return found.flatMap(({ folder, record }) => (record === undefined ? [] : [{ folder, record }]))
}

/** One `up` at a time for a folder; a lock whose owner is gone does not count. */
async function lock(dir: string): Promise<() => Promise<void>> {
  const path = join(dir, 'up.lock')
  for (let attempt = 0; ; attempt++) {
    try {
      const file = await open(path, 'wx')
      await file.writeFile(JSON.stringify(ownProcess()))
      await file.close()
      return () => rm(path, { force: true })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
      const owner = ownerOf(await readFile(path, 'utf8').catch(() => ''))
      if (attempt > 0 || (owner !== undefined && isRunning(owner))) throw new ClientError('refused', `another talko up is at work in ${dir}; wait for it`)
      await rm(path, { force: true })
    }
  }
}

function ownerOf(text: string): ProcessId | undefined {
  try {
    const { pid, started }: Partial<ProcessId> = JSON.parse(text)
    return typeof pid === 'number' && typeof started === 'string' ? { pid, started } : undefined
  } catch {
    return undefined
  }
}
