import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EMPTY_DIRECTORY } from '#protocol/content/content'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, bundle, type Outcome, offer, outputOf } from '#test/support/coordinator-parts'
import { REMAINS_MS_MAX } from './policy.ts'
import { decodeLeftRecord, type LeftRecord, leftKey } from './remains-records.ts'

const A = batchId(1)
const T = `${A}.0`
const SINGLE = { minQuorum: 1, targetResults: 1 }
const HALF: Outcome = { reason: 'killed', exitCode: 143, output: 'half', stdout: 'printed' }

async function world(): Promise<CoordinatorWorld> {
  return new CoordinatorWorld().start()
}

/** One task that runs at these nodes, and is killed; answers what each still has to report. */
function killed(at: CoordinatorWorld, nodes: readonly ScriptedNode[]): void {
  at.submit(A, [bundle('x')], { minQuorum: nodes.length, targetResults: nodes.length })
  const held = nodes.map((node) => [node, new Map(node.leases)] as const)
  for (const [node, leases] of held) at.begin(node, ...leases.keys())
  at.apply({ kind: 'kill', batch: A, by: 'owner' })
  for (const [node, leases] of held) for (const [replica, lease] of leases) node.leases.set(replica, lease)
}

function reportAll(at: CoordinatorWorld, node: ScriptedNode, outcome: Outcome = HALF): void {
  for (const replica of [...node.leases.keys()]) at.report(node, replica, outcome)
}

function left(at: CoordinatorWorld): LeftRecord | undefined {
  const bytes = at.store.peek(leftKey(T))
  return bytes === undefined ? undefined : decodeLeftRecord(bytes)
}

function pullsOf(at: CoordinatorWorld): string[] {
  return at.effects.flatMap((effect) => (effect.kind === 'pull' ? effect.nodes : []))
}

