/**
 * A coordinator among nodes that crash, lie, vanish, repeat themselves and come back (`coordinator-chaos-node.ts`), over streams
 * that break anywhere, on a store from which the coordinator restarts at any commit. Everything that happens is an action; a list
 * of actions is a run. `coordinator-safety.ts` looks at every commit.
 */

import assert from 'node:assert/strict'
import { decodeBatchRecord } from '#project-server/coordinator/batch-records'
import { decodeDoneRecord } from '#project-server/coordinator/bundle-records'
import { Coordinator } from '#project-server/coordinator/coordinator'
import type { AcceptedBundle, Effect, Event, Repeat } from '#project-server/coordinator/events'
import { batchKey, doneKey } from '#project-server/coordinator/keys'
import { DEFAULT_COORDINATOR_POLICY } from '#project-server/coordinator/policy'
import { DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
import type { Source, Sources } from '#protocol/bundle/sources'
import type { TaskId } from '#protocol/ids'
import { parseTaskId } from '#protocol/ids'
import { MemoryStore } from '../../sim/store.ts'
import { peekTask } from '../../sim/stored-tasks.ts'
import { ChaosNode, type Ending, NETWORKS, type Surroundings } from './coordinator-chaos-node.ts'
import { batchId, bundle, PROJECT, plainBundle, SIGNER } from './coordinator-parts.ts'
import { close, Safety } from './coordinator-safety.ts'
import { completion, recheckFrom } from './coordinator-shell.ts'

export type Action =
  /** `takes`: from how many of the tasks before it, one in three tasks takes something. */
  | {
      readonly kind: 'submit'
      readonly tasks: number
      readonly policy: Partial<TaskPolicy>
      readonly more: boolean
      readonly takes?: number
      readonly allowFailed?: boolean
      readonly repeats?: boolean
    }
  | { readonly kind: 'repeat'; readonly batch: number }
  | { readonly kind: 'kill'; readonly batch: number; readonly task: number | null }
  | { readonly kind: 'hold'; readonly batch: number; readonly task: number | null; readonly stop: boolean }
  | { readonly kind: 'release'; readonly batch: number; readonly task: number | null }
  | { readonly kind: 'grant'; readonly client: number; readonly parallel: number | null; readonly share: number }
  | { readonly kind: 'ban'; readonly of: number; readonly lift: boolean }
  | { readonly kind: 'join'; readonly node: number }
  | { readonly kind: 'cut'; readonly node: number }
  | { readonly kind: 'wipe'; readonly node: number }
  | { readonly kind: 'bye'; readonly node: number }
  | { readonly kind: 'hear'; readonly node: number; readonly frames: number }
  | { readonly kind: 'ack'; readonly node: number }
  | { readonly kind: 'ask'; readonly node: number }
  | { readonly kind: 'end'; readonly node: number; readonly how: Ending }
  | { readonly kind: 'say_again'; readonly node: number; readonly back: number }
  | { readonly kind: 'steal'; readonly node: number; readonly from: number }
  /** `fault`: of a program that was to compare. */
  | { readonly kind: 'pulled'; readonly ok: boolean; readonly fault?: 'program' | 'project' | null }
  | { readonly kind: 'completed'; readonly ok: boolean }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'commit' }
  | { readonly kind: 'crash'; readonly when: 'before' | 'between' | 'after' }

/** Trust is soon had here. */
/** Trust is soon had here. */
const POLICY = { ...DEFAULT_COORDINATOR_POLICY, trustedAfter: 1, idleCopies: 1, newcomersMax: 3 }
/** Of the bundles with an input. Nobody says what came, so what a node has goes by its leases, and is forgotten with each hello. */
const DATA = ['a', 'b'].map((root) => [{ root, within: null, bytes: 8 * 1024 ** 2 }])
const RECHECKS_FROM = 0x10000
/** Batches are theirs in turn. */
const CLIENTS = ['ann', 'bob'] as const

