import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Source, Sources } from '#protocol/bundle/sources'
import type { Sweep } from '#protocol/bundle/sweep'
import { parseTaskId } from '#protocol/ids'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, offer, outputOf, plainBundle } from '#test/support/coordinator-parts'
import { peekBundle, peekTasks } from '../../sim/stored-tasks.ts'
import { decodeBatchRecord } from './batch-records.ts'
import { storedManifest } from './batches.ts'
import { batchKey } from './keys.ts'
import { CLOSING_MS_MAX, SWEEP_AHEAD } from './policy.ts'
import { isTerminal } from './states.ts'
import { decodeMadeRecord, madeKey } from './sweeps.ts'

const ONE = batchId(1)
const TWO = batchId(2)
const THREE = batchId(3)
const SINGLE = { minQuorum: 1, targetResults: 1 }

function sweepOf(count: number): Sweep {
  return { mode: 'product', parameters: [{ name: 'x', values: { from: 0, to: count - 1, step: 1 } }] }
}

function outputOfTask(of: string): Source {
  return { name: `in${parseTaskId(of)?.index ?? ''}`, of, from: 0, count: 0, part: 'output', path: '' }
}

function after(of: string): Source {
  return { name: '', of, from: 0, count: 0, part: 'after', path: '' }
}

function submitSweep(
  one: CoordinatorWorld,
  id: string,
  count: number,
  { allowFailed = false, list }: { allowFailed?: boolean; list: readonly Source[] }
): void {
  one.submit(id, [], SINGLE, { sweep: { template: plainBundle('{x}'), sweep: sweepOf(count) }, sources: new Map([[0, { allowFailed, list }]]) })
}

/** A batch of two tasks, and a sweep that takes what the first leaves. */
async function world(count: number, change: Partial<Sources> = {}): Promise<CoordinatorWorld> {
  const one = await new CoordinatorWorld().start()
  one.submit(ONE, [plainBundle('a'), plainBundle('b')], SINGLE)
  submitSweep(one, TWO, count, { list: [outputOfTask(`${ONE}.0`)], ...change })
  return one
}

function inputsOf(one: CoordinatorWorld, task: string): readonly string[] {
  return storedManifest(peekBundle(one.store, task, one.record(task).bundle).bytes).dependencies.map(({ name, root }) => `${name} ${root}`)
}

function end(one: CoordinatorWorld, batch: string): Pick<ReturnType<typeof decodeBatchRecord>, 'created' | 'ready' | 'failed' | 'killed'> {
  const { created, ready, failed, killed } = decodeBatchRecord(one.store.peek(batchKey(batch)) ?? new Uint8Array())
  return { created, ready, failed, killed }
}

