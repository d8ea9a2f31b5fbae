import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DEFAULT_POLICY, policyFault, type TaskPolicy } from '#protocol/bundle/policy'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'
import { REFUSED_LOOKED_MAX } from './policy.ts'
import { classOf } from './same-class.ts'

const BATCH = batchId(1)
const TASK = `${BATCH}.0`
const INTEL = { cpu: 'GenuineIntel 6' }
const AMD = { cpu: 'AuthenticAMD 25' }

async function worldOf(sameClass: TaskPolicy['sameClass'], nodes: Readonly<Record<string, Partial<Parameters<typeof offer>[1]>>>): Promise<CoordinatorWorld> {
  const world = await new CoordinatorWorld().start()
  for (const [id, more] of Object.entries(nodes)) world.join(id, offer(1, more))
  world.submit(BATCH, [bundle('a')], { ...DEFAULT_POLICY, sameClass })
  return world
}

/** Who runs it or has reported it, by first letters. */
function holders(world: CoordinatorWorld): string[] {
  return world
    .record(TASK)
    .replicas.filter(({ state }) => state !== 'lost' && state !== 'returned')
    .map(({ node }) => node)
    .sort()
}

describe('hosts of one class', () => {
  it('F17: all runs of a task go to one class of processor; the first fixes it, and the others are told why not', async () => {
    const world = await worldOf('cpu', { intel: INTEL, amd: AMD })
    assert.equal(holders(world).length, 1)
    const [first = ''] = holders(world)
    const why = world.coordinator.why(TASK)
    assert.deepEqual([why?.waitsFor, why?.nodes?.map(({ reason }) => reason).sort()], ['node', ['had_it', 'other_class']])
    world.join('like the first', offer(1, first === 'intel' ? INTEL : AMD))
    assert.deepEqual(holders(world), [first, 'like the first'].sort())
  })

  it('where very many nodes are of another class, one of its own takes it with the next sweep', async () => {
    const world = await worldOf('cpu', { intel: INTEL })
    world.nodes.clear()
    for (let index = 0; index < REFUSED_LOOKED_MAX; index++)
      world.apply({ kind: 'hello', node: `amd ${index}`, link: 'one', spare: 'one', received: 0, offer: offer(2, AMD), replicas: [] })
    // Whoever comes looks for tasks; this one comes while the task is held, and is found by the task if at all.
    world.apply({ kind: 'hold', batch: BATCH, by: 'owner', reason: '', stop: false })
    world.join('like the first', offer(1, INTEL))
    world.apply({ kind: 'release', batch: BATCH, by: 'owner' })
    assert.deepEqual(holders(world), ['intel'])
    world.apply({ kind: 'tick' })
    assert.deepEqual(holders(world), ['intel', 'like the first'])
  })

  it('a reported result keeps the class, over a restart too; without any run it is free again', async () => {
    const world = await worldOf('cpu', { intel: INTEL })
    const intel = world.nodes.get('intel')
    assert.ok(intel !== undefined)
    world.work(intel, { output: '1.0' })
    await world.start()
    world.join('amd', offer(1, AMD))
    assert.deepEqual(holders(world), ['intel'])
    world.join('intel 2', offer(1, INTEL))
    assert.deepEqual(holders(world), ['intel', 'intel 2'])

    const free = await worldOf('cpu', { intel: INTEL })
    const lost = free.nodes.get('intel')
    assert.ok(lost !== undefined)
    free.join('amd', offer(1, AMD))
    assert.deepEqual(holders(free), ['intel'])
    free.giveBack(lost, `${TASK}.1`, 'node')
    assert.deepEqual(holders(free), ['amd'])
  })

  it('a node that comes back with a run is told to drop it when the task has begun again on another class', async () => {
    const world = await worldOf('cpu', { intel: INTEL })
    const intel = world.nodes.get('intel')
    const amd = world.join('amd', offer(1, AMD))
    assert.ok(intel !== undefined)
    world.begin(intel, `${TASK}.1`)
    world.pass(16_000, [intel])
    assert.equal(world.states(TASK), 'intel lost, amd leased')
    world.join('intel', offer(1, INTEL))
    assert.deepEqual([world.states(TASK), intel.welcomes.at(-1)?.unknown], ['intel lost, amd leased', [`${TASK}.1`]])
    world.begin(amd, `${TASK}.2`)
    world.report(amd, `${TASK}.2`, { output: '1.1' })
    world.join('amd 2', offer(1, AMD))
    assert.equal(world.states(TASK), 'intel lost, amd reported, amd 2 leased')
  })

  it('who does not tell its processor gets nothing where it matters; where only the platform does, it may', async () => {
    assert.deepEqual(holders(await worldOf('cpu', { silent: {} })), [])
    const alike = holders(await worldOf('platform', { silent: {}, intel: INTEL, arm: { platform: 'linux/arm64' } })).join()
    assert.ok(alike === 'intel,silent' || alike === 'arm', alike)
    assert.deepEqual(holders(await worldOf('no', { intel: INTEL, amd: AMD })), ['amd', 'intel'])
  })

  it('the class of a task that uses GPUs has their models in it', () => {
    const task = (gpus: object | null) => ({ batch: { policy: { sameClass: 'cpu' } }, bundle: { needs: { gpus } } }) as unknown as Parameters<typeof classOf>[0]
    const gpu = (model: string) => ({ uuid: model, model, memoryBytes: 1, driver: '' })
    const host = { platform: 'linux/amd64', cpu: 'x 1', gpus: [gpu('H200'), gpu('A100'), gpu('A100')] }
    assert.equal(classOf(task(null), host), 'linux/amd64 x 1')
    assert.equal(classOf(task({}), host), 'linux/amd64 x 1 A100,H200')
    assert.notEqual(policyFault({ ...DEFAULT_POLICY, sameClass: 'gpu' as 'cpu' }), undefined)
  })
})
