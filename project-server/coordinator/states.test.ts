import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'
import { assertReplicaMove, assertTaskMove, isLive, isTerminal, REPLICA_MOVES, type ReplicaState, TASK_MOVES, type TaskState } from './states.ts'

/** A second opinion, in words: whoever changes a table has to say so here, too. */
const TASK_STORY = [
  'created staged running validating ready',
  'staged ready',
  'staged validating running staged',
  'created failed',
  'staged failed',
  'running failed',
  'validating failed',
  'created killed',
  'staged killed',
  'running killed',
  'validating killed'
]
const REPLICA_STORY = [
  'leased preparing running uploading reported',
  'leased running reported',
  ...['leased', 'preparing', 'running', 'uploading'].flatMap((state) => [`${state} returned`, `${state} lost`, `${state} cancelled`]),
  'lost leased',
  'lost running',
  'lost reported'
]

const TASK_STATES = Object.keys(TASK_MOVES) as TaskState[]
const REPLICA_STATES = Object.keys(REPLICA_MOVES) as ReplicaState[]

function movesOf(story: readonly string[]): Set<string> {
  return new Set(
    story.flatMap((line) => {
      const states = line.split(' ')
      return states.slice(1).map((to, at) => `${states[at]} ${to}`)
    })
  )
}

it('X07: of all moves of a task and of a replica just those of the diagram are legal, and any other throws', () => {
  const [tasks, replicas] = [movesOf(TASK_STORY), movesOf(REPLICA_STORY)]
  for (const from of TASK_STATES)
    for (const to of TASK_STATES)
      if (tasks.has(`${from} ${to}`)) assertTaskMove(from, to, 'a task')
      else assert.throws(() => assertTaskMove(from, to, 'a task'), /a task: \w+ -> \w+ is not a legal move/)
  for (const from of REPLICA_STATES)
    for (const to of REPLICA_STATES)
      if (replicas.has(`${from} ${to}`)) assertReplicaMove(from, to, 'a replica')
      else assert.throws(() => assertReplicaMove(from, to, 'a replica'), /a replica: \w+ -> \w+ is not a legal move/)
})

it('X07: whatever moves are tried in whatever order, what has ended stays as it is, and what has not can still end', () => {
  const ends = (from: TaskState, seen: ReadonlySet<TaskState> = new Set()): boolean =>
    isTerminal(from) || TASK_MOVES[from].some((to) => !seen.has(to) && ends(to, new Set([...seen, from])))
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...TASK_STATES), { maxLength: 40 }),
      fc.array(fc.constantFrom(...REPLICA_STATES), { maxLength: 40 }),
      (tasks, replicas) => {
        let task: TaskState = 'created'
        for (const to of tasks) {
          const before: TaskState = task
          if (isLegal(() => assertTaskMove(before, to, 'a task'))) task = to
          assert.ok(!isTerminal(before) || task === before)
          assert.ok(ends(task))
        }
        let replica: ReplicaState = 'leased'
        for (const to of replicas) {
          const before: ReplicaState = replica
          if (isLegal(() => assertReplicaMove(before, to, 'a replica'))) replica = to
          // What was lost may be found again; nothing else that is over begins anew.
          assert.ok(isLive(before) || before === 'lost' || replica === before)
        }
      }
    )
  )
})

it('X07: what a node says of its run at the wrong time moves nothing', async () => {
  const said = fc.constantFrom('start' as const, 'prepares' as const, 'uploads' as const, 'report' as const, 'give back' as const, 'kill' as const)
  const A = batchId(1)
  await fc.assert(
    fc.asyncProperty(fc.array(said, { maxLength: 12 }), async (words) => {
      const at = await new CoordinatorWorld().start()
      const ann = at.join('ann', offer(1))
      at.submit(A, [bundle('x')], { minQuorum: 1, targetResults: 1, maxErrorResults: 1 })
      const replica = `${A}.0.1`
      const lease = ann.leases.get(replica)
      assert.ok(lease !== undefined)
      for (const word of words) {
        const before = at.record(`${A}.0`)
        const over = before.replicas.map(({ state }) => state).find((state) => !isLive(state))
        // It says it all the same, whatever it was told meanwhile.
        ann.leases.set(replica, lease)
        if (word === 'start') at.begin(ann, replica)
        else if (word === 'prepares' || word === 'uploads')
          at.apply({
            kind: 'progress',
            node: 'ann',
            seq: ++ann.sent,
            replicas: [{ replica, state: word === 'prepares' ? 'preparing' : 'uploading', again: false }]
          })
        else if (word === 'report') at.report(ann, replica, { output: 'four' })
        else if (word === 'give back') at.giveBack(ann, replica, 'node')
        else at.apply({ kind: 'kill', batch: A, by: 'owner' })
        const after = at.record(`${A}.0`)
        if (isTerminal(before.state)) assert.equal(after.state, before.state)
        if (over !== undefined) assert.equal(after.replicas[0]?.state, over, `${word} after it was ${over}`)
      }
    })
  )
})

function isLegal(move: () => void): boolean {
  try {
    move()
    return true
  } catch {
    return false
  }
}
