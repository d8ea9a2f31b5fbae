import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TaskPolicy } from '#protocol/bundle/policy'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, bundle, offer, plainBundle } from '#test/support/coordinator-parts'
import { CLOSING_MS_MAX, DEFAULT_COORDINATOR_POLICY } from './policy.ts'

const BATCH = batchId(1)
const NEXT = batchId(2)
const COPIED: TaskPolicy = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1, copies: 'idle' }

async function worldOf(slots: Readonly<Record<string, number>>, idleCopies = 3): Promise<CoordinatorWorld> {
  const world = await new CoordinatorWorld({ ...DEFAULT_COORDINATOR_POLICY, idleCopies }).start()
  for (const [id, count] of Object.entries(slots)) world.join(id, offer(count))
  return world
}

function node(world: CoordinatorWorld, id: string): ScriptedNode {
  return world.nodes.get(id) as ScriptedNode
}

/** Who runs it as a copy. */
function copyOf(world: CoordinatorWorld, task = `${BATCH}.0`): string | undefined {
  return world.record(task).replicas.find(({ copy, state }) => copy && (state === 'running' || state === 'leased'))?.node
}

function copies(world: CoordinatorWorld, tasks: number): number {
  return Array.from({ length: tasks }, (_, index) => copyOf(world, `${BATCH}.${index}`)).filter((id) => id !== undefined).length
}

const bundles = (count: number) => Array.from({ length: count }, (_, index) => plainBundle(`${index}`))

