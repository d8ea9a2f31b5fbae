import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { GpuNeeds, Resources } from '#protocol/bundle/manifest'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import type { ReplicaId, TaskId } from '#protocol/ids'
import { CoordinatorWorld, type ScriptedNode } from '../../test/support/coordinator.ts'
import { batchId, bundle, offer } from '../../test/support/coordinator-parts.ts'
import type { Gpu, NodeOffer } from './events.ts'
import { CLOSING_MS_MAX } from './policy.ts'
import { isLive, isTerminal } from './states.ts'

const GIB = 1024 ** 3
const ONE = { minQuorum: 1, targetResults: 1 }

function gpu(uuid: string, change: Partial<Gpu> = {}): Gpu {
  return { uuid, model: 'NVIDIA GeForce RTX 3090', memoryBytes: 24 * GIB, driver: '535.104.05', ...change }
}

function gpus(change: Partial<GpuNeeds> = {}): GpuNeeds {
  return { count: 1, memoryBytes: 0, model: '', driver: '', ...change }
}

async function world(): Promise<CoordinatorWorld> {
  return new CoordinatorWorld().start()
}

/** Why a node of this offer does not take a task of that bundle; 'free' when it does. */
async function answer(
  offered: Partial<NodeOffer>,
  asked: { readonly bundle?: Parameters<typeof bundle>[1]; readonly tags?: readonly string[] }
): Promise<string> {
  const at = await world()
  at.join('ann', offer(1, offered))
  at.submit(batchId(1), [bundle('x', asked.bundle)], { ...ONE, tags: asked.tags ?? [] })
  if (at.states(`${batchId(1)}.0`) === 'ann leased') return 'free'
  return at.coordinator.why(batchId(1))?.nodes?.[0]?.reason ?? ''
}

describe('a task goes to a node that has what it needs', () => {
  it('platform', async () => {
    assert.equal(await answer({ platform: 'linux/arm64' }, { bundle: { platform: 'linux/arm64' } }), 'free')
    assert.equal(await answer({ platform: 'linux/amd64' }, { bundle: { platform: 'linux/arm64' } }), 'platform')
    assert.equal(await answer({ platform: 'linux/arm64' }, {}), 'free')
  })

  it('the platform of its image, also after a restart', async () => {
    const at = await world()
    at.submit(batchId(1), [{ ...bundle('x'), platform: 'linux/arm64' }], ONE)
    await at.start()
    at.join('ann', offer(1))
    assert.equal(at.coordinator.why(batchId(1))?.nodes?.[0]?.reason, 'platform')
    at.join('bob', offer(1, { platform: 'linux/arm64' }))
    assert.equal(at.states(`${batchId(1)}.0`), 'bob leased')
  })

  it('tags, and exclusive tags keep others away', async () => {
    assert.equal(await answer({ tags: ['a', 'b', 'c'] }, { tags: ['a', 'c'] }), 'free')
    assert.equal(await answer({ tags: ['a'] }, { tags: ['a', 'c'] }), 'tags')
    assert.equal(await answer({ tags: ['a', 'lab'], exclusive: ['lab'] }, { tags: ['a'] }), 'reserved')
    assert.equal(await answer({ tags: ['a', 'lab'], exclusive: ['lab'] }, { tags: ['lab'] }), 'free')
  })

  it('GPUs: how many, of which memory, model and driver', async () => {
    const two = { gpus: [gpu('1'), gpu('2', { model: 'NVIDIA A100-SXM4-40GB', memoryBytes: 40 * GIB, driver: '550.54.14' })] }
    const asks = (change: Partial<GpuNeeds>) => answer(two, { bundle: { gpus: gpus(change) } })
    assert.equal(await asks({ count: 2 }), 'free')
    assert.equal(await asks({ count: 3 }), 'gpus')
    assert.equal(await asks({ memoryBytes: 40 * GIB }), 'free')
    assert.equal(await asks({ count: 2, memoryBytes: 40 * GIB }), 'gpus')
    assert.equal(await asks({ model: 'a100' }), 'free')
    assert.equal(await asks({ model: 'h100' }), 'gpus')
    assert.equal(await asks({ count: 2, driver: '535.104.5' }), 'free')
    assert.equal(await asks({ count: 2, driver: '535.104.6' }), 'gpus')
    assert.equal(await asks({ driver: '550' }), 'free')
    assert.equal(await asks({ driver: '551' }), 'gpus')
  })
})

