import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, bundle, offer, plainBundle } from '#test/support/coordinator-parts'
import { nodeKey, revisedKey } from './keys.ts'
import { decodeNodeRecord } from './node-records.ts'
import { DEFAULT_COORDINATOR_POLICY, UNCONFIRMED_MAX } from './policy.ts'
import { decodeRevisedRecord } from './trust-records.ts'

const TRUSTED = DEFAULT_COORDINATOR_POLICY.trustedAfter
const ADAPTIVE = { adaptive: true }

/** A project whose nodes have agreed with each other so often. */
async function town(names: readonly string[], confirmed: number): Promise<CoordinatorWorld> {
  const world = await new CoordinatorWorld().start()
  for (const name of names) world.join(name)
  if (confirmed > 0) {
    const bundles = Array.from({ length: confirmed }, (_, task) => plainBundle(`${task}`))
    world.submit(batchId(1), bundles, { minQuorum: names.length, targetResults: names.length, maxTotalResults: 64, maxSuccessResults: 64 })
    for (let round = 0; round < confirmed; round++) for (const node of world.nodes.values()) world.work(node, { output: 'the truth' })
    assert.equal(world.coordinator.batch(batchId(1)), undefined)
  }
  return world
}

function known(world: CoordinatorWorld, id: string): { row: number; errorPpm: number; invalid: number; valid: number } {
  const { row, errorPpm, invalid, valid } = decodeNodeRecord(world.store.peek(nodeKey(id)) ?? new Uint8Array(0))
  return { row, errorPpm, invalid, valid }
}

/** Who got the tasks of a batch, how many replicas each. */
function replicasOf(world: CoordinatorWorld, batch: string, tasks: number): number[] {
  return Array.from({ length: tasks }, (_, task) => world.record(`${batch}.${task}`).replicas.length)
}

function node(world: CoordinatorWorld, id: string): ScriptedNode {
  const found = world.nodes.get(id)
  if (found === undefined) throw new Error(`no node ${id}`)
  return found
}

/** The last of them gets tasks of an adaptive batch and decides them alone, until it has so many unconfirmed. */
async function untilAlone(world: CoordinatorWorld, liar: ScriptedNode, { tasks, output }: { tasks: number; output: string }): Promise<string[]> {
  for (const other of world.nodes.values()) if (other !== liar) world.apply({ kind: 'demand', node: other.id, slots: 0 })
  const alone: string[] = []
  for (let number = 100; alone.length < tasks; number++) {
    world.submit(batchId(number), [plainBundle('x')], ADAPTIVE)
    const task = `${batchId(number)}.0`
    if (world.record(task).replicas[0]?.standing.alone === true) {
      world.work(liar, { output })
      assert.equal(world.record(task).state, 'ready')
      alone.push(task)
    } else world.apply({ kind: 'kill', batch: batchId(number), by: 'owner' })
    world.pass(12_500)
  }
  return alone
}

function invite(world: CoordinatorWorld): void {
  for (const other of world.nodes.values()) world.apply({ kind: 'demand', node: other.id, slots: 1 })
}