describe('S14, S15: a sweep with sources', () => {
  it('makes no task before they are over, says what it waits for, and gives all of its tasks what they left', async () => {
    const one = await world(1_000_000)
    assert.equal(peekTasks(one.store, TWO).size, 0)
    assert.equal(one.coordinator.batch(TWO)?.created, 1_000_000)
    const why = one.coordinator.why(TWO)
    assert.deepEqual([why?.task, why?.status, why?.waitsFor, why?.sources, why?.awaits], [`${TWO}.0`, 'created', 'sources', 1, [`${ONE}.0`]])
    assert.equal(one.coordinator.why(`${TWO}.77`)?.waitsFor, 'sources')
    one.pass(5_000)
    assert.equal(peekTasks(one.store, TWO).size, 0)
    const node = one.join('n', offer(8))
    one.report(node, `${ONE}.0.1`, { output: 'model' })
    assert.equal(peekTasks(one.store, TWO).size, SWEEP_AHEAD)
    assert.deepEqual(inputsOf(one, `${TWO}.0`), [`in0 ${outputOf('model')}`])
    assert.equal(one.record(`${TWO}.0`).state, 'running')
    assert.equal(one.coordinator.why(`${TWO}.999999`)?.waitsFor, 'turn')
  })

  it('begins at once when they are over already', async () => {
    const one = await world(10)
    const node = one.join('n', offer(8))
    one.report(node, `${ONE}.0.1`, { output: 'model' })
    const list = [outputOfTask(`${ONE}.0`)]
    one.submit(THREE, [], SINGLE, {
      sweep: { template: plainBundle('{x} more'), sweep: sweepOf(4) },
      sources: new Map([[0, { allowFailed: false, list }]]),
      ended: new Map([[`${ONE}.0`, null]])
    })
    one.join('m', offer(20))
    assert.deepEqual(inputsOf(one, `${THREE}.3`), [`in0 ${outputOf('model')}`])
  })

  it('fails as a whole when one fails, also of a restart later, and so does who waits for one of it', async () => {
    const one = await world(100_000)
    one.submit(THREE, [plainBundle('x')], SINGLE, { sources: new Map([[0, { allowFailed: false, list: [after(`${TWO}.99999`)] }]]) })
    const node = one.join('n', offer(1))
    one.report(node, `${ONE}.0.1`, { exitCode: 3 })
    assert.equal(one.coordinator.batch(TWO), undefined)
    assert.deepEqual(end(one, TWO), { created: 0, ready: 0, failed: 100_000, killed: 0 })
    const { end: unmade } = decodeMadeRecord(one.store.peek(madeKey(TWO)) ?? new Uint8Array())
    assert.deepEqual(unmade, { code: 'source', message: `task ${ONE}.0 failed: the command ended with exit status 3` })
    assert.match(one.record(`${THREE}.0`).failure?.message ?? '', new RegExp(`^task ${TWO}.99999 failed: task ${ONE}.0 failed`))
    await one.start()
    assert.equal(one.coordinator.batch(TWO), undefined)
  })

  it('with failed ones allowed runs with what there is, after a killed one too', async () => {
    const one = await world(3, { allowFailed: true, list: [outputOfTask(`${ONE}.0`), outputOfTask(`${ONE}.1`)] })
    one.apply({ kind: 'kill', batch: ONE, task: `${ONE}.0`, by: 'owner' })
    const node = one.join('n', offer(8))
    one.report(node, `${ONE}.1.1`, { output: 'right' })
    assert.deepEqual(inputsOf(one, `${TWO}.2`), [`in1 ${outputOf('right')}`])
    one.work(node)
    assert.deepEqual(end(one, TWO), { created: 0, ready: 3, failed: 0, killed: 0 })
  })

  it('waits for another that waits, and for a whole one', async () => {
    const one = await world(3)
    submitSweep(one, THREE, 2, { list: [outputOfTask(`${TWO}.1`), after(TWO)] })
    assert.equal(one.coordinator.why(THREE)?.sources, 2)
    const node = one.join('n', offer(8))
    for (let turn = 0; turn < 4; turn++) one.work(node, { output: `turn ${turn}` })
    assert.deepEqual([end(one, TWO).ready, end(one, THREE).ready], [3, 2])
  })

  it('holds and kills one that is not made yet, which never runs before its sources are over', async () => {
    const one = await world(5)
    one.apply({ kind: 'hold', batch: TWO, task: `${TWO}.3`, by: 'owner', reason: 'not this one', stop: false })
    one.apply({ kind: 'kill', batch: TWO, task: `${TWO}.4`, by: 'owner' })
    assert.deepEqual([one.record(`${TWO}.3`).state, one.record(`${TWO}.4`).state], ['created', 'killed'])
    await one.start()
    const node = one.join('n', offer(8))
    one.apply({ kind: 'release', batch: TWO, task: `${TWO}.3`, by: 'owner' })
    assert.equal(one.record(`${TWO}.3`).state, 'created')
    one.work(node, { output: 'model' })
    assert.deepEqual(inputsOf(one, `${TWO}.3`), [`in0 ${outputOf('model')}`])
    one.work(node)
    assert.deepEqual(end(one, TWO), { created: 0, ready: 4, failed: 0, killed: 1 })
  })

  it('tells named nodes that are away that there is work for them when there is, and not before', async () => {
    const one = await new CoordinatorWorld().start()
    one.join('away', offer(1))
    one.apply({ kind: 'gone', node: 'away' })
    one.submit(ONE, [plainBundle('a')], SINGLE)
    const hints = () => one.effects.filter((effect) => effect.kind === 'hint' && effect.what === 'work').length
    const sources = new Map([[0, { allowFailed: false, list: [after(ONE)] }]])
    one.submit(TWO, [], { ...SINGLE, nodes: ['away'] }, { sweep: { template: plainBundle('{x}'), sweep: sweepOf(2) }, sources })
    assert.equal(hints(), 0)
    one.work(one.join('n', offer(1)))
    assert.equal(hints(), 1)
  })

  it('that is killed while it waits is over, and what it waited for goes on', async () => {
    const one = await world(5)
    one.apply({ kind: 'kill', batch: TWO, by: 'owner' })
    assert.deepEqual(end(one, TWO), { created: 0, ready: 0, failed: 0, killed: 5 })
    const node = one.join('n', offer(8))
    one.work(node)
    assert.deepEqual(end(one, ONE).ready, 2)
  })

  it('does not count the time that it waits for them against its queue limit', async () => {
    const one = await new CoordinatorWorld().start()
    one.submit(ONE, [plainBundle('a')], SINGLE)
    const sources = new Map([[0, { allowFailed: false, list: [after(ONE)] }]])
    one.submit(TWO, [], { ...SINGLE, queueLimitMs: 10_000 }, { sweep: { template: plainBundle('{x}'), sweep: sweepOf(2) }, sources })
    const node = one.join('n', offer(1))
    one.pass(20_000)
    one.begin(node, `${ONE}.0.1`)
    one.report(node, `${ONE}.0.1`)
    assert.equal(end(one, TWO).killed, 0)
    one.pass(5_000)
    assert.equal(one.coordinator.batch(TWO)?.killed, 0)
    one.pass(6_000)
    assert.equal(one.record(`${TWO}.1`).failure?.code, 'queue_limit')
  })

  it('is refused with sources that are not known, or tasks of its own', async () => {
    const one = await world(5)
    const event = (of: string, count: number) =>
      ({
        kind: 'submit',
        batch: THREE,
        name: '',
        by: 'owner',
        bundles: [],
        policy: { ...one.coordinator.batch(ONE)?.policy },
        more: false,
        seed: 1,
        sweep: { template: plainBundle('{x}'), sweep: sweepOf(2) },
        sources: new Map([[0, { allowFailed: false, list: [{ ...after(of), count }] }]])
      }) as Parameters<typeof one.coordinator.refusal>[0]
    assert.equal(one.coordinator.refusal(event(`${batchId(9)}.0`, 0))?.code, 'not_found')
    assert.equal(one.coordinator.refusal(event('', 1))?.code, 'malformed')
    assert.equal(one.coordinator.refusal(event(ONE, 0)), undefined)
  })
})

