import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import type { TaskView } from '#protocol/owner/messages'
import type { Client } from '../client/client.ts'
import { policyOf } from '../client/spec.ts'
import type { Context } from '../command.ts'
import { EXIT } from '../errors.ts'
import { statusLines } from './node-status.ts'
import { ofMap } from './sources.ts'
import { findNodes, readTaskOptions } from './task-options.ts'
import { fewNodes, outcome, ROWS_MAX, summarize, warnFewNodes } from './waiting.ts'

function task(status: TaskView['status'], code?: NonNullable<TaskView['failure']>['code']): TaskView {
  const failure = code === undefined ? {} : { failure: { code, message: 'why' } }
  return {
    id: 'b.0',
    name: '',
    batch: 'b',
    index: 0,
    status,
    bundle: 'x',
    command: ['x'],
    createdAtMs: 1,
    quorum: 2,
    agreeing: 2,
    replicasIssued: 2,
    numFailures: 0,
    ...failure
  }
}

describe('how a batch ended', () => {
  it('is 0 when all are ready, 5 when only agreement was missing, 1 otherwise', async () => {
    const exit = async (...tasks: readonly TaskView[]) => (await summarize(tasks)).exit
    assert.equal(await exit(task('ready'), task('ready')), EXIT.ok)
    assert.equal(await exit(task('ready'), task('failed', 'no_agreement')), EXIT.noAgreement)
    assert.equal(await exit(task('failed', 'exit'), task('failed', 'no_agreement')), EXIT.taskFailed)
    assert.equal(await exit(task('failed', 'no_agreement'), task('killed')), EXIT.taskFailed)
  })
  it('shows the failed ones first and a bounded number', async () => {
    const many = [...Array.from({ length: 3 * ROWS_MAX }, () => task('ready')), task('failed', 'time')]
    const { shown, left } = await summarize(many)
    assert.equal(shown.length, ROWS_MAX)
    assert.equal(shown[0]?.status, 'failed')
    assert.equal(left, many.length - ROWS_MAX)
  })
  it('is said in a few words', () => {
    assert.equal(outcome(task('ready')), 'ready')
    assert.equal(outcome({ ...task('failed', 'exit'), exitCode: 3 }), 'failed: exit status 3')
    assert.equal(outcome(task('failed', 'memory')), 'failed: memory limit')
    assert.equal(outcome(task('killed')), 'killed')
  })
})

it('says when there are too few nodes for a quorum', () => {
  const node = (id: string, state: string, engine: string) => ({ id, state, engines: [engine] })
  const nodes = [node('a', 'online', 'docker'), node('b', 'lost', 'docker'), node('c', 'online', 'process')]
  assert.match(fewNodes(nodes, 'docker', DEFAULT_POLICY) ?? '', /^2 different nodes must agree and 1 node that may run it is online/)
  assert.equal(fewNodes(nodes, 'docker', { ...DEFAULT_POLICY, minQuorum: 1 }), undefined)
  assert.match(fewNodes(nodes, 'docker', { ...DEFAULT_POLICY, minQuorum: 1, nodes: ['c'] }) ?? '', /0 nodes/)
})

it('a map takes from other tasks what was asked for, and its reduce what the map leaves', () => {
  const sources = { allowFailed: true, list: [{ name: 'model', of: 'b.0', from: 0, count: 0, part: 'output' as const, path: '' }] }
  const gathered = { allowFailed: false, list: [{ name: 'maps', of: '', from: 0, count: 2, part: 'all', path: '' }] }
  assert.deepEqual(
    [...ofMap(sources, { count: 2, reduces: true })],
    [
      [0, sources],
      [1, sources],
      [2, gathered]
    ]
  )
  assert.deepEqual([...ofMap(undefined, { count: 2, reduces: true })], [[2, gathered]])
  assert.equal(ofMap(undefined, { count: 2, reduces: false }).size, 0)
  const part = { ...sources, list: sources.list.map((source) => ({ ...source, name: 'part' })) }
  assert.throws(() => ofMap(part, { count: 2, reduces: false }), { code: 'usage', message: /--dep part is taken/ })
})

