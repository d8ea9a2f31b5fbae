import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { TaskPolicy } from '#protocol/bundle/policy'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'
import { CHECKPOINT_TRIES_MAX, DEFAULT_COORDINATOR_POLICY } from './policy.ts'
import type { ReplicaRecord, TaskRecord } from './task-records.ts'

const BATCH = batchId(1)
const TASK = `${BATCH}.0`
const EVERY_MS = 10_000
const POLICY = { minQuorum: 1, targetResults: 1, checkpointMs: EVERY_MS }
const BYTES = 1_000
/** Longer than a node may be silent. */
const SILENCE_MS = 20_000

async function world(names: readonly string[], policy: Partial<TaskPolicy> = POLICY): Promise<CoordinatorWorld> {
  const town = await new CoordinatorWorld().start()
  for (const name of names) town.join(name)
  town.submit(BATCH, [bundle('x', { resources: { diskBytes: BYTES } })], policy)
  return town
}

function nodeOf(town: CoordinatorWorld, id: string): ScriptedNode {
  const node = town.nodes.get(id)
  if (node === undefined) throw new Error(`no node ${id}`)
  return node
}

/** The node runs the attempt, and has a snapshot of it; so many milliseconds after the last. */
function leave(
  town: CoordinatorWorld,
  id: string,
  attempt: number,
  { root, afterMs = EVERY_MS, last = false, bytes = 1 }: { root: string; afterMs?: number; last?: boolean; bytes?: number }
): void {
  const node = nodeOf(town, id)
  const replica = `${TASK}.${attempt}`
  if (!node.granted.has(replica)) town.begin(node, replica)
  town.pass(afterMs)
  town.apply({ kind: 'checkpoints', node: id, replicas: [{ replica, root, bytes, last }] })
}

/** It is silent until its runs are lost, and does not come back. */
function lose(town: CoordinatorWorld, id: string): void {
  const node = nodeOf(town, id)
  town.nodes.delete(id)
  town.pass(SILENCE_MS)
  node.leases.clear()
}

function replica(town: CoordinatorWorld, attempt: number): ReplicaRecord {
  const found = town.record(TASK).replicas[attempt - 1]
  if (found === undefined) throw new Error(`no attempt ${attempt}`)
  return found
}

function unsaved(town: CoordinatorWorld): string[] {
  return town.effects.flatMap((effect) => (effect.kind === 'unsave' ? [effect.root] : []))
}

/** Its own node, and those whose checkpoints it goes on from. */
function handsOf({ replicas }: TaskRecord, { node, from }: ReplicaRecord): string[] {
  const maker = from === null ? undefined : replicas[from.attempt - 1]
  return maker === undefined ? [node] : [node, ...handsOf({ replicas } as TaskRecord, maker)]
}

