import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import type { WhyView } from '#protocol/owner/messages'
import { readBody, whyView } from '../client/views.ts'
import { whyLines } from './why.ts'

const GIB = 1024 ** 3
const TASK = `${'a'.repeat(25)}q.3`
const base: WhyView = {
  task: TASK,
  name: 'primes',
  status: 'staged',
  waitsFor: 'turn',
  waitedMs: 185_000,
  quorum: 2,
  wanted: 2,
  needs: { engine: 'docker', cpuMillis: 1000, memoryBytes: 8 * GIB, diskBytes: 0, named: 0 },
  runs: []
}

it('says what a task waits for, what is in the way, when it goes on, and what helps', () => {
  assert.deepEqual(
    whyLines({
      ...base,
      waitsFor: 'node',
      nodes: [
        {
          reason: 'memory',
          count: 5,
          nodes: [
            { id: 'p1', name: 'aino' },
            { id: 'p2', name: 'onni' }
          ]
        },
        { reason: 'away', count: 1, nodes: [{ id: 'p3', name: '' }] }
      ],
      nearest: { requirement: 'memory', needs: 8 * GIB, offers: 4 * GIB, node: 'p1', nodeName: 'aino' }
    }),
    [
      `${TASK} (primes), for 3 min 5 s: it waits for 2 nodes, and none can take it`,
      '  5 nodes lend less than 8.0 GiB of memory: aino, onni, …',
      '  1 node is away: p3',
      '  the nearest is aino: it lends 4.0 GiB of memory, needed is 8.0 GiB of memory',
      'What helps: submit it again with a smaller --memory, or add a node that has more; start what is away (talko node start).'
    ]
  )
  assert.deepEqual(
    whyLines({
      ...base,
      ahead: { tasks: 12, replicas: 24 },
      nodes: [{ reason: 'full', count: 1, nodes: [{ id: 'p1', name: 'aino' }] }],
      startMs: 60_000,
      endMs: 90_000,
      runMs: 30_000,
      shares: { own: { client: 'p7', share: 1, slots: 5, waiting: 3 }, before: [{ client: 'p8', share: 2, slots: 1, waiting: 9 }], others: 2 }
    }),
    [
      `${TASK} (primes), for 3 min 5 s: it waits for its turn: 12 tasks (24 runs) are before it`,
      '  client p8 stands before you because of its share: it holds 1 slot for a share of 2, you hold 5 slots for your share of 1',
      '  and 1 client more before you',
      '  1 node has no free slot: aino',
      '  it should start in about 1 min 0 s and be done in about 1 min 30 s: a run takes 30 s here lately'
    ]
  )
  const run = { attempt: 1, node: 'p1', nodeName: 'aino', state: 'running', forMs: 60_000, straggles: false }
  const runs = [
    { ...run, progress: { done: 0.375, note: 'epoch 3', leftMs: 100_000 } },
    { ...run, progress: { done: 0 } }
  ]
  assert.deepEqual(whyLines({ ...base, waitsFor: 'runs', runs }).slice(1), [
    '  attempt 1 is running on aino for 1 min 0 s, and says that it is at 37.5 % (epoch 3), about 1 min 40 s left',
    '  attempt 1 is running on aino for 1 min 0 s, and says that it is at 0 %'
  ])
  assert.deepEqual(whyLines({ ...base, waitsFor: 'release', held: { by: 'p9', reason: 'wrong input', atMs: 0 } }), [
    `${TASK} (primes), for 3 min 5 s: it is held, and goes on when it is released (talko release)`,
    '  held by p9: wrong input'
  ])
  assert.deepEqual(whyLines({ ...base, waitsFor: 'quota', quota: { limit: 'disk', used: 3 * 1024 ** 2, max: 2 * 1024 ** 2 } }), [
    `${TASK} (primes), for 3 min 5 s: the project keeps 3.0 MiB for its client, and may keep 2.0 MiB: it goes on when that limit is raised (talko quota)`
  ])
  const comparing = (more: WhyView['comparing']): string => whyLines({ ...base, wanted: 0, waitsFor: 'comparison', ...(more && { comparing: more }) })[0] ?? ''
  assert.match(comparing(undefined), /its results differ, and the project compares their outputs$/)
  assert.match(comparing({ kind: 'program', bundle: 'bafy' }), /compares their outputs by the program bafy$/)
  assert.match(comparing({ kind: 'program', bundle: 'bafy', trouble: 'no engine' }), /cannot run the program that compares them \(bafy\) now: no engine$/)
  assert.deepEqual(whyLines({ ...base, status: 'killed', waitsFor: 'nothing', failure: { code: 'queue_limit', message: 'no node took it' } }), [
    `${TASK} (primes), after 3 min 5 s: it was killed: no node took it`
  ])
  assert.deepEqual(whyLines({ ...base, status: 'failed', waitsFor: 'nothing', failure: { code: 'exit', message: 'the command ended with exit status 3' } }), [
    `${TASK} (primes), after 3 min 5 s: it failed: the command ended with exit status 3`
  ])
  const lacking = (reason: 'tags' | 'gpus') => whyLines({ ...base, waitsFor: 'node', nodes: [{ reason, count: 1, nodes: [] }] }).at(-1) ?? ''
  assert.match(lacking('tags'), /talko node join --tag/)
  // No tag makes a GPU.
  assert.match(lacking('gpus'), /--gpus/)
  assert.doesNotMatch(lacking('gpus'), /--tag/)
  assert.match(whyLines({ ...base, waitsFor: 'node', nodes: [] }).at(-1) ?? '', /no nodes: invite some \(talko invite\)/)
})