describe('adaptive replication (F16)', () => {
  it('asks for a quorum until a node was confirmed ten times in a row', async () => {
    const world = await town(['a', 'b', 'c'], TRUSTED - 1)
    assert.deepEqual(known(world, 'a').row, TRUSTED - 1)
    world.submit(batchId(2), [plainBundle('x')], ADAPTIVE)
    assert.deepEqual(replicasOf(world, batchId(2), 1), [2])
  })

  it('then takes one result of it, says so in the record and the receipt, and has its row no longer for that', async () => {
    const world = await town(['a', 'b', 'c'], TRUSTED)
    const [task = ''] = await untilAlone(world, node(world, 'a'), { tasks: 1, output: 'the truth' })
    assert.deepEqual(
      world.record(task).replicas.map(({ standing }) => standing),
      [{ row: TRUSTED, alone: true }]
    )
    const receipt = world.receipts.get(task)
    assert.deepEqual([receipt?.quorum, receipt?.trusted, receipt?.results.length], [1, TRUSTED, 1])
    assert.deepEqual([known(world, 'a').row, known(world, 'a').valid], [TRUSTED, TRUSTED + 1])
  })

  it('does so in no batch that did not ask for it', async () => {
    const world = await town(['a', 'b', 'c'], TRUSTED + 5)
    world.submit(batchId(2), [plainBundle('x')])
    assert.deepEqual(replicasOf(world, batchId(2), 1), [2])
  })

  it('checks one in as many as it has in a row, drawn by the seed and never twice alike', async () => {
    const row = 20
    const world = await town(['a', 'b'], row)
    world.join('a', offer(900))
    const checked: number[][] = []
    for (const number of [2, 3]) {
      world.submit(
        batchId(number),
        Array.from({ length: 900 }, () => plainBundle('x')),
        ADAPTIVE
      )
      const leased = Array.from({ length: 900 }, (_, task) => world.record(`${batchId(number)}.${task}`))
      const first = leased.flatMap(({ replicas: [replica] }, task) => (replica?.node === 'a' ? [{ task, alone: replica.standing.alone }] : []))
      const drawn = first.filter(({ alone }) => !alone).map(({ task }) => task)
      checked.push(drawn)
      // 1 in 20 of 900: 45, give or take four times the standard deviation.
      assert.ok(first.length > 850)
      assert.ok(drawn.length > 19 && drawn.length < 71, `${drawn.length} of ${first.length}`)
      world.apply({ kind: 'kill', batch: batchId(number), by: 'owner' })
      world.pass(12_500)
    }
    assert.notDeepEqual(checked[0], checked[1])
  })

  it('checks a node that has too much to be looked at again', async () => {
    const world = await town(['a', 'b'], 200)
    await untilAlone(world, node(world, 'a'), { tasks: UNCONFIRMED_MAX, output: 'the truth' })
    for (let number = 1_000; number < 1_010; number++) {
      world.submit(batchId(number), [plainBundle('x')], ADAPTIVE)
      assert.equal(world.record(`${batchId(number)}.0`).replicas[0]?.standing.alone, false)
      world.apply({ kind: 'kill', batch: batchId(number), by: 'owner' })
      world.pass(12_500)
    }
  })

  it('asks for a quorum where another is bound to a result that it has not said: a check is not got round', async () => {
    const world = await town(['a', 'b'], TRUSTED)
    let checked = 0
    for (let number = 100; checked < 5; number++) {
      const only = (id: string): void => {
        for (const other of world.nodes.values()) world.apply({ kind: 'demand', node: other.id, slots: other.id === id ? 1 : 0 })
      }
      only('a')
      world.submit(batchId(number), [plainBundle('x')], { ...ADAPTIVE, commit: true })
      const task = `${batchId(number)}.0`
      if (world.record(task).replicas[0]?.standing.alone === false) {
        checked++
        const a = node(world, 'a')
        world.apply({ kind: 'commits', node: 'a', seq: ++a.sent, replicas: [{ replica: `${task}.1`, digest: '00'.repeat(32) }] })
        only('b')
        assert.deepEqual(
          world.record(task).replicas.map(({ node: by, standing }) => [by, standing.alone]),
          [
            ['a', false],
            ['b', false]
          ]
        )
      }
      world.apply({ kind: 'kill', batch: batchId(number), by: 'owner' })
      world.pass(12_500)
    }
  })

  it('does not believe a node for what a quorum of one took from it, and goes on to look at what it decided alone', async () => {
    const world = await town(['a', 'b', 'c'], TRUSTED)
    const a = node(world, 'a')
    const stranger = world.join('stranger', offer(1, { network: 'n1' }))
    const alone = await untilAlone(world, a, { tasks: 2, output: 'a lie' })
    const before = { a: known(world, 'a'), stranger: known(world, 'stranger') }
    const ones = Array.from({ length: TRUSTED }, (_, task) => plainBundle(`${task}`))
    for (const [number, who] of [
      [1_000, a],
      [1_001, stranger]
    ] as const) {
      world.submit(batchId(number), ones, { minQuorum: 1, targetResults: 1, nodes: [who.id] })
      for (const other of [a, stranger]) world.apply({ kind: 'demand', node: other.id, slots: other === who ? 1 : 0 })
      for (const _ of ones) world.work(who, { output: 'a lie' })
      assert.equal(world.coordinator.batch(batchId(number)), undefined)
    }
    for (const id of ['a', 'stranger'] as const) assert.deepEqual(known(world, id), { ...before[id], valid: before[id].valid + TRUSTED })
    assert.deepEqual(
      world.store.keys('alone/'),
      alone.map((task) => `alone/a/${task}`)
    )
    invite(world)
    world.submit(batchId(2_000), [plainBundle('x')], { minQuorum: 2, targetResults: 3, nodes: ['a', 'b', 'c'] })
    world.work(a, { output: 'a lie' })
    for (const id of ['b', 'c']) world.work(node(world, id), { output: 'the truth' })
    assert.deepEqual([known(world, 'a').row, world.store.keys('alone/'), world.store.keys('recheck/').length], [0, [], alone.length])
  })

  it('a node that was refuted while it ran something is not believed alone in it', async () => {
    const world = await town(['a', 'b', 'c', 'd'], TRUSTED)
    const [a, b, c] = [node(world, 'a'), node(world, 'b'), node(world, 'c')]
    world.submit(batchId(3), [plainBundle('checked')], { minQuorum: 2, targetResults: 3, nodes: ['a', 'b', 'c'] })
    world.join('a', offer(2))
    for (let number = 4; ; number++) {
      world.submit(batchId(number), [plainBundle('x')], { ...ADAPTIVE, nodes: ['a'] })
      const task = `${batchId(number)}.0`
      if (world.record(task).replicas[0]?.standing.alone !== true) {
        world.apply({ kind: 'kill', batch: batchId(number), by: 'owner' })
        world.pass(12_500)
        continue
      }
      world.report(a, `${batchId(3)}.0.${world.record(`${batchId(3)}.0`).replicas.find((one) => one.node === 'a')?.attempt}`, { output: 'a lie' })
      world.work(b, { output: 'the truth' })
      world.work(c, { output: 'the truth' })
      assert.equal(known(world, 'a').row, 0)
      world.work(a, { output: 'a lie' })
      assert.deepEqual([world.record(task).state, world.record(task).replicas[0]?.standing.alone], ['validating', false])
      return
    }
  })
})

