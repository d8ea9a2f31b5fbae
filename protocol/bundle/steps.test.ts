import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { commandOfSteps, cutSteps, INPUTS_HOLE, STEPS_MAX, type Step, stepsFault, stepsOfCommand } from './steps.ts'

/** Shells that images have: each must do the same. */
const SHELLS = [['/bin/sh'], ['/bin/bash'], ['/bin/busybox', 'sh']].filter(([path = '']) => existsSync(path))

function shell(line: string): readonly string[] {
  return ['/bin/sh', '-c', line]
}

function named(...commands: readonly (readonly string[])[]): Step[] {
  return commands.map((command, at) => ({ name: `step-${at + 1}`, command }))
}

function play(steps: readonly Step[], [program = '', ...first]: readonly string[] = ['/bin/sh'], env: Record<string, string> = {}, cwd = tmpdir()) {
  const [, ...rest] = commandOfSteps(steps)
  const { status, stdout, stderr } = spawnSync(program, [...first, ...rest], { cwd, encoding: 'utf8', env: { PATH: process.env.PATH ?? '', ...env } })
  return { status, stdout, stderr, logs: cutSteps(steps, { stdout, stderr }) }
}

describe('X13: commands in order', () => {
  for (const interpreter of SHELLS)
    it(`run until one ends with another status than 0, which is the run's, by ${interpreter.join(' ')}`, () => {
      const steps = named(shell('echo one; echo warning >&2'), shell('printf "no line end"; exit 3'), shell('echo never'))
      const { status, logs } = play(steps, interpreter)
      assert.equal(status, 3)
      assert.deepEqual(
        logs.map(({ number, name, stdout, stderr, exitCode }) => [number, name, stdout, stderr, exitCode]),
        [
          [1, 'step-1', 'one\n', 'warning\n', 0],
          [2, 'step-2', 'no line end', '', 3]
        ]
      )
      assert.ok(logs.every(({ seconds }) => seconds !== undefined && seconds < 60))
    })

  it('work in one folder, and one finds what the one before wrote', () => {
    const cwd = mkdtempSync(join(tmpdir(), 'talko-steps-'))
    try {
      const { status, logs } = play(named(shell('echo made > here'), shell('cat here')), ['/bin/sh'], {}, cwd)
      assert.deepEqual([status, logs[1]?.stdout], [0, 'made\n'])
    } finally {
      rmSync(cwd, { recursive: true })
    }
  })

  it('have marks on stdout that are the same in every run, so that results agree; one command alone has none', () => {
    const steps = named(shell('echo a'), shell('sleep 1; echo b'))
    assert.equal(play(steps).stdout, '==> talko step 1/2: step-1\na\n\n==> talko step 2/2: step-2\nb\n')
    assert.deepEqual([play(named(shell('echo a'))).stdout, play(named(shell('echo a'))).stderr], ['a\n', ''])
  })

  it('know where inputs lie, and a program that is not there ends them with 127', () => {
    const steps = named(['printf', '%s', `${INPUTS_HOLE}/data and ${INPUTS_HOLE}`], ['no-such-program'])
    assert.equal(play(steps).logs[0]?.stdout, '/in/data and /in')
    const there = play(steps, ['/bin/sh'], { TALKO_IN: '/else where' })
    assert.deepEqual([there.logs[0]?.stdout, there.status, there.logs[1]?.exitCode], ['/else where/data and /else where', 127, 127])
  })

  it('are told when the run is to end, and end it', async () => {
    const [program = '', ...rest] = commandOfSteps(named(shell('trap "echo told; exit 9" TERM; echo ready; while :; do sleep 0.1; done'), shell('echo never')))
    const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'ignore'] })
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (!printed.includes('ready') && text.includes('ready')) child.kill('SIGTERM')
      printed += text
    })
    const status = await new Promise((resolve) => child.once('close', resolve))
    assert.equal(status, 9)
    assert.match(printed, /told\n$/)
  })

  it('get every word as it is, and every variable', () => {
    const word = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }).filter((text) => !text.includes('\0') && text.isWellFormed() && !text.includes(INPUTS_HOLE)),
      fc.constantFrom('', '$HOME', '`id`', "'", '"', '\\', '\n', '*', '-n', '$(id)', '{x}', ';', '$talko_word_1')
    )
    fc.assert(
      fc.property(fc.array(fc.array(word, { maxLength: 5 }), { minLength: 1, maxLength: 3 }), word, (all, value) => {
        const steps = named(...all.map((words) => ['/bin/sh', '-c', 'printf "%s\\0" "$@" "$talko_step$line$NAME"', 'x', ...words]))
        const { status, logs, stdout } = play(steps, ['/bin/sh'], { NAME: value })
        assert.equal(status, 0)
        const texts = steps.length === 1 ? [stdout] : logs.map((log) => log.stdout)
        for (const [at, words] of all.entries()) assert.deepEqual(texts[at]?.split('\0').slice(0, -1), [...words, value])
      }),
      { numRuns: 60 }
    )
  })
})