describe('a task for named nodes (S11)', () => {
  it('goes to one of them and to nobody else, or is refused with the reason when none can ever run it', async () => {
    const at = await world()
    at.join('ann', offer(1, { platform: 'linux/arm64' }))
    at.join('bob', offer(1))
    at.submit(batchId(1), [bundle('x')], { ...ONE, nodes: ['bob'] })
    assert.equal(at.states(`${batchId(1)}.0`), 'bob leased')
    const asked = (nodes: readonly string[]) =>
      at.coordinator.refusal({
        kind: 'submit',
        batch: batchId(2),
        name: '',
        by: 'owner',
        bundles: [bundle('y', { platform: 'linux/amd64' })],
        policy: { ...DEFAULT_POLICY, ...ONE, nodes },
        more: false,
        seed: 1
      })
    assert.deepEqual(asked(['ann']), {
      code: 'unsuitable',
      message: 'node a node can never run it: it has another system or processor; name others, or ask for less'
    })
    assert.equal(asked(['bob']), undefined)
    assert.equal(asked(['ann', 'bob']), undefined)
    // Nobody knows what one is that has never been here: it is waited for.
    assert.equal(asked(['ann', 'cid']), undefined)
  })
})

describe('a sweep for named nodes (S11)', () => {
  it('is refused with the reason when none of them can ever run its tasks', async () => {
    const one = await world()
    one.join('small', offer(1, { memoryBytes: GIB / 2 }))
    const template = bundle('{x}', { dependencies: [] })
    const sweep = { mode: 'product' as const, parameters: [{ name: 'x', values: { from: 0, to: 9, step: 1 } }] }
    const submit = (...nodes: string[]) =>
      one.coordinator.refusal({
        kind: 'submit',
        batch: batchId(1),
        name: '',
        by: 'owner',
        bundles: [],
        sweep: { template, sweep },
        policy: { ...DEFAULT_POLICY, ...ONE, nodes },
        more: false,
        seed: 1
      })
    assert.equal(submit('small')?.code, 'unsuitable')
    assert.match(submit('small')?.message ?? '', /lends less memory/)
    assert.equal(submit('small', 'never came'), undefined)
  })
})