describe('a believed node that goes on from the checkpoint of another (F16, F24)', () => {
  const EVERY_MS = 10_000

  /** `a` begins it and is believed, leaves a checkpoint and is lost or gives it back; then it is leased to `d`. Answers the task. */
  async function handedOver(world: CoordinatorWorld, { toBeBelieved, lost }: { toBeBelieved: boolean; lost: boolean }): Promise<string> {
    const [a, d] = [node(world, 'a'), node(world, 'd')]
    const slots = (id: string): void => {
      for (const other of world.nodes.values()) world.apply({ kind: 'demand', node: other.id, slots: other.id === id ? 1 : 0 })
    }
    for (let number = 100; ; number++) {
      slots('a')
      const policy = { ...ADAPTIVE, checkpointMs: EVERY_MS, maxErrorResults: 6 }
      world.submit(batchId(number), [bundle('x', { resources: { diskBytes: 1_000 } })], policy)
      const task = `${batchId(number)}.0`
      world.begin(a, `${task}.1`)
      world.pass(EVERY_MS)
      world.apply({ kind: 'checkpoints', node: 'a', replicas: [{ replica: `${task}.1`, root: 'left', bytes: 1, last: true }] })
      slots('')
      if (lost) world.pass(20_000, [a])
      else world.giveBack(a, `${task}.1`, 'owner', 'paused')
      slots('d')
      const [first, second] = world.record(task).replicas
      assert.equal(second?.from?.attempt, 1)
      if (first?.standing.alone === true && second.standing.alone === toBeBelieved) return task
      world.apply({ kind: 'kill', batch: batchId(number), by: 'owner' })
      for (const one of [a, d]) one.leases.clear()
      world.pass(12_500)
      world.join('a')
    }
  }

  it('is one voice with it: neither confirms the other, and the receipt says that one alone decided', async () => {
    const world = await town(['a', 'b', 'c'], TRUSTED)
    world.join('d')
    const task = await handedOver(world, { toBeBelieved: false, lost: true })
    const [a, d] = [node(world, 'a'), node(world, 'd')]
    world.work(d, { output: 'a lie' })
    assert.equal(world.record(task).decision, null)
    world.join('a')
    world.report(a, `${task}.1`, { output: 'a lie' })
    assert.equal(world.record(task).state, 'ready')
    assert.deepEqual([known(world, 'a').row, known(world, 'd').row], [TRUSTED, 0])
    assert.deepEqual([world.receipts.get(task)?.quorum, world.receipts.get(task)?.trusted], [1, TRUSTED])
    assert.deepEqual(world.store.keys('alone/'), [`alone/a/${task}`])
  })

  it('is one voice with it, too, when that one comes late, over a restart of the coordinator', async () => {
    const world = await town(['a', 'b', 'c', 'd'], TRUSTED)
    const task = await handedOver(world, { toBeBelieved: true, lost: true })
    const a = node(world, 'a')
    world.work(node(world, 'd'), { output: 'a lie' })
    assert.equal(world.record(task).state, 'ready')
    const lease = a.leases.get(`${task}.1`) ?? assert.fail()
    await world.start()
    world.join('a')
    a.leases.set(`${task}.1`, lease)
    const { row, valid } = known(world, 'a')
    world.report(a, `${task}.1`, { output: 'a lie' })
    assert.deepEqual([known(world, 'a').row, known(world, 'a').valid], [row, valid + 1])
  })

  it('is not believed alone when that one was refuted meanwhile', async () => {
    const world = await town(['a', 'b', 'c', 'd'], TRUSTED)
    const task = await handedOver(world, { toBeBelieved: true, lost: false })
    for (const id of ['a', 'b', 'c']) world.apply({ kind: 'demand', node: id, slots: 1 })
    world.submit(batchId(9_000), [plainBundle('compared')], { minQuorum: 2, targetResults: 3, nodes: ['a', 'b', 'c'] })
    for (const id of ['a', 'b', 'c']) {
      const attempt = world.record(`${batchId(9_000)}.0`).replicas.find((one) => one.node === id)?.attempt
      world.report(node(world, id), `${batchId(9_000)}.0.${attempt}`, { output: id === 'a' ? 'a lie' : 'the truth' })
    }
    assert.equal(known(world, 'a').row, 0)
    world.work(node(world, 'd'), { output: 'rests on a lie' })
    assert.equal(world.record(task).decision, null)
    assert.equal(world.record(task).replicas[1]?.standing.alone, false)
  })
})

