import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { batchId, PROJECT, plainBundle, SIGNER } from '../../test/support/coordinator-parts.ts'
import { accept, killEvent } from './batches.ts'
import type { Replica, Task } from './model.ts'
import { DEFAULT_COORDINATOR_POLICY } from './policy.ts'
import { State } from './state.ts'

it('a task has the replicas that it was given last, live or over, whatever other tasks come and go; places are used again', () => {
  const step = fc.record({ kind: fc.constantFrom('come', 'give', 'give', 'give', 'end'), which: fc.nat(), live: fc.boolean() })
  let [reused, afterEnd] = [0, 0]
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const state = new State({ project: PROJECT, epoch: 1, policy: DEFAULT_COORDINATOR_POLICY, signer: SIGNER })
      const bundles = [plainBundle('x')]
      const tasks: Task[] = []
      const live: Task[] = []
      const given = new Map<Task, readonly Replica[]>()
      let [comes, most] = [0, 0]
      for (const { kind, which, live: ofLive } of steps) {
        const from = ofLive ? live : tasks
        const task = from[which % from.length]
        if (kind === 'come') {
          accept(state, { kind: 'submit', batch: batchId(++comes), name: '', by: 'owner', bundles, policy: DEFAULT_POLICY, more: false, seed: 7 }, 0)
          const one = state.task(`${batchId(comes)}.0`)
          assert.ok(one !== undefined)
          tasks.push(one)
          live.push(one)
          given.set(one, one.replicas)
          most = Math.max(most, live.length)
        } else if (task === undefined) continue
        else if (kind === 'give') {
          // Empty lists, told apart by which they are: nothing is to read a replica here.
          const replicas: readonly Replica[] = []
          task.replicas = replicas
          given.set(task, replicas)
          if (!live.includes(task)) afterEnd++
        } else if (live.includes(task)) {
          killEvent(state, { kind: 'kill', by: 'owner', batch: task.batch.id }, 0)
          live.splice(live.indexOf(task), 1)
        }
        for (const each of tasks) assert.ok(each.replicas === given.get(each), each.id)
      }
      assert.ok(state.replicaLists.given.length <= most)
      if (comes > most) reused++
    })
  )
  assert.ok(reused > 20 && afterEnd > 20, `${reused}, ${afterEnd}`)
})
