/** From what a person or program asks to the manifests and the policy that are submitted. Pure: every id is already resolved. */
import { DEFAULT_RESOURCES, type Dependency, type Engine, encodeManifest, type GpuNeeds, type Resources } from '#protocol/bundle/manifest'
import { COMPARED_RESULTS_MAX, DEFAULT_POLICY, policyFault, type TaskPolicy } from '#protocol/bundle/policy'
import { acceptCid } from '#protocol/content/cid'
import { ClientError } from '../errors.ts'

/** One input, shown read-only at `/in/<name>`. */
export interface Input {
  /** CID as text. */
  readonly root: string
  readonly path?: string
  /** Relative to the input, not to the root. */
  readonly executables?: readonly string[]
}

/** How the tasks of one batch are run and decided. */
export interface BatchOptions {
  readonly name?: string
  readonly policy?: Partial<TaskPolicy>
  /** Of the batch, by key. */
  readonly labels?: Readonly<Record<string, string>>
}

export interface TaskSpec extends BatchOptions {
  /** An image's id, unique prefix of it, or name; not for engine `process`. */
  readonly image?: string
  readonly command: readonly string[]
  /** `name -> ID[/path]`, a name given at upload, a finished task's id, or a path on this machine (`./data`), which is uploaded. */
  readonly inputs?: Readonly<Record<string, string | Input>>
  readonly environment?: Readonly<Record<string, string>>
  readonly resources?: Partial<Resources>
  /** Default `docker`. `process` runs the command on the volunteer's bare machine: only nodes that chose it take it. */
  readonly engine?: Engine
  /** Whether results must agree on what they print, too. Default true. */
  readonly compareStdout?: boolean
  /** System and architecture, like `linux/arm64`. Default: what the image is for; without one, that of the first node that gets it. */
  readonly platform?: string
  /** GPUs that each execution has for itself. Default none. */
  readonly gpus?: Partial<GpuNeeds>
}

export interface ResolvedSpec {
  readonly image: string | null
  readonly command: readonly string[]
  readonly inputs: Readonly<Record<string, Input>>
  readonly environment: Readonly<Record<string, string>>
  readonly resources: Partial<Resources>
  readonly engine: Engine
  readonly compareStdout: boolean
  readonly platform?: string
  readonly gpus?: Partial<GpuNeeds>
}

/** Canonical manifest bytes. Throws ManifestError when the result breaks the schema, ClientError `usage` before that. */
export function manifestOf(spec: ResolvedSpec): Uint8Array {
  const image = spec.image === null ? null : cid(spec.image, 'the image')
  const dependencies = Object.entries(spec.inputs).map(
    ([name, input]): Dependency => ({ name, root: cid(input.root, `input ${name}`), path: input.path ?? '', executables: [...(input.executables ?? [])] })
  )
  dependencies.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  return encodeManifest({
    kind: 'run',
    v: 1,
    engine: spec.engine,
    image,
    command: [...spec.command],
    dependencies,
    environment: { ...spec.environment },
    resources: { ...DEFAULT_RESOURCES, ...spec.resources },
    network: 'none',
    compareStdout: spec.compareStdout,
    ...(spec.platform === undefined ? {} : { platform: spec.platform }),
    ...(spec.gpus === undefined ? {} : { gpus: gpusOf(spec.gpus) })
  })
}

/** In the one spelling that a manifest has. */
function gpusOf({ count = 1, memoryBytes = 0, model = '', driver = '' }: Partial<GpuNeeds>): GpuNeeds {
  const version = driver
    .split('.')
    .map((part) => (/^\d+$/.test(part) ? String(Number(part)) : part))
    .join('.')
  return { count, memoryBytes, model: model.trim().toLowerCase(), driver: version.replace(/(?:\.0)+$/, '') }
}

function cid(text: string, what: string): NonNullable<ReturnType<typeof acceptCid>> {
  const accepted = acceptCid(text)
  if (accepted === undefined) throw new ClientError('usage', `${what}: ${JSON.stringify(text)} is not an id`)
  return accepted
}

