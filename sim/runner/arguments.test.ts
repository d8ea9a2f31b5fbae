import assert from 'node:assert/strict'
import { it } from 'node:test'
import { parse, UsageError } from './arguments.ts'

it('one seed or several are run, never none', () => {
  const seeds = (...words: string[]): readonly number[] => {
    const { from, to } = parse(words)
    return [from, to]
  }
  assert.deepEqual(seeds('--seed', '7'), [7, 8])
  assert.deepEqual(seeds('--seeds', '5', '--from', '3'), [3, 8])
  const refusals: readonly (readonly [words: readonly string[], says: RegExp])[] = [
    [['--seed', '7', '--seeds', '5'], /--seed is one seed alone; --seeds so many, counted up from --from/],
    [['--seed', '7', '--from', '5'], /--seed is one seed alone/],
    [['--seeds', '0'], /--seeds is a whole number from 1, not 0/],
    [['--seed', '-1'], /--seed/],
    [['--stack', '--large-last'], /--large-last is for the protocol level/]
  ]
  for (const [words, says] of refusals)
    assert.throws(
      () => parse(words),
      (error) => error instanceof UsageError && says.test(error.message)
    )
})

it('a failure of either level is made small, with fewer attempts where each is a process', () => {
  assert.deepEqual([parse([]).shrinkRuns, parse(['--stack']).shrinkRuns, parse(['--stack', '--shrink', '0']).shrinkRuns], [400, 60, 0])
})