describe('a killed task', () => {
  it('leaves what the first of its runs reports, once it is here; the others may drop theirs', async () => {
    const at = await world()
    const [ann, bob] = [at.join('ann'), at.join('bob')]
    killed(at, [ann, bob])
    at.pulls = false
    reportAll(at, ann)
    assert.deepEqual([left(at), pullsOf(at), ann.released], [undefined, ['ann'], []])
    reportAll(at, bob)
    assert.deepEqual([bob.released.length, pullsOf(at)], [1, ['ann']])
    const before = at.record(T)
    at.apply({ kind: 'pulled', task: T, node: 'ann', ok: true, message: '' })
    const { node, exitCode, reason, output, stdout } = left(at) ?? assert.fail('nothing is left')
    assert.deepEqual([node, exitCode, reason, output, stdout], ['ann', 143, 'killed', outputOf('half').toString(), outputOf('printed').toString()])
    assert.equal(ann.released.length, 1)
    assert.deepEqual(at.record(T), before, 'a task that is over does not change')
    assert.deepEqual([before.state, at.receipts.size, at.store.keys('owed/')], ['killed', 0, []])
    assert.deepEqual(at.counts('ann'), { valid: 0, invalid: 0, errors: 0, lost: 0 })
  })

  it('leaves what a node reported before the kill, with its runs still going', async () => {
    const at = await world()
    const [ann, bob] = [at.join('ann'), at.join('bob')]
    at.submit(A, [bundle('x')])
    at.work(ann, { output: 'four' })
    at.begin(bob, ...bob.leases.keys())
    at.apply({ kind: 'kill', batch: A, by: 'owner' })
    assert.deepEqual([left(at)?.node, left(at)?.output], ['ann', outputOf('four').toString()])
    assert.equal(ann.released.length, 1)
  })

  it('is left as it is being fetched when it was decided already', async () => {
    const at = await world()
    at.pulls = false
    const ann = at.join('ann')
    at.submit(A, [bundle('x')], SINGLE)
    at.work(ann, { output: 'four' })
    at.apply({ kind: 'kill', batch: A, by: 'owner' })
    assert.deepEqual([pullsOf(at), ann.released], [['ann'], []], 'nothing is asked for twice')
    at.apply({ kind: 'pulled', task: T, node: 'ann', ok: true, message: '' })
    assert.deepEqual([at.record(T).state, left(at)?.output, ann.released.length], ['killed', outputOf('four').toString(), 1])
  })

  it('of which nothing was kept needs no fetching', async () => {
    const at = await world()
    const ann = at.join('ann')
    killed(at, [ann])
    reportAll(at, ann, { reason: 'killed', exitCode: 137 })
    assert.deepEqual([left(at)?.output, left(at)?.exitCode, pullsOf(at), ann.released.length], [EMPTY_DIRECTORY, 137, [], 1])
  })

  it('that never ran leaves nothing, and nothing is waited for', async () => {
    const at = await world()
    at.join('ann')
    at.submit(A, [bundle('x'), bundle('y')], SINGLE)
    at.apply({ kind: 'kill', batch: A, by: 'owner' })
    assert.deepEqual(at.store.keys('owed/'), [])
  })

  it('is not shown to have left what cannot be had: after three tries the next result is taken', async () => {
    const at = await world()
    const [ann, bob] = [at.join('ann'), at.join('bob')]
    killed(at, [ann, bob])
    at.pulls = false
    reportAll(at, ann)
    for (let tries = 0; tries < 3; tries++) {
      at.apply({ kind: 'pulled', task: T, node: 'ann', ok: false, message: 'gone' })
      at.pass(5_500)
    }
    assert.deepEqual([pullsOf(at), ann.released.length, left(at)], [['ann', 'ann', 'ann'], 1, undefined])
    at.pulls = true
    reportAll(at, bob, { ...HALF, output: 'other half' })
    assert.equal(left(at)?.node, 'bob')
  })

  it('leaves what it left also when the coordinator crashed before the report, and before the content came', async () => {
    const at = await world()
    const ann = at.join('ann')
    killed(at, [ann])
    await at.start()
    at.join('ann')
    assert.deepEqual(ann.welcomes.at(-1)?.unknown, [], 'the run is wanted still')
    at.pulls = false
    reportAll(at, ann)
    at.effects.length = 0
    at.pulls = true
    await at.start()
    assert.deepEqual([pullsOf(at), left(at)?.node], [['ann'], 'ann'])
    at.join('ann')
    assert.equal(ann.released.length, 1)
  })

  it('waits for a node that is away, ten minutes at most', async () => {
    for (const awayMs of [60_000, REMAINS_MS_MAX + 1_000]) {
      const at = await world()
      const ann = at.join('ann')
      killed(at, [ann])
      at.apply({ kind: 'gone', node: 'ann' })
      at.pass(awayMs, [ann])
      const inTime = awayMs < REMAINS_MS_MAX
      at.join('ann')
      assert.deepEqual(ann.welcomes.at(-1)?.unknown, inTime ? [] : [`${T}.1`])
      if (inTime) reportAll(at, ann)
      assert.equal(left(at)?.node, inTime ? 'ann' : undefined)
      assert.deepEqual(at.store.keys('owed/'), [])
    }
  })

  it('asks a node again that was cut off while it handed over', async () => {
    const at = await world()
    const ann = at.join('ann', offer(1))
    killed(at, [ann])
    at.pulls = false
    reportAll(at, ann)
    at.apply({ kind: 'gone', node: 'ann' }, { kind: 'pulled', task: T, node: 'ann', ok: false, message: 'cut' })
    at.pulls = true
    at.join('ann', offer(1))
    assert.equal(left(at)?.node, 'ann')
  })

  it('is not waited for at a node that gives it back or starts anew', async () => {
    for (const anew of [true, false]) {
      const at = await world()
      const ann = at.join('ann')
      killed(at, [ann])
      if (anew) {
        Object.assign(ann, { link: 'another', sent: 0, received: 0 })
        at.join('ann')
      } else at.giveBack(ann, `${T}.1`, 'cancelled')
      assert.deepEqual([at.store.keys('owed/'), left(at)], [[], undefined])
    }
  })

  it('takes nothing from a node that did not run it, nor of another bundle', async () => {
    const at = await world()
    const [ann, eve] = [at.join('ann'), at.join('eve', offer(0))]
    killed(at, [ann])
    const lease = ann.leases.get(`${T}.1`) ?? assert.fail('no lease')
    eve.leases.set(`${T}.1`, lease)
    reportAll(at, eve)
    assert.deepEqual([left(at), eve.released], [undefined, [`${T}.1`]])
    ann.leases.set(`${T}.1`, { ...lease, bundle: outputOf('another') })
    reportAll(at, ann)
    assert.deepEqual([left(at), ann.released, at.store.keys('owed/')], [undefined, [`${T}.1`], []])
  })
})
