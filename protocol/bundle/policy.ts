import { type CompareRules, rulesFault } from '../compare/rules.ts'
import { acceptCid, DAG_CBOR } from '../content/cid.ts'

/** How a task is decided. Chosen by the owner at submission; the numbers are BOINC's (and DCS's K), with its defaults. */
export interface TaskPolicy {
  /** Agreeing results from different nodes that decide a task (BOINC min_quorum). */
  readonly minQuorum: number
  /** Replicas issued at first (BOINC target_nresults). */
  readonly targetResults: number
  /** K: attempts that may fail, be lost or straggle before the task fails (DCS; BOINC max_error_results). */
  readonly maxErrorResults: number
  /** Replicas issued in all (BOINC max_total_results). */
  readonly maxTotalResults: number
  /** Valid-looking results without agreement before the task fails for want of agreement (BOINC max_success_results). */
  readonly maxSuccessResults: number
  /** Higher first; FIFO within. */
  readonly priority: number
  /** Peer ids of nodes that may run it; empty for any. */
  readonly nodes: readonly string[]
  /** A task that no node was given in this time is killed, in milliseconds from its submission or last release; 0: it waits for ever. */
  readonly queueLimitMs: number
  /** Run it although the same bundle was decided before. */
  readonly force: boolean
  /** Nodes of one owner, or that call from one network, are one voice (BOINC one_result_per_user_per_wu). `prefer`: other nodes are waited for a while; `require`: their votes count as one. */
  readonly independence: Independence
  /** How outputs are compared whose ids differ; null: they do not agree. */
  readonly compare: Comparing | null
  /** All runs of a task go to hosts of one class (BOINC's homogeneous redundancy). `platform`: system and processor kind; `cpu`: vendor and family of the processor, and the kinds of GPU, too. */
  readonly sameClass: SameClass
  /** Tags that a node must have, each once, in the order of their characters; empty for any node. */
  readonly tags: readonly string[]
  /** How long a replica may take to start, and from its start to its result, in milliseconds (BOINC delay_bound); 0 for the project's own bounds. A node that is not expected to make it is not asked. */
  readonly deadlineMs: number
  /** When runs are copied to nodes that would be idle. */
  readonly copies: CopyRule
  /** A node whose results were confirmed often enough decides alone, and is checked now and then (BOINC's adaptive replication). */
  readonly adaptive: boolean
  /** How many decisions in a million may be wrong, if one new node in five lies and all liars agree: votes of nodes with few confirmed results weigh less, and more of them are asked for (Sarmenta's credibility). 0: votes are counted, not weighed. */
  readonly doubtPpm: number
  /** What a run takes, as its owner expects, in milliseconds; 0 when nobody said. Orders what local nodes take, and tells what takes far too long while too few runs have ended to know; it ends nothing. */
  readonly estimateMs: number
  /** A task of which a run was ended for its memory is tried once more with so much, which is more than its bundle says, in bytes; 0: it is not. */
  readonly retryMemoryBytes: number
  /** Its owner did not say how much memory a run needs: it gets what earlier runs of the program took, and a little more, where that is known. Where that is not enough, it is tried once with what its bundle says. */
  readonly guessMemory: boolean
  /** Of which nodes it may run on, as they are believed when they get it. */
  readonly trust: TrustClass
  /** Each node commits itself to its result before any of a quorum says its own: what one says cannot be copied by the others. */
  readonly commit: boolean
  /** Its runs may leave snapshots of themselves, from which another node goes on: so long from one to the next, in milliseconds; 0: they may not. */
  readonly checkpointMs: number
}

/** A snapshot each second costs a disk and a line more than any run would lose; one a day is hardly one. */
export const CHECKPOINT_MS_MIN = 1_000
export const CHECKPOINT_MS_MAX = 86_400_000

/** Tags of a task or a node; groups of a client or a node, which are named alike. */
export const TAGS_MAX = 32
const TAG = /^[A-Za-z0-9][A-Za-z0-9._:=/-]{0,62}$/
/** As a manifest may ask for. */
const MEMORY_BYTES_MAX = 2 ** 50
/** A year, as for time limits. */
const DEADLINE_MS_MAX = 365 * 86_400_000

export function isTag(text: string): boolean {
  return TAG.test(text)
}

/**
 * - `tolerance`: file by file by the owner's rules (protocol/compare).
 * - `program`: by a program of the owner's, run on the project's own machine; `bundle` is the id of its manifest (protocol/compare/program.ts).
 */
export type Comparing = { readonly kind: 'tolerance'; readonly rules: CompareRules } | { readonly kind: 'program'; readonly bundle: string }

/** Results of one task that are compared with each other: all sets of them are looked at. */
export const COMPARED_RESULTS_MAX = 16

export type SameClass = (typeof SAME_CLASSES)[number]
export const SAME_CLASSES = ['no', 'platform', 'cpu'] as const

