import assert from 'node:assert/strict'
import { it } from 'node:test'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'
import { Random } from '../../sim/random.ts'
import { DEFAULT_COORDINATOR_POLICY } from './policy.ts'

const TASKS = 40
const SILENT_MS = 17_000
/** Nobody is set aside and nothing is held, however often nodes fall silent. */
const PATIENT = { ...DEFAULT_COORDINATOR_POLICY, failuresMax: Number.POSITIVE_INFINITY, deathsMax: 0, idleCopies: 0 }

interface Start {
  readonly node: ScriptedNode
  readonly replica: string
  readonly epoch: number
}

/**
 * Each round one of two nodes is cut off, with its starts on the way or granted. What it had is leased to the other; then both
 * ask to start, in any order, some under an epoch that was not their lease's, and in some rounds the coordinator dies meanwhile.
 */
it('X08: of 1,000 raced starts under partition no replica slot ever has two that run, and none of another epoch does', async () => {
  const random = new Random(8, 'starts')
  const [raced, stale, refused] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (let round = 0; raced.size < 1_000; round++) {
    const at = await new CoordinatorWorld(PATIENT).start()
    const batch = batchId(round + 1)
    const nodes = ['ann', 'bob'].map((id) => at.join(id, offer(TASKS)))
    at.submit(
      batch,
      Array.from({ length: TASKS }, (_, task) => bundle(`${task}`)),
      { minQuorum: 1, targetResults: 1, maxErrorResults: 8, maxTotalResults: 8, copies: 'never' }
    )
    const startsOf = (node: ScriptedNode): Start[] => [...node.leases].map(([replica, { epoch }]) => ({ node, replica, epoch }))
    const ask = ({ node, replica, epoch }: Start): void => {
      node.granted.delete(replica)
      at.apply({ kind: 'start', node: node.id, seq: ++node.sent, replicas: [{ replica, epoch }] })
      const [, task = '', attempt = ''] = replica.split('.')
      // Leave to run is for the one that runs: whoever lost it to another is told so.
      const { state } = at.record(`${batch}.${task}`).replicas[Number(attempt) - 1] ?? {}
      assert.equal(node.granted.has(replica), state === 'running', `${replica} of ${node.id}: ${at.states(`${batch}.${task}`)}`)
      check()
    }
    const check = (): void => {
      for (let task = 0; task < TASKS; task++) {
        const { replicas } = at.record(`${batch}.${task}`)
        assert.ok(replicas.filter(({ state }) => state === 'running' || state === 'uploading').length <= 1, at.states(`${batch}.${task}`))
        for (const { attempt, node, granted } of replicas)
          for (const other of nodes)
            assert.ok(!other.granted.has(`${batch}.${task}.${attempt}`) || (granted && node === other.id), 'granted to whom the records do not name')
      }
    }
    const cut = random.pick(nodes)
    const before = startsOf(cut)
    for (const start of before) if (random.chance(0.3)) ask(start)
    at.pass(SILENT_MS, [cut])
    check()
    const others = nodes.filter((node) => node !== cut)
    const during = others.flatMap(startsOf)
    const early = during.filter(() => random.chance(0.5))
    for (const start of early) ask(start)
    if (random.chance(0.3)) {
      await at.start()
      for (const node of others) at.join(node.id, offer(TASKS))
    } else if (random.chance(0.5)) {
      // Its line was only slow: what it said arrives all the same.
      for (const start of before) if (random.chance(0.5)) ask(start)
    }
    at.join(cut.id, offer(TASKS))
    const late = [...before, ...during.filter((start) => !early.includes(start))].map((start) => {
      if (!random.chance(0.1)) return start
      const wrong = { ...start, epoch: start.epoch + random.pick([-1, 1]) }
      stale.add(`${wrong.node.id} ${wrong.replica}`)
      return wrong
    })
    for (const start of random.shuffle(late)) {
      ask(start)
      if (start.node.refused.includes(start.replica)) refused.add(start.replica)
      if (stale.has(`${start.node.id} ${start.replica}`)) assert.ok(!start.node.granted.has(start.replica), `${start.replica} was granted under another epoch`)
    }
    const asked = Map.groupBy([...before, ...during], ({ replica }) => replica.slice(0, replica.lastIndexOf('.')))
    for (const [task, starts] of asked) if (new Set(starts.map(({ node }) => node)).size > 1) raced.add(task)
    // What failed with both goes to a third.
    nodes.push(at.join('cid', offer(TASKS)))
    for (const node of nodes) at.work(node, { output: 'the truth' })
    assert.equal(at.coordinator.batch(batch), undefined, 'in calm all of them end')
  }
  assert.ok(stale.size > 50 && refused.size > 300, `${stale.size} stale, ${refused.size} refused`)
})