describe('what a node alone decided, when it turns out wrong (F16)', () => {
  /** A sleeper: honest until it is believed, then a liar; in the end one of its lies is compared. */
  async function sleeper(): Promise<{ world: CoordinatorWorld; lies: string[] }> {
    const world = await town(['a', 'b', 'c'], TRUSTED)
    const lies = await untilAlone(world, node(world, 'a'), { tasks: 3, output: 'a lie' })
    invite(world)
    world.submit(batchId(9_000), [plainBundle('compared')], { minQuorum: 2, targetResults: 3 })
    world.work(node(world, 'a'), { output: 'another lie' })
    world.work(node(world, 'b'), { output: 'the truth' })
    return { world, lies }
  }

  it('is run again although its client has all that it may have', async () => {
    const world = await town(['a', 'b', 'c'], TRUSTED)
    const lies = await untilAlone(world, node(world, 'a'), { tasks: 3, output: 'a lie' })
    invite(world)
    world.submit(batchId(9_000), [plainBundle('compared')], { minQuorum: 2, targetResults: 3 })
    world.apply({ kind: 'client', client: 'owner', settings: { tasks: 1, batches: 1, diskBytes: 1 } })
    world.work(node(world, 'a'), { output: 'another lie' })
    world.work(node(world, 'b'), { output: 'the truth' })
    for (let round = 0; round < 5; round++) for (const id of ['b', 'c']) world.work(node(world, id), { output: 'the truth' })
    for (const lie of lies) assert.equal(decodeRevisedRecord(world.store.peek(revisedKey(lie)) ?? new Uint8Array(0)).verdict, 'revoked')
  })

  it('is run again by others and revoked; the receipts stay as what they say', async () => {
    const { world, lies } = await sleeper()
    const receipts = lies.map((task) => world.receipts.get(task))
    world.work(node(world, 'c'), { output: 'the truth' })
    const { row, errorPpm } = known(world, 'a')
    assert.equal(row, 0)
    assert.ok(errorPpm > 100_000)
    for (let round = 0; round < 4; round++) for (const id of ['b', 'c']) world.work(node(world, id), { output: 'the truth' })
    for (const [index, task] of lies.entries()) {
      const revised = decodeRevisedRecord(world.store.peek(revisedKey(task)) ?? new Uint8Array(0))
      assert.equal(revised.verdict, 'revoked')
      const again = world.record(revised.by)
      assert.equal(again.state, 'ready')
      assert.ok(again.replicas.every((replica) => replica.node !== 'a'))
      assert.equal(world.record(task).state, 'ready')
      assert.deepEqual(world.receipts.get(task), receipts[index])
    }
    assert.equal(known(world, 'a').invalid, 4)
    assert.deepEqual(world.store.keys('recheck/'), [])
    assert.deepEqual(world.store.keys('alone/'), [])
  })

  it('is looked at and counted once, whoever contradicts it meanwhile and later, over a restart too', async () => {
    const world = await town(['a', 'b', 'c'], TRUSTED)
    const late = ['x', 'y', 'z'].map((id) => world.join(id))
    const [a] = [node(world, 'a')]
    const slots = (ids: readonly string[]): void => {
      for (const { id } of world.nodes.values()) world.apply({ kind: 'demand', node: id, slots: ids.includes(id) ? 1 : 0 })
    }
    let task = ''
    // Three begin it and fall silent; then it is leased to one that is believed, sooner or later without a check.
    for (let number = 100; task === ''; number++) {
      slots(['x', 'y', 'z'])
      world.submit(batchId(number), [plainBundle('x')], { adaptive: true, targetResults: 3, maxErrorResults: 5 })
      world.pass(20_000, late)
      slots(['a'])
      world.apply({ kind: 'release', batch: batchId(number), by: 'owner' })
      if (world.record(`${batchId(number)}.0`).replicas[3]?.standing.alone === true) task = `${batchId(number)}.0`
      else {
        world.apply({ kind: 'kill', batch: batchId(number), by: 'owner' })
        for (const one of late) one.leases.clear()
        world.pass(12_500)
        for (const { id } of late) world.join(id)
      }
    }
    world.work(a, { output: 'a lie' })
    assert.equal(world.record(task).state, 'ready')
    slots([])
    const contradict = (one: ScriptedNode): void => {
      const [[replica, lease] = []] = one.leases
      assert.ok(replica !== undefined && lease !== undefined)
      world.join(one.id)
      one.leases.set(replica, lease)
      world.report(one, replica, { output: 'the truth' })
    }
    const invalid = known(world, 'a').invalid
    const [x, y, z] = late as [ScriptedNode, ScriptedNode, ScriptedNode]
    contradict(x)
    await world.start()
    for (const id of ['a', 'b', 'c']) world.join(id)
    contradict(y)
    slots(['b', 'c'])
    for (let round = 0; round < 3; round++) for (const id of ['b', 'c']) world.work(node(world, id), { output: 'the truth' })
    contradict(z)
    slots(['b', 'c'])
    for (let round = 0; round < 3; round++) for (const id of ['b', 'c']) world.work(node(world, id), { output: 'the truth' })
    assert.equal(decodeRevisedRecord(world.store.peek(revisedKey(task)) ?? new Uint8Array(0)).verdict, 'revoked')
    assert.equal(known(world, 'a').invalid, invalid + 1)
    assert.deepEqual(world.store.keys('recheck/'), [])
  })

  it('is confirmed where the node was right after all', async () => {
    const { world, lies } = await sleeper()
    world.work(node(world, 'c'), { output: 'the truth' })
    for (let round = 0; round < 4; round++) for (const id of ['b', 'c']) world.work(node(world, id), { output: 'a lie' })
    for (const task of lies) assert.equal(decodeRevisedRecord(world.store.peek(revisedKey(task)) ?? new Uint8Array(0)).verdict, 'confirmed')
    assert.equal(known(world, 'a').invalid, 1)
  })

  it('is remembered over restarts, before it is asked for and while it runs', async () => {
    const { world, lies } = await sleeper()
    const back = async (): Promise<void> => {
      await world.start()
      for (const id of ['a', 'b', 'c']) world.join(id)
    }
    await back()
    world.work(node(world, 'c'), { output: 'the truth' })
    await back()
    for (let round = 0; round < 4; round++) {
      for (const id of ['b', 'c']) world.work(node(world, id), { output: 'the truth' })
      await back()
    }
    for (const task of lies) assert.equal(decodeRevisedRecord(world.store.peek(revisedKey(task)) ?? new Uint8Array(0)).verdict, 'revoked')
    assert.deepEqual(world.store.keys('recheck/'), [])
  })

  it('is not looked at again when the node was confirmed since', async () => {
    const world = await town(['a', 'b', 'c'], TRUSTED)
    await untilAlone(world, node(world, 'a'), { tasks: 2, output: 'the truth' })
    invite(world)
    world.submit(batchId(8_000), [plainBundle('compared')], { minQuorum: 3, targetResults: 3 })
    for (const id of ['a', 'b', 'c']) world.work(node(world, id), { output: 'the truth' })
    assert.deepEqual(world.store.keys('alone/'), [])
    world.submit(batchId(8_001), [plainBundle('compared')], { minQuorum: 2, targetResults: 3 })
    for (const id of ['a', 'b', 'c']) world.work(node(world, id), { output: id === 'a' ? 'a lie' : 'the truth' })
    assert.deepEqual(world.store.keys('recheck/'), [])
    assert.equal(known(world, 'a').row, 0)
  })
})