describe('GPUs are leased by UUID', () => {
  it('the smallest that do, each to one replica at a time, also after a restart', async () => {
    const at = await world()
    const ann = at.join('ann', offer(4, { gpus: [gpu('big', { memoryBytes: 80 * GIB }), gpu('small')] }))
    at.submit(
      batchId(1),
      Array.from({ length: 3 }, (_, index) => bundle(`${index}`, { gpus: gpus() })),
      ONE
    )
    const leased = (task: number): readonly string[] => at.record(`${batchId(1)}.${task}`).replicas.flatMap((replica) => replica.gpus)
    assert.deepEqual([leased(0), leased(1), leased(2)], [['small'], ['big'], []])
    assert.equal(at.coordinator.why(batchId(1))?.nodes?.[0]?.reason, 'gpus_taken')
    await at.start()
    at.join('ann', offer(4, { gpus: [gpu('big', { memoryBytes: 80 * GIB }), gpu('small')] }))
    assert.deepEqual([leased(0), leased(1), leased(2)], [['small'], ['big'], []])
    at.begin(ann, `${batchId(1)}.1.1`)
    at.report(ann, `${batchId(1)}.1.1`)
    assert.deepEqual(leased(2), ['big'])
  })

  it('one that was cancelled while it ran keeps its GPU, CPUs, memory and disk until it has ended', async () => {
    const at = await world()
    const all = { cpuMillis: 1000, memoryBytes: GIB, diskBytes: GIB, gpus: [gpu('1')] }
    const ann = at.join('ann', offer(4, all))
    at.submit(batchId(1), [bundle('x', { gpus: gpus(), resources: { diskBytes: GIB } })], ONE)
    at.begin(ann, `${batchId(1)}.0.1`)
    at.apply({ kind: 'kill', batch: batchId(1), by: 'owner' })
    const cases: readonly [Parameters<typeof bundle>[1], string][] = [
      [{ gpus: gpus(), resources: { cpuMillis: 1, memoryBytes: 2 ** 23 } }, 'cpu_taken'],
      [{ resources: { cpuMillis: 1 } }, 'cpu_taken']
    ]
    for (const [index, [asked, reason]] of cases.entries()) {
      at.submit(batchId(2 + index), [bundle('y', asked)], ONE)
      assert.equal(at.coordinator.why(batchId(2 + index))?.nodes?.[0]?.reason, reason)
      at.apply({ kind: 'kill', batch: batchId(2 + index), by: 'owner' })
    }
    at.submit(batchId(9), [bundle('z', { gpus: gpus() })], ONE)
    assert.equal(at.states(`${batchId(9)}.0`), '')
    at.giveBack(ann, `${batchId(1)}.0.1`, 'cancelled')
    assert.equal(at.states(`${batchId(9)}.0`), 'ann leased')
  })

  describe('one whose GPU is kept while it ends', () => {
    const all = { gpus: [gpu('1')] }
    const next = `${batchId(2)}.0`

    /** Its task is killed while it runs; its node has not ended it, and another task waits for the GPU. */
    async function ending(): Promise<{ at: CoordinatorWorld; ann: ScriptedNode }> {
      const at = await world()
      const ann = at.join('ann', offer(4, all))
      at.submit(batchId(1), [bundle('x', { gpus: gpus() })], ONE)
      const replica = `${batchId(1)}.0.1`
      at.begin(ann, replica)
      const lease = ann.leases.get(replica)
      at.apply({ kind: 'kill', batch: batchId(1), by: 'owner' })
      if (lease !== undefined) ann.leases.set(replica, lease)
      at.submit(batchId(2), [bundle('y', { gpus: gpus() })], ONE)
      assert.equal(at.states(next), '')
      return { at, ann }
    }

    it('keeps it over a restart of the coordinator, and no longer than it would have', async () => {
      const { at } = await ending()
      at.pass(2_000)
      await at.start()
      at.join('ann', offer(4, all))
      assert.equal(at.states(next), '')
      at.pass(9_000)
      assert.equal(at.states(next), '')
      at.pass(1_500)
      assert.equal(at.states(next), 'ann leased')
      assert.deepEqual(at.store.keys('closing/'), [])
    })

    it('has it no more when its node began anew', async () => {
      const { at, ann } = await ending()
      Object.assign(ann, { link: 'another', sent: 0, received: 0 })
      ann.leases.clear()
      at.join('ann', offer(4, all))
      assert.equal(at.states(next), 'ann leased')
      assert.deepEqual(at.store.keys('closing/'), [])
    })
  })
})

/** What each node has given away, by the records alone, and when it is assumed that cancelled runs have ended. */
function given(at: CoordinatorWorld, tasks: readonly (readonly [TaskId, Resources])[], closing: ReadonlyMap<ReplicaId, number>): Map<string, Given> {
  const nodes = new Map<string, Given>()
  for (const [id, resources] of tasks)
    for (const { node, state, attempt, gpus: uuids } of at.record(id).replicas) {
      if (!isLive(state) && at.nowMs >= (closing.get(`${id}.${attempt}`) ?? 0)) continue
      const one = nodes.get(node) ?? { slots: 0, cpuMillis: 0, memoryBytes: 0, diskBytes: 0, gpus: [] }
      nodes.set(node, one)
      one.slots++
      one.cpuMillis += resources.cpuMillis
      one.memoryBytes += resources.memoryBytes
      one.diskBytes += resources.diskBytes
      one.gpus.push(...uuids)
    }
  return nodes
}

interface Given {
  slots: number
  cpuMillis: number
  memoryBytes: number
  diskBytes: number
  gpus: string[]
}

