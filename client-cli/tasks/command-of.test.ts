import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { commandOfSteps, stepsOfCommand } from '#protocol/bundle/steps'
import { parseDag } from '../dag/file.ts'
import { formatCommand } from '../output/text.ts'
import { parseTemplate } from '../template/file.ts'
import { commandOf, stepsOfLines } from './command-of.ts'
import { stepOf, stepTable, viewsOf } from './step-logs.ts'

const ONE = { words: [], steps: [], inputs: ['data'], engine: 'docker' as const }

describe('X13: the command of a task', () => {
  it('has the path of an input where that is asked for', () => {
    assert.deepEqual(commandOf({ ...ONE, words: ['wc', '{input}', '{input:data}/x={input}'] }), ['wc', '/in/data', '/in/data/x=/in/data'])
    const two = { ...ONE, inputs: ['a', 'b'] }
    assert.deepEqual(commandOf({ ...two, words: ['diff', '{input:a}', '{input:b}'] }), ['diff', '/in/a', '/in/b'])
    assert.deepEqual(commandOf({ ...two, main: 'b', words: ['cat', '{input}'] }), ['cat', '/in/b'])
    assert.throws(() => commandOf({ ...two, words: ['cat', '{input}'] }), { code: 'usage', message: /say which, like \{input:a\}/ })
    assert.throws(() => commandOf({ ...two, words: ['cat', '{input:c}'] }), { code: 'usage', message: /there is no input c, but a, b/ })
    assert.deepEqual(commandOf({ ...ONE, inputs: [], words: ['awk', '{input}'] }), ['awk', '{input}'])
  })

  it('on a bare machine has it put in by a shell there, and is the command itself without it', () => {
    const bare = { ...ONE, engine: 'process' as const }
    assert.deepEqual(commandOf({ ...bare, words: ['ls', '/'] }), ['ls', '/'])
    assert.deepEqual(stepsOfCommand(commandOf({ ...bare, words: ['cat', '{input}'] })), [{ name: 'command', command: ['cat', '{TALKO_IN}/data'] }])
  })

  it('is several by --step, each called as its program', () => {
    const steps = stepsOfLines(['make all', 'make test', './run.sh {input}', '( true )'])
    assert.deepEqual(
      steps.map(({ name }) => name),
      ['make', 'make-2', 'run.sh', '4']
    )
    const command = commandOf({ ...ONE, steps })
    assert.deepEqual(stepsOfCommand(command)?.[2], { name: 'run.sh', command: ['/bin/sh', '-c', './run.sh /in/data'] })
    assert.equal(formatCommand(command), 'make all && make test && ./run.sh /in/data && ( true )')
    assert.throws(() => commandOf({ ...ONE, words: ['x'], steps }), { code: 'usage', message: /not both/ })
    assert.throws(() => stepsOfLines(['x', ' ']), { code: 'usage', message: /--step 2 is empty/ })
    assert.throws(() => commandOf({ ...ONE, steps: stepsOfLines(Array.from({ length: 65 }, () => 'x')) }), { code: 'usage', message: /1 to 64/ })
  })

  it('in a file of steps is `commands`, with the names of what the step takes', () => {
    const [first, second] = parseDag(`defaults: { engine: docker, image: alpine }
steps:
  a: { command: 'cat {input}', input: { data: ./x } }
  b:
    take: { left: a }
    input: { data: ./x }
    commands: [make, [cp, '{input:left}', .], { name: pack, command: 'tar cf {input:data}.tar .' }]
`).steps
    assert.deepEqual(first?.command, ['sh', '-c', 'cat /in/data'])
    assert.deepEqual(stepsOfCommand(second?.command ?? []), [
      { name: 'make', command: ['sh', '-c', 'make'] },
      { name: 'cp', command: ['cp', '/in/left', '.'] },
      { name: 'pack', command: ['sh', '-c', 'tar cf /in/data.tar .'] }
    ])
    const refused = (step: string, message: RegExp) => assert.throws(() => parseDag(`steps:\n  a: { engine: process, ${step} }\n`), { code: 'usage', message })
    refused('commands: make', /line 2: commands of a is a list/)
    refused('commands: []', /line 2: commands of a is a list/)
    refused('command: x, commands: [y]', /line 2: step a has one command, or several commands: not both/)
    refused('commands: [{ name: a, run: x }]', /line 2: .*run/)
    refused('commands: [{ name: a b, command: x }]', /line 2: the name of a command/)
    refused('commands: [x, { name: y }]', /line 2: command y is empty/)
    refused('command: "cat {input:no}", input: { data: ./x }', /line 2: \{input:no\}/)
  })

  it('in a template is the option `step`', () => {
    const template = parseTemplate('template: run\nimage: alpine\noptions: { step: [make, make test] }\n', 't.yaml')
    assert.deepEqual([template.command, template.options], [[], [{ name: 'step', values: ['make', 'make test'] }]])
    assert.throws(() => parseTemplate('template: run\nimage: alpine\n', 't.yaml'), { code: 'usage', message: /`command`, or commands in order/ })
  })
})

describe('X13: what is known of commands in order', () => {
  const steps = stepsOfLines(['make', 'test', 'pack'])
  const stderr = '==> talko step 1/3: make\nwarning\n\n<== talko step 1/3: exit 0, 62 s\n\n==> talko step 2/3: test\nhalf'

  it('is state, exit status and time of each', () => {
    assert.deepEqual(
      viewsOf(steps, stderr, false).map(({ state, exitCode, seconds }) => [state, exitCode, seconds]),
      [
        ['ready', 0, 62],
        ['running', undefined, undefined],
        ['waits', undefined, undefined]
      ]
    )
    const ended = viewsOf(steps, `${stderr}\n<== talko step 2/3: exit 2\n`, true)
    assert.deepEqual(
      ended.map(({ state }) => state),
      ['ready', 'failed', 'not_run']
    )
    assert.match(stepTable(ended)[2] ?? '', /^2 +test +failed +2 +test$/)
    assert.match(stepTable(ended)[1] ?? '', /1 min 2 s/)
    assert.equal(viewsOf(steps, stderr, true)[1]?.state, 'ended')
  })

  it('is its own part of the log, by number or name', () => {
    const command = commandOfSteps(steps)
    const log = { file: 'stderr' as const, log: stderr }
    assert.deepEqual([stepOf(command, '1', log), stepOf(command, 'test', log)], ['warning\n', 'half'])
    assert.equal(stepOf(command, 'make', { file: 'stdout', log: '==> talko step 1/3: make\nsaid\n\n==> talko step 2/3: test\n' }), 'said\n')
    assert.throws(() => stepOf(command, '3', log), { code: 'not_found' })
    assert.throws(() => stepOf(command, '4', log), { code: 'usage', message: /1 \(make\), 2 \(test\), 3 \(pack\)/ })
    assert.throws(() => stepOf(['echo'], '1', log), { code: 'usage', message: /runs one/ })
  })
})