export class Chaos implements Surroundings {
  readonly store = new MemoryStore()
  readonly nodes: ChaosNode[] = []
  readonly safety: Safety
  readonly batches: {
    readonly id: string
    readonly bundles: AcceptedBundle[]
    readonly policy: TaskPolicy
    readonly sources: Map<number, Sources>
    complete: boolean
  }[] = []
  /** How often what happened, to see that it did. */
  readonly sometimes: Record<string, number> = {}
  readonly missing = new Set<TaskId>()
  nowMs = 1_000_000
  /** Something happened since tasks were last asked what they wait for; else they would answer the same. */
  #isNew = true
  #epoch = 0
  #coordinator = new Coordinator({ project: PROJECT, epoch: 0, signer: SIGNER })
  #greeting: ChaosNode[] = []
  /** Batches of which something was released since the last commit. */
  readonly #released = new Set<string>()
  #pulls: Extract<Effect, { kind: 'pull' | 'compare' }>[] = []
  /** Of tasks whose nodes find an input at fault; every other input was lost. */
  #looks = 0
  #completions: Extract<Effect, { kind: 'complete' | 'inputs' }>[] = []
  readonly #rechecks: Extract<Effect, { kind: 'recheck' }>[] = []

  constructor(nodes: number, liars: number) {
    this.safety = new Safety(this.store)
    for (let index = 0; index < nodes; index++) this.#addNode(`node ${index}`, index < liars)
  }

  get coordinator(): Coordinator {
    return this.#coordinator
  }

