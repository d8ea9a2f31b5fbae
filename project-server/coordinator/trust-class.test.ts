import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { covers, DEFAULT_POLICY, policyFault, type TaskPolicy } from '#protocol/bundle/policy'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'
import { decodeClientRecord, encodeClientRecord } from './client-records.ts'
import { decodeNodeRecord, encodeNodeRecord } from './node-records.ts'
import { DEFAULT_COORDINATOR_POLICY } from './policy.ts'

const SINGLE = { minQuorum: 1, targetResults: 1 }
const PAIR = { minQuorum: 2, targetResults: 2 }
/** Few results make a node believed here, so that a test needs few; who is wrong again and again is not set aside, which is another rule (aside.test.ts). */
const POLICY = { ...DEFAULT_COORDINATOR_POLICY, trustedAfter: 2, failuresMax: Number.POSITIVE_INFINITY }
const WORDS = ['a', 'b']

function whoHas(one: CoordinatorWorld, task: string): readonly string[] {
  return one
    .record(task)
    .replicas.map(({ node }) => node)
    .sort()
}

/** Two nodes agree on so many tasks, or else one is contradicted by two others. */
class Town {
  readonly one = new CoordinatorWorld(POLICY)
  #next = 1

  async start(): Promise<this> {
    await this.one.start()
    return this
  }