describe('X13: the command that a manifest holds', () => {
  const NAME = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/)
  const STEP = fc.record({ name: NAME, command: fc.array(fc.string(), { minLength: 1, maxLength: 6 }) }, { noNullPrototype: true })

  it('is read back as what it runs', () => {
    fc.assert(
      fc.property(fc.uniqueArray(STEP, { minLength: 1, maxLength: 8, selector: ({ name }) => name }), (steps) => {
        if (stepsFault(steps) === undefined) assert.deepEqual(stepsOfCommand(commandOfSteps(steps)), steps)
        else assert.throws(() => commandOfSteps(steps), RangeError)
      })
    )
  })

  it('is no such command when anything of it is another', () => {
    const whole = commandOfSteps(named(['a', 'b'], ['c']))
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.constantFrom('', '0', '-1', '7', '1e3', 'x'), (at, other) => {
        const command = whole.map((word, place) => (place === at ? other : word))
        const steps = stepsOfCommand(command)
        if (steps !== undefined) assert.deepEqual(commandOfSteps(steps), command)
      })
    )
    assert.equal(stepsOfCommand(whole.slice(0, -1)), undefined)
    assert.equal(stepsOfCommand(['echo', 'x']), undefined)
    assert.match(stepsFault(Array.from({ length: STEPS_MAX + 1 }, (_, at) => ({ name: `s${at}`, command: ['x'] }))) ?? '', /1 to 64 commands/)
    assert.match(stepsFault([{ name: 'a b', command: ['x'] }]) ?? '', /the name of a command/)
  })
})

it('X13: a log is cut at the marks of its steps, whatever the steps print', () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('==> talko step 2/3: two\n', '\n<== talko step 1/3: exit 7, 3 s\n', '\n==> talko step 9/9: x\n', '==> talko step 1/3: one\n')
  )
  const steps = [
    { name: 'one', command: ['x'] },
    { name: 'two', command: ['y'] },
    { name: 'three', command: ['z'] }
  ]
  fc.assert(
    fc.property(fc.array(fc.tuple(text, fc.integer({ min: 0, max: 255 }), fc.nat(1000)), { maxLength: 3 }), fc.boolean(), (parts, running) => {
      let stderr = ''
      for (const [at, [said, code, seconds]] of parts.entries()) {
        stderr += `${at === 0 ? '' : '\n'}==> talko step ${at + 1}/3: ${steps[at]?.name}\n${said}`
        if (!(running && at === parts.length - 1)) stderr += `\n<== talko step ${at + 1}/3: exit ${code}, ${seconds} s\n`
      }
      const logs = cutSteps(steps, { stdout: '', stderr })
      // A step that prints the next one's mark fools its owner, and nobody else; nothing is thrown, and no more than there are is found.
      assert.ok(logs.length <= 3)
      if (parts.some(([said]) => said.includes('talko step'))) return
      assert.deepEqual(
        logs.map((log) => [log.stderr, log.exitCode, log.seconds]),
        parts.map(([said, code, seconds], at) => [said, ...(running && at === parts.length - 1 ? [undefined, undefined] : [code, seconds])])
      )
    })
  )
})