it('never gives more than there is, in 10,000 random placements (S04)', async () => {
  let placements = 0
  const whole = (max: number): fc.Arbitrary<number> => fc.integer({ min: 1, max })
  const node = fc.record({ slots: whole(12), cpus: whole(16), memory: whole(16), disk: whole(16), gpus: fc.nat(6) })
  const task = fc.record({ cpus: whole(4), memory: whole(4), disk: whole(4), gpus: fc.nat(2) })
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('submit' as const), tasks: fc.array(task, { minLength: 4, maxLength: 24 }) }) },
    {
      weight: 12,
      arbitrary: fc.record({
        kind: fc.constantFrom('start' as const, 'report' as const, 'report' as const, 'back' as const),
        node: fc.nat(4),
        times: whole(12)
      })
    },
    fc.record({ kind: fc.constant('kill' as const), batch: fc.nat(20) }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 500, max: 13_000 }) })
  )
  await fc.assert(
    fc.asyncProperty(fc.array(node, { minLength: 2, maxLength: 5 }), fc.array(step, { minLength: 60, maxLength: 100, size: 'max' }), async (nodes, steps) => {
      const at = await world()
      const offers = new Map<string, NodeOffer>()
      for (const [index, one] of nodes.entries()) {
        const lent = { cpuMillis: one.cpus * 1000, memoryBytes: one.memory * GIB, diskBytes: one.disk * GIB }
        const offered = offer(one.slots, { ...lent, gpus: Array.from({ length: one.gpus }, (_, number) => gpu(`${index}-${number}`)) })
        offers.set(`node ${index}`, offered)
        at.join(`node ${index}`, offered)
      }
      let tasks: (readonly [TaskId, Resources])[] = []
      const closing = new Map<ReplicaId, number>()
      let batches = 0
      for (const one of steps) {
        if (one.kind === 'submit') {
          const bundles = one.tasks.map(({ cpus, memory, disk, gpus: count }, index) =>
            bundle(`${batches} ${index}`, {
              resources: { cpuMillis: cpus * 1000, memoryBytes: memory * GIB, diskBytes: disk * GIB },
              ...(count === 0 ? {} : { gpus: gpus({ count }) })
            })
          )
          const batch = batchId(++batches)
          for (const [index, { manifest }] of bundles.entries()) tasks.push([`${batch}.${index}`, manifest.resources])
          at.submit(batch, bundles, ONE)
        } else if (one.kind === 'kill' && batches > 0) {
          const batch = batchId(1 + (one.batch % batches))
          for (const [id] of tasks)
            if (id.startsWith(batch))
              for (const replica of at.record(id).replicas) if (replica.state === 'running') closing.set(`${id}.${replica.attempt}`, at.nowMs + CLOSING_MS_MAX)
          at.apply({ kind: 'kill', batch, by: 'owner' })
        } else if (one.kind === 'pass') {
          at.pass(one.ms)
        } else if ('node' in one) {
          const scripted = at.nodes.get(`node ${one.node % nodes.length}`)
          for (const replica of [...(scripted?.leases.keys() ?? [])].slice(0, one.times)) {
            // What was done for the one before may have taken it away: of two runs of a task one yields.
            if (scripted?.leases.has(replica) !== true) continue
            if (one.kind === 'start') at.begin(scripted, replica)
            else if (one.kind === 'back') at.giveBack(scripted, replica, 'owner')
            else {
              if (!scripted.granted.has(replica)) at.begin(scripted, replica)
              if (scripted.leases.has(replica)) at.report(scripted, replica)
            }
            closing.delete(replica)
          }
        }
        for (const [id, { slots, cpuMillis, memoryBytes, diskBytes, gpus: uuids }] of given(at, tasks, closing)) {
          const has = offers.get(id) as NodeOffer
          assert.ok(slots <= has.slots && cpuMillis <= has.cpuMillis && memoryBytes <= has.memoryBytes && diskBytes <= has.diskBytes, `${id} gave too much`)
          assert.equal(new Set(uuids).size, uuids.length, `${id} gave a GPU twice: ${uuids.join(' ')}`)
          assert.ok(uuids.every((uuid) => has.gpus.some((gpu) => gpu.uuid === uuid)))
        }
        tasks = tasks.filter(([id]) => {
          const { state, replicas } = at.record(id)
          const over = isTerminal(state) && replicas.every(({ attempt }) => at.nowMs >= (closing.get(`${id}.${attempt}`) ?? 0))
          if (over) placements += replicas.length
          return !over
        })
      }
    }),
    { numRuns: 220 }
  )
  assert.ok(placements >= 10_000, `${placements} placements`)
})
