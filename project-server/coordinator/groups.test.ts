import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { CoordinatorWorld, type ScriptedNode } from '../../test/support/coordinator.ts'
import { batchId, bundle, offer, PROJECT, plainBundle, SIGNER } from '../../test/support/coordinator-parts.ts'
import { accept, killEvent } from './batches.ts'
import { DEFAULT_COORDINATOR_POLICY, NEEDS_KEPT_MAX } from './policy.ts'
import { State } from './state.ts'

const AMD = offer(4)
const ARM = offer(4, { platform: 'linux/arm64' })
const TASK = `${batchId(1)}.0`

async function world(): Promise<CoordinatorWorld> {
  return new CoordinatorWorld().start()
}

describe('results of two platforms are never in one quorum (X17)', () => {
  it('a task goes on where it began, whatever else is free, also after a restart', async () => {
    const at = await world()
    at.join('amd', AMD)
    at.submit(batchId(1), [bundle('x')])
    at.join('arm', ARM)
    assert.equal(at.states(TASK), 'amd leased')
    assert.equal(at.coordinator.why(TASK)?.nodes?.find(({ nodes }) => nodes[0]?.id === 'arm')?.reason, 'platform')
    await at.start()
    at.join('arm', ARM)
    at.join('amd', AMD)
    assert.equal(at.states(TASK), 'amd leased')
    at.join('amd 2', AMD)
    assert.equal(at.states(TASK), 'amd leased, amd 2 leased')
  })

  it('it begins again on another platform when all that had it are gone, and what they bring late is not counted', async () => {
    const at = await world()
    const amd = at.join('amd', AMD)
    at.submit(batchId(1), [bundle('x')], { maxErrorResults: 5 })
    at.begin(amd, `${TASK}.1`)
    const arms = [at.join('arm 1', ARM), at.join('arm 2', ARM)]
    at.pass(20_000, [amd])
    assert.equal(at.states(TASK), 'amd lost, arm 1 leased, arm 2 leased')
    // It is back with the result alone, which it has ready.
    at.apply({ kind: 'hello', node: 'amd', link: amd.link, spare: amd.link, received: amd.received, offer: AMD, replicas: [] })
    at.report(amd, `${TASK}.1`, { output: 'same' })
    assert.equal(at.states(TASK), 'amd lost, arm 1 leased, arm 2 leased')
    assert.deepEqual(amd.released, [`${TASK}.1`])
    for (const arm of arms) at.work(arm, { output: 'same' })
    assert.equal(at.record(TASK).state, 'ready')
    assert.equal(at.receipts.get(TASK)?.results.length, 2)
  })

  it('what is compared by tolerance may come from anywhere', async () => {
    const at = await world()
    at.join('amd', AMD)
    at.join('arm', ARM)
    at.submit(batchId(1), [bundle('x')], { compare: { kind: 'tolerance', rules: { abs: 0, rel: 0, files: [] } } })
    assert.match(at.states(TASK), /^(amd leased, arm leased|arm leased, amd leased)$/)
  })

  it('whoever comes, goes, fails, reports and comes back', async () => {
    const node = fc.nat(5)
    const step = fc.oneof(
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('submit' as const), tasks: fc.integer({ min: 1, max: 3 }) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('join' as const, 'begin' as const, 'back' as const), node }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('work' as const), node }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('silence' as const), node }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) }
    )
    let ready = 0
    const platforms = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), async (steps) => {
        const at = await world()
        const offerOf = (index: number) => (index % 2 === 0 ? AMD : ARM)
        const nodeOf = (index: number): ScriptedNode | undefined => at.nodes.get(`node ${index}`)
        for (let index = 0; index < 6; index++) at.join(`node ${index}`, offerOf(index))
        const tasks: string[] = []
        let batches = 0
        for (const one of steps) {
          if (one.kind === 'submit') {
            const bundles = Array.from({ length: one.tasks }, (_, index) => bundle(`${batches} ${index}`))
            at.submit(batchId(++batches), bundles, { maxErrorResults: 6 })
            for (const index of bundles.keys()) tasks.push(`${batchId(batches)}.${index}`)
          } else if (one.kind === 'restart') {
            await at.start()
            for (let index = 0; index < 6; index++) at.join(`node ${index}`, offerOf(index))
          } else {
            const scripted = nodeOf(one.node)
            if (scripted === undefined) continue
            if (one.kind === 'silence') at.pass(20_000, [scripted])
            else if (one.kind === 'join') at.join(scripted.id, offerOf(one.node))
            // A node that was given up for lost says hello first, or reports late.
            for (const replica of [...scripted.leases.keys()].slice(0, 2)) {
              if (one.kind === 'begin') at.begin(scripted, replica)
              if (one.kind === 'back') at.giveBack(scripted, replica, 'owner')
              if (one.kind === 'work' && !scripted.granted.has(replica)) at.begin(scripted, replica)
              if (one.kind === 'work' && scripted.granted.has(replica) && scripted.leases.has(replica)) at.report(scripted, replica, { output: 'same' })
            }
          }
          for (const id of tasks) {
            const record = at.record(id)
            const agreeing = record.replicas.filter(({ verdict }) => verdict === 'valid').map(({ node: id }) => offerOf(Number(id.slice(5))).platform)
            assert.ok(new Set(agreeing).size <= 1, `${id} was decided by ${agreeing.join(' and ')}`)
            const voting = record.replicas.filter(({ state }) => ['leased', 'preparing', 'running', 'uploading', 'reported'].includes(state))
            const on = new Set(voting.map(({ node: id }) => offerOf(Number(id.slice(5))).platform))
            assert.ok(on.size <= 1, `${id} is on ${[...on].join(' and ')}: ${at.states(id)}`)
            if (record.state === 'ready') {
              ready++
              for (const platform of agreeing) platforms.add(platform)
            }
          }
        }
      }),
      { numRuns: 150 }
    )
    assert.ok(ready > 500 && platforms.size === 2, `${ready} on ${[...platforms].join(', ')}`)
  })
})

describe('what tasks need', () => {
  it('is not kept for ever of those that are over while others go on', () => {
    const state = new State({ project: PROJECT, epoch: 1, policy: DEFAULT_COORDINATOR_POLICY, signer: SIGNER })
    for (let number = 0; number < NEEDS_KEPT_MAX + 100; number++) {
      const bundles = [plainBundle('x', { memoryBytes: 1024 ** 3 + number })]
      accept(state, { kind: 'submit', batch: batchId(number), name: '', by: 'owner', bundles, policy: DEFAULT_POLICY, more: false, seed: 7 }, number)
      // The first goes on.
      if (number > 0) killEvent(state, { kind: 'kill', by: 'owner', batch: batchId(number) }, number)
    }
    assert.equal(state.liveTasks, 1)
    assert.ok(state.needs.size <= NEEDS_KEPT_MAX, `${state.needs.size}`)
  })
})