  async start(): Promise<this> {
    this.#epoch = await this.store.beginEpoch()
    this.#coordinator = new Coordinator({ project: PROJECT, epoch: this.#epoch, policy: POLICY, signer: SIGNER })
    await this.#coordinator.load(this.store, this.nowMs)
    this.safety.restarted(this.#coordinator)
    this.#isNew = true
    this.#pulls = []
    this.#completions = []
    this.#rechecks.length = 0
    this.#greeting = []
    for (const node of this.nodes) node.cut(false)
    return this
  }

  async act(action: Action): Promise<void> {
    switch (action.kind) {
      case 'submit':
        this.#submit(action)
        break
      case 'repeat': {
        const batch = this.batches[action.batch % Math.max(1, this.batches.length)]
        if (batch !== undefined) this.apply(this.#submission(batch, 0, batch.bundles, !batch.complete))
        break
      }
      case 'kill':
      case 'hold':
      case 'release':
        this.#manage(action)
        break
      case 'grant':
        this.#grant(CLIENTS[action.client % 2] ?? '', action)
        break
      case 'ban':
        this.#ban(action)
        break
      case 'pulled':
        this.#pulled(action.ok, action.fault)
        break
      case 'completed':
        this.#completed(action.ok)
        break
      case 'pass':
        this.#pass(action.ms)
        break
      case 'commit':
        this.commit()
        break
      case 'crash':
        this.count(`crash ${action.when}`)
        if (action.when === 'between') this.#write()
        if (action.when === 'after') this.commit()
        await this.start()
        break
      default: {
        const node = this.nodes[action.node % this.nodes.length]
        if (node !== undefined) this.#nodeActs(node, action)
      }
    }
  }

  commit(): void {
    for (const effect of this.#write()) this.#carryOut(effect)
    this.safety.checkNext()
    for (const wish of this.#rechecks.splice(0)) this.#recheck(wish)
  }

  /** As the shell does: what comes of it is in the next commit, or lost with it and wished for again. */
  #recheck(wish: Extract<Effect, { kind: 'recheck' }>): void {
    this.count('recheck')
    const event = recheckFrom(this.store, wish, { batch: batchId(RECHECKS_FROM + this.batches.length), seed: this.batches.length })
    this.batches.push({ id: event.batch, bundles: [...event.submit.bundles], policy: event.submit.policy, sources: new Map(), complete: true })
    this.apply(event)
  }

  /** Faults stop: fresh honest nodes come, every stream works, and time passes until everything is decided or `ms` are over. */
  calm(ms: number): void {
    for (const client of CLIENTS) this.#grant(client, { parallel: null, share: 1 })
    for (const { kind, value } of this.#coordinator.bans()) this.apply({ kind: 'ban', by: CLIENTS[0], target: { kind, value }, reason: '', lift: true })
    for (let index = 0; index < 20; index++) this.#addNode(`fresh ${index}`, false)
    for (const batch of this.batches) {
      // A kill of an open batch that a crash undid leaves it open: nobody was told that it was killed.
      if (batch.complete && this.#coordinator.batch(batch.id)?.open !== true) continue
      batch.complete = true
      this.apply(this.#submission(batch, batch.bundles.length, [], false))
    }
    this.#release(() => true)
    // What compares may be at fault now and then, as long as its batch is released again.
    const faults: ('program' | 'project')[] = ['program', 'project']
    for (const endMs = this.nowMs + ms; this.nowMs < endMs && (this.safety.open.size > 0 || this.#unsettled()); ) {
      for (const node of this.nodes) {
        // Who said good-bye comes back, too: it may be the only node that a task is for.
        if (!node.isThere) this.#join(node)
        this.commit()
        node.hear(Number.POSITIVE_INFINITY)
        node.ask()
        this.commit()
        node.hear(Number.POSITIVE_INFINITY)
        while (node.hasRun) node.end('good')
        node.ack()
        while (this.#pulls.length > 0) this.#pulled(true, comparesByProgram(this.#pulls[0]) ? faults.shift() : null)
        while (this.#completions.length > 0) this.#completed(true)
      }
      // Of what only failed the project holds the rest, until its owner says that it shall go on.
      this.#release(({ id }) => (this.#coordinator.batch(id)?.held ?? null) !== null)
      this.#pass(500)
      this.commit()
    }
  }

  #release(which: (batch: Chaos['batches'][number]) => boolean): void {
    for (const [index, batch] of this.batches.entries()) if (which(batch)) this.#manage({ kind: 'release', batch: index, task: null })
  }

  /** Something that killed tasks left is on its way, or is kept for nobody. */
  #unsettled(): boolean {
    return this.store.keys('owed/').length > 0 || this.nodes.some(({ isUnsettled }) => isUnsettled)
  }

  #addNode(id: string, lies: boolean): void {
    this.nodes.push(new ChaosNode(id, this.nodes.length, lies, this))
  }

  #nodeActs(node: ChaosNode, action: Extract<Action, { node: number }>): void {
    switch (action.kind) {
      case 'join':
        this.#join(node)
        return
      case 'cut':
        node.cut(true)
        return
      case 'wipe':
        node.wipe()
        return
      case 'bye':
        node.bye()
        return
      case 'hear':
        node.hear(action.frames)
        return
      case 'ack':
        node.ack()
        return
      case 'ask':
        node.ask()
        return
      case 'end':
        node.end(action.how)
        return
      case 'say_again':
        node.sayAgain(action.back)
        return
      case 'steal':
        node.steal(this.nodes[action.from % this.nodes.length])
    }
  }

  #join(node: ChaosNode): void {
    const hello = node.hello()
    // Who is banned is not welcomed.
    if (!this.#coordinator.bans().some(({ value }) => value === node.id || value === node.network)) this.#greeting.push(node)
    this.apply(hello)
  }

  #manage(action: Extract<Action, { kind: 'kill' | 'hold' | 'release' }>): void {
    const batch = this.batches[action.batch % Math.max(1, this.batches.length)]
    if (batch === undefined) return
    const task = action.task === null ? undefined : `${batch.id}.${action.task % batch.bundles.length}`
    const target = { batch: batch.id, by: CLIENTS[0], ...(task === undefined ? {} : { task }) }
    const tasks = task === undefined ? batch.bundles.map((_, index) => `${batch.id}.${index}`) : [task]
    if (action.kind === 'hold') {
      this.apply({ kind: 'hold', ...target, reason: 'chaos', stop: action.stop })
      this.safety.held(tasks)
      return
    }
    this.apply({ kind: action.kind, ...target })
    if (action.kind === 'release') {
      this.#released.add(batch.id)
      this.safety.released(tasks)
      return
    }
    batch.complete = batch.complete || task === undefined
    this.safety.killed(tasks)
  }

  #submit({ tasks, policy, more, takes = 0, allowFailed = false, repeats = false }: Extract<Action, { kind: 'submit' }>): void {
    const unfinished = this.batches.find(({ complete }) => !complete)
    const sizes = (index: number) => ({ memoryBytes: 1024 ** 3 * (1 + (index % 2)), silenceMs: 1_000 })
    const bundles = Array.from({ length: tasks }, (_, index) =>
      index % 3 === 2 ? plainBundle('2', sizes(index)) : { ...bundle(`${index % 3}`, { resources: sizes(index) }), data: DATA[index % 3] ?? [] }
    )
    const batch: Chaos['batches'][number] = unfinished ?? {
      id: batchId(this.batches.length + 1),
      bundles: [],
      policy: { ...DEFAULT_POLICY, ...policy },
      sources: new Map(),
      complete: false
    }
    if (unfinished === undefined) this.batches.push(batch)
    const from = batch.bundles.length
    batch.bundles.push(...bundles)
    for (let index = Math.max(from, 1); index < from + tasks; index++) {
      if (takes === 0 || index % 3 !== 1) continue
      const list = Array.from(
        { length: Math.min(takes, index) },
        (_, at): Source => ({ name: `from${at}`, of: '', from: index - 1 - at, count: 1, part: 'output', path: '' })
      )
      if (takes > 2) list.push({ name: '', of: '', from: 0, count: index, part: 'after', path: '' })
      batch.sources.set(index, { allowFailed, list })
      this.safety.takes(
        `${batch.id}.${index}`,
        allowFailed,
        list.flatMap((source) => Array.from({ length: source.count }, (_, at) => `${batch.id}.${source.from + at}`))
      )
    }
    batch.complete = !more
    this.apply({ ...this.#submission(batch, from, bundles, more), ...(repeats ? { repeats: this.#repeats(batch, bundles) } : {}) })
    // What an owner does until it has an answer: say it again.
    this.commit()
    this.safety.accepted(batch.id, batch.bundles.length)
  }

  /** A node, or the second network. */
  #ban({ of, lift }: Extract<Action, { kind: 'ban' }>): void {
    const value = this.nodes[of]?.id
    this.apply({
      kind: 'ban',
      by: CLIENTS[0],
      target: value === undefined ? { kind: 'network', value: NETWORKS[2] } : { kind: 'node', value },
      reason: '',
      lift
    })
  }

  #clientOf(batch: Chaos['batches'][number]): string {
    return CLIENTS[this.batches.indexOf(batch) % 2] ?? ''
  }

  /** What the shell would find that was decided already. */
  #repeats(batch: Chaos['batches'][number], bundles: readonly AcceptedBundle[]): Map<string, Repeat> {
    const by = this.#clientOf(batch)
    const found = new Map<string, Repeat>()
    for (const { cid } of bundles) {
      const done = this.store.peek(doneKey(by, cid))
      const task = done === undefined ? '' : decodeDoneRecord(done)
      const decision = peekTask(this.store, task)?.decision ?? null
      if (decision !== null) found.set(cid, { task, decision })
    }
    if (found.size > 0) this.count('answered at once')
    return found
  }

  #submission(batch: Chaos['batches'][number], from: number, bundles: readonly AcceptedBundle[], more: boolean): Extract<Event, { kind: 'submit' }> {
    const sources = new Map([...batch.sources].filter(([index]) => index >= from))
    return {
      kind: 'submit',
      batch: batch.id,
      name: 'chaos',
      by: this.#clientOf(batch),
      bundles,
      policy: batch.policy,
      more,
      from,
      seed: batch.bundles.length,
      sources
    }
  }

  #grant(client: string, { parallel, share }: { readonly parallel: number | null; readonly share: number }): void {
    this.apply({ kind: 'client', client, settings: { parallel, share } })
  }