const WEIGHING_TOTAL_RESULTS = 20
const WEIGHING_SUCCESS_RESULTS = 14

/**
 * The policy as asked, the rest filled so that it makes sense: a quorum of 1 issues one replica, a larger quorum raises the
 * limits that would make it unreachable. Throws ClientError `usage` when what was asked for contradicts itself.
 */
export function policyOf(asked: Partial<TaskPolicy> = {}): TaskPolicy {
  const named = asked.nodes?.length ?? 0
  // Results count only from different nodes.
  const minQuorum = asked.minQuorum ?? (named === 0 ? DEFAULT_POLICY.minQuorum : Math.min(DEFAULT_POLICY.minQuorum, named))
  const compare = asked.compare ?? DEFAULT_POLICY.compare
  const targetResults = asked.targetResults ?? minQuorum
  // Of new nodes five must agree where one decision in a thousand may be wrong.
  const weighs = (asked.doubtPpm ?? 0) > 0
  // With other memory it is tried anew.
  const tries = 2 + Number((asked.retryMemoryBytes ?? 0) > 0 && asked.guessMemory === true)
  const maxTotalResults =
    asked.maxTotalResults ?? Math.max(weighs ? WEIGHING_TOTAL_RESULTS : DEFAULT_POLICY.maxTotalResults, Math.min(64, tries * targetResults))
  // A guess that is wrong must leave room for the tries that follow.
  const guessMemory = asked.guessMemory === true && maxTotalResults >= tries * targetResults
  const policy: TaskPolicy = {
    minQuorum,
    targetResults,
    maxErrorResults: asked.maxErrorResults ?? DEFAULT_POLICY.maxErrorResults,
    maxTotalResults,
    maxSuccessResults:
      asked.maxSuccessResults ??
      Math.max(
        weighs ? WEIGHING_SUCCESS_RESULTS : DEFAULT_POLICY.maxSuccessResults,
        Math.min(compare === null ? 64 : COMPARED_RESULTS_MAX, Math.max(2 * minQuorum, targetResults))
      ),
    priority: asked.priority ?? DEFAULT_POLICY.priority,
    nodes: [...(asked.nodes ?? DEFAULT_POLICY.nodes)],
    queueLimitMs: asked.queueLimitMs ?? DEFAULT_POLICY.queueLimitMs,
    force: asked.force ?? DEFAULT_POLICY.force,
    independence: asked.independence ?? DEFAULT_POLICY.independence,
    tags: [...new Set(asked.tags ?? DEFAULT_POLICY.tags)].sort(),
    deadlineMs: asked.deadlineMs ?? DEFAULT_POLICY.deadlineMs,
    estimateMs: asked.estimateMs ?? DEFAULT_POLICY.estimateMs,
    retryMemoryBytes: asked.retryMemoryBytes ?? DEFAULT_POLICY.retryMemoryBytes,
    guessMemory,
    compare,
    copies: asked.copies ?? DEFAULT_POLICY.copies,
    sameClass: asked.sameClass ?? DEFAULT_POLICY.sameClass,
    adaptive: asked.adaptive ?? DEFAULT_POLICY.adaptive,
    commit: asked.commit ?? DEFAULT_POLICY.commit,
    trust: asked.trust ?? DEFAULT_POLICY.trust,
    checkpointMs: asked.checkpointMs ?? DEFAULT_POLICY.checkpointMs,
    doubtPpm: asked.doubtPpm ?? DEFAULT_POLICY.doubtPpm
  }
  const fault = policyFault(policy)
  if (fault !== undefined) throw new ClientError('usage', fault)
  return policy
}

/** Executables of a tree as they are seen from `path` below its root. */
export function executablesBelow(executables: readonly string[], path: string): string[] {
  if (path === '') return [...executables]
  const prefix = `${path}/`
  // '' names the input itself: one executable file.
  return executables.filter((file) => file === path || file.startsWith(prefix)).map((file) => file.slice(prefix.length))
}
