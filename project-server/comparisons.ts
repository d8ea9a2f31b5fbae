/**
 * Carries out the core's wish to compare outputs: fetches them from the nodes that have them, compares the pairs, and keeps what it
 * fetched until the core has had enough. What an owner's program answered before is not asked again, and then nothing is fetched for it.
 * What it fetches is noted first (`fetched/<cid>`), so that what a dead server left behind is
 * dropped by the next.
 */
import { CID } from 'multiformats/cid'
import type { Comparing } from '#protocol/bundle/policy'
import { type CompareRules, wayOf } from '#protocol/compare/rules'
import { compareFiles, compareTrees, sourceOf, type TreeSource } from '#protocol/compare/trees'
import { ContentError, type ContentStore } from '#protocol/content/content'
import type { TaskId } from '#protocol/ids'
import type { Host } from '#protocol/peer/host'
import type { Committer } from './commit.ts'
import { ComparatorError, type Comparators } from './comparators.ts'
import { ComparingLine } from './comparing-line.ts'
import type { Candidate, Effect, Event } from './coordinator/events.ts'
import { fetchFrom, reason } from './fetch.ts'
import { type KnownPairs, pairKey } from './known-pairs.ts'
import type { Logger } from './logger.ts'
import { COMPARATORS_MAX, COMPARED_BYTES_KEPT_MAX, COMPARISONS_MAX, PULL_SILENCE_MS_MAX } from './policy.ts'
import type { Clock, Store } from './ports.ts'

type Compare = Extract<Effect, { kind: 'compare' }>
type Compared = Extract<Event, { kind: 'compared' }>

export interface ComparisonsPorts {
  readonly content: Pick<ContentStore, 'fetch' | 'check' | 'drop' | 'list' | 'read' | 'sizeOf'>
  readonly host: Host
  readonly clock: Clock
  readonly logger: Logger
  readonly committer: Pick<Committer, 'write'>
  readonly done: (event: Compared) => void
  readonly agree: Agree
  /** What programs answered before. */
  readonly known: KnownPairs
}

/** Whether two outputs that are here agree as their owner wants it. Throws ComparatorError when his program does not say, ContentError when an output is here no more. */
type Agree = (a: Candidate, b: Candidate, by: Comparing, of: { readonly task: TaskId; readonly signal: AbortSignal }) => Promise<boolean>

const NOTE = 'fetched/'
const NOTHING = new Uint8Array(0)

export class Comparisons {
  readonly #ports: ComparisonsPorts
  /** One entry a task: the core asks once, and again only after a `compared`. */
  readonly #waiting = new Map<TaskId, Compare>()
  /** The same for those that programs compare. */
  readonly #line = new ComparingLine<Compare>()
  readonly #running = new Map<TaskId, { readonly over: Promise<void>; readonly end: AbortController }>()
  /** Those of them that run a program. */
  readonly #programs = new Set<AbortController>()
  /** Pairs that a program is asked about now. */
  readonly #asked = new Map<string, Promise<void>>()
  /** What was fetched for whom, the least lately used task first. */
  readonly #fetched = new Map<TaskId, Set<string>>()
  readonly #stop = new AbortController()
  #dropping: Promise<void> = Promise.resolve()

  constructor(ports: ComparisonsPorts) {
    this.#ports = ports
  }

  /** Drops what the last server fetched and had no time to drop. */
  static async begin({ content, committer }: Pick<ComparisonsPorts, 'content' | 'committer'>, store: Pick<Store, 'range'>): Promise<void> {
    const changes: { key: string; value: null }[] = []
    for await (const [key] of store.range(NOTE, `${NOTE.slice(0, -1)}0`)) {
      await content.drop(CID.parse(key.slice(NOTE.length)))
      changes.push({ key, value: null })
    }
    if (changes.length > 0) await committer.write(changes)
  }

  compare(effect: Compare): void {
    if (effect.by.kind === 'program') this.#line.add(effect)
    else this.#waiting.set(effect.task, effect)
    this.#next()
  }