describe('task options', () => {
  it('become a specification', () => {
    const { spec, nodes } = readTaskOptions({
      engine: 'docker',
      cpus: '2',
      memory: '1G',
      time: '5m',
      quorum: '3',
      priority: '-1',
      input: ['a=b'],
      env: ['X=1'],
      node: ['n'],
      ignoreStdout: true,
      name: 'sweep',
      label: ['experiment=7'],
      queueLimit: '100h'
    })
    assert.deepEqual(spec, {
      engine: 'docker',
      resources: { cpuMillis: 2000, memoryBytes: 1024 ** 3, timeMs: 300_000 },
      policy: { minQuorum: 3, priority: -1, queueLimitMs: 360_000_000 },
      inputs: { a: 'b' },
      environment: { X: '1' },
      compareStdout: false,
      labels: { experiment: '7' },
      name: 'sweep'
    })
    assert.deepEqual(nodes, ['n'])
  })
  it('ask for a platform, GPUs, tags and a deadline', () => {
    const { spec } = readTaskOptions({
      engine: 'docker',
      platform: 'linux/arm64',
      gpus: '2:model=A100,memory=40G,driver=535.0',
      tag: ['lab', 'fast'],
      deadline: '20m'
    })
    assert.equal(spec.platform, 'linux/arm64')
    assert.deepEqual(spec.gpus, { count: 2, model: 'A100', memoryBytes: 40 * 1024 ** 3, driver: '535.0' })
    assert.deepEqual(policyOf(spec.policy).tags, ['fast', 'lab'])
    assert.equal(policyOf(spec.policy).deadlineMs, 1_200_000)
    // None, and so no limit that it would set.
    assert.equal(readTaskOptions({ engine: 'docker', deadline: '0' }).spec.resources?.timeMs, undefined)
    // Half of it, so that a node may be away meanwhile.
    assert.equal(spec.resources?.timeMs, 600_000)
    assert.equal(readTaskOptions({ engine: 'docker', deadline: '20m', time: '15m' }).spec.resources?.timeMs, 900_000)
    for (const gpus of ['0', 'many', '1:colour=red', '1:memory=big']) assert.throws(() => readTaskOptions({ engine: 'docker', gpus }), { code: 'usage' })
    assert.throws(() => policyOf({ tags: ['two words'] }), { code: 'usage' })
  })
  it('ask for three of five, and say which limits contradict each other', () => {
    const asked = (options: Readonly<Record<string, string>>): ReturnType<typeof policyOf> =>
      policyOf(readTaskOptions({ engine: 'docker', ...options }).spec.policy)
    const { minQuorum, targetResults, maxTotalResults, maxSuccessResults } = asked({ quorum: '3', target: '5', total: '9', success: '7' })
    assert.deepEqual([minQuorum, targetResults, maxTotalResults, maxSuccessResults], [3, 5, 9, 7])
    const ten = asked({ quorum: '3', target: '10' })
    assert.deepEqual([ten.maxTotalResults, ten.maxSuccessResults], [20, 10])
    const wrong: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
      [{ quorum: '3', target: '2' }, /the target of 2 replicas cannot reach a quorum of 3/],
      [{ target: '5', total: '4' }, /at most 4 replicas in all is less than the 5 issued at first/],
      [{ quorum: '3', success: '2' }, /giving up after 2 results is before a quorum of 3/],
      [{ total: '65' }, /--total is a whole number from 1 to 64/],
      [{ memory: '1G', retryMemory: '2G', target: '5', total: '9' }, /at most 9 may be issued in all/]
    ]
    for (const [options, message] of wrong) assert.throws(() => asked(options), { code: 'usage', message })
  })
  it('need no larger quorum than nodes are named', () => {
    assert.equal(policyOf({ nodes: ['a'] }).minQuorum, 1)
    assert.equal(policyOf({ nodes: ['a', 'b', 'c'] }).minQuorum, 2)
    assert.throws(() => policyOf({ nodes: ['a'], minQuorum: 2 }), { code: 'usage', message: /a quorum of 2 needs as many nodes, and 1 is named/ })
  })
  it('find nodes by id, name and unique prefix', () => {
    const known = [
      { id: '12D3KooWaaa', name: 'ann' },
      { id: '12D3KooWabb', name: 'bob' }
    ]
    assert.deepEqual(findNodes(['ann', '12D3KooWab', '12D3KooWaaa'], known), ['12D3KooWaaa', '12D3KooWabb', '12D3KooWaaa'])
    assert.throws(() => findNodes(['eve'], known), { code: 'not_found' })
    assert.throws(() => findNodes(['12D3KooWa'], known), { code: 'ambiguous' })
  })
})

it("shows a node's status without what is empty", () => {
  assert.deepEqual(statusLines({ mode: 'active', trouble: '', engines: ['docker'], replicas: [{ replica: 'r', phase: 'running' }] }), [
    'mode:     active',
    'engines:  docker',
    'replicas:',
    '  replica r, phase running'
  ])
})

it('Ctrl-C before anything was waited for says that what is submitted goes on', async () => {
  const stop = new AbortController()
  const said: string[] = []
  const client = {
    nodes: async () => {
      stop.abort(new Error('interrupted'))
      throw stop.signal.reason
    }
  } as unknown as Client
  const context = { io: { say: (line: string) => said.push(line) }, signal: stop.signal } as unknown as Context
  await assert.rejects(warnFewNodes(context, client, 'abc', { engine: 'process', policy: DEFAULT_POLICY }), /interrupted/)
  assert.deepEqual(said, ['abc goes on without us: talko info abc · talko kill abc'])
})