it('lets no project write to the terminal, and takes no answer of another shape', () => {
  const named = whyLines({ ...base, name: '\u001b[31m', nodes: [{ reason: 'full', count: 1, nodes: [{ id: 'p1', name: '\u0007' }] }] })
  assert.ok(named.every((line) => [...line].every((char) => char >= ' ')))
  const read = (value: unknown): WhyView => readBody(dagCbor.encode(value), whyView)
  assert.deepEqual(read(base), base)
  for (const wrong of [
    { ...base, status: 'odd' },
    { ...base, task: 'x' },
    { ...base, waitsFor: 'godot' },
    { ...base, held: { by: 'p9' } },
    { ...base, runs: [{ attempt: 1 }] },
    ...[3, {}, { done: 1.1 }, { done: -0.5 }, { done: 0.5, note: 3 }, { done: 0.5, leftMs: 1.5 }].map((progress) => ({
      ...base,
      runs: [{ attempt: 1, node: 'p1', nodeName: '', state: 'running', forMs: 1, straggles: false, progress }]
    })),
    { ...base, nodes: [{ reason: 'full', count: 1, nodes: [3] }] },
    { ...base, nodes: 3 },
    { ...base, comparing: { kind: 'program', bundle: 3 } },
    { ...base, nearest: { requirement: 'memory' } },
    { ...base, waitedMs: 'long' }
  ])
    assert.throws(() => read(wrong), /does not understand/)
})

it('S08, S15: names what is waited for, and the node that comes nearest to being trusted', () => {
  const waits = (sources: number, awaits?: readonly string[]) =>
    whyLines({ ...base, waitsFor: 'sources', sources, ...(awaits === undefined ? {} : { awaits }) })[0]
  assert.match(waits(1, ['k3vq.0']) ?? '', /it waits for 1 source that is not over, tasks or batches .* come before it: k3vq\.0$/)
  assert.match(waits(5, ['a.0', 'b']) ?? '', /5 sources .*: a\.0, b, …$/)
  assert.match(waits(2) ?? '', /come before it$/)
  const view: WhyView = {
    ...base,
    needs: { engine: 'docker', cpuMillis: 1000, memoryBytes: GIB, diskBytes: 0, named: 0, trust: 'trusted' },
    waitsFor: 'node',
    nodes: [{ reason: 'not_trusted', count: 2, nodes: [{ id: 'p1', name: 'aino' }] }],
    nearest: { requirement: 'trust', needs: 10, offers: 7, node: 'p1', nodeName: 'aino' }
  }
  assert.deepEqual(whyLines(view).slice(1), [
    '  2 nodes have too few confirmed results in a row to be trusted (--trust trusted): aino, …',
    '  the nearest is aino: it has 7 confirmed results in a row, needed are 10 confirmed results in a row',
    'What helps: give nodes other tasks with a quorum of two or more, by whose results they come to be trusted, or submit it again with --trust any.'
  ])
  // As it comes over the wire.
  assert.deepEqual(readBody(new Uint8Array(dagCbor.encode(view)), whyView), view)
})