/**
 * - `any`: whoever the project lets in.
 * - `trusted`: nodes with as many results in a row that others confirmed as the project believes one alone with (`trustedAfter`), the administrator's, and the client's own.
 * - `own`: nodes that prove that they are the client's.
 */
export type TrustClass = (typeof TRUST_CLASSES)[number]
/** From the widest to the narrowest: each takes less than the one before. */
export const TRUST_CLASSES = ['any', 'trusted', 'own'] as const

export type Independence = (typeof INDEPENDENCES)[number]
export const INDEPENDENCES = ['prefer', 'require'] as const

/**
 * - `never`.
 * - `tail`: of the last tasks of a batch, what takes longer than others did, or is on a node that is known to be slow.
 * - `idle`: whatever runs (DCS's copies on idle clients).
 */
export type CopyRule = (typeof COPY_RULES)[number]
export const COPY_RULES = ['never', 'tail', 'idle'] as const

/** BOINC's defaults (db/boinc_db_types.h and its project documentation); K = 3 is DCS's. Copies cost volunteers' electricity, and only the last tasks of a batch are waited for: so they alone are copied. */
export const DEFAULT_POLICY: TaskPolicy = {
  minQuorum: 2,
  targetResults: 2,
  maxErrorResults: 3,
  maxTotalResults: 8,
  maxSuccessResults: 6,
  priority: 0,
  nodes: [],
  queueLimitMs: 0,
  force: false,
  independence: 'prefer',
  tags: [],
  deadlineMs: 0,
  estimateMs: 0,
  retryMemoryBytes: 0,
  guessMemory: false,
  compare: null,
  copies: 'tail',
  sameClass: 'no',
  adaptive: false,
  doubtPpm: 0,
  commit: false,
  trust: 'any',
  checkpointMs: 0
}

/** How a task gets there, not what its result is worth. */
const BY_THE_WAY: ReadonlySet<string> = new Set<keyof TaskPolicy>([
  'targetResults',
  'maxErrorResults',
  'maxTotalResults',
  'maxSuccessResults',
  'priority',
  'queueLimitMs',
  'deadlineMs',
  'estimateMs',
  'retryMemoryBytes',
  'guessMemory',
  'copies',
  'checkpointMs',
  'force'
])

/** Whether what was decided under one policy is as good as what another asks for: at least its quorum, of voices as independent, of nodes that it would have taken. Whatever else tells what a result is worth must be equal. */
export function covers(had: TaskPolicy, asked: TaskPolicy): boolean {
  if (had.minQuorum < asked.minQuorum) return false
  if (asked.commit && !had.commit) return false
  if (asked.independence === 'require' && had.independence !== 'require') return false
  if (TRUST_CLASSES.indexOf(had.trust) < TRUST_CLASSES.indexOf(asked.trust)) return false
  if (!asked.tags.every((tag) => had.tags.includes(tag))) return false
  if (asked.nodes.length > 0 && (had.nodes.length === 0 || !had.nodes.every((node) => asked.nodes.includes(node)))) return false
  const rest = (policy: TaskPolicy): string =>
    JSON.stringify(
      Object.entries(policy)
        .filter(([name]) => !BY_THE_WAY.has(name) && !COMPARED.has(name))
        .sort(([a], [b]) => (a < b ? -1 : 1))
    )
  return rest(had) === rest(asked)
}

const COMPARED: ReadonlySet<string> = new Set<keyof TaskPolicy>(['minQuorum', 'independence', 'tags', 'nodes', 'commit', 'trust'])

/** Ten years: whoever waits longer means for ever. */
const QUEUE_LIMIT_MS_MAX = 10 * 366 * 86_400_000