  #pulled(ok: boolean, fault: 'program' | 'project' | null = null): void {
    const pull = this.#pulls.shift()
    if (pull === undefined) return
    if (comparesByProgram(pull) && fault !== null) {
      this.#faultOf(fault, pull.task)
      return
    }
    if (pull.kind === 'compare') {
      const { task, candidates, pairs } = pull
      const found = pairs.map(([a, b]) => ({ a, b, agree: close(a, b) }))
      this.apply(
        ok ? { kind: 'compared', task, pairs: found, missing: [] } : { kind: 'compared', task, pairs: [], missing: candidates.map(({ vote }) => vote) }
      )
      return
    }
    if (ok) this.safety.fetched(pull)
    this.apply({ kind: 'pulled', task: pull.task, node: pull.nodes[0] ?? '', ok, message: '' })
  }

  /** A program that does not answer judges nobody; one that is at fault itself holds its batch. */
  #faultOf(of: 'program' | 'project', task: TaskId): void {
    const before = this.#coordinator.task(task)
    if (before === undefined) return
    this.count(of === 'program' ? 'a comparator was at fault' : 'no comparator could be run')
    this.apply({ kind: 'compared', task, pairs: [], missing: [], fault: { of, message: 'exit status 3' } })
    assert.deepEqual(this.#coordinator.task(task)?.replicas, before.replicas, `${task}: a program that is at fault judged somebody`)
    if (of === 'program')
      assert.notEqual(this.#coordinator.batch(parseTaskId(task)?.batch ?? '')?.held, null, `${task}: its program is at fault, and nothing is held`)
  }

  /** A program is not run for what was held before this commit and still is. */
  #checkHeld(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind !== 'compare' || effect.by.kind !== 'program') continue
      const batch = parseTaskId(effect.task)?.batch ?? ''
      const record = this.store.peek(batchKey(batch))
      const held = record === undefined ? null : decodeBatchRecord(record).held
      assert.ok(held === null || this.#released.has(batch), `${effect.task} is held, and a program is to be run for it`)
    }
    this.#released.clear()
  }

  #completed(ok: boolean): void {
    const { kind, task } = this.#completions.shift() ?? {}
    if (task === undefined) return
    if (kind === 'inputs') {
      this.#looked(task, ok && this.#looks++ % 2 === 1)
      return
    }
    this.safety.completed(task)
    if (!ok) {
      this.apply({ kind: 'completed', task, bundle: null, message: 'it is gone' })
      return
    }
    const event = completion(this.store, task)
    const batch = this.batches.find(({ id }) => id === parseTaskId(task)?.batch)
    const found = batch === undefined || event.bundle === null ? undefined : this.#repeats(batch, [event.bundle]).get(event.bundle.cid)
    this.apply({ ...event, repeat: found })
  }

  /** Its input is here, or was lost: then a task of a batch of its own computes it again, or it is made again at once. */
  #looked(task: TaskId, here: boolean): void {
    const of = parseTaskId(task)?.batch
    this.missing.delete(task)
    const batch = this.batches.find(({ id }) => id === of)
    const record = peekTask(this.store, task)
    if (batch === undefined || record === undefined) return
    const through: TaskId[] = []
    if (!here && this.#coordinator.task(task) !== undefined) {
      this.count('an input was lost')
      if (this.batches.every(({ complete }) => complete)) {
        this.#submit({ kind: 'submit', tasks: 1, policy: { minQuorum: 1, targetResults: 1 }, more: false })
        through.push(`${this.batches.at(-1)?.id}.0`)
      }
    }
    this.apply({ kind: 'inputs', task, lost: !here, through, message: '' })
  }

  #pass(ms: number): void {
    this.nowMs += ms
    for (const node of this.nodes) node.beat()
    this.apply({ kind: 'tick' })
  }

  apply(event: Event): void {
    this.count(event.kind)
    this.#isNew = true
    this.#coordinator.apply(event, this.nowMs)
  }

  /** The commit without what follows from it. */
  #write(): readonly Effect[] {
    const { changes, effects, unsigned } = this.#coordinator.take()
    this.#checkHeld(effects)
    this.store.write(this.#epoch, [...changes, ...unsigned.map(({ page }) => ({ key: page, value: Uint8Array.of(1) }))])
    for (const { replicas } of this.safety.committed(changes, unsigned)) {
      if (replicas.some(({ copy }) => copy)) this.count('copied')
      if (replicas.some(({ fault }) => fault?.class === 'banned')) this.count('a vote was dropped')
      if (replicas.some(({ fault }) => fault?.class === 'task')) this.count('a run hung')
      if (replicas.some(({ memoryBytes }) => memoryBytes > 1024 ** 3)) this.count('more memory')
      if (replicas.some(({ memoryBytes }) => memoryBytes > 0 && memoryBytes < 1024 ** 3)) this.count('a guess')
    }
    if (unsigned.some(({ receipt }) => receipt.trusted !== undefined)) this.count('trusted')
    if (this.#isNew) this.#looksWhy()
    this.#isNew = false
    return effects
  }

  /** What a task is said to wait for must be so: above all, no node may be free for it. */
  #looksWhy(): void {
    let nodes: ReadonlySet<string> | undefined
    for (const { id, policy } of this.batches) {
      // Of what is over the coordinator remembers nothing.
      if (this.#coordinator.batch(id) === undefined) continue
      const view = this.#coordinator.why(id)
      if (view === undefined) continue
      this.count(`waits for ${view.waitsFor}`)
      const free = view.nodes?.find(({ reason }) => reason === 'free')
      if (free !== undefined) throw new Error(`${view.task} waits although ${free.nodes[0]?.id} is free for it`)
      const counted = view.nodes?.reduce((total, { count }) => total + count, 0)
      if (counted === undefined) continue
      nodes ??= new Set(this.#coordinator.nodes().map(({ id }) => id))
      const known = nodes
      const neverCame = policy.nodes.filter((name) => !known.has(name))
      if (counted !== known.size + neverCame.length) throw new Error(`${view.task}: ${counted} reasons for other nodes than there are`)
    }
  }

  #carryOut(effect: Effect): void {
    if (effect.kind === 'recheck') {
      this.#rechecks.push(effect)
      return
    }
    if (effect.kind === 'pull' || effect.kind === 'compare') this.#pulls.push(effect)
    if (effect.kind === 'complete' || effect.kind === 'inputs') this.#completions.push(effect)
    if (effect.kind === 'compared_enough') this.#pulls = this.#pulls.filter(({ kind, task }) => kind === 'pull' || task !== effect.task)
    if (
      effect.kind === 'pull' ||
      effect.kind === 'complete' ||
      effect.kind === 'inputs' ||
      effect.kind === 'compare' ||
      effect.kind === 'compared_enough' ||
      effect.kind === 'changed' ||
      effect.kind === 'save' ||
      effect.kind === 'unsave' ||
      effect.kind === 'look' ||
      effect.kind === 'hint'
    )
      return
    const node = this.nodes.find(({ id }) => id === effect.node)
    if (node === undefined) return
    if (effect.kind === 'welcome') {
      const at = this.#greeting.indexOf(node)
      this.#greeting.splice(at, 1)
      // An older stream's welcome is nobody's.
      if (!this.#greeting.includes(node) && node.hasStream) node.send(effect)
    } else if (effect.kind === 'disconnect') {
      this.count(`disconnect ${effect.code}`)
      node.cut(true)
    } else node.send(effect)
  }

  count(what: string): void {
    this.sometimes[what] = (this.sometimes[what] ?? 0) + 1
  }

  tasks(): readonly TaskId[] {
    return this.batches.flatMap(({ id, bundles }) => bundles.map((_, index) => `${id}.${index}`))
  }
}

function comparesByProgram(wish: Effect | undefined): boolean {
  return wish?.kind === 'compare' && wish.by.kind === 'program'
}
