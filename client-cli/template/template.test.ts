import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Client } from '../client/client.ts'
import { define as defineMap } from '../commands/map.ts'
import { define as defineRun } from '../commands/run.ts'
import { define as defineSweep } from '../commands/sweep.ts'
import { ClientError } from '../errors.ts'
import { readTaskOptions } from '../tasks/task-options.ts'
import { fillTemplate, parseTemplate } from './file.ts'
import { callOf, namesTemplate, readTemplate } from './use.ts'

const GREP = `
template: run
about: counts the lines that have a word
parameters:
  word: { type: text, about: what is looked for }
  text: { type: input }
  memory: { type: bytes, default: 512M }
  quorum: { type: whole, min: 1, max: 9, default: 3 }
  quiet: { type: flag, default: false }
image: alpine
command: [grep, -c, "{{word}}", "/in/text"]
options:
  input: { text: "{{text}}" }
  env: [ "WORD={{ word }}", "FIXED=1" ]
  memory: "{{memory}}"
  quorum: "{{quorum}}"
  ignore-stdout: "{{quiet}}"
`
const run = { module: { define: defineRun } }

function refused(text: string, message: RegExp): void {
  assert.throws(() => parseTemplate(text, 'a.yaml'), { code: 'usage', message })
}

describe('a template (S22)', () => {
  it('is filled in with what is set and its defaults, and is the call that it stands for', () => {
    const template = parseTemplate(GREP, 'grep.yaml')
    const { args, options } = callOf(template, fillTemplate(template, ['word=seven', 'text=./book', 'quiet=true']), run)
    assert.deepEqual(args, ['alpine', 'grep', '-c', 'seven', '/in/text'])
    const { spec } = readTaskOptions(options)
    assert.deepEqual(spec.inputs, { text: './book' })
    assert.deepEqual(spec.environment, { WORD: 'seven', FIXED: '1' })
    assert.equal(spec.resources?.memoryBytes, 512 * 1024 ** 2)
    assert.equal(spec.policy?.minQuorum, 3)
    assert.equal(spec.compareStdout, false)
  })

  it('takes what stands beside it on the command line before what it says, and adds to what may repeat', () => {
    const template = parseTemplate(GREP, 'grep.yaml')
    const beside = { memory: '1G', env: ['MORE=2'], engine: 'docker', output: 'json', wait: true, set: ['word=x', 'text=y'] }
    const { options } = callOf(template, fillTemplate(template, ['word=x', 'text=y']), { ...run, beside })
    const { spec } = readTaskOptions(options)
    assert.equal(spec.resources?.memoryBytes, 1024 ** 3)
    assert.deepEqual(spec.environment, { WORD: 'x', FIXED: '1', MORE: '2' })
    assert.deepEqual([options.wait, options.output, options.set], [true, 'json', undefined])
  })

  it('says which file and which parameter is wrong', () => {
    const template = parseTemplate(GREP, 'grep.yaml')
    const fails = (settings: string[], message: RegExp): void => assert.throws(() => fillTemplate(template, settings), { code: 'usage', message })
    fails([], /^grep\.yaml: parameters word, text must be set, like: --set word=… --set text=…$/)
    fails(['word=x'], /^grep\.yaml: parameter text must be set/)
    fails(['wrod=x'], /^grep\.yaml has no parameter "wrod"; it has word, text, memory, quorum, quiet$/)
    fails(['word'], /--set is name=value, not "word"/)
    fails(['word=x', 'word=y', 'text=z'], /parameter word is set twice/)
    fails(['word=x', 'text='], /parameter text is an input/)
    fails(['word=x', 'text=z', 'memory=lots'], /parameter memory.*"lots"/)
    fails(['word=x', 'text=z', 'quorum=0'], /parameter quorum is a whole number of at least 1, not "0"/)
    fails(['word=x', 'text=z', 'quorum=2.5'], /parameter quorum is a whole number, not "2.5"/)
    fails(['word=x', 'text=z', 'quiet=yes'], /parameter quiet is true or false, not "yes"/)
  })

  it('is refused with its line where it makes no sense', () => {
    refused('template: walk\ncommand: x', /^a\.yaml, line 1: `template` says for which verb/)
    refused('template: run\ncommand: x\nparametres: {}', /^a\.yaml, line 3: a template has no "parametres"/)
    refused('template: run\nparameters: { a: { type: colour } }\ncommand: "{{a}}"', /line 2: the type of parameter a is text, .* not "colour"/)
    refused('template: run\nparameters: { a: { type: choice } }\ncommand: "{{a}}"', /line 2: parameter a: a choice/)
    refused('template: run\nparameters: { a: { min: 1 } }\ncommand: "{{a}}"', /parameter a: min is a number/)
    refused('template: run\nparameters: { a: { type: choice, of: [x], default: y } }\ncommand: "{{a}}"', /the default of parameter a is one of x, not "y"/)
    refused('template: run\ncommand: "{{a}}"', /^a\.yaml: \{\{a\}\} is no parameter of the template; it has no parameters/)
    refused('template: run\nparameters: { a: {} }\ncommand: x', /parameter a is used nowhere/)
    refused('template: run\nimage: x', /a template has a `command`/)
    refused('template: map\ncommand: x', /a map, and nothing else, has `over`/)
    refused('template: run\nover: x\ncommand: x', /a map, and nothing else, has `over`/)
    refused('template: [run', /^a\.yaml, line 1: /)
    refused('x'.repeat(70_000), /^a\.yaml, a template has at most 65536 characters/)
    const option = (name: string, value: string): void => {
      const template = parseTemplate(`template: run\nengine: x\n`.replace('engine: x\n', `image: a\ncommand: x\noptions: { ${name}: ${value} }`), 'a.yaml')
      assert.throws(() => callOf(template, fillTemplate(template, []), run), { code: 'usage', message: /^a\.yaml: / })
    }
    option('colour', 'red')
    option('set', '[x=1]')
    option('output', 'json')
    option('memory', '[1G, 2G]')
    option('commit', 'maybe')
  })

  it('is for maps and sweeps, too', () => {
    const map = parseTemplate(
      'template: map\nparameters: { file: { type: input }, parts: { type: whole } }\nimage: alpine\nover: "{{file}}"\ncommand: wc -l /in/part\noptions: { split: "parts={{parts}}" }',
      'wc.yaml'
    )
    const mapped = callOf(map, fillTemplate(map, ['file=./n.txt', 'parts=8']), { module: { define: defineMap } })
    assert.deepEqual(mapped.args, ['./n.txt', 'sh', '-c', 'wc -l /in/part'])
    assert.deepEqual([mapped.options.split, mapped.options.image], ['parts=8', 'alpine'])
    const sweep = parseTemplate(
      'template: sweep\nparameters: { n: { type: whole } }\nimage: alpine\ncommand: [echo, "{x}", "{{n}}"]\noptions: { set: { x: "1:{{n}}" } }',
      'sq.yaml'
    )
    const swept = callOf(sweep, fillTemplate(sweep, ['n=50']), { module: { define: defineSweep }, beside: { set: ['n=50'] } })
    assert.deepEqual(swept.args, ['alpine', 'echo', '{x}', '50'])
    assert.deepEqual(swept.options.set, ['x=1:50'])
  })

  it('never makes more or other words of a value, and evaluates nothing', () => {
    const template = parseTemplate(
      'template: run\nparameters: { a: {}, b: {} }\nimage: i\ncommand: [x, "{{a}}", "-{{b}}-{{a}}"]\noptions: { env: { A: "{{a}}" } }',
      'a.yaml'
    )
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('$(id)', '{{a}}', '{{ b }}', '$&', "' ; rm -rf", '--wait', '-f', '--'), (a, b) => {
        const { args, options } = callOf(template, fillTemplate(template, [`a=${a}`, `b=${b}`]), run)
        assert.deepEqual(args, ['i', 'x', a, `-${b}-${a}`])
        assert.deepEqual(options.env, [`A=${a}`])
        assert.deepEqual(Object.keys(options).sort(), ['engine', 'env'])
      }),
      { numRuns: 300 }
    )
  })

  it('is read from a file here, or from what was given to the project by this name', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'talko-template-'))
    try {
      const path = join(dir, 'grep.yaml')
      await writeFile(path, GREP)
      const client: Partial<Client> = {
        async find(name) {
          if (name !== 'shared.yaml') throw new ClientError('not_found', 'no such name')
          return { kind: 'data' as const, root: 'bafy', path: '' }
        },
        async *read() {
          yield new TextEncoder().encode(GREP)
        }
      }
      const context = { client: async () => client as Client, signal: new AbortController().signal }
      assert.equal((await readTemplate(path, context)).from, path)
      assert.equal((await readTemplate('shared.yaml', context)).parameters.length, 5)
      await assert.rejects(readTemplate('nowhere.yaml', context), { code: 'not_found', message: /no template nowhere\.yaml/ })
      await assert.rejects(readTemplate(join(dir, 'nowhere.yaml'), context), { code: 'not_found', message: /cannot be read/ })
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
    assert.deepEqual([['a.yaml'], ['a.yml'], ['alpine'], ['a.yaml', 'x'], []].map(namesTemplate), [true, true, false, false, false])
  })
})