type Step =
  | { readonly kind: 'sweep'; readonly of: readonly number[]; readonly count: number; readonly allowFailed: boolean }
  | { readonly kind: 'batch'; readonly tasks: number }
  | { readonly kind: 'work'; readonly exitCode: number; readonly most: number }
  | { readonly kind: 'kill'; readonly which: number; readonly index: number; readonly whole: boolean }
  | { readonly kind: 'early'; readonly which: number; readonly index: number }
  | { readonly kind: 'restart' }

const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('sweep' as const),
      of: fc.array(fc.nat(30), { minLength: 1, maxLength: 3 }),
      count: fc.integer({ min: 1, max: 6 }),
      allowFailed: fc.boolean()
    })
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('batch' as const), tasks: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('work' as const), exitCode: fc.constantFrom(0, 0, 0, 1), most: fc.integer({ min: 1, max: 4 }) })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), which: fc.nat(30), index: fc.nat(5), whole: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('early' as const), which: fc.nat(30), index: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) }
)

interface Known {
  readonly id: string
  readonly count: number
  /** Undefined for a batch that takes nothing. */
  readonly takes?: { readonly allowFailed: boolean; readonly list: readonly Source[] }
}

/** Plays what owners and nodes do with batches and sweeps that wait for one another, over crashes, and looks after each step. */
class Play {
  readonly one = new CoordinatorWorld()
  readonly known: Known[] = []
  seen = { waited: 0, failed: 0, ran: 0, restarts: 0 }

  async run(steps: readonly Step[]): Promise<void> {
    await this.one.start()
    this.one.join('n', offer(4))
    for (const step of steps) {
      await this.act(step)
      this.look()
    }
    for (let turn = 0; turn < 200 && this.known.some(({ id }) => this.one.coordinator.batch(id) !== undefined); turn++) {
      for (const { id } of this.known) this.one.apply({ kind: 'release', batch: id, by: 'owner' })
      // The node says nothing of runs that it was told to end: all of its slots may be theirs until then.
      this.one.pass(CLOSING_MS_MAX, [], CLOSING_MS_MAX / 3)
      await this.act({ kind: 'work', exitCode: 0, most: 100 })
      this.look()
    }
    for (const { id, count } of this.known) {
      const { created, ready, failed, killed } = end(this.one, id)
      assert.deepEqual([created, ready + failed + killed], [0, count], `${id} has tasks that nobody ends`)
    }
  }