describe('checkpoints', () => {
  it('X19: a run that takes the place of a lost one goes on from its newest checkpoint, and asks before it runs, since that has to be fetched', async () => {
    const town = await world(['ann'])
    leave(town, 'ann', 1, { root: 'one' })
    leave(town, 'ann', 1, { root: 'two' })
    assert.deepEqual(nodeOf(town, 'ann').taken, ['one', 'two'])
    assert.deepEqual(unsaved(town), ['one'])
    lose(town, 'ann')
    const bob = town.join('bob')
    assert.deepEqual([...bob.resumed], [[`${TASK}.2`, 'two']])
    assert.equal(bob.granted.size, 0)
    assert.deepEqual(replica(town, 2).from, { attempt: 1, root: 'two' })
    leave(town, 'bob', 2, { root: 'three' })
    assert.deepEqual(unsaved(town), ['one', 'two'], 'nobody goes on from where this one began')
    assert.equal(replica(town, 2).checkpoint?.doneMs, 3 * EVERY_MS)
    town.work(bob, { output: 'done' })
    assert.equal(town.record(TASK).state, 'ready')
    assert.deepEqual(unsaved(town), ['one', 'two', 'three'])
    assert.equal(town.coordinator.client('owner').used.outputBytes, 4)
  })

  it('F14: what an owner gives back with a checkpoint is gone on with, by the same node too, and does not count as issued', async () => {
    const rounds = 12
    const town = await world(['ann'], { ...POLICY, maxTotalResults: 2 })
    for (let attempt = 1; attempt <= rounds; attempt++) {
      const ann = nodeOf(town, 'ann')
      leave(town, 'ann', attempt, { root: `step ${attempt}`, last: true })
      town.giveBack(ann, `${TASK}.${attempt}`, 'owner', 'paused')
      assert.equal(ann.resumed.get(`${TASK}.${attempt + 1}`), `step ${attempt}`)
    }
    assert.equal(replica(town, rounds).checkpoint?.doneMs, rounds * EVERY_MS)
    town.work(nodeOf(town, 'ann'), { output: 'done' })
    assert.equal(town.record(TASK).state, 'ready')
  })

  it('F14: is on record after a restart of the coordinator, and nothing else is', async () => {
    const town = await world(['ann'])
    leave(town, 'ann', 1, { root: 'one' })
    town.saves = false
    leave(town, 'ann', 1, { root: 'two' })
    await town.start()
    assert.ok(town.coordinator.keepsCheckpoint('one') && !town.coordinator.keepsCheckpoint('two'))
    town.saves = true
    town.join('ann')
    leave(town, 'ann', 1, { root: 'two' })
    town.pass(DEFAULT_COORDINATOR_POLICY.restartGraceMs)
    lose(town, 'ann')
    assert.equal(town.join('bob').resumed.get(`${TASK}.2`), 'two')
  })

  it('takes what is too large, comes too soon, is of another or of a task without checkpoints off the node and does not fetch it', async () => {
    const town = await world(['ann'])
    leave(town, 'ann', 1, { root: 'huge', bytes: BYTES + 1 })
    leave(town, 'ann', 1, { root: 'one' })
    leave(town, 'ann', 1, { root: 'soon', afterMs: EVERY_MS / 4 })
    town.join('bob')
    town.apply({ kind: 'checkpoints', node: 'bob', replicas: [{ replica: `${TASK}.1`, root: 'another', bytes: 1, last: false }] })
    assert.deepEqual(nodeOf(town, 'ann').taken, ['huge', 'one', 'soon'])
    assert.deepEqual(nodeOf(town, 'bob').taken, ['another'])
    assert.deepEqual(
      town.effects.flatMap((effect) => (effect.kind === 'save' ? [effect.root] : [])),
      ['one']
    )
    town.apply({ kind: 'client', client: 'owner', settings: { diskBytes: 1 } })
    leave(town, 'ann', 1, { root: 'two', bytes: 3 })
    assert.equal(replica(town, 1).checkpoint?.root, 'one', 'its client has no room for more')
  })

  it('F24: a second voice begins with nothing, and only one run at a time goes on from a checkpoint', async () => {
    const town = await world(['ann', 'bob', 'cid', 'dan', 'eve'], { minQuorum: 2, targetResults: 2, checkpointMs: EVERY_MS })
    const [first, second] = town.record(TASK).replicas.map(({ node }) => node)
    leave(town, first ?? '', 1, { root: 'one' })
    town.begin(nodeOf(town, second ?? ''), `${TASK}.2`)
    assert.deepEqual([replica(town, 1).from, replica(town, 2).from], [null, null])
    lose(town, first ?? '')
    const third = nodeOf(town, replica(town, 3).node)
    assert.equal(third.resumed.get(`${TASK}.3`), 'one')
    lose(town, second ?? '')
    assert.equal(replica(town, 4).from, null)
  })

  it('F24: whoever made the checkpoint and comes back after all is one voice with whoever went on from it', async () => {
    const town = await world(['ann', 'bob', 'cid'], { minQuorum: 2, targetResults: 2, maxErrorResults: 8, checkpointMs: EVERY_MS })
    const [first = '', second = ''] = town.record(TASK).replicas.map(({ node }) => node)
    const maker = nodeOf(town, first)
    leave(town, first, 1, { root: 'one' })
    const had = new Map(maker.leases)
    lose(town, first)
    assert.equal(replica(town, 3).from?.attempt, 1)
    town.work(nodeOf(town, replica(town, 3).node), { output: 'a lie' })
    town.nodes.set(first, maker)
    for (const [id, lease] of had) maker.leases.set(id, lease)
    town.join(first)
    for (const id of had.keys()) maker.leases.set(id, had.get(id) as never)
    town.report(maker, `${TASK}.1`, { output: 'a lie' })
    assert.notEqual(town.record(TASK).state, 'ready', 'both say the same, and are one voice')
    town.work(nodeOf(town, second), { output: 'the truth' })
    assert.equal(town.record(TASK).decision, null)
  })

  it('F24: what another goes on from is not replaced under its hands', async () => {
    const town = await world(['ann'])
    leave(town, 'ann', 1, { root: 'one' })
    const ann = nodeOf(town, 'ann')
    lose(town, 'ann')
    town.join('bob')
    town.nodes.set('ann', ann)
    town.join('ann')
    town.apply({ kind: 'checkpoints', node: 'ann', replicas: [{ replica: `${TASK}.1`, root: 'two', bytes: 1, last: true }] })
    assert.deepEqual(ann.taken, ['one', 'two'])
    assert.ok(town.coordinator.keepsCheckpoint('one') && !town.coordinator.keepsCheckpoint('two'))
  })

  it('F24: nobody is blamed for what may be wrong with the checkpoint of another', async () => {
    const town = await world(['ann', 'bob', 'cid', 'dan'], { minQuorum: 2, targetResults: 2, checkpointMs: EVERY_MS })
    const [first = '', second = ''] = town.record(TASK).replicas.map(({ node }) => node)
    leave(town, first, 1, { root: 'poison' })
    lose(town, first)
    const victim = replica(town, 3).node
    town.work(nodeOf(town, victim), { output: 'a lie' })
    town.work(nodeOf(town, second), { output: 'the truth' })
    town.work(nodeOf(town, replica(town, 4).node), { output: 'the truth' })
    assert.equal(town.record(TASK).state, 'ready')
    assert.equal(replica(town, 3).verdict, 'inconclusive')
    assert.equal(town.counts(victim).invalid, 0)
  })

  it('begins with nothing again when what went on from it failed as often as may be chance, or when it cannot be had', async () => {
    const names = Array.from({ length: CHECKPOINT_TRIES_MAX + 2 }, (_, index) => `node ${index}`)
    const town = await world(names, { ...POLICY, maxErrorResults: 10, maxTotalResults: 20 })
    const first = replica(town, 1).node
    leave(town, first, 1, { root: 'poison' })
    lose(town, first)
    for (let attempt = 2; attempt < CHECKPOINT_TRIES_MAX + 2; attempt++) {
      assert.equal(replica(town, attempt).from?.root, 'poison')
      const node = nodeOf(town, replica(town, attempt).node)
      town.begin(node, `${TASK}.${attempt}`)
      town.giveBack(node, `${TASK}.${attempt}`, 'node')
    }
    assert.equal(replica(town, CHECKPOINT_TRIES_MAX + 2).from, null)

    const other = await world(['ann'])
    leave(other, 'ann', 1, { root: 'gone' })
    lose(other, 'ann')
    const bob = other.join('bob')
    other.giveBack(bob, `${TASK}.2`, 'input', 'it is not here')
    assert.equal(replica(other, 3).from, null)
    assert.equal(other.record(TASK).state, 'running', 'an input that only one run needed fails no task')
    assert.ok(unsaved(other).includes('gone'))
  })

  it('a ban takes what rests on the banned node and was lost with it, too: it comes back neither as a run nor as a result', async () => {
    for (const back of ['run', 'result'] as const) {
      const town = await world(['ann'])
      leave(town, 'ann', 1, { root: 'poison' })
      lose(town, 'ann')
      const bob = town.join('bob')
      town.begin(bob, `${TASK}.2`)
      const had = new Map(bob.leases)
      lose(town, 'bob')
      town.apply({ kind: 'ban', by: 'owner', target: { kind: 'node', value: 'ann' }, reason: 'it lies', lift: false })
      town.nodes.set('bob', bob)
      for (const [id, lease] of had) if (back === 'run') bob.leases.set(id, lease)
      town.join('bob')
      if (back === 'result') {
        for (const [id, lease] of had) bob.leases.set(id, lease)
        town.report(bob, `${TASK}.2`, { output: 'a lie' })
      }
      assert.deepEqual([replica(town, 2).state, town.record(TASK).decision], ['lost', null])
    }
  })

  it('a ban takes what rests on the banned node with it', async () => {
    const town = await world(['ann'])
    leave(town, 'ann', 1, { root: 'one' })
    lose(town, 'ann')
    town.join('bob')
    assert.equal(replica(town, 2).from?.root, 'one')
    town.apply({ kind: 'ban', by: 'owner', target: { kind: 'node', value: 'ann' }, reason: 'it lies', lift: false })
    assert.equal(replica(town, 2).state, 'returned')
    assert.equal(replica(town, 3).from, null)
  })

  it('F24: a place of which little is known does not speak twice through a checkpoint of one of its nodes', async () => {
    const town = await new CoordinatorWorld().start()
    town.join('liar 1', offer(1, { network: 'n1' }))
    town.submit(BATCH, [bundle('x', { resources: { diskBytes: BYTES } })], { minQuorum: 2, targetResults: 2, checkpointMs: EVERY_MS })
    leave(town, 'liar 1', 1, { root: 'poison' })
    lose(town, 'liar 1')
    for (const [id, network] of [
      ['liar 2', 'n1'],
      ['honest 1', 'n2'],
      ['honest 2', 'n3']
    ] as const)
      town.join(id, offer(1, { network }))
    const { replicas } = town.record(TASK)
    const voices = replicas
      .filter(({ state }) => state === 'leased')
      .map((one) => new Set(handsOf({ replicas } as TaskRecord, one).map((hand) => (hand.startsWith('liar') ? 'n1' : hand))))
    assert.equal(voices.length, 2)
    for (const place of voices[0] ?? []) assert.ok(!voices[1]?.has(place), 'one place has two voices')
  })
})

