import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { batchKey, taskKey } from '#project-server/coordinator/keys'
import { encodeTaskRecord, type ReplicaRecord, type TaskRecord } from '#project-server/coordinator/task-records'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'
import { SecondModel } from './second-model.ts'

const ONE = batchId(1)

/** All that a small project wrote while two of three nodes agreed on three tasks. */
async function written(): Promise<{ batch: Uint8Array; tasks: TaskRecord[] }> {
  const world = await new CoordinatorWorld().start()
  world.submit(ONE, [bundle('a'), bundle('b'), bundle('c')], { minQuorum: 2, targetResults: 2 })
  for (const name of ['n', 'm']) world.work(world.join(name, offer(4)))
  const batch = world.store.peek(batchKey(ONE))
  assert.ok(batch !== undefined)
  return { batch, tasks: [0, 1, 2].map((index) => world.record(`${ONE}.${index}`)) }
}

function look(batch: Uint8Array, tasks: readonly TaskRecord[]): SecondModel {
  const model = new SecondModel()
  model.committed([{ key: batchKey(ONE), value: batch }, ...tasks.map((task) => ({ key: taskKey(task.id), value: encodeTaskRecord(task) }))])
  return model
}

describe('the second model of a population', () => {
  it('agrees with what the coordinator wrote', async () => {
    const { batch, tasks } = await written()
    assert.deepEqual(
      tasks.map(({ state }) => state),
      ['ready', 'ready', 'ready']
    )
    assert.equal(look(batch, tasks).ended, 3)
  })

  it('finds a task that one vote of two decided, one that two votes did not, and one that failed too early', async () => {
    const { batch, tasks } = await written()
    const [task] = tasks
    assert.ok(task !== undefined)
    const unsaid = (replica: ReplicaRecord): ReplicaRecord => ({ ...replica, state: 'running', vote: null, verdict: null })
    const one = { ...task, replicas: task.replicas.map((replica, index) => (index === 0 ? replica : unsaid(replica))) }
    assert.throws(
      () => look(batch, [one]),
      /^Error: the second model disagrees: \S+ is decided \S+ and should be open: replica 1 on n is reported, says \S+, counts as valid; replica 2 on m is running$/
    )
    assert.throws(() => look(batch, [{ ...task, state: 'running', decision: null }]), /is open and should be decided/)
    const failure = { code: 'no_agreement' as const, message: '' }
    assert.throws(() => look(batch, [{ ...one, state: 'failed', decision: null, failure }]), /is failed no_agreement and should be open/)
  })

  it('refuses a task of no batch', async () => {
    const { tasks } = await written()
    const model = new SecondModel()
    assert.throws(() => model.committed(tasks.map((task) => ({ key: taskKey(task.id), value: encodeTaskRecord(task) }))), /is of no batch/)
  })
})
