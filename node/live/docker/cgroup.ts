/**
 * What a container used and which limits it hit, read from the kernel's files: 0.3 ms, where the engine's own statistics
 * take a second. A parent group of ours around each container keeps the totals after its end (root and cgroupfs only);
 * elsewhere the last look while it ran counts. Unknown values are 0.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const ROOT = '/sys/fs/cgroup'
const PARENT = 'talko'
const REMOVE_TRIES = 20
const REMOVE_PAUSE_MS = 50

export interface Usage {
  readonly cpuMs: number
  readonly memoryPeakBytes: number
  /** Most processes at once. */
  readonly pidsPeak: number
  /** Forks refused for the limit's sake. */
  readonly pidsRefused: number
}

export const NO_USAGE: Usage = { cpuMs: 0, memoryPeakBytes: 0, pidsPeak: 0, pidsRefused: 0 }

/** Paths of one group: the unified one, or one for each controller of version 1. */
type Group = (controller: 'cpu' | 'memory' | 'pids') => string | undefined

function unified(): boolean {
  return existsSync(join(ROOT, 'cgroup.controllers'))
}

/** The engine's option that puts a container below a group of ours. */
export function cgroupParent(container: string): string {
  return `/${PARENT}/${container}`
}

/** Totals of our parent group, kept after the container's end; undefined where there is none. */
export function parentUsage(container: string): Usage | undefined {
  const group = groupAt(`${PARENT}/${container}`)
  return existsSync(group('memory') ?? '') ? read(group) : undefined
}

/** A running container where engines put them: below our parent group, or at either driver's usual place. */
export function containerUsage(container: string, id: string): Usage | undefined {
  for (const path of [`${PARENT}/${container}/${id}`, `system.slice/docker-${id}.scope`, `docker/${id}`]) {
    const group = groupAt(path)
    if (existsSync(group('pids') ?? '')) return read(group)
  }
  return undefined
}

/** A running container wherever else the engine put it, by a process in it. */
export async function processUsage(pid: number): Promise<Usage | undefined> {
  const text = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const paths = new Map<string, string>()
  for (const line of text.trim().split('\n')) {
    const [, controllers = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    for (const controller of controllers.split(',')) paths.set(controller, path)
  }
  if (unified()) {
    const path = paths.get('')
    return path === undefined || path === '/' ? undefined : read(() => join(ROOT, path))
  }
  return read((controller) => {
    const name = controller === 'cpu' ? 'cpuacct' : controller
    const path = paths.get(name)
    return path === undefined || path === '/' ? undefined : join(ROOT, name, path)
  })
}

function groupAt(path: string): Group {
  if (unified()) return () => join(ROOT, path)
  return (controller) => join(ROOT, controller === 'cpu' ? 'cpuacct' : controller, path)
}

function read(group: Group): Usage {
  const [cpu, memory, pids] = [group('cpu'), group('memory'), group('pids')]
  const cpuNs = number(cpu, 'cpuacct.usage') ?? (number(cpu, 'cpu.stat', /^usage_usec (\d+)/m) ?? 0) * 1000
  return {
    cpuMs: Math.round(cpuNs / 1e6),
    memoryPeakBytes: number(memory, 'memory.max_usage_in_bytes') ?? number(memory, 'memory.peak') ?? number(memory, 'memory.current') ?? 0,
    pidsPeak: number(pids, 'pids.peak') ?? number(pids, 'pids.current') ?? 0,
    pidsRefused: number(pids, 'pids.events', /^max (\d+)/m) ?? 0
  }
}

function number(folder: string | undefined, name: string, pattern = /^(\d+)/): number | undefined {
  if (folder === undefined) return undefined
  try {
    const digits = pattern.exec(readFileSync(join(folder, name), 'utf8'))?.[1]
    return digits === undefined ? undefined : Number(digits)
  } catch {
    return undefined
  }
}

/** Removes the parent group of a container that is gone; it may take the kernel a moment to let go. */
export async function removeParent(container: string): Promise<void> {
  const folders = parentFolders().map((folder) => join(folder, container))
  for (let tries = 0; tries < REMOVE_TRIES; tries++) {
    const left = folders.filter((folder) => existsSync(folder))
    if (left.length === 0) return
    await Promise.all(left.map((folder) => rmdir(folder).catch(() => undefined)))
    if (left.some((folder) => existsSync(folder))) await pause(REMOVE_PAUSE_MS)
  }
}

/** Names of the parent groups that begin so: what a node left behind. */
export function parentNames(prefix: string): readonly string[] {
  const names = parentFolders().flatMap((folder) => (existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []))
  return [...new Set(names.filter((entry) => entry.isDirectory() && entry.name.startsWith(prefix)).map(({ name }) => name))]
}

function parentFolders(): readonly string[] {
  if (unified()) return [join(ROOT, PARENT)]
  try {
    return readdirSync(ROOT).map((controller) => join(ROOT, controller, PARENT))
  } catch {
    return []
  }
}