describe('copies on idle nodes (F04)', () => {
  it('K runs are copied while K slots are idle beside what waits, one copy a task, and none below K', async () => {
    for (const [idle, expected] of [
      [0, 0],
      [2, 0],
      [3, 3],
      [6, 3]
    ] as const) {
      const world = await worldOf({ a: 5 })
      world.submit(BATCH, bundles(5), COPIED)
      if (idle > 0) world.join('b', offer(idle))
      world.pass(5_000)
      assert.equal(copies(world, 5), expected, `${idle} idle slots`)
    }
    const one = await worldOf({ a: 1, b: 1, c: 1, d: 1, e: 1 })
    one.submit(BATCH, bundles(1), COPIED)
    one.pass(5_000)
    assert.equal(one.record(`${BATCH}.0`).replicas.length, 2)
  })

  it('none is made while the input of its task is looked for that others did not find', async () => {
    const world = await worldOf({ a: 1, b: 1, c: 1 })
    world.inputs = () => []
    world.submit(BATCH, bundles(1), { ...COPIED, minQuorum: 2, targetResults: 3 })
    for (const { attempt, node: id } of world.record(`${BATCH}.0`).replicas) {
      world.begin(node(world, id), `${BATCH}.0.${attempt}`)
      if (attempt < 3) world.giveBack(node(world, id), `${BATCH}.0.${attempt}`, 'input')
    }
    for (const id of ['d', 'e', 'f']) world.join(id, offer(1))
    world.pass(5_000)
    assert.equal(copyOf(world), undefined)
    world.apply({ kind: 'inputs', task: `${BATCH}.0`, lost: true, through: [], message: '' })
    world.pass(5_000)
    assert.equal(copyOf(world), 'f', 'it is there again')
  })

  it('none is made when the project or the task says never, or before the last tasks of a batch', async () => {
    for (const [idleCopies, rule] of [
      [0, 'idle'],
      [3, 'never'],
      [3, 'tail']
    ] as const) {
      const world = await worldOf({ a: 5, b: 5 }, idleCopies)
      world.submit(BATCH, bundles(4), { ...COPIED, copies: rule })
      world.pass(20_000)
      assert.equal(copies(world, 4), 0)
    }
  })

  it('as many as a task wants places yield to it, though their GPUs are free only when they have ended', async () => {
    const card = (uuid: string) => ({ uuid, model: 'card', memoryBytes: 1, driver: '1' })
    const task = (name: string) => bundle(name, { dependencies: [], gpus: { count: 1, memoryBytes: 0, model: '', driver: '' } })
    for (const wanted of [1, 2]) {
      const world = await worldOf({})
      world.join('a', offer(3, { gpus: [card('0'), card('1'), card('2')] }))
      world.submit(BATCH, ['0', '1', '2'].map(task), COPIED)
      for (const id of ['b', 'c', 'd']) world.join(id, offer(1, { gpus: [card('0')] }))
      world.pass(1_000)
      assert.equal(copies(world, 3), 3)
      world.submit(NEXT, [task('new')], { minQuorum: wanted, targetResults: wanted, copies: 'never' })
      world.pass(1_000)
      assert.equal(copies(world, 3), 3 - wanted)
      world.pass(CLOSING_MS_MAX)
      assert.equal(world.record(`${NEXT}.0`).replicas.length, wanted)
      assert.equal(copies(world, 3), 3 - wanted)
    }
  })

  it('the first result wins and the other run is cancelled in the same commit', async () => {
    for (const first of ['the run', 'the copy']) {
      const world = await worldOf({ a: 1 })
      world.submit(BATCH, bundles(1), COPIED)
      for (const id of ['b', 'c', 'd']) world.join(id)
      world.pass(1_000)
      const copy = copyOf(world) ?? ''
      const [winner, loser] = first === 'the run' ? ['a', copy] : [copy, 'a']
      const [replica = ''] = [...node(world, winner).leases.keys()]
      world.report(node(world, winner), replica, { output: 'truth' })
      assert.equal(world.record(`${BATCH}.0`).state, 'ready')
      assert.deepEqual(node(world, loser).cancelled.length, 1)
    }
  })

  it('yields at once to a task that waits: cancelled and its slot leased in one commit, its own task unharmed', async () => {
    const world = await worldOf({ a: 1 })
    world.submit(BATCH, bundles(1), COPIED)
    for (const id of ['b', 'c', 'd']) world.join(id)
    world.pass(1_000)
    const copy = copyOf(world) ?? ''
    world.submit(NEXT, bundles(3), { ...COPIED, copies: 'never' })
    assert.equal(copyOf(world), undefined)
    assert.equal(node(world, copy).cancelled.length, 1)
    for (let index = 0; index < 3; index++) assert.equal(world.record(`${NEXT}.${index}`).state, 'running')
    assert.equal(world.states(`${BATCH}.0`), `a running, ${copy} cancelled`)
    // Nor is its node barred from what it yielded.
    for (const id of ['b', 'c', 'd']) world.work(node(world, id), { output: 'truth' })
    const [lost = ''] = [...node(world, 'a').leases.keys()]
    world.giveBack(node(world, 'a'), lost, 'node')
    for (const id of ['b', 'c', 'd']) world.work(node(world, id), { output: 'truth' })
    assert.equal(world.record(`${BATCH}.0`).state, 'ready')
  })

  it('only as many yield as there are tasks that could have their place', async () => {
    const world = await worldOf({ a: 3 })
    world.submit(BATCH, bundles(3), COPIED)
    world.join('b', offer(3, { memoryBytes: 4 * 1024 ** 3 }))
    world.pass(1_000)
    assert.equal(copies(world, 3), 3)
    world.submit(NEXT, [plainBundle('big', { memoryBytes: 8 * 1024 ** 3 })], { ...COPIED, nodes: ['b'] })
    world.pass(1_000)
    assert.equal(copies(world, 3), 3)
    world.submit(batchId(3), [plainBundle('fits')], { ...COPIED, nodes: ['b'] })
    assert.equal(copies(world, 3), 2)
  })

  it('what becomes of a copy counts against no limit of its task', async () => {
    const strict = { ...COPIED, maxErrorResults: 1, maxTotalResults: 1 }
    const world = await worldOf({ a: 1 })
    world.submit(BATCH, bundles(1), strict)
    for (const id of ['b', 'c', 'd', 'e', 'f', 'g']) world.join(id)
    for (let made = 0; made < 3; made++) {
      world.pass(1_000)
      const copy = node(world, copyOf(world) ?? '')
      const [replica = ''] = [...copy.leases.keys()]
      if (made < 2) world.giveBack(copy, replica, 'node')
      else world.apply({ kind: 'bye', node: copy.id, seq: ++copy.sent })
    }
    world.pass(5_000)
    assert.equal(world.record(`${BATCH}.0`).state, 'running')
    // Three in its life, and no more.
    assert.equal(world.record(`${BATCH}.0`).replicas.length, 4)
    world.work(node(world, 'a'), { output: 'truth' })
    assert.equal(world.record(`${BATCH}.0`).state, 'ready')
  })

  it('takes the place of a run that is lost, and yields no longer', async () => {
    const world = await worldOf({ a: 1 })
    world.submit(BATCH, bundles(1), COPIED)
    for (const id of ['b', 'c', 'd']) world.join(id)
    world.pass(1_000)
    const copy = copyOf(world) ?? ''
    const [replica = ''] = [...node(world, 'a').leases.keys()]
    world.giveBack(node(world, 'a'), replica, 'node')
    assert.equal(world.record(`${BATCH}.0`).replicas.length, 2)
    world.submit(NEXT, bundles(9), { ...COPIED, copies: 'never' })
    assert.equal(copyOf(world), copy)
  })

  it('is still a copy after a restart', async () => {
    const world = await worldOf({ a: 1 })
    world.submit(BATCH, bundles(1), COPIED)
    for (const id of ['b', 'c', 'd']) world.join(id)
    world.pass(1_000)
    const copy = copyOf(world) ?? ''
    await world.start()
    for (const id of ['a', 'b', 'c', 'd']) world.join(id)
    world.submit(NEXT, bundles(3), { ...COPIED, copies: 'never' })
    assert.equal(world.states(`${BATCH}.0`), `a running, ${copy} cancelled`)
  })

  it('says so when it is asked why', async () => {
    const world = await worldOf({ a: 1 })
    world.submit(BATCH, bundles(1), COPIED)
    for (const id of ['b', 'c', 'd']) world.join(id)
    world.pass(1_000)
    assert.deepEqual(
      world.coordinator.why(`${BATCH}.0`)?.runs.map(({ copy }) => copy),
      [undefined, true]
    )
  })
})

