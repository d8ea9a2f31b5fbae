import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Command } from 'commander'
import fc from 'fast-check'
import { parseRules } from '#protocol/compare/rules'
import type { TaskView } from '#protocol/owner/messages'
import { ClientError } from '../errors.ts'
import { POLICY_FLAG_KEYS, POLICY_VALUE_KEYS } from '../tasks/policy-options.ts'
import { taskOptions } from '../tasks/task-options.ts'
import { parseComparator, parseDag } from './file.ts'
import { graphOf, rescueOf } from './graph.ts'

const FILE = `name: genome
attempts: 5
priority: 2
defaults: { engine: process, time: 90s, env: { LANG: C } }
steps:
  count:
    command: [wc, -l, names]
    take: { names: cut/names, said: 'cut:stdout' }
    memory: 64M
  cut:
    command: cut -f1 table
    input: { data: ./tables }
  other:
    command: 'true'
    after: [count]
    allow-failed: true
final:
  command: echo over
`

describe('a file of steps', () => {
  it('is read into tasks, each after those that it takes something from', () => {
    const dag = parseDag(FILE)
    assert.deepEqual([dag.name, dag.policy], ['genome', { maxErrorResults: 5, priority: 2 }])
    const { steps, specs, sources } = graphOf(dag)
    assert.deepEqual(
      steps.map(({ name }) => name),
      ['cut', 'count', 'other', 'final']
    )
    assert.deepEqual(specs[0]?.command, ['sh', '-c', 'cut -f1 table'])
    assert.deepEqual(specs[0]?.environment, { LANG: 'C' })
    assert.deepEqual(specs[1]?.resources, { memoryBytes: 64 * 1024 ** 2, timeMs: 90_000 })
    assert.deepEqual(sources.get(1), {
      allowFailed: false,
      list: [
        { name: 'names', of: '', from: 0, count: 1, part: 'output', path: 'names' },
        { name: 'said', of: '', from: 0, count: 1, part: 'stdout', path: '' }
      ]
    })
    assert.equal(sources.get(2)?.allowFailed, true)
    assert.deepEqual(sources.get(3), { allowFailed: true, list: [{ name: '', of: '', from: 0, count: 3, part: 'after', path: '' }] })
    assert.equal(sources.has(0), false)
  })

  it('says how many results decide its steps, and how many are asked for', () => {
    const file = 'quorum: 3\ntarget: 5\ntotal: 9\nsuccess: 7\ndefaults: { engine: process }\nsteps: { a: { command: x } }\n'
    assert.deepEqual(parseDag(file).policy, { minQuorum: 3, targetResults: 5, maxTotalResults: 9, maxSuccessResults: 7 })
  })

  it('S15: has a key for every option of talko run that says how a batch is decided, and for what a step may say of itself', () => {
    const keys = [
      ['quorum: 3', { minQuorum: 3 }],
      ['retry-memory: 4G', { retryMemoryBytes: 4 * 1024 ** 3 }],
      ['independent: true', { independence: 'require' }],
      ['independent: false', {}],
      ['same-class: cpu', { sameClass: 'cpu' }],
      ['adaptive: true', { adaptive: true }],
      ['commit: true', { commit: true }],
      ['force: true', { force: true }],
      ['confidence: 99.9%', { doubtPpm: 1000 }],
      ['copies: never', { copies: 'never' }],
      ['estimate: 5m', { estimateMs: 300_000 }],
      ['queue-limit: 1h', { queueLimitMs: 3_600_000 }],
      ['deadline: 10m', { deadlineMs: 600_000 }],
      ['trust: trusted', { trust: 'trusted' }]
    ] as const
    const rest = 'defaults: { engine: process }\nsteps: { a: { command: x } }\n'
    for (const [line, policy] of keys) assert.deepEqual(parseDag(`${line}\n${rest}`).policy, policy, line)
    const [options] = [new Command('run')]
    taskOptions(options)
    // Those of a step, of its inputs and of the call are elsewhere.
    const others = ['input', 'step', 'env', 'cpus', 'memory', 'time', 'silence', 'disk', 'platform', 'gpus', 'engine', 'ignore-stdout']
    const called = ['name', 'label', 'tag', 'node', 'compare', 'compare-program', 'dry-run']
    const known = new Set([...POLICY_VALUE_KEYS, ...POLICY_FLAG_KEYS, ...others, ...called])
    for (const { long } of options.options) assert.ok(known.has(long?.slice(2) ?? ''), `${long} has no key in a file of steps`)
    // Half the deadline is what a run may take, unless it says so itself; nodes are looked up when it is submitted.
    const dag = parseDag(
      'deadline: 10m\nnodes: [ann, bob]\ndefaults: { engine: process, platform: linux/arm64 }\nsteps: { a: { command: x, ignore-stdout: true }, b: { command: x, time: 9m } }\n'
    )
    assert.deepEqual(dag.nodes, ['ann', 'bob'])
    assert.deepEqual(
      graphOf(dag).specs.map(({ resources, platform, compareStdout }) => [resources?.timeMs, platform, compareStdout]),
      [
        [300_000, 'linux/arm64', false],
        [540_000, 'linux/arm64', undefined]
      ]
    )
    const refused = (line: string, message: RegExp): void => assert.throws(() => parseDag(`name: x\n${line}\n${rest}`), { code: 'usage', message })
    refused('trust: mine', /^line 2: trust is any, trusted or own, not "mine"/)
    refused('adaptive: maybe', /^line 2: true or false/)
    refused('confidence: 10', /^line 2: confidence is a share/)
    refused('retry-memory: much', /^line 2: retry-memory is an amount/)
    refused('copys: never', /^line 2: the file has no "copys"; it may have name, quorum, .*trust/)
  })

  it('says what nodes its steps need, by which labels it is found, and how outputs are compared', () => {
    const file = `tags: [fast, big, fast]
labels: { experiment: 7, stage: draft }
compare: ["*.csv: rel=1e-6"]
defaults: { engine: process, gpus: 1 }
steps:
  train: { command: train, gpus: '2:model=a100,memory=40G' }
  look: { command: look }
`
    const dag = parseDag(file)
    assert.deepEqual(dag.policy, { tags: ['big', 'fast'], compare: { kind: 'tolerance', rules: parseRules(['*.csv: rel=1e-6']) } })
    assert.deepEqual(dag.labels, { experiment: '7', stage: 'draft' })
    assert.deepEqual(
      graphOf(dag).specs.map(({ gpus }) => gpus),
      [{ count: 2, model: 'a100', memoryBytes: 40 * 1024 ** 3 }, { count: 1 }]
    )
  })

  it('may have its outputs compared by a program, which has a file of its own', () => {
    const dag = parseDag(`compare: { program: ./compare.yaml }\ndefaults: { engine: process }\nsteps:\n  a: { command: x }\n`)
    assert.deepEqual([dag.comparator, dag.policy], ['./compare.yaml', {}])
    const text = 'image: python:3\ncommand: [python3, /in/code/compare.py]\ninput: { code: ./code }\nmemory: 1G\n'
    assert.deepEqual(parseComparator(text, 'compare.yaml'), {
      engine: 'docker',
      image: 'python:3',
      command: ['python3', '/in/code/compare.py'],
      environment: {},
      inputs: { code: './code' },
      resources: { memoryBytes: 1024 ** 3 }
    })
    const refused = (wrong: string, message: RegExp): void =>
      assert.throws(
        () => parseComparator(wrong, 'compare.yaml'),
        (error) => error instanceof ClientError && error.code === 'usage' && message.test(error.message)
      )
    refused('', /^compare.yaml, line 1: the file is empty/)
    refused('command: x', /^compare.yaml, line 1: .* has no image/)
    refused('image: x\ncommand: x\ntake: { a: b }', /^compare.yaml, line 3: a comparator has no "take"/)
    assert.throws(() => parseDag(`compare: { porgram: x }\nsteps:\n  a: { command: x, engine: process }\n`), /line 1: compare has no "porgram"/)
  })

  it('is refused with the line of what is wrong', () => {
    const step = (text: string): string => `defaults: { engine: process }\nsteps:\n  a:\n    command: x\n${text}`
    const wrong: readonly (readonly [string, RegExp])[] = [
      ['steps: [', /^line 1: /],
      ['name: x', /there are no steps|must be names/],
      [step('    take: { x: b }\n'), /^line 4: step a needs "b", and there is no such step/],
      [step('    tkae: { x: b }\n'), /^line 5: step a has no "tkae"; it may have image/],
      [`tags: ["a b"]\n${step('')}`, /^line 1: "a b" is no tag/],
      [`compare: ["x: rel=much"]\n${step('')}`, /^line 1: /],
      [`labels: { "a b": x }\n${step('')}`, /^line 1: /],
      [step('    gpus: many\n'), /^line 5: .*gpus/],
      [step('    memory: much\n'), /^line 5: .*memory/],
      [step('    allow-failed: maybe\n'), /^line 5: true or false/],
      [step('    after: [b]\n  b:\n    command: x\n    take: { y: a/z }\n'), /^line \d: steps wait for one another in a circle: a needs b needs a/],
      [step('target: none\n'), /^line 5: target is a whole number from 1 to 64/],
      [step('attempts: 99\n'), /^line 5: attempts is a whole number from 1 to 64/],
      [step('  b:\n    image: alpine\n'), /^line 6: step b has no command/],
      ['steps:\n  a:\n    command: x\n', /^line 3: step a has no image/],
      [step('  b: { command: x, input: { i: ./x }, take: { i: a } }\n'), /^line 5: step b has two inputs named i/]
    ]
    for (const [text, message] of wrong)
      assert.throws(
        () => parseDag(text),
        (error) => error instanceof ClientError && error.code === 'usage' && message.test(error.message),
        text
      )
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        try {
          parseDag(text)
        } catch (error) {
          assert.ok(error instanceof ClientError, String(error))
        }
      })
    )
  })

  it('is written anew with what is ready, which is not run again', () => {
    const graph = graphOf(parseDag(FILE))
    const ends = ['ready', 'failed', 'failed', 'ready']
    const tasks = graph.steps.map(
      ({ command }, index) => ({ id: `t.${index}`, command, status: ends[index], output: `id${index}`, stdout: `out${index}` }) as unknown as TaskView
    )
    const text = rescueOf(FILE, graph, tasks)
    const rest = graphOf(parseDag(text))
    assert.deepEqual(
      rest.steps.map(({ name }) => name),
      ['count', 'other', 'final']
    )
    assert.deepEqual(rest.specs[0]?.inputs, { names: { root: 'id0', path: 'names' }, said: { root: 'out0' } })
    assert.equal(rest.sources.has(0), false)
    assert.throws(() => rescueOf(FILE, graph, tasks.slice(1)), { code: 'usage' })
    assert.throws(() => rescueOf(FILE, graph, tasks.toReversed()), { code: 'usage', message: /made of another file/ })
  })

  it('in any order of any graph is in an order that can be submitted', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat({ max: 20 }), { maxLength: 3 }), { minLength: 1, maxLength: 15 }), fc.nat(), (needs, turn) => {
        const names = needs.map((_, index) => `s${(index * 7 + turn) % needs.length}-${index}`)
        const lines = needs.map(
          (list, index) => `  ${names[index]}: { command: x, after: [${[...new Set(index === 0 ? [] : list.map((of) => names[of % index]))].join(', ')}] }`
        )
        const { sources, steps } = graphOf(parseDag(`defaults: { engine: process }\nsteps:\n${lines.sort().join('\n')}\n`))
        assert.equal(steps.length, needs.length)
        for (const [index, { list }] of sources) for (const { from, count } of list) assert.ok(from + count <= index)
      })
    )
  })
})