const NODES = 6
const STEP = fc.record({
  kind: fc.constantFrom('leave', 'leave', 'leave', 'report', 'lose', 'lose', 'give back', 'come', 'come', 'restart', 'wait'),
  node: fc.nat(NODES - 1)
})

describe('F24: a quorum of runs that went on from checkpoints', () => {
  it('is of voices that share no hands, and one liar decides nothing, whatever it leaves to others', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 10, maxLength: 60 }), fc.constantFrom(2, 3), async (steps, minQuorum) => {
        const town = await world(
          Array.from({ length: NODES }, (_, index) => `node ${index}`),
          { minQuorum, targetResults: minQuorum, maxErrorResults: 30, maxTotalResults: 60, maxSuccessResults: 60, checkpointMs: EVERY_MS }
        )
        const poisoned = (node: ScriptedNode, id: string): boolean => node.id === 'node 0' || node.resumed.get(id)?.startsWith('lie') === true
        let made = 0
        for (const { kind, node: index } of steps) {
          if (town.record(TASK).endedAtMs !== null) break
          const holders = [...town.nodes.values()].filter(({ leases }) => leases.size > 0)
          const node = holders[index % holders.length]
          if (kind === 'come') town.join(`node ${index}`)
          else if (kind === 'restart') {
            await town.start()
            for (const one of town.nodes.values()) town.join(one.id)
          } else if (kind === 'wait') town.pass(EVERY_MS)
          else if (node !== undefined)
            for (const id of [...node.leases.keys()]) {
              if (!node.granted.has(id)) town.begin(node, id)
              if (!node.granted.has(id)) continue
              const says = poisoned(node, id) ? 'lie' : 'truth'
              if (kind === 'report') town.report(node, id, { output: says })
              else if (kind === 'lose') lose(town, node.id)
              else {
                town.pass(EVERY_MS)
                town.apply({ kind: 'checkpoints', node: node.id, replicas: [{ replica: id, root: `${says} ${made++}`, bytes: 1, last: kind === 'give back' }] })
                if (kind === 'give back') town.giveBack(node, id, 'owner')
              }
            }
        }
        const task = town.record(TASK)
        if (task.decision === null) return
        const agreeing = task.replicas.filter(({ vote, verdict }) => verdict === 'valid' && vote === task.decision?.vote)
        const taken = new Set<string>()
        let voices = 0
        for (const one of agreeing) {
          const hands = handsOf(task, one)
          if (hands.some((hand) => taken.has(hand))) continue
          for (const hand of hands) taken.add(hand)
          voices++
        }
        assert.ok(voices >= minQuorum, `decided by ${voices} voices`)
        assert.notEqual(task.decision.output, 'lie')
        assert.ok(agreeing.some((one) => !handsOf(task, one).includes('node 0')))
      }),
      { numRuns: 500 }
    )
  })
})