  async act(step: Step): Promise<void> {
    const { one, known } = this
    const which = (at: number): Known | undefined => known[at % Math.max(1, known.length)]
    const id = batchId(known.length + 1)
    if (step.kind === 'batch') {
      known.push({ id, count: step.tasks })
      one.submit(
        id,
        Array.from({ length: step.tasks }, (_, at) => plainBundle(`${id} ${at}`)),
        SINGLE
      )
    } else if (step.kind === 'sweep') {
      const list = [...new Set(step.of)].flatMap((at, place): Source[] => {
        const other = which(at)
        if (other === undefined) return []
        return place === 2 ? [after(other.id)] : [{ ...outputOfTask(`${other.id}.${at % other.count}`), name: `in${place}` }]
      })
      if (list.length === 0) return
      const ended = new Map(list.filter(({ of }) => !one.coordinator.expects(of)).map(({ of }) => [of, this.endOf(of)]))
      known.push({ id, count: step.count, takes: { allowFailed: step.allowFailed, list } })
      const sweep = { template: plainBundle(`${id} {x}`), sweep: sweepOf(step.count) }
      one.submit(id, [], SINGLE, { sweep, sources: new Map([[0, { allowFailed: step.allowFailed, list }]]), ended })
    } else if (step.kind === 'work') {
      const node = one.nodes.get('n')
      if (node === undefined) return
      for (const replica of [...node.leases.keys()].slice(0, step.most)) {
        one.begin(node, replica)
        if (node.leases.has(replica)) one.report(node, replica, step.exitCode === 0 ? { output: replica } : { exitCode: step.exitCode })
      }
    } else if (step.kind === 'kill' || step.kind === 'early') {
      const batch = which(step.which)
      if (batch === undefined) return
      const task = { batch: batch.id, task: `${batch.id}.${step.index % batch.count}`, by: 'owner' }
      if (step.kind === 'early') one.apply({ kind: 'hold', ...task, reason: '', stop: false })
      else one.apply({ kind: 'kill', ...(step.whole ? { batch: batch.id, by: 'owner' } : task) })
    } else {
      this.seen.restarts++
      // What was asked for is lost with the process.
      one.completes = false
      one.apply({ kind: 'tick' })
      one.completes = true
      await one.start()
      one.join('n', offer(4))
    }
  }

  /** Null for ready. */
  endOf(of: string): string | null {
    const { failed, killed } = end(this.one, parseTaskId(of)?.batch ?? of)
    if (parseTaskId(of) === undefined) return failed + killed === 0 ? null : 'has failed tasks'
    return this.stateOf(of) === 'ready' ? null : 'did not end well'
  }

  /** Of one of a sweep that was never made, what became of it. */
  stateOf(id: string): string {
    if (this.one.coordinator.task(id) !== undefined || this.one.store.keys(taskKeyPrefix(id)).length > 0) return this.one.record(id).state
    const made = this.one.store.peek(madeKey(parseTaskId(id)?.batch ?? ''))
    const how = made === undefined ? null : decodeMadeRecord(made).end
    return how === null ? 'created' : how === 'killed' ? 'killed' : 'failed'
  }

  /** A failed one may leave what it wrote. */
  leaves(id: string): boolean {
    return this.one.store.keys(taskKeyPrefix(id)).length > 0 && this.one.record(id).decision?.held === true
  }

  look(): void {
    const { one } = this
    for (const { id, count, takes } of this.known) {
      if (takes === undefined) continue
      const over = takes.list.every(({ of }) => (parseTaskId(of) === undefined ? one.coordinator.batch(of) === undefined : isOver(this.stateOf(of))))
      const bad = over && takes.list.some(({ of }) => this.endOf(of) !== null)
      for (let index = 0; index < count; index++) {
        const state = this.stateOf(`${id}.${index}`)
        if (!over) {
          this.seen.waited++
          assert.ok(['created', 'killed', 'failed'].includes(state), `${id}.${index} is ${state} before its sources are over`)
          if (takes.allowFailed) assert.notEqual(state, 'failed', `${id}.${index} failed although that is allowed`)
        } else if (bad && !takes.allowFailed) {
          this.seen.failed++
          assert.ok(isOver(state) && state !== 'ready', `${id}.${index} is ${state} although a source failed`)
        }
        if (state === 'ready' || state === 'running') {
          this.seen.ran++
          const names: readonly string[] = takes.list.filter((source) => source.part === 'output' && this.leaves(source.of)).map(({ name }) => name)
          assert.deepEqual(
            inputsOf(one, `${id}.${index}`).map((input) => input.split(' ')[0]),
            names
          )
        }
      }
    }
  }
}

function isOver(state: string): boolean {
  return isTerminal(state as Parameters<typeof isTerminal>[0])
}

function taskKeyPrefix(id: string): string {
  const { batch, index } = parseTaskId(id) ?? { batch: '', index: 0 }
  return `task/${batch}.${String(index).padStart(9, '0')}`
}

it('S14, S15: whatever ends, is killed or held before its turn, and over crashes: no task of a sweep runs before its sources are over, none without what they left, and each ends once', async () => {
  const seen = { waited: 0, failed: 0, ran: 0, restarts: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 40 }), async (steps) => {
      const play = new Play()
      await play.run([{ kind: 'batch', tasks: 2 }, ...steps])
      for (const [name, times] of Object.entries(play.seen)) seen[name as keyof typeof seen] += times
    }),
    { numRuns: 150 }
  )
  for (const [name, times] of Object.entries(seen)) assert.ok(times > 0, `never: ${name}`)
})