  /** Nothing more is asked about the task: what was fetched for it alone goes, unless it is pinned by now, and a program that still compares for it is ended. */
  enough(task: TaskId): void {
    this.#waiting.delete(task)
    this.#line.delete(task)
    const running = this.#running.get(task)
    if (running === undefined) this.#forget(task)
    else running.end.abort(new Error('nobody waits for it any more'))
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#waiting.clear()
    this.#line.clear()
    await Promise.all(Array.from(this.#running.values(), ({ over }) => over))
    await this.#dropping
  }

  #next(): void {
    if (this.#stop.signal.aborted) return
    while (this.#programs.size < COMPARATORS_MAX) {
      const effect = this.#line.take()
      if (effect === undefined) break
      this.#begin(effect)
    }
    for (const [task, effect] of this.#waiting) {
      if (this.#running.size - this.#programs.size >= COMPARISONS_MAX) return
      this.#waiting.delete(task)
      this.#begin(effect)
    }
  }

  /** After the run of the same task that is not quite over. */
  #begin(effect: Compare): void {
    const { task } = effect
    const before = this.#running.get(task)?.over
    const end = new AbortController()
    if (effect.by.kind === 'program') this.#programs.add(end)
    const signal = AbortSignal.any([end.signal, this.#stop.signal])
    const run = before === undefined ? this.#run(effect, signal) : before.then(() => this.#run(effect, signal))
    const over = run.finally(() => {
      if (this.#running.get(task)?.end === end) this.#running.delete(task)
      this.#programs.delete(end)
      if (end.signal.aborted) this.#forget(task)
      this.#makeRoom()
      this.#next()
    })
    this.#running.set(task, { over, end })
  }

  async #run(effect: Compare, signal: AbortSignal): Promise<void> {
    const { task, candidates, pairs, by } = effect
    const found: { a: string; b: string; agree: boolean }[] = []
    const open: (readonly [a: string, b: string])[] = []
    for (const [a, b] of pairs) {
      const agree = by.kind === 'program' ? this.#ports.known.get(by.bundle, a, b) : undefined
      if (agree === undefined) open.push([a, b])
      else found.push({ a, b, agree })
    }
    const wanted = new Set(open.flat())
    const here = new Map<string, Candidate>()
    const missing = new Set<string>()
    for (const candidate of candidates) {
      const { vote } = candidate
      if (!wanted.has(vote)) continue
      if (await this.#fetch(candidate, effect, signal)) here.set(vote, candidate)
      else missing.add(vote)
    }
    let fault: Compared['fault']
    for (const [a, b] of open) {
      const [left, right] = [here.get(a), here.get(b)]
      if (left === undefined || right === undefined || fault !== undefined || signal.aborted) continue
      try {
        found.push({ a, b, agree: await this.#answer(left, right, by, { task, signal }) })
      } catch (error) {
        if (signal.aborted) return
        this.#ports.logger.warn({ task, reason: reason(error) }, 'two outputs could not be compared')
        if (error instanceof ComparatorError) fault = { of: error.of, message: error.message }
        // It was here a moment ago: it is asked for again.
        else missing.add(a).add(b)
      }
    }
    if (signal.aborted) return
    this.#ports.done({ kind: 'compared', task, pairs: found, missing: [...missing], ...(fault === undefined ? {} : { fault }) })
  }

  /** A program is asked once about two outputs: who needs the same answer meanwhile waits for it, and asks only when none came. */
  async #answer(left: Candidate, right: Candidate, by: Comparing, of: { readonly task: TaskId; readonly signal: AbortSignal }): Promise<boolean> {
    if (by.kind !== 'program') return this.#ports.agree(left, right, by, of)
    const [a, b] = [left.vote, right.vote]
    const pair = pairKey(by.bundle, a, b)
    for (;;) {
      const known = this.#ports.known.get(by.bundle, a, b)
      if (known !== undefined) return known
      const asked = this.#asked.get(pair)
      if (asked === undefined) break
      await asked
      of.signal.throwIfAborted()
    }
    const answered = Promise.withResolvers<void>()
    this.#asked.set(pair, answered.promise)
    try {
      const agree = await this.#ports.agree(left, right, by, of)
      await this.#keep(by.bundle, { a, b, agree })
      return agree
    } finally {
      this.#asked.delete(pair)
      answered.resolve()
    }
  }

  /** An answer that is not on disk is asked for again after a restart, and no worse. */
  async #keep(bundle: string, found: { readonly a: string; readonly b: string; readonly agree: boolean }): Promise<void> {
    try {
      await this.#ports.committer.write(this.#ports.known.set(bundle, found))
    } catch (error) {
      this.#ports.logger.warn({ bundle, reason: reason(error) }, 'what a program said of two outputs is not written down')
    }
  }

  /** True when all of it is here. */
  async #fetch({ nodes, output, stdout }: Candidate, { task, bytesMax }: Compare, signal: AbortSignal): Promise<boolean> {
    let left = bytesMax
    for (const text of stdout === null ? [output] : [output, stdout]) {
      const root = CID.parse(text)
      if (await this.#ports.content.check(root)) {
        this.#note(task, text, false)
        continue
      }
      let here = false
      for (const node of nodes) {
        if (here || !this.#ports.host.isConnected(node)) continue
        try {
          await this.#ports.committer.write([{ key: NOTE + text, value: NOTHING }])
          this.#note(task, text, true)
          const limits = { pin: false, bytesMax: left, silenceMsMax: PULL_SILENCE_MS_MAX, signal }
          left = Math.max(0, left - (await fetchFrom(node, root, this.#ports, limits)))
          here = true
        } catch (error) {
          if (signal.aborted) return false
          this.#ports.logger.warn({ task, node, reason: reason(error) }, 'an output could not be fetched to be compared')
        }
      }
      if (!here) return false
    }
    return true
  }

  /** Only what was fetched for comparing is ever dropped. */
  #note(task: TaskId, root: string, fetched: boolean): void {
    if (!fetched && ![...this.#fetched.values()].some((roots) => roots.has(root))) return
    const roots = this.#fetched.get(task) ?? new Set()
    this.#fetched.delete(task)
    this.#fetched.set(task, roots.add(root))
  }

  /** Tasks that wait for further results keep their outputs only while there is room for them. */
  #makeRoom(): void {
    const bytesOf = (root: string): number => this.#ports.content.sizeOf(CID.parse(root)) ?? 0
    let bytes = 0
    for (const roots of this.#fetched.values()) for (const root of roots) bytes += bytesOf(root)
    for (const [task, roots] of [...this.#fetched]) {
      if (bytes <= COMPARED_BYTES_KEPT_MAX) return
      if (this.#running.has(task) || this.#waiting.has(task) || this.#line.has(task)) continue
      for (const root of roots) bytes -= bytesOf(root)
      this.#forget(task)
    }
  }

  #forget(task: TaskId): void {
    const roots = this.#fetched.get(task)
    if (roots === undefined) return
    this.#fetched.delete(task)
    const gone = [...roots].filter((root) => ![...this.#fetched.values()].some((others) => others.has(root)))
    this.#dropping = this.#dropping.then(async () => {
      try {
        for (const root of gone) await this.#ports.content.drop(CID.parse(root))
        await this.#ports.committer.write(gone.map((root) => ({ key: NOTE + root, value: null })))
      } catch (error) {
        // Its note is left, and the next start drops it.
        this.#ports.logger.warn({ task, reason: reason(error) }, 'what was fetched to be compared is not dropped yet')
      }
    })
  }
}

/** File by file, or by the owner's program. */
export function agreeBy(content: Pick<ContentStore, 'list' | 'read' | 'sizeOf'>, comparators: Pick<Comparators, 'agree'>): Agree {
  return (a, b, by, { signal }) => (by.kind === 'program' ? comparators.agree(by.bundle, a, b, signal) : nearUnder(by.rules, content, a, b))
}

/** Whether two outputs that are here agree. What no honest node can have made agrees with nothing. */
async function nearUnder(rules: CompareRules, content: Pick<ContentStore, 'list' | 'read' | 'sizeOf'>, a: Candidate, b: Candidate): Promise<boolean> {
  try {
    if (a.output !== b.output && (await compareTrees(treeIn(content, a.output), treeIn(content, b.output), rules)) !== undefined) return false
    if (a.stdout === null || b.stdout === null || a.stdout === b.stdout) return true
    const way = wayOf('stdout', withStdout(rules))
    const file = (root: string) => sourceOf(treeIn(content, root), '', content.sizeOf(CID.parse(root)) ?? 0)
    return way === undefined || (await compareFiles(file(a.stdout), file(b.stdout), way)) === undefined
  } catch (error) {
    if (error instanceof ContentError && (error.code === 'not_a_directory' || error.code === 'bad_tree' || error.code === 'too_large')) return false
    throw error
  }
}

/** What is printed is text, unless a rule names `stdout`. */
export function withStdout(rules: CompareRules): CompareRules {
  const { abs, rel, files } = rules
  return { abs, rel, files: [...files, { files: 'stdout', ignore: false, abs, rel, format: 'text' }] }
}

/** A tree that the store holds, or one file when its path is ''. */
export function treeIn(content: Pick<ContentStore, 'list' | 'read'>, text: string): TreeSource {
  const root = CID.parse(text)
  const below = (path: string): [root: CID, path?: string] => (path === '' ? [root] : [root, path])
  return {
    list: async (path) => (await content.list(...below(path))).map(({ name, cid, bytes, directory }) => ({ name, id: cid.toString(), bytes, directory })),
    read: (path, from, to) => content.read(root, path === '' ? undefined : path, { from, to })
  }
}