/** Why the policy makes no sense, for the person who wrote it; undefined when it does. */
export function policyFault(policy: TaskPolicy): string | undefined {
  const { minQuorum, targetResults, maxErrorResults, maxTotalResults, maxSuccessResults } = policy
  const small = (value: number): boolean => Number.isSafeInteger(value) && value >= 1 && value <= 64
  if (![minQuorum, targetResults, maxErrorResults, maxTotalResults, maxSuccessResults].every(small))
    return 'quorum, target, error, total and success limits are whole numbers from 1 to 64'
  if (targetResults < minQuorum) return `the target of ${targetResults} replicas cannot reach a quorum of ${minQuorum}`
  if (maxTotalResults < targetResults) return `at most ${maxTotalResults} replicas in all is less than the ${targetResults} issued at first`
  if (maxSuccessResults < minQuorum) return `giving up after ${maxSuccessResults} results is before a quorum of ${minQuorum}`
  if (!Number.isSafeInteger(policy.priority) || Math.abs(policy.priority) > 1_000_000) return 'the priority is a whole number from -1000000 to 1000000'
  if (!Number.isSafeInteger(policy.queueLimitMs) || policy.queueLimitMs < 0 || policy.queueLimitMs > QUEUE_LIMIT_MS_MAX)
    return 'the queue limit is a time of at most ten years, or 0 for none'
  if (!COPY_RULES.includes(policy.copies)) return `copies are made ${COPY_RULES.join(', ')}`
  if (policy.nodes.length > 64) return 'at most 64 nodes can be named'
  const named = new Set(policy.nodes).size
  if (named > 0 && named < minQuorum)
    return `a quorum of ${minQuorum} needs as many nodes, and ${named} ${named === 1 ? 'is' : 'are'} named: name more, or ask for a smaller quorum`
  if (policy.compare !== null) {
    const fault = comparingFault(policy.compare)
    if (fault !== undefined) return fault
    if (maxSuccessResults > COMPARED_RESULTS_MAX) return `of results that are compared with each other at most ${COMPARED_RESULTS_MAX} may come`
  }
  if (!SAME_CLASSES.includes(policy.sameClass)) return `the class of hosts is one of ${SAME_CLASSES.join(', ')}`
  if (policy.compare !== null && (policy.adaptive || policy.doubtPpm > 0))
    return 'results that are compared with each other are counted: neither believed alone nor weighed'
  if (typeof policy.adaptive !== 'boolean') return 'adaptive is true or false'
  if (typeof policy.commit !== 'boolean') return 'commit is true or false'
  if (!Number.isSafeInteger(policy.doubtPpm) || policy.doubtPpm < 0 || policy.doubtPpm > 500_000)
    return 'the doubt is at most 500000 in a million, or 0 to count votes'
  if (!TRUST_CLASSES.includes(policy.trust)) return `trust is one of ${TRUST_CLASSES.join(', ')}`
  if (!INDEPENDENCES.includes(policy.independence)) return `independence is one of ${INDEPENDENCES.join(', ')}`
  if (policy.tags.length > TAGS_MAX) return `at most ${TAGS_MAX} tags can be asked for`
  const bad = policy.tags.find((tag) => !isTag(tag))
  if (bad !== undefined) return `${JSON.stringify(bad.slice(0, 64))} is no tag: 1 to 63 letters, digits and . _ : = / -, the first a letter or digit`
  if (policy.tags.some((tag, at) => at > 0 && tag <= (policy.tags[at - 1] ?? ''))) return 'tags are named once each, in the order of their characters'
  if (!Number.isSafeInteger(policy.deadlineMs) || policy.deadlineMs < 0 || policy.deadlineMs > DEADLINE_MS_MAX)
    return `the deadline is a whole number of milliseconds up to ${DEADLINE_MS_MAX}, 0 for none`
  if (!Number.isSafeInteger(policy.estimateMs) || policy.estimateMs < 0 || policy.estimateMs > DEADLINE_MS_MAX)
    return `the estimate is a whole number of milliseconds up to ${DEADLINE_MS_MAX}, 0 for none`
  const { retryMemoryBytes } = policy
  if (!Number.isSafeInteger(retryMemoryBytes) || retryMemoryBytes < 0 || retryMemoryBytes > MEMORY_BYTES_MAX)
    return `the memory for another try is a whole number of bytes up to ${MEMORY_BYTES_MAX}, 0 for no other try`
  const { checkpointMs } = policy
  if (!Number.isSafeInteger(checkpointMs) || (checkpointMs !== 0 && (checkpointMs < CHECKPOINT_MS_MIN || checkpointMs > CHECKPOINT_MS_MAX)))
    return 'from one checkpoint to the next are a second to a day, or 0 for no checkpoints'
  if (typeof policy.guessMemory !== 'boolean') return 'guessMemory is true or false'
  // The first runs may all be ended for their memory.
  const tries = 1 + Number(retryMemoryBytes > 0) + Number(policy.guessMemory)
  if (maxTotalResults < tries * targetResults)
    return `another try with more memory may take ${tries} times the ${targetResults} replicas issued at first, and at most ${maxTotalResults} may be issued in all`
  return undefined
}

/** Takes whatever was decoded. */
function comparingFault(compare: unknown): string | undefined {
  const { kind, rules, bundle } = (compare ?? {}) as { readonly kind?: unknown; readonly rules?: unknown; readonly bundle?: unknown }
  if (Object.keys(compare ?? {}).length === 2 && kind === 'tolerance' && rules !== undefined) return rulesFault(rules)
  if (Object.keys(compare ?? {}).length !== 2 || kind !== 'program' || typeof bundle !== 'string')
    return 'a comparison is {kind: tolerance, rules} or {kind: program, bundle}'
  return bundle.length <= 128 && acceptCid(bundle)?.code === DAG_CBOR && acceptCid(bundle)?.toString() === bundle
    ? undefined
    : `${JSON.stringify(bundle.slice(0, 64))} is no bundle's id`
}