  submit(policy: Partial<TaskPolicy>, by = 'owner'): string {
    const id = batchId(this.#next++)
    this.one.submit(id, [bundle(id)], { ...SINGLE, ...policy }, { by })
    return `${id}.0`
  }

  /** Both say the same. */
  agree(a: string, b: string): void {
    const task = this.submit({ ...PAIR, nodes: [a, b] })
    this.say(task, a, 'x')
    this.say(task, b, 'x')
    assert.equal(this.one.record(task).state, 'ready')
  }

  /** Says something else than the two others. */
  err(liar: string, a: string, b: string): void {
    const task = this.submit({ minQuorum: 2, targetResults: 3, maxTotalResults: 8, nodes: [liar, a, b] })
    this.say(task, liar, 'lie')
    this.say(task, a, 'x')
    this.say(task, b, 'x')
    assert.equal(this.one.record(task).state, 'ready')
  }

  say(task: string, id: string, output: string): void {
    const node = this.one.nodes.get(id)
    const replica = this.one.record(task).replicas.find((replica) => replica.node === id)
    assert.ok(node !== undefined && replica !== undefined, `${id} has no part in ${task}`)
    this.one.begin(node, `${task}.${replica.attempt}`)
    this.one.report(node, `${task}.${replica.attempt}`, { output })
  }
}

describe('S07, S08: a task that asks for a trust class', () => {
  it('`own` waits for a node of its client, and says so of all others', async () => {
    const town = await new Town().start()
    town.one.join('stranger', offer(4, { vouched: true }))
    town.one.join('of bob', offer(4, { owner: 'bob' }))
    const task = town.submit({ trust: 'own' }, 'ann')
    const why = town.one.coordinator.why(task)
    assert.deepEqual([why?.waitsFor, why?.needs?.trust, why?.nodes?.map(({ reason, count }) => [reason, count])], ['node', 'own', [['not_own', 2]]])
    town.one.join('of ann', offer(1, { owner: 'ann' }))
    assert.deepEqual(whoHas(town.one, task), ['of ann'])
  })

  it('`trusted` goes to the administrator’s and the client’s own at once', async () => {
    const town = await new Town().start()
    town.one.join('a stranger', offer(8))
    const waiting = town.submit({ trust: 'trusted' }, 'ann')
    town.one.join('vouched', offer(1, { vouched: true }))
    assert.deepEqual(whoHas(town.one, waiting), ['vouched'])
    const next = town.submit({ trust: 'trusted' }, 'ann')
    town.one.join('of ann', offer(1, { owner: 'ann' }))
    assert.deepEqual(whoHas(town.one, next), ['of ann'])
  })

  it('`trusted` goes to a node when enough of its results were confirmed, and to it no more when one was wrong', async () => {
    const town = await new Town().start()
    for (const name of ['a', 'b', 'c']) town.one.join(name, offer(4))
    const task = town.submit({ trust: 'trusted' })
    town.agree('a', 'b')
    const why = town.one.coordinator.why(task)
    assert.equal(why?.nodes?.[0]?.reason, 'not_trusted')
    assert.deepEqual([why?.nearest?.requirement, why?.nearest?.needs, why?.nearest?.offers], ['trust', 2, 1])
    town.agree('a', 'b')
    assert.equal(whoHas(town.one, task).length, 1)
    assert.ok(['a', 'b'].includes(whoHas(town.one, task)[0] ?? ''))
    town.err('b', 'a', 'c')
    const both = town.submit({ ...PAIR, trust: 'trusted', independence: 'prefer' })
    assert.deepEqual(whoHas(town.one, both), ['a'])
    // What is known of them outlives the coordinator.
    await town.one.start()
    for (const name of ['a', 'b', 'c']) town.one.join(name, offer(4))
    const after = town.submit({ ...PAIR, trust: 'trusted' })
    assert.deepEqual(whoHas(town.one, after), ['a'])
  })

  it('named nodes are no way around it', async () => {
    const town = await new Town().start()
    town.one.join('a', offer(4))
    const task = town.submit({ trust: 'trusted', nodes: ['a'] })
    assert.deepEqual(whoHas(town.one, task), [])
    const event = { kind: 'submit', batch: batchId(99), name: '', by: 'ann', bundles: [bundle('x')], more: false, seed: 1 } as const
    const policy = { ...DEFAULT_POLICY, ...SINGLE, trust: 'own' as const, nodes: ['a'] }
    assert.match(town.one.coordinator.refusal({ ...event, policy })?.message ?? '', /it is not yours/)
  })

  it('is not answered by what nodes of a wider class decided, and is of use to who asks for less', () => {
    for (const [had, asked, good] of [
      ['any', 'trusted', false],
      ['trusted', 'own', false],
      ['own', 'trusted', true],
      ['trusted', 'any', true],
      ['own', 'own', true]
    ] as const)
      assert.equal(covers({ ...DEFAULT_POLICY, trust: had }, { ...DEFAULT_POLICY, trust: asked }), good, `${had} for ${asked}`)
    assert.match(policyFault({ ...DEFAULT_POLICY, trust: 'mine' as 'own' }) ?? '', /any, trusted, own/)
  })
})

it('S07, S08: whatever nodes say and learn of one another, a task that asks for trusted nodes is with one that is, and waits for none', async () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd')
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('agree' as const), of: fc.uniqueArray(name, { minLength: 2, maxLength: 2 }) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('err' as const), of: fc.uniqueArray(name, { minLength: 3, maxLength: 3 }) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('ask' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('back' as const), of: name, vouched: fc.boolean() }) }
  )
  const seen = { placed: 0, waited: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
      const town = await new Town().start()
      const { one } = town
      const vouched = new Set<string>()
      const rows = new Map<string, number>()
      const join = (id: string): unknown => one.join(id, offer(64, vouched.has(id) ? { vouched: true } : {}))
      for (const id of ['a', 'b', 'c', 'd']) join(id)
      const believed = (id: string): boolean => vouched.has(id) || (rows.get(id) ?? 0) >= POLICY.trustedAfter
      const waiting = new Set<string>()
      for (const step of steps) {
        if (step.kind === 'agree') {
          const [a = '', b = ''] = step.of
          town.agree(a, b)
          for (const id of step.of) rows.set(id, (rows.get(id) ?? 0) + 1)
        } else if (step.kind === 'err') {
          const [liar = '', a = '', b = ''] = step.of
          town.err(liar, a, b)
          rows.set(liar, 0)
          for (const id of [a, b]) rows.set(id, (rows.get(id) ?? 0) + 1)
        } else if (step.kind === 'restart') {
          await one.start()
          for (const id of ['a', 'b', 'c', 'd']) join(id)
        } else if (step.kind === 'back') {
          if (step.vouched) vouched.add(step.of)
          else vouched.delete(step.of)
          join(step.of)
        } else waiting.add(town.submit({ trust: 'trusted' }))
        for (const task of waiting) {
          const [id] = whoHas(one, task)
          if (id === undefined) {
            seen.waited++
            const able = ['a', 'b', 'c', 'd'].filter(believed)
            assert.deepEqual(able, [], `${task} waits although ${able[0]} is believed`)
          } else {
            seen.placed++
            waiting.delete(task)
            assert.ok(believed(id), `${task} is with ${id}, which is not believed`)
          }
        }
      }
    }),
    { numRuns: 150 }
  )
  assert.ok(seen.placed > 100 && seen.waited > 50, JSON.stringify(seen))
})

