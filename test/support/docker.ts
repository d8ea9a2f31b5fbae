import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Docker from 'dockerode'
import type { CID } from 'multiformats/cid'
import { createDockerExecutor } from '#node/live/docker/executor'
import type { Ended, Execution, Executor } from '#node/ports'
import { DEFAULT_RESOURCES, type Resources, type RunManifest } from '#protocol/bundle/manifest'
import type { ContentStore } from '#protocol/content/content'
import { openContentStore } from '#protocol/content/live/store'
import { importBusybox } from './busybox-image.ts'

export const TEST_LABELS = { 'talko.test': '1' }

/** For the `skip` option of tests that need a Docker engine: false where one answers. In CI the engine must answer: there it throws. */
export async function skipWithoutDocker(): Promise<string | false> {
  try {
    await new Docker().ping()
    return false
  } catch (cause) {
    if (process.env.CI !== undefined) throw new Error('no Docker engine answers, and in CI one must', { cause })
    console.error('SKIPPED: no Docker engine answers, so nothing is known about containers; run the set-up script')
    return 'no Docker engine answers'
  }
}

export interface DockerFixture {
  readonly folder: string
  readonly store: ContentStore
  readonly image: CID
  readonly docker: Docker
  readonly nodeId: string
  /** One more executor of the same node: what a restarted node has. */
  executor(change?: { nodeId?: string; socketPath?: string; logger?: { warn(text: string): void } }): Promise<Executor>
  /** A replica that has not run, with its folder. */
  execution(command: readonly string[], change?: ManifestChange): Promise<Execution>
  close(): Promise<void>
}

export interface ManifestChange {
  readonly resources?: Partial<Resources>
  readonly manifest?: Partial<RunManifest>
  readonly inputs?: Execution['inputs']
  readonly replica?: string
}

const SMALL: Partial<Resources> = { memoryBytes: 64 * 1024 ** 2, timeMs: 30_000, diskBytes: 32 * 1024 ** 2, pids: 48 }

/** A store with the busybox image, and executors of one node on the machine's engine; `close` removes every container of that node. */
export async function dockerFixture(): Promise<DockerFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'talko-docker-'))
  const store = await openContentStore(join(folder, 'content'))
  const { image } = await importBusybox(store, join(folder, 'images'))
  const nodeId = `test-${folder.slice(-6)}`
  const made: Executor[] = []
  let replicas = 0
  const fixture: DockerFixture = {
    folder,
    store,
    image,
    docker: new Docker(),
    nodeId,
    async executor(change = {}) {
      const executor = await createDockerExecutor({ store, nodeId, folder, labels: TEST_LABELS, ...change })
      made.push(executor)
      return executor
    },
    async execution(command, { resources = {}, manifest = {}, inputs = [], replica = `aaaaaaaaaaaaaaaaaaaaaaaaaa.${replicas++}.1` } = {}) {
      const place = join(folder, 'run', replica)
      await mkdir(place, { recursive: true, mode: 0o700 })
      return { replica, inputs, folder: place, manifest: manifestOf(image, command, { ...SMALL, ...resources }, manifest) }
    },
    async close() {
      const cleaner = await createDockerExecutor({ store, nodeId, folder })
      await Promise.all([...made, cleaner].map((executor) => executor.stop()))
      await cleaner.sweep(new Set())
      await store.close()
      await rm(folder, { recursive: true, force: true })
    }
  }
  return fixture
}

export function manifestOf(image: CID, command: readonly string[], resources: Partial<Resources> = {}, change: Partial<RunManifest> = {}): RunManifest {
  return {
    kind: 'run',
    v: 1,
    engine: 'docker',
    image,
    command,
    dependencies: [],
    environment: {},
    resources: { ...DEFAULT_RESOURCES, ...resources },
    network: 'none',
    compareStdout: false,
    ...change
  }
}

export interface Finished extends Ended {
  readonly stdout: string
  readonly stderr: string
}

/** Runs one replica to its end and removes its container. */
export async function runToEnd(executor: Executor, execution: Execution): Promise<Finished> {
  await executor.prepare(execution.manifest, new AbortController().signal)
  const running = await executor.start(execution)
  // One that the engine gives up on is removed like any other.
  const ended = await running.ended.finally(() => executor.remove(execution.replica))
  return { ...ended, ...(await printed(execution)) }
}

/** What its files hold. */
export async function printed({ folder }: Execution): Promise<{ stdout: string; stderr: string }> {
  return { stdout: await readFile(join(folder, 'stdout'), 'utf8'), stderr: await readFile(join(folder, 'stderr'), 'utf8') }
}

/** Asserts how a run ended, showing what it printed when it ended otherwise. */
export function assertEnd(finished: Finished, reason: Ended['reason'], exitCode?: number): void {
  const facts = `${finished.reason} ${finished.exitCode}\n${finished.stdout}\n${finished.stderr}`
  assert.equal(finished.reason, reason, facts)
  if (exitCode !== undefined) assert.equal(finished.exitCode, exitCode, facts)
}
