/** What a submission would be, for --dry-run. */
import { decodeManifest, manifestCid } from '#protocol/bundle/manifest'
import type { TaskPolicy } from '#protocol/bundle/policy'
import type { Source, Sources } from '#protocol/bundle/sources'
import { policyOf } from '../client/spec.ts'
import type { Io } from '../output/io.ts'
import { formatBytes, formatCommand, formatDuration, formatGpus } from '../output/text.ts'

export interface Plan {
  readonly manifests: readonly Uint8Array[]
  /** Tasks in all: each manifest so often. */
  readonly count: number
  readonly policy: Partial<TaskPolicy>
  readonly name: string
  /** What tasks take from others that are not over yet, by their index. */
  readonly sources?: ReadonlyMap<number, Sources>
  readonly labels?: Readonly<Record<string, string>>
}

/** Prints the bundles' ids on stdout, and what they would do on stderr. */
export function describePlan(io: Io, plan: Plan): void {
  const policy = policyOf(plan.policy)
  const bundles = plan.manifests.map((bytes) => ({ id: manifestCid(bytes).toString(), manifest: decodeManifest(bytes) }))
  if (io.json) {
    const shown = bundles.map(({ id, manifest }, index) => ({
      bundle: id,
      ...(plan.sources?.has(index) === true ? { sources: plan.sources.get(index) } : {}),
      ...manifest,
      image: manifest.image?.toString() ?? null,
      dependencies: manifest.dependencies.map((dependency) => ({ ...dependency, root: dependency.root.toString() }))
    }))
    io.outJson({
      dryRun: true,
      tasks: plan.count * bundles.length,
      name: plan.name,
      policy,
      ...(plan.labels === undefined ? {} : { labels: plan.labels }),
      bundles: shown
    })
    return
  }
  for (const [index, { id, manifest }] of bundles.entries()) {
    const { image, command, dependencies, environment, resources, platform, gpus } = manifest
    io.out(id)
    io.say(`  would run ${formatCommand(command)} ${image === null ? 'on the bare machine' : `in image ${image}`}`)
    for (const { name, root, path } of dependencies) io.say(`  /in/${name} is ${root}${path === '' ? '' : `/${path}`}`)
    for (const source of plan.sources?.get(index)?.list ?? []) io.say(`  ${sourceText(source)}`)
    for (const [name, value] of Object.entries(environment)) io.say(`  ${name}=${value}`)
    io.say(
      `  with ${resources.cpuMillis / 1000} ${resources.cpuMillis === 1000 ? 'CPU' : 'CPUs'}, ${formatBytes(resources.memoryBytes)} memory, ${formatBytes(resources.diskBytes)} disk, ${formatDuration(resources.timeMs)}`
    )
    if (platform !== undefined) io.say(`  on ${platform}`)
    if (gpus !== undefined) io.say(`  with ${formatGpus(gpus)}`)
  }
  if (policy.tags.length > 0) io.say(`on nodes with ${policy.tags.length === 1 ? 'the tag' : 'the tags'} ${policy.tags.join(', ')}`)
  if (policy.deadlineMs > 0) io.say(`on nodes that are expected to be done in ${formatDuration(policy.deadlineMs)}`)
  const tasks = plan.count * bundles.length
  io.say(`${tasks} ${tasks === 1 ? 'task' : 'tasks'}, quorum ${policy.minQuorum}, at most ${policy.maxTotalResults} executions each; nothing was submitted`)
}

/** Tasks of the same submission by their number in what is shown, from 0. */
function sourceText({ name, of, from, count, part, path }: Source): string {
  const whom = of !== '' ? of : count === 1 ? `task ${from}` : `tasks ${from} to ${from + count - 1}`
  if (part === 'after') return `after ${whom}`
  return `/in/${name} is what ${whom} ${part === 'stdout' ? 'prints' : 'leaves'}${path === '' ? '' : ` at ${path}`}`
}