describe('S07, S08: a node that is for groups of clients', () => {
  it('takes the tasks of their clients and its owner’s, and says so of others, over a restart', async () => {
    const town = await new Town().start()
    const { one } = town
    one.apply({ kind: 'client', client: 'ann', settings: { groups: ['physics'] } })
    await one.start()
    one.join('lab', offer(1, { owner: 'bob', groups: ['physics', 'maths'] }))
    const other = town.submit({}, 'cid')
    const why = one.coordinator.why(other)
    assert.deepEqual([why?.waitsFor, why?.nodes?.map(({ reason }) => reason)], ['node', ['other_group']])
    const member = town.submit({}, 'ann')
    assert.deepEqual(whoHas(one, member), ['lab'])
    one.join('second', offer(1, { owner: 'bob', groups: ['maths'] }))
    assert.deepEqual(whoHas(one, town.submit({}, 'bob')), ['second'])
    assert.deepEqual(
      one.coordinator.nodes().map(({ groups }) => groups),
      [['physics', 'maths'], ['maths']]
    )
  })

  it('is open to a client from when it is added to the group, and no more when it is taken out', async () => {
    const town = await new Town().start()
    const { one } = town
    const node = one.join('lab', offer(1, { groups: ['physics'] }))
    const first = town.submit({}, 'ann')
    assert.deepEqual(whoHas(one, first), [])
    one.apply({ kind: 'client', client: 'ann', settings: { groups: ['physics'] } })
    assert.deepEqual(whoHas(one, first), ['lab'])
    const second = town.submit({}, 'ann')
    one.apply({ kind: 'client', client: 'ann', settings: { groups: [] } })
    one.work(node)
    // What ran went on; what waited waits.
    assert.deepEqual([one.record(first).state, whoHas(one, second)], ['ready', []])
  })

  it('has its groups in its record, and so has a client; older records have none', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.constantFrom('physics', 'maths', ...WORDS), { maxLength: 4 }), (groups) => {
        const more = groups.length === 0 ? {} : { groups }
        const node = { id: 'n', offer: offer(1, more), state: 'online', lastSeenMs: 1, valid: 1, invalid: 0, errors: 0, lost: 0, row: 3 } as const
        const whole = { ...node, accepted: 4, errorPpm: 5, sinceMs: 1, credit: 2, claimsPpm: 3 }
        assert.deepEqual(decodeNodeRecord(encodeNodeRecord(whole)), whole)
        const settings = { share: 1, diskBytes: null, timeMs: 5, periodMs: 60_000, parallel: null, tasks: null, batches: 2, ...more }
        const client = { id: 'c', member: null, settings, ranMs: 1, runs: 2, periodMs: 3, periodRanMs: 4, outputBytes: 5 }
        assert.deepEqual(decodeClientRecord(encodeClientRecord(client)), client)
      })
    )
  })
})