describe('votes that are weighed (Sarmenta)', () => {
  const WEIGHED = { doubtPpm: 1_000, maxTotalResults: 20, maxSuccessResults: 14 }
  const NINE = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']

  it('five new nodes must agree where one decision in a thousand may be wrong', async () => {
    const world = await town(NINE, 0)
    world.submit(batchId(2), [plainBundle('x')], WEIGHED)
    for (let round = 0; round < 3; round++) for (const one of world.nodes.values()) if (world.record(`${batchId(2)}.0`).state !== 'ready') world.work(one)
    assert.equal(world.receipts.get(`${batchId(2)}.0`)?.results.length, 5)
  })

  it('two that are known are enough, three when one contradicts them', async () => {
    for (const liars of [0, 1]) {
      const world = await town(NINE, 10)
      world.submit(batchId(2), [plainBundle('x')], WEIGHED)
      let lied = 0
      for (let round = 0; round < 3; round++)
        for (const one of world.nodes.values()) if (one.leases.size > 0) world.work(one, { output: lied++ < liars ? 'a lie' : 'the truth' })
      const receipt = world.receipts.get(`${batchId(2)}.0`)
      assert.deepEqual([receipt?.results.length, receipt?.dissent.length], liars === 0 ? [2, 0] : [3, 1])
    }
  })
})