describe('the last tasks of a batch (F19)', () => {
  /** 1,000 tasks of a minute, every twentieth node ten times as slow: how long the last 50 took after the others. */
  async function play(nodes: number, policy: Partial<TaskPolicy>): Promise<{ readonly lastMs: number; readonly medianMs: number; readonly runs: number }> {
    const world = await worldOf(Object.fromEntries(Array.from({ length: nodes }, (_, index) => [`n${index}`, 1])))
    const tasks = 1_000
    world.submit(BATCH, bundles(tasks), { ...COPIED, ...policy })
    const began = new Map<string, number>()
    const endedMs: number[] = []
    const tookMs: number[] = []
    let left = tasks
    while (left > 0) {
      for (const one of world.nodes.values())
        for (const replica of [...one.leases.keys()]) {
          const sinceMs = began.get(replica) ?? world.nowMs
          began.set(replica, sinceMs)
          const slow = Number(one.id.slice(1)) % 20 === 7 ? 10 : 1
          // Tasks differ by a tenth.
          const task = Number(replica.split('.')[1])
          if (world.nowMs - sinceMs < slow * (57_000 + (task % 7) * 1_000)) continue
          tookMs.push(world.nowMs - sinceMs)
          world.report(one, replica, { output: `truth of ${task}` })
        }
      const ready = world.coordinator.batch(BATCH)?.ready ?? tasks
      while (tasks - left < ready) {
        endedMs.push(world.nowMs)
        left--
      }
      assert.ok(world.nowMs < 1_000_000 + 7_200_000, 'it ends')
      world.pass(1_000)
    }
    endedMs.sort((a, b) => a - b)
    tookMs.sort((a, b) => a - b)
    return { lastMs: (endedMs[999] ?? 0) - (endedMs[949] ?? 0), medianMs: tookMs[Math.floor(tookMs.length / 2)] ?? 0, runs: began.size }
  }

  it('1,000 tasks, 5 % of the nodes ten times as slow: the last 5 % are done within two median tasks, for 3 % more runs at most', async () => {
    let late = 0
    for (const nodes of [60, 80, 100, 120, 160, 200, 300]) {
      const helped = await play(nodes, { copies: 'tail' })
      const alone = await play(nodes, { copies: 'never' })
      assert.ok(helped.lastMs <= 2 * helped.medianMs, `${nodes} nodes: ${helped.lastMs} ms, the median is ${helped.medianMs} ms`)
      assert.ok(helped.runs <= 1.03 * alone.runs, `${nodes} nodes: ${helped.runs} runs, ${alone.runs} without copies`)
      if (alone.lastMs > 2 * alone.medianMs) late++
    }
    assert.ok(late > 0, 'without copies it is no other')
  })
})