it('F15: 3 of 5 with one liar: the truth each time, in 10,000 tasks', async () => {
  const world = await new CoordinatorWorld({ ...DEFAULT_COORDINATOR_POLICY, failuresMax: Number.POSITIVE_INFINITY }).start()
  const names = ['liar', 'b', 'c', 'd', 'e']
  for (const name of names) world.join(name, offer(1_000))
  let lies = 0
  for (let batch = 0; batch < 10; batch++) {
    const id = batchId(batch + 1)
    const policy = { minQuorum: 3, targetResults: 3, maxTotalResults: 5, maxSuccessResults: 5 }
    world.submit(
      id,
      Array.from({ length: 1_000 }, (_, task) => plainBundle(`${task}`)),
      policy
    )
    while (world.coordinator.batch(id) !== undefined)
      for (const one of world.nodes.values()) {
        if (one.leases.size === 0) continue
        // In an order that lets the liar be the first, the last, and between.
        const isLiar = one.id === 'liar'
        if (isLiar) lies += one.leases.size
        world.reportAll(one, { output: isLiar ? 'a lie' : 'the truth' })
      }
    for (let task = 0; task < 1_000; task++) {
      const { state, decision, replicas } = world.record(`${id}.${task}`)
      assert.equal(state, 'ready')
      assert.ok(replicas.every(({ node: by, vote }) => vote === null || (vote === decision?.vote) === (by !== 'liar')))
    }
  }
  assert.ok(lies > 5_000, `${lies} lies`)
})
